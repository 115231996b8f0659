//! A table of TOML that knows where everything stands in the file, and what was wrong with it.

use std::fmt::Display;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

use super::Diagnostic;

/// A table being read.
pub(super) struct TomlTable<'a> {
    string: &'a str,
    table: &'a DeTable<'a>,
    start: usize,
    /// What was wrong so far.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// A complaint about a place in a text.
pub(super) fn diagnostic(text: &str, at: usize, what: String) -> Diagnostic {
    let before = text.get(..at).unwrap_or(text);
    let (line, start) = (before.matches('\n').count() + 1, before.rfind('\n'));
    let column = before[start.map_or(0, |at| at + 1)..].chars().count() + 1;
    Diagnostic { line, column, message: what }
}

impl<'a> TomlTable<'a> {
    pub(super) fn new(text: &'a str, table: &'a DeTable<'a>, start: usize) -> TomlTable<'a> {
        TomlTable { string: text, table, start, diagnostics: Vec::new() }
    }

    pub(super) fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    pub(super) fn error_at(&mut self, at: usize, what: String) {
        self.diagnostics.push(diagnostic(self.string, at, what));
    }

    /// Complains about the value of a key, or the table if it is not there.
    pub(super) fn error(&mut self, key: &str, what: String) {
        let at = self.value(key).map_or(self.start, |value| value.span().start);
        self.error_at(at, what);
    }

    /// What was read from the value of a key, or a complaint.
    pub(super) fn ok_or_error<T, E: Display>(
        &mut self,
        key: &str,
        read: Result<T, E>,
    ) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(key, error.to_string());
                None
            }
        }
    }

    pub(super) fn source(&mut self, key: &str) -> Option<String> {
        let value = self.value(key)?;
        let text = value.get_ref().as_str().map(printable);
        if text.is_none() {
            self.error(key, format!("{key} is a text in quotes"));
        }
        text
    }

    /// A list of texts, or one text.
    pub(super) fn strings(&mut self, key: &str) -> Option<Vec<String>> {
        let value = self.value(key)?;
        let texts = match value.get_ref() {
            DeValue::String(text) => Some(vec![text.to_string()]),
            DeValue::Array(list) => {
                list.iter().map(|item| item.get_ref().as_str().map(String::from)).collect()
            }
            _ => None,
        };
        if texts.is_none() {
            self.error(key, format!("{key} is a list of texts, as in [\"a\", \"b\"]"));
        }
        texts
    }

    pub(super) fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.value(key)?.get_ref();
        let read =
            |number: &DeInteger<'_>| u64::from_str_radix(number.as_str(), number.radix()).ok();
        let number = value.as_integer().and_then(read);
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let (least, most) = (range.start(), range.end());
            self.error(key, format!("{key} is a whole number from {least} to {most}"));
        }
        number
    }

    pub(super) fn boolean(&mut self, key: &str) -> Option<bool> {
        let flag = self.value(key)?.get_ref().as_bool();
        if flag.is_none() {
            self.error(key, format!("{key} is true or false"));
        }
        flag
    }

    pub(super) fn table(&mut self, key: &str) -> Option<TomlTable<'a>> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(TomlTable::new(self.string, table, value.span().start)),
            _ => {
                self.error(key, format!("{key} is a table, as in [{key}]"));
                None
            }
        }
    }

    pub(super) fn array(&mut self, key: &str) -> Option<&'a DeArray<'a>> {
        let value = self.value(key)?;
        let array = value.get_ref().as_array();
        if array.is_none() {
            self.error(key, format!("{key} is a list"));
        }
        array
    }

    /// A table that is an item of a list.
    pub(super) fn nested(&self, table: &'a DeTable<'a>, start: usize) -> TomlTable<'a> {
        TomlTable::new(self.string, table, start)
    }

    /// Complains about every key that is not known.
    pub(super) fn reject_unknown_keys(&mut self, known: &[&str]) {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let hint = suggestion(name, known);
                let what = match hint.is_empty() {
                    true => format!("there is no key {name:?}: the keys are {}", known.join(", ")),
                    false => format!("there is no key {name:?}{hint}"),
                };
                self.error_at(key.span().start, what);
            }
        }
    }
}

/// A text with blanks for what cannot be seen: it would spoil a table, or make two names look alike.
pub(super) fn printable(text: &str) -> String {
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter,
                '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{feff}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    text.replace(is_hidden, " ")
}

/// Words in a row: `a, b and c`.
pub(super) fn join_words(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// `; did you mean "…"?` with the nearest of the known words, if one is near.
pub(super) fn suggestion(word: &str, known: &[&str]) -> String {
    let word = word.to_lowercase();
    let near =
        known.iter().map(|other| (edit_distance(&word, &other.to_lowercase()), *other)).min();
    match near {
        Some((steps, other)) if steps <= (other.chars().count() / 3).max(1) => {
            format!("; did you mean {other:?}?")
        }
        _ => String::new(),
    }
}

/// How many letters must be put in, left out, exchanged or swapped with the next.
fn edit_distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) =
        (one.chars().take(64).collect(), other.chars().take(64).collect());
    let width = other.len() + 1;
    let mut steps = vec![0; (one.len() + 1) * width];
    for row in 0..=one.len() {
        for column in 0..=other.len() {
            let at = |row: usize, column: usize| row * width + column;
            steps[at(row, column)] = if row == 0 || column == 0 {
                row + column
            } else {
                let differs = usize::from(one[row - 1] != other[column - 1]);
                let mut least = (steps[at(row - 1, column)] + 1)
                    .min(steps[at(row, column - 1)] + 1)
                    .min(steps[at(row - 1, column - 1)] + differs);
                let is_swapped = row > 1
                    && column > 1
                    && one[row - 1] == other[column - 2]
                    && one[row - 2] == other[column - 1];
                if is_swapped {
                    least = least.min(steps[at(row - 2, column - 2)] + 1);
                }
                least
            };
        }
    }
    steps[steps.len() - 1]
}
