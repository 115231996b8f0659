//! TOML tables with locations: every diagnostic has a line and a column.

use std::fmt::Display;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

use super::Diagnostic;

/// A TOML table and the diagnostics about it.
pub(super) struct TomlTable<'a> {
    source: &'a str,
    table: &'a DeTable<'a>,
    start: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Creates a diagnostic for a byte offset.
pub(super) fn diagnostic(source: &str, offset: usize, message: String) -> Diagnostic {
    let before = source.get(..offset).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[line_start..].chars().count() + 1;
    Diagnostic { line, column, message }
}

impl<'a> TomlTable<'a> {
    pub(super) fn new(source: &'a str, table: &'a DeTable<'a>, start: usize) -> TomlTable<'a> {
        TomlTable { source, table, start, diagnostics: Vec::new() }
    }

    pub(super) fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    /// Reports an error at a byte offset.
    pub(super) fn error_at(&mut self, offset: usize, message: impl Into<String>) {
        self.diagnostics.push(diagnostic(self.source, offset, message.into()));
    }

    /// Reports an error at the value of a key, or at the table if the key is missing.
    pub(super) fn error(&mut self, key: &str, message: impl Into<String>) {
        let offset = self.value(key).map_or(self.start, |value| value.span().start);
        self.error_at(offset, message);
    }

    /// Unwraps a result, or reports its error at the value of a key.
    pub(super) fn ok_or_error<T, E: Display>(
        &mut self,
        key: &str,
        result: Result<T, E>,
    ) -> Option<T> {
        result.map_err(|error| self.error(key, error.to_string())).ok()
    }

    pub(super) fn string(&mut self, key: &str) -> Option<String> {
        let value = self.value(key)?;
        let string = value.get_ref().as_str().map(replace_invisible);
        if string.is_none() {
            self.error(key, format!("{key} must be a string"));
        }
        string
    }

    /// Returns an array of strings; a single string counts as an array.
    pub(super) fn strings(&mut self, key: &str) -> Option<Vec<String>> {
        let value = self.value(key)?;
        let strings = match value.get_ref() {
            DeValue::String(string) => Some(vec![string.to_string()]),
            DeValue::Array(array) => {
                array.iter().map(|item| item.get_ref().as_str().map(String::from)).collect()
            }
            _ => None,
        };
        if strings.is_none() {
            self.error(key, format!("{key} must be an array of strings, such as [\"a\", \"b\"]"));
        }
        strings
    }

    pub(super) fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.value(key)?.get_ref();
        let parse =
            |number: &DeInteger<'_>| u64::from_str_radix(number.as_str(), number.radix()).ok();
        let integer = value.as_integer().and_then(parse).filter(|number| range.contains(number));
        if integer.is_none() {
            let (min, max) = (range.start(), range.end());
            self.error(key, format!("{key} must be an integer from {min} to {max}"));
        }
        integer
    }

    pub(super) fn boolean(&mut self, key: &str) -> Option<bool> {
        let boolean = self.value(key)?.get_ref().as_bool();
        if boolean.is_none() {
            self.error(key, format!("{key} must be true or false"));
        }
        boolean
    }

    pub(super) fn table(&mut self, key: &str) -> Option<TomlTable<'a>> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(TomlTable::new(self.source, table, value.span().start)),
            _ => {
                self.error(key, format!("{key} must be a table, such as [{key}]"));
                None
            }
        }
    }

    pub(super) fn array(&mut self, key: &str) -> Option<&'a DeArray<'a>> {
        let value = self.value(key)?;
        let array = value.get_ref().as_array();
        if array.is_none() {
            self.error(key, format!("{key} must be an array"));
        }
        array
    }

    /// Wraps a table nested in an array.
    pub(super) fn nested(&self, table: &'a DeTable<'a>, start: usize) -> TomlTable<'a> {
        TomlTable::new(self.source, table, start)
    }

    pub(super) fn reject_unknown_keys(&mut self, keys: &[&str]) {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if keys.contains(&name) {
                continue;
            }
            let message = match suggestion(name, keys) {
                hint if hint.is_empty() => {
                    format!("unknown key {name:?}; available keys: {}", keys.join(", "))
                }
                hint => format!("unknown key {name:?}{hint}"),
            };
            self.error_at(key.span().start, message);
        }
    }
}

/// Replaces invisible characters by spaces: they would break the layout of tables or make two
/// names look the same.
pub(super) fn replace_invisible(text: &str) -> String {
    let is_invisible = |c: char| {
        c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{feff}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    text.replace(is_invisible, " ")
}

/// Returns `; did you mean "…"?` with the most similar word, or nothing if none is similar.
pub(super) fn suggestion(word: &str, candidates: &[&str]) -> String {
    let word = word.to_lowercase();
    let nearest = candidates
        .iter()
        .map(|candidate| (edit_distance(&word, &candidate.to_lowercase()), *candidate))
        .min();
    match nearest {
        Some((distance, candidate)) if distance <= (candidate.chars().count() / 3).max(1) => {
            format!("; did you mean {candidate:?}?")
        }
        _ => String::new(),
    }
}

/// Returns the Damerau–Levenshtein distance (optimal string alignment) of the first 64 characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(64).collect(), b.chars().take(64).collect());
    let width = b.len() + 1;
    let at = |row: usize, column: usize| row * width + column;
    let mut distances = vec![0; (a.len() + 1) * width];
    for row in 0..=a.len() {
        for column in 0..=b.len() {
            if row == 0 || column == 0 {
                distances[at(row, column)] = row + column;
                continue;
            }
            let substitution = usize::from(a[row - 1] != b[column - 1]);
            let mut distance = (distances[at(row - 1, column)] + 1)
                .min(distances[at(row, column - 1)] + 1)
                .min(distances[at(row - 1, column - 1)] + substitution);
            let is_swapped =
                row > 1 && column > 1 && a[row - 1] == b[column - 2] && a[row - 2] == b[column - 1];
            if is_swapped {
                distance = distance.min(distances[at(row - 2, column - 2)] + 1);
            }
            distances[at(row, column)] = distance;
        }
    }
    distances[distances.len() - 1]
}
