//! Text for messages.

/// Formats a reason as a sentence: upper-case first letter, full stop at the end.
pub fn to_sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if reason.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Formats a number of things: `1 game`, `2 games`, `0 plies`.
pub fn counted(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

/// Returns the first 40 characters of a text, to quote it in a message.
pub fn truncate(text: &str) -> String {
    crownhead_rules::truncate(text, 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let texts =
            [0, 1, 2].map(|count| [counted(count, "game"), counted(count, "ply")].join(" "));
        assert_eq!(texts, ["0 games 0 plies", "1 game 1 ply", "2 games 2 plies"]);
    }
}
