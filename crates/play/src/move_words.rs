//! Lists of moves as people paste them.

/// Splits a list of moves at spaces and commas, without move numbers: `1. 11-15 22-18, 8-11`.
pub fn move_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
    words.map(without_number).filter(|word| !word.is_empty())
}

/// Removes a move number: `1.`, `12...`, or the start of `1.11-15`.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.starts_with('.') && rest.len() < word.len() {
        true => rest.trim_start_matches('.'),
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
}
