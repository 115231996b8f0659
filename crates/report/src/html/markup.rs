//! HTML text. Markup comes from string literals only; everything else is escaped here.

use std::fmt::{self, Display, Write};

use serde::Serialize;

use crate::data::round_to;

/// HTML under construction.
#[derive(Default)]
pub(crate) struct Html {
    text: String,
}

impl Html {
    /// Adds markup.
    pub(crate) fn raw(&mut self, markup: &'static str) {
        self.text.push_str(markup);
    }

    /// Adds text, escaped for elements and for attribute values in double quotes.
    pub(crate) fn text(&mut self, value: impl Display) {
        // Writing to a string does not fail.
        let _ = write!(Escape(&mut self.text), "{value}");
    }

    /// Adds a sentence in which `` `text` `` is code.
    pub(crate) fn prose(&mut self, sentence: &str) {
        for (index, part) in sentence.split('`').enumerate() {
            if index % 2 == 1 {
                self.raw("<code>");
                self.text(part);
                self.raw("</code>");
            } else {
                self.text(part);
            }
        }
    }

    /// Adds a number, rounded for coordinates in a drawing.
    pub(crate) fn number(&mut self, value: f64) {
        let rounded = round_to(value, 1);
        // Never `-0`.
        let _ = write!(self.text, "{}", if rounded == 0.0 { 0.0 } else { rounded });
    }

    /// Adds the data of a `script` element of type `application/json`.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        let json = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
        // `</script>` and `<!--` would be markup; JSON allows `<` to be escaped.
        self.text.push_str(&json.replace('<', "\\u003c"));
    }

    /// Adds HTML.
    pub(crate) fn append(&mut self, html: &Html) {
        self.text.push_str(&html.text);
    }

    /// Returns the text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Escapes everything that has a meaning in HTML.
struct Escape<'a>(&'a mut String);

impl Write for Escape<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

/// Adds HTML to an [`Html`]: literals are markup, `(expression)` is escaped text, and
/// `[expression]` is a rounded number.
macro_rules! html {
    ($out:expr $(,)?) => {};
    ($out:expr, ($value:expr) $($rest:tt)*) => {
        $out.text(&$value);
        html!($out $($rest)*)
    };
    ($out:expr, [$value:expr] $($rest:tt)*) => {
        $out.number($value);
        html!($out $($rest)*)
    };
    ($out:expr, $markup:literal $($rest:tt)*) => {
        $out.raw($markup);
        html!($out $($rest)*)
    };
}
pub(crate) use html;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_literals_are_markup() {
        let mut out = Html::default();
        html!(out, "<b title=\"", ("\"'><script>"), "\">", ('&'), [1.26], "</b>");
        out.json(&"</script><!--");
        assert_eq!(
            out.finish(),
            "<b title=\"&quot;&#39;&gt;&lt;script&gt;\">&amp;1.3</b>\"\\u003c/script>\\u003c!--\""
        );
    }
}
