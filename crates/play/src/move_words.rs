//! Lists of moves as people paste them.

/// Results of games at the end of a list.
const RESULTS: [&str; 5] = ["1-0", "0-1", "1/2-1/2", "1-1", "*"];

/// Splits a list of moves at spaces and commas, without move numbers, annotations, comments in
/// braces and results: `1. 11-15! 22-18, 8-11 {a mistake} *`.
pub fn move_words(text: &str) -> impl Iterator<Item = &str> {
    // A comment without an end stays in the list, and is reported as an invalid move.
    let parts = text.split_inclusive('}').map(|part| match part.split_once('{') {
        Some((before, comment)) if comment.ends_with('}') => before,
        _ => part,
    });
    parts.flat_map(|part| {
        let words = part.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
        let words = words.map(|word| without_number(word).trim_end_matches(['!', '?']));
        words.filter(|word| !word.is_empty() && !RESULTS.contains(word))
    })
}

/// Removes a move number: `1.`, `12...`, `1)`, or the start of `1.11-15`.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.starts_with(['.', ')']) && rest.len() < word.len() {
        true => rest.trim_start_matches(['.', ')']),
        false => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_commas_are_ignored() {
        let words = |text| move_words(text).collect::<Vec<_>>();
        assert_eq!(words("1. 11-15 22-18\n2. 15x22"), ["11-15", "22-18", "15x22"]);
        assert_eq!(words("1.11-15 1...22-18, 8-11;,"), ["11-15", "22-18", "8-11"]);
        assert_eq!(words("1131,8868 pass"), ["1131", "8868", "pass"]);
        assert_eq!(words(" "), [""; 0]);
    }

    #[test]
    fn annotations_comments_and_results_are_ignored() {
        let words = |text| move_words(text).collect::<Vec<_>>();
        let game = "1. 11-15! {[%eval 0.10,7] good} 22-18?? 2) 15x22 {{x} 1/2-1/2";
        assert_eq!(words(game), ["11-15", "22-18", "15x22"]);
        assert_eq!(words("11-15 *"), ["11-15"]);
        // An unfinished comment or a stray brace stays, so that it is reported as an invalid move.
        assert_eq!(words("11-15 {open 22-18"), ["11-15", "{open", "22-18"]);
        assert_eq!(words("11-15} 22-18"), ["11-15}", "22-18"]);
    }
}
