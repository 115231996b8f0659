//! Characters that people do not see.

/// Whether a character has no shape of its own: control characters, and format characters, which
/// hide text, join or reorder it. In text from a stranger they can make a name look like another
/// one, or a line on a terminal say what it does not say.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Replaces invisible characters by spaces.
pub fn replace_invisible(text: &str) -> String {
    text.replace(is_invisible, " ")
}

/// Escapes invisible characters, as in `\u{202e}`. Tabs and line breaks stay.
pub fn escape_invisible(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match is_invisible(c) && !matches!(c, '\t' | '\n') {
            true => escaped.extend(c.escape_unicode()),
            false => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_characters_are_invisible_and_letters_are_not() {
        let hidden = "\u{1b}\u{7f}\u{9b}\u{ad}\u{200b}\u{200d}\u{202e}\u{2066}\u{2069}\u{feff}";
        assert!(hidden.chars().all(is_invisible));
        assert!(!"Bär 猫 עברית العربية é – …".chars().any(is_invisible));
        assert_eq!(escape_invisible("a\u{202e}b\tc\u{1b}\n"), "a\\u{202e}b\tc\\u{1b}\n");
        assert_eq!(replace_invisible("a\u{2069}\tb"), "a  b");
    }
}
