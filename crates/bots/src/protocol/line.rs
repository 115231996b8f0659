//! The form of lines: `word key=value key="two words"`.

/// A line taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProtocolLine<'a> {
    /// The first word.
    pub(crate) keyword: &'a str,
    rest: &'a str,
}

impl<'a> ProtocolLine<'a> {
    pub(crate) fn new(text: &'a str) -> ProtocolLine<'a> {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        ProtocolLine { keyword: word, rest: rest.trim_start() }
    }

    /// What follows the first word.
    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    /// The value of a key; a key without a value has an empty one.
    pub(crate) fn value(&self, key: &str) -> Option<&'a str> {
        self.pairs().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The keys and values, in order.
    pub(crate) fn pairs(&self) -> KeyValues<'a> {
        KeyValues { rest: self.rest }
    }
}

/// The keys and values of a line.
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

/// A text as a value in quotes: what would end the quotes or the line is replaced.
pub(crate) fn quote(text: &str) -> String {
    let plain = text.chars().map(|c| match c {
        '"' => '\'',
        c if c.is_control() => ' ',
        c => c,
    });
    std::iter::once('"').chain(plain).chain(['"']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_word_and_values() {
        let line = ProtocolLine::new(" turn ply=4 position=\"a b = c\"  flag time= moves=1,2 \r\n");
        assert_eq!(line.keyword, "turn");
        let pairs: Vec<_> = line.pairs().collect();
        let wanted =
            [("ply", "4"), ("position", "a b = c"), ("flag", ""), ("time", ""), ("moves", "1,2")];
        assert_eq!(pairs, wanted);
        assert_eq!(line.value("moves"), Some("1,2"));
        assert_eq!(line.value("none"), None);
        assert_eq!(ProtocolLine::new("x a=\"open").value("a"), Some("open"));
        assert_eq!(ProtocolLine::new("").keyword, "");
        assert_eq!(quote("a \"b\"\n"), "\"a 'b' \"");
    }
}
