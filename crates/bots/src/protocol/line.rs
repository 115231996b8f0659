//! Lines of the bot protocol: `keyword key=value key="two words"`.

use crownhead_rules::is_invisible;

/// A parsed line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProtocolLine<'a> {
    /// The first word.
    pub(crate) keyword: &'a str,
    rest: &'a str,
}

impl<'a> ProtocolLine<'a> {
    pub(crate) fn new(text: &'a str) -> ProtocolLine<'a> {
        let text = text.trim();
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        ProtocolLine { keyword, rest: rest.trim_start() }
    }

    /// Returns everything after the keyword.
    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Returns the value of a key: empty if the key has no value, `None` if there is no such key.
    pub(crate) fn value(&self, key: &str) -> Option<&'a str> {
        self.key_values().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Returns the keys and values, in order.
    pub(crate) fn key_values(&self) -> KeyValues<'a> {
        KeyValues { rest: self.rest }
    }
}

/// Iterator over the keys and values of a line.
pub(crate) struct KeyValues<'a> {
    rest: &'a str,
}

impl<'a> Iterator for KeyValues<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        let text = self.rest.trim_start();
        if text.is_empty() {
            return None;
        }
        let end = text.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(text.len());
        let (key, rest) = text.split_at(end);
        let Some(rest) = rest.strip_prefix('=') else {
            self.rest = rest;
            return Some((key, ""));
        };
        let (value, rest) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        self.rest = rest;
        Some((key, value))
    }
}

/// Formats a value in quotes, replacing what would end the quotes or the line.
pub(crate) fn quote(text: &str) -> String {
    let safe = text.chars().map(|c| match c {
        '"' => '\'',
        c if is_invisible(c) => ' ',
        c => c,
    });
    std::iter::once('"').chain(safe).chain(['"']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_keyword_and_values() {
        let line = ProtocolLine::new(" turn ply=4 position=\"a b = c\"  flag time= moves=1,2 \r\n");
        assert_eq!(line.keyword, "turn");
        let key_values: Vec<_> = line.key_values().collect();
        let expected =
            [("ply", "4"), ("position", "a b = c"), ("flag", ""), ("time", ""), ("moves", "1,2")];
        assert_eq!(key_values, expected);
        assert_eq!(line.value("moves"), Some("1,2"));
        assert_eq!(line.value("none"), None);
        assert_eq!(ProtocolLine::new("x a=\"open").value("a"), Some("open"));
        assert_eq!(ProtocolLine::new("").keyword, "");
        assert_eq!(quote("a \"b\"\n"), "\"a 'b' \"");
    }
}
