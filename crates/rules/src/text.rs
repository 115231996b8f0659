//! Reading that several games share: option lists, boards written as eight rows, and paths of cells.

use crate::notation::refusal;
use crate::{
    Cell, MoveError, MoveErrorKind, OptionText, OptionsError, PositionError, Side, SideText,
};

/// Splits `key=value,…` and checks that each key is known and comes once.
pub(crate) fn read_pairs<'a>(
    text: &'a str,
    game: &str,
    known: &[OptionText],
) -> Result<Vec<(&'a str, &'a str)>, OptionsError> {
    let keys: Vec<_> = known.iter().map(|option| option.key).collect();
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for part in text.split(',').filter(|_| !text.trim().is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
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
    pub(crate) fn place(&self) -> usize {
        self.at
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

/// The pieces of a text of eight rows and where each was read, for checks that follow.
pub(crate) struct Rows {
    pub(crate) pieces: Vec<(Cell, char, usize)>,
}

/// Reads eight rows from row 1: a letter of `letters` for a piece, a digit for a run of empty cells or `.` for
/// one, `/` between rows.
pub(crate) fn read_rows(cursor: &mut Cursor<'_>, letters: &str) -> Result<Rows, PositionError> {
    let mut pieces = Vec::new();
    for row in 1..=8u8 {
        let start = cursor.place();
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
                pieces.push((cell, c, cursor.place()));
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
    Ok(Rows { pieces })
}

/// Writes a board as eight rows, runs of empty cells as digits.
pub(crate) fn write_rows(board: &[char; 64]) -> String {
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

/// Reads the end of a position text: the side's letter and the number of plies played, at most `limit`.
pub(crate) fn read_turn(
    cursor: &mut Cursor<'_>,
    sides: [SideText; 2],
    limit: u16,
) -> Result<(Side, u16), PositionError> {
    cursor.skip_spaces();
    let [first, second] = sides.map(|side| side.letter);
    let place = cursor.place();
    let letter = cursor.take_if(|c| !c.is_whitespace());
    let side = match letter {
        Some(c) if c.eq_ignore_ascii_case(&first) => Side::First,
        Some(c) if c.eq_ignore_ascii_case(&second) => Side::Second,
        _ => {
            let message = format!("after the rows comes the side to move, {first} or {second}");
            return cursor.error_at(place, message);
        }
    };
    cursor.skip_spaces();
    let place = cursor.place();
    let number = cursor.take_while(|c| !c.is_whitespace());
    let plies = match number.parse() {
        Ok(plies) if plies <= limit => plies,
        _ if number.is_empty() => 0, // a position set up by hand
        _ => {
            return cursor.error_at(
                place,
                format!("{number:?} is no number of plies played: it is 0 to {limit}"),
            );
        }
    };
    cursor.skip_spaces();
    match cursor.peek() {
        None => Ok((side, plies)),
        Some(c) => cursor.error(format!("{c:?} after the end of the position")),
    }
}

/// Reads a position of eight rows, the side to move and the plies played, for games with one kind of piece.
pub(crate) fn read_board(
    text: &str,
    sides: [SideText; 2],
    max_pieces: u32,
    max_plies: u16,
) -> Result<([u64; 2], Side, u16), PositionError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_spaces();
    let letters = String::from_iter(sides.map(|side| side.letter));
    let rows = read_rows(&mut cursor, &letters)?;
    let mut pieces = [0u64; 2];
    for (cell, letter, place) in rows.pieces {
        let side = usize::from(letter == sides[1].letter);
        pieces[side] |= cell.bit();
        if pieces[side].count_ones() > max_pieces {
            let name = sides[side].name;
            return cursor.error_at(place, format!("{name} has more than {max_pieces} pieces"));
        }
    }
    let (side, plies) = read_turn(&mut cursor, sides, max_plies)?;
    Ok((pieces, side, plies))
}

/// The letters of a board with one kind of piece.
pub(crate) fn board_of(pieces: [u64; 2], sides: [SideText; 2]) -> [char; 64] {
    std::array::from_fn(|index| {
        let on = |side: usize| pieces[side] >> index & 1 != 0;
        if on(0) {
            sides[0].letter
        } else if on(1) {
            sides[1].letter
        } else {
            '.'
        }
    })
}

/// Reads the cells of a move: `1131`, `11-31` or a path `11-13-31` of any length.
pub(crate) fn read_cells(text: &str, example: &str) -> Result<Vec<Cell>, MoveError> {
    let text = text.trim();
    let shown = || text.chars().take(40).collect::<String>();
    let is_digit = |c: char| c.is_ascii_digit();
    if !text.contains(is_digit) || !text.chars().all(|c| is_digit(c) || "-–xX:, ".contains(c)) {
        let message =
            format!("{:?} is no move: write cells by row and column, as in {example}", shown());
        return refusal(MoveErrorKind::Format, message);
    }
    let mut names: Vec<&str> =
        text.split(|c| !is_digit(c)).filter(|name| !name.is_empty()).collect();
    if let [digits] = names[..]
        && digits.len() > 2
        && digits.len() % 2 == 0
    {
        names = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]).collect();
    }
    if names.iter().any(|name| name.len() != 2) {
        let message = format!("{:?} is no move: a cell has two digits, as in {example}", shown());
        return refusal(MoveErrorKind::Format, message);
    }
    if names.len() < 2 {
        let message =
            format!("{:?} is no move: a move has a start and an end, as in {example}", shown());
        return refusal(MoveErrorKind::Format, message);
    }
    let cell = |name: &&str| Cell::read(name).ok_or_else(|| name.to_string());
    names.iter().map(cell).collect::<Result<_, _>>().or_else(|name: String| {
        let message = format!("there is no cell {name}: rows and columns are 1 to 8");
        refusal(MoveErrorKind::OffBoard, message)
    })
}

/// The checks of start and end that the hopping games share, before any rule of moving is looked at.
pub(crate) fn check_ends(
    cells: &[Cell],
    pieces: [u64; 2],
    side: Side,
    sides: [SideText; 2],
) -> Result<(), MoveError> {
    let (from, to) = (cells[0], cells[cells.len() - 1]);
    let (us, them) = (side.index(), side.other().index());
    if pieces[them] & from.bit() != 0 {
        let (theirs, ours) = (sides[them].name, sides[us].name);
        let message = format!("the piece on {from} is {theirs}'s, and it is {ours}'s turn");
        return refusal(MoveErrorKind::Start, message);
    }
    if pieces[us] & from.bit() == 0 {
        return refusal(MoveErrorKind::Start, format!("there is no piece on {from}"));
    }
    if to != from && (pieces[0] | pieces[1]) & to.bit() != 0 {
        let message = format!("{to} is occupied: a turn ends on an empty cell");
        return refusal(MoveErrorKind::End, message);
    }
    Ok(())
}

/// What is wrong with the shape of a path of which some part is a step; `None` where all parts are hops, or there is
/// one part only.
pub(crate) fn refuse_mixture(
    cells: &[Cell],
    is_step: impl Fn(Cell, Cell) -> bool,
) -> Option<String> {
    let steps: Vec<bool> = cells.windows(2).map(|pair| is_step(pair[0], pair[1])).collect();
    let first = steps.iter().position(|step| *step).filter(|_| steps.len() > 1)?;
    let (from, to) = (cells[first], cells[first + 1]);
    Some(match (first, steps[1]) {
        (0, true) => "a turn is one step, not several".into(),
        (0, false) => format!("the pieces may not hop after a step, such as {from}-{to}"),
        _ => format!("the pieces may not step after a hop: {from}-{to} is a step"),
    })
}

/// The sentence for `pass` where it is not the only move.
pub(crate) fn refuse_pass<T>() -> Result<T, MoveError> {
    refusal(MoveErrorKind::Rule, "a player passes only when no piece can move")
}

/// Whether a text says `pass`.
pub(crate) fn is_pass(text: &str) -> bool {
    text.trim().eq_ignore_ascii_case("pass")
}

/// A path with `-` between its cells.
pub(crate) fn join_cells(cells: &[Cell]) -> String {
    cells.iter().map(Cell::to_string).collect::<Vec<_>>().join("-")
}
