//! TOML tables with locations: every diagnostic has a line and a column.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crownhead_rules::{nearest, replace_invisible};
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

/// Returns `; did you mean "…"?` with the most similar word, or nothing if none is similar.
pub(super) fn suggestion(word: &str, candidates: &[&str]) -> String {
    let name = nearest(word, candidates.iter().copied());
    name.map_or(String::new(), |name| format!("; did you mean {name:?}?"))
}
