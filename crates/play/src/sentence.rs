//! Text for messages.

/// Formats a reason as a sentence: upper-case first letter, full stop at the end.
pub fn to_sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if reason.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Returns the first 40 characters of a text, to quote it in a message.
pub fn truncate(text: &str) -> String {
    crownhead_rules::truncate(text, 40)
}
