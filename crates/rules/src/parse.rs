//! Parsers shared by several games: options, boards as eight rows, numbers of a move.

use smallvec::SmallVec;

use crate::suggest::did_you_mean;
use crate::{Cell, OptionInfo, OptionsError, PositionError, Side, SideInfo};

/// Splits `key=value,…` and checks that each key is an option of the game and occurs once.
pub(crate) fn parse_key_values<'a>(
    text: &'a str,
    game: &str,
    options: &[OptionInfo],
) -> Result<Vec<(&'a str, &'a str)>, OptionsError> {
    let keys: Vec<_> = options.iter().map(|option| option.key).collect();
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for part in text.split(',').filter(|_| !text.trim().is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            let part = truncate(part, 40);
            return Err(OptionsError(format!("{game}: invalid option {part:?}: write key=value")));
        };
        let (key, value) = (key.trim(), value.trim());
        if !keys.contains(&key) {
            let available = match keys.as_slice() {
                [] => "the game has no options".to_string(),
                keys => format!("available options: {}", keys.join(", ")),
            };
            let (hint, key) = (did_you_mean(key, keys), truncate(key, 40));
            return Err(OptionsError(format!("{game}: unknown option {key:?}{hint}; {available}")));
        }
        if pairs.iter().any(|(k, _)| *k == key) {
            return Err(OptionsError(format!("{game}: duplicate option {key}")));
        }
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// A text and an offset in it, for errors with a location.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(crate) fn take_if(&mut self, accept: impl Fn(char) -> bool) -> Option<char> {
        self.peek().filter(|&c| accept(c)).inspect(|_| {
            self.next();
        })
    }

    pub(crate) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let start = self.at;
        while self.take_if(&accept).is_some() {}
        &self.text[start..self.at]
    }

    pub(crate) fn skip_spaces(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Returns the offset of the next character, for a later [`error_at`](Cursor::error_at).
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Parses the letter of the side to move, after the rows.
    pub(crate) fn parse_side(&mut self, sides: [SideInfo; 2]) -> Result<Side, PositionError> {
        self.skip_spaces();
        let [first, second] = sides.map(|side| side.letter);
        let offset = self.offset();
        match self.next() {
            Some(c) if c.eq_ignore_ascii_case(&first) => Ok(Side::First),
            Some(c) if c.eq_ignore_ascii_case(&second) => Ok(Side::Second),
            Some('/') => self.error_at(offset, "too many rows; a board has 8"),
            _ => self.error_at(offset, format!("expected the side to move, {first} or {second}")),
        }
    }

    /// Checks that only white space is left.
    pub(crate) fn expect_end(&mut self) -> Result<(), PositionError> {
        self.skip_spaces();
        match self.peek() {
            None => Ok(()),
            Some(c) => self.error(format!("unexpected {c:?} after the position")),
        }
    }

    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Result<T, PositionError> {
        self.error_at(self.at, message)
    }

    pub(crate) fn error_at<T>(
        &self,
        at: usize,
        message: impl Into<String>,
    ) -> Result<T, PositionError> {
        let column = self.text[..at].chars().count() + 1;
        Err(PositionError { column, message: message.into() })
    }
}

/// Parses eight rows from row 1: a letter of `letters` for a piece, a digit for a run of empty
/// cells, `.` for one empty cell, `/` between rows. Returns each piece with its cell and its offset
/// in the text.
pub(crate) fn parse_rows(
    cursor: &mut Cursor<'_>,
    letters: &str,
) -> Result<Vec<(Cell, char, usize)>, PositionError> {
    let mut pieces = Vec::new();
    for row in 1..=8u8 {
        let start = cursor.offset();
        let mut column = 0u8;
        while let Some(c) = cursor.peek().filter(|c| *c != '/' && !c.is_whitespace()) {
            let width = match c {
                '1'..='8' => c as u8 - b'0',
                '.' => 1,
                c if letters.contains(c) => 1,
                c => {
                    let letters: Vec<_> = letters.chars().map(String::from).collect();
                    return cursor.error(format!(
                        "unexpected {c:?}; pieces are {}, empty cells are 1 to 8 or .",
                        letters.join(" ")
                    ));
                }
            };
            if column + width > 8 {
                return cursor.error(format!("row {row} has more than 8 cells"));
            }
            if let (Some(cell), true) = (Cell::new(row, column + 1), letters.contains(c)) {
                pieces.push((cell, c, cursor.offset()));
            }
            column += width;
            cursor.next();
        }
        if column < 8 {
            return cursor.error_at(start, format!("row {row} has {column} cells, not 8"));
        }
        if row < 8 && cursor.take_if(|c| c == '/').is_none() {
            let next = row + 1;
            return cursor.error(format!("expected '/' and row {next}; a board has 8 rows"));
        }
    }
    Ok(pieces)
}

/// Formats a board as eight rows, with runs of empty cells as digits.
pub(crate) fn format_rows(board: &[char; 64]) -> String {
    let mut text = String::with_capacity(40);
    for (row, cells) in board.chunks(8).enumerate() {
        if row > 0 {
            text.push('/');
        }
        let mut run = 0u8;
        for &c in cells {
            if c == '.' {
                run += 1;
                continue;
            }
            if run > 0 {
                text.push((b'0' + run) as char);
                run = 0;
            }
            text.push(c);
        }
        if run > 0 {
            text.push((b'0' + run) as char);
        }
    }
    text
}

/// Splits a move into its numbers. They are separated by one sign or by spaces: `11-15`, `11 - 15`,
/// `22x15x8`, `11 15`. `None` if the text contains anything else, such as a leading sign.
pub(crate) fn split_numbers(text: &str) -> Option<SmallVec<[&str; 4]>> {
    let mut numbers = SmallVec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, tail) = rest.split_at(end);
        if number.is_empty() {
            return None;
        }
        numbers.push(number);
        let next = tail.trim_start();
        rest = next.strip_prefix(['-', '–', 'x', 'X', ':', '*', ',']).unwrap_or(next).trim_start();
        if rest.is_empty() && !tail.is_empty() {
            return None; // a trailing sign
        }
    }
    (!numbers.is_empty()).then_some(numbers)
}

/// Returns the text, cut after `max_chars` characters, with an ellipsis if it was cut.
pub fn truncate(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// Returns whether a text is `pass`.
pub(crate) fn is_pass(text: &str) -> bool {
    text.trim().eq_ignore_ascii_case("pass")
}
