//! Character encodings: PDN 3.0 is UTF-8, older files are mostly Latin-1.

use std::borrow::Cow;

/// Bytes 0x80 to 0x9F of Windows-1252, where Latin-1 has only control characters. Most Latin-1
/// files come from Windows.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Decodes bytes as UTF-8 if they are valid UTF-8, else as Windows-1252. Never fails.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| character(byte)).collect()),
    }
}

fn character(byte: u8) -> char {
    match byte {
        0x80..=0x9F => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_unchanged() {
        assert_eq!(decode("Žižka ½".as_bytes()), "Žižka ½");
    }

    #[test]
    fn other_bytes_are_windows_1252() {
        assert_eq!(decode(b"Andr\xE9 \xBD"), "André ½");
        assert_eq!(decode(b"\x93quoted\x94 \x96 \x81"), "“quoted” – \u{81}");
    }
}
