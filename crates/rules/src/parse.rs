//! Reading that several games share: option lists, boards written as eight rows, and paths of
//! cells.

use smallvec::SmallVec;

use crate::hopping::board::HopBoard;
use crate::notation::move_error;
use crate::{
    Cell, MoveError, MoveErrorKind, OptionInfo, OptionsError, PositionError, Side, SideInfo,
};

/// Splits `key=value,…` and checks that each key is known and comes once.
pub(crate) fn parse_key_values<'a>(
    text: &'a str,
    game: &str,
    known: &[OptionInfo],
) -> Result<Vec<(&'a str, &'a str)>, OptionsError> {
    let keys: Vec<_> = known.iter().map(|option| option.key).collect();
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for part in text.split(',').filter(|_| !text.trim().is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            let part = truncate(part, 40);
            return Err(OptionsError(format!(
                "{game}: options are written key=value, not {part:?}"
            )));
        };
        let (key, value) = (key.trim(), value.trim());
        if !keys.contains(&key) {
            let instead = match keys.as_slice() {
                [] => "it has none".to_string(),
                keys => format!("it has {}", keys.join(", ")),
            };
            let key = truncate(key, 40);
            return Err(OptionsError(format!("{game} has no option {key:?}: {instead}")));
        }
        if pairs.iter().any(|(k, _)| *k == key) {
            return Err(OptionsError(format!("{game}: the option {key} is given twice")));
        }
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// A text with a place in it, for errors that say where.
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

    pub(crate) fn take_if(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        self.peek().filter(|&c| wanted(c)).inspect(|_| {
            self.next();
        })
    }

    pub(crate) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let start = self.at;
        while self.take_if(&wanted).is_some() {}
        &self.text[start..self.at]
    }

    pub(crate) fn skip_spaces(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// The place of the next character, for a later [`error_at`](Cursor::error_at).
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Reads the letter of the side to move, after the rows.
    pub(crate) fn parse_side(&mut self, sides: [SideInfo; 2]) -> Result<Side, PositionError> {
        self.skip_spaces();
        let [first, second] = sides.map(|side| side.letter);
        let place = self.offset();
        match self.next() {
            Some(c) if c.eq_ignore_ascii_case(&first) => Ok(Side::First),
            Some(c) if c.eq_ignore_ascii_case(&second) => Ok(Side::Second),
            Some('/') => self.error_at(place, "a board has 8 rows, this is a ninth"),
            _ => {
                let message = format!("after the rows comes the side to move, {first} or {second}");
                self.error_at(place, message)
            }
        }
    }

    /// Checks that nothing is left.
    pub(crate) fn expect_end(&mut self) -> Result<(), PositionError> {
        self.skip_spaces();
        match self.peek() {
            None => Ok(()),
            Some(c) => self.error(format!("{c:?} after the end of the position")),
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

/// Reads eight rows from row 1: a letter of `letters` for a piece, a digit for a run of empty cells
/// or `.` for one, `/` between rows. Gives each piece with its cell and the place where it was
/// read.
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
                        "{c:?} is no piece: pieces are {}, and 1 to 8 or . are empty cells",
                        letters.join(" ")
                    ));
                }
            };
            if column + width > 8 {
                return cursor.error(format!("row {row} is longer than 8 cells"));
            }
            if let (Some(cell), true) = (Cell::new(row, column + 1), letters.contains(c)) {
                pieces.push((cell, c, cursor.offset()));
            }
            column += width;
            cursor.next();
        }
        if column < 8 {
            return cursor.error_at(start, format!("row {row} has {column} cells, it needs 8"));
        }
        if row < 8 && cursor.take_if(|c| c == '/').is_none() {
            return cursor.error(format!(
                "after row {row} comes '/' and row {}: a board has 8 rows",
                row + 1
            ));
        }
    }
    Ok(pieces)
}

/// Writes a board as eight rows, runs of empty cells as digits.
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

/// The numbers of a move text, with one sign between two of them and blanks anywhere: `11-15`, `11
/// - 15`, `22x15x8`, `1131`. `None` where anything else is in it, such as a sign in front.
pub(crate) fn split_numbers(text: &str) -> Option<SmallVec<[&str; 4]>> {
    let mut numbers = SmallVec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(end);
        if number.is_empty() {
            return None;
        }
        numbers.push(number);
        let next = behind.trim_start();
        rest = next.strip_prefix(['-', '–', 'x', 'X', ':', '*', ',']).unwrap_or(next).trim_start();
        if rest.is_empty() && !behind.is_empty() {
            return None; // a sign with nothing behind it
        }
    }
    (!numbers.is_empty()).then_some(numbers)
}

/// The beginning of a text that may be long.
pub(crate) fn truncate(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// Reads the cells of a move: `1131`, `11-31` or a path `11-13-31` of any length.
pub(crate) fn parse_cells(text: &str, example: &str) -> Result<Vec<Cell>, MoveError> {
    let no_move = |why: &str| {
        let shown = truncate(text.trim(), 40);
        let message = format!("{shown:?} is no move: {why}, as in {example}");
        move_error(MoveErrorKind::Format, message)
    };
    let Some(mut names) = split_numbers(text) else {
        return no_move("write cells by row and column");
    };
    if let [digits] = names[..]
        && digits.len() > 2
        && digits.len() % 2 == 0
    {
        names = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]).collect();
    }
    if names.iter().any(|name| name.len() != 2) {
        return no_move("a cell has two digits");
    }
    if names.len() < 2 {
        return no_move("a move has a start and an end");
    }
    let cell = |name: &&str| Cell::parse(name).ok_or_else(|| name.to_string());
    names.iter().map(cell).collect::<Result<_, _>>().or_else(|name: String| {
        let message = format!("there is no cell {name}: rows and columns are 1 to 8");
        move_error(MoveErrorKind::OffBoard, message)
    })
}

/// The checks of start and end that the hopping games share, before any rule of moving is looked
/// at.
pub(crate) fn check_from_to(
    cells: &[Cell],
    board: &HopBoard,
    sides: [SideInfo; 2],
) -> Result<(), MoveError> {
    let (from, to) = (cells[0], cells[cells.len() - 1]);
    if board.opponent() & from.bit() != 0 {
        let theirs = sides[board.side().other().index()].name;
        let ours = sides[board.side().index()].name;
        let message = format!("the piece on {from} is {theirs}'s, and it is {ours}'s turn");
        return move_error(MoveErrorKind::Start, message);
    }
    if board.own() & from.bit() == 0 {
        return move_error(MoveErrorKind::Start, format!("there is no piece on {from}"));
    }
    if to != from && board.occupied() & to.bit() != 0 {
        let message = format!("{to} is occupied: a turn ends on an empty cell");
        return move_error(MoveErrorKind::End, message);
    }
    Ok(())
}

/// What is wrong with the shape of a path of which some part is a step; `None` where all parts are
/// jumps (or hops: `jump` is the game's word), or there is one part only.
pub(crate) fn explain_mixed_path(
    cells: &[Cell],
    jump: &str,
    is_step: impl Fn(Cell, Cell) -> bool,
) -> Option<String> {
    let steps: Vec<bool> = cells.windows(2).map(|pair| is_step(pair[0], pair[1])).collect();
    let first = steps.iter().position(|step| *step).filter(|_| steps.len() > 1)?;
    let (from, to) = (cells[first], cells[first + 1]);
    Some(match (first, steps[1]) {
        (0, true) => "a turn is one step, not several".into(),
        (0, false) => format!("the pieces may not {jump} after a step: {from}-{to} is a step"),
        _ => format!("the pieces may not step after a {jump}: {from}-{to} is a step"),
    })
}

/// The sentence for `pass` where it is not the only move.
pub(crate) fn explain_pass<T>() -> Result<T, MoveError> {
    move_error(MoveErrorKind::Rule, "a player passes only when no piece can move")
}

/// Whether a text says `pass`.
pub(crate) fn is_pass(text: &str) -> bool {
    text.trim().eq_ignore_ascii_case("pass")
}

/// A path with `-` between its cells.
pub(crate) fn format_path(cells: &[Cell]) -> String {
    cells.iter().map(Cell::to_string).collect::<Vec<_>>().join("-")
}
