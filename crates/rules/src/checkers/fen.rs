//! Positions of checkers as text: PDN FEN, and eight rows of letters as in a diagram.

use super::variant::Options;
use super::{Checkers, Variant, movegen, squares};
use crate::parse::{Cursor, parse_rows, truncate};
use crate::{PositionError, Side, SideInfo};

/// Each side starts with twelve pieces and cannot gain any.
const MAX_PIECES: u32 = 12;

/// A piece of a position that is not yet validated.
struct Piece {
    square: u32,
    side: Side,
    king: bool,
    /// Offset in the text.
    offset: usize,
}

/// The pieces of a position that is not yet validated.
#[derive(Default)]
struct Setup {
    pieces: Vec<Piece>,
}

pub(super) fn parse<V: Variant>(
    text: &str,
    options: &Options<V>,
) -> Result<Checkers<V>, PositionError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_spaces();
    let mut setup = Setup::default();
    let side = if text.contains('/') && !text.contains(':') {
        setup.parse_rows(&mut cursor, V::INFO.sides)?
    } else {
        setup.parse_fen(&mut cursor)?
    };
    setup.validate(&cursor, side, options)
}

impl Setup {
    /// Parses `B:W21,22,K23:B1,K2`. Also accepts lower case, spaces, ranges such as `1-12`, the
    /// colours in either order or missing, and a full stop at the end.
    fn parse_fen(&mut self, cursor: &mut Cursor<'_>) -> Result<Side, PositionError> {
        let Some(side) = cursor.take_if(|c| "BbWw".contains(c)).map(colour) else {
            return cursor.error("expected the side to move, B or W, for example B:W21,22:B1,K2");
        };
        cursor.skip_spaces();
        let mut seen = [false; 2];
        if cursor.peek() != Some(':') {
            return cursor.error("expected ':' and the pieces, for example B:W21,22:B1,K2");
        }
        loop {
            cursor.skip_spaces();
            match cursor.peek() {
                None => return Ok(side),
                Some(':') => {}
                Some('.') => {
                    cursor.next();
                    cursor.expect_end()?;
                    return Ok(side);
                }
                Some(c) => {
                    return cursor
                        .error(format!("unexpected {c:?}; pieces are listed as :W21,22,K23"));
                }
            }
            cursor.next();
            cursor.skip_spaces();
            let offset = cursor.offset();
            let Some(colour) = cursor.take_if(|c| "BbWw".contains(c)).map(colour) else {
                return cursor.error("expected the colour of the pieces, B or W");
            };
            if std::mem::replace(&mut seen[colour.index()], true) {
                return cursor.error_at(offset, "the pieces of this colour are listed twice");
            }
            self.parse_squares(cursor, colour)?;
        }
    }

    fn parse_squares(&mut self, cursor: &mut Cursor<'_>, side: Side) -> Result<(), PositionError> {
        cursor.skip_spaces();
        if !matches!(cursor.peek(), Some('0'..='9' | 'K' | 'k' | '-' | '+')) {
            return Ok(()); // a colour without pieces
        }
        loop {
            cursor.skip_spaces();
            let offset = cursor.offset();
            let king = cursor.take_if(|c| c == 'K' || c == 'k').is_some();
            let first = parse_square(cursor)?;
            let last =
                if cursor.take_if(|c| c == '-').is_some() { parse_square(cursor)? } else { first };
            if last < first {
                let message = format!("invalid range {first}-{last}: write the lower square first");
                return cursor.error_at(offset, message);
            }
            for square in first..=last {
                self.pieces.push(Piece { square, side, king, offset });
            }
            cursor.skip_spaces();
            if cursor.take_if(|c| c == ',').is_none() {
                return Ok(());
            }
        }
    }

    /// Parses eight rows of `b B w W`, then the side to move.
    fn parse_rows(
        &mut self,
        cursor: &mut Cursor<'_>,
        sides: [SideInfo; 2],
    ) -> Result<Side, PositionError> {
        for (cell, letter, offset) in parse_rows(cursor, "bBwW")? {
            let Some(square) = squares::from_cell(cell) else {
                // The neighbours of a light cell are dark.
                let dark = cell.offset(0, 1).or(cell.offset(0, -1)).unwrap_or(cell);
                let message = format!(
                    "piece on the light cell {cell}; pieces stand on dark cells, for example {dark}"
                );
                return cursor.error_at(offset, message);
            };
            let (side, king) = (colour(letter), letter.is_uppercase());
            self.pieces.push(Piece { square, side, king, offset });
        }
        let side = cursor.parse_side(sides)?;
        cursor.expect_end()?;
        Ok(side)
    }

    fn validate<V: Variant>(
        &self,
        cursor: &Cursor<'_>,
        side: Side,
        options: &Options<V>,
    ) -> Result<Checkers<V>, PositionError> {
        let mut pieces = [0; 2];
        let mut kings = 0;
        for piece in &self.pieces {
            let (square, bit) = (piece.square, squares::bit(piece.square));
            let name = V::INFO.sides[piece.side.index()].name;
            let error = |message: String| cursor.error_at(piece.offset, message);
            if (pieces[0] | pieces[1]) & bit != 0 {
                return error(format!("two pieces on square {square}"));
            }
            if piece.king && !options.rules.kings {
                return error(format!(
                    "king on square {square}, but {} is played without kings",
                    V::ID
                ));
            }
            if !piece.king
                && options.rules.kings
                && bit & movegen::king_row(piece.side == Side::First) != 0
            {
                return error(format!(
                    "{name} man on square {square}, its king-row; only a king stands there: \
                     K{square}"
                ));
            }
            let own = &mut pieces[piece.side.index()];
            *own |= bit;
            if own.count_ones() > MAX_PIECES {
                return error(format!("{name} has more than {MAX_PIECES} pieces"));
            }
            if piece.king {
                kings |= bit;
            }
        }
        Ok(Checkers::new(pieces, kings, side, options))
    }
}

fn colour(letter: char) -> Side {
    if letter.eq_ignore_ascii_case(&'b') { Side::First } else { Side::Second }
}

fn parse_square(cursor: &mut Cursor<'_>) -> Result<u32, PositionError> {
    let offset = cursor.offset();
    let sign = cursor.take_while(|c| c == '-' || c == '+');
    let digits = cursor.take_while(|c| c.is_ascii_digit());
    if digits.is_empty() {
        return cursor.error_at(offset, "expected a square number, 1 to 32");
    }
    match digits.parse() {
        Ok(square @ 1..=32) if sign.is_empty() => Ok(square),
        _ => {
            let number = truncate(&format!("{sign}{digits}"), 12);
            cursor.error_at(offset, format!("invalid square {number}: squares are 1 to 32"))
        }
    }
}

pub(super) fn format<V: Variant>(position: &Checkers<V>) -> String {
    let list = |side: Side| {
        let pieces = position.pieces[side.index()];
        let squares: Vec<_> = (1..=32)
            .filter(|&n| pieces & squares::bit(n) != 0)
            .map(|n| {
                if position.kings & squares::bit(n) != 0 { format!("K{n}") } else { n.to_string() }
            })
            .collect();
        squares.join(",")
    };
    let side = if position.side == Side::First { 'B' } else { 'W' };
    format!("{side}:W{}:B{}", list(Side::Second), list(Side::First))
}

/// Returns the letters of the 64 cells.
pub(super) fn board<V: Variant>(position: &Checkers<V>) -> [char; 64] {
    let [man, king] = [V::INFO.pieces[0], V::INFO.pieces[1]];
    let mut board = ['.'; 64];
    for n in 1..=32 {
        let bit = squares::bit(n);
        let kind = if position.kings & bit != 0 { king } else { man };
        for side in [Side::First, Side::Second] {
            if position.pieces[side.index()] & bit != 0 {
                board[squares::cell(n).index() as usize] = kind.letters[side.index()];
            }
        }
    }
    board
}
