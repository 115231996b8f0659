//! Position texts of checkers: PDN's FEN, and eight rows of letters for people who have a picture
//! of the board.
//!
//! A [`Setup`] is whatever a text put on the board, with the place where each piece was read. It
//! becomes a position only when every check has passed.

use super::variant::Options;
use super::{Checkers, Variant, movegen, squares};
use crate::parse::{Cursor, parse_rows, truncate};
use crate::{PositionError, Side, SideInfo};

/// Each player starts with twelve pieces, and there is no way to get more.
const MAX_PIECES: u32 = 12;

struct Piece {
    square: u32,
    side: Side,
    king: bool,
    offset: usize,
}

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
        setup.parse_rows(&mut cursor, V::SIDES)?
    } else {
        setup.parse_fen(&mut cursor)?
    };
    setup.check(&cursor, side, V::SIDES, options)
}

impl Setup {
    /// `B:W21,22,K23:B1,K2`. Understood as well: small letters, spaces, ranges such as `1-12`, the
    /// colours in either order or left out, a full stop at the end.
    fn parse_fen(&mut self, cursor: &mut Cursor<'_>) -> Result<Side, PositionError> {
        let Some(side) = cursor.take_if(|c| "BbWw".contains(c)).map(colour) else {
            return cursor
                .error("a position starts with the side to move, B or W, as in B:W21,22:B1,K2");
        };
        cursor.skip_spaces();
        let mut seen = [false; 2];
        if cursor.peek() != Some(':') {
            return cursor.error("after the side to move come the pieces, as in B:W21,22:B1,K2");
        }
        loop {
            cursor.skip_spaces();
            match cursor.peek() {
                None => return Ok(side),
                Some(':') => {}
                Some('.') => {
                    cursor.next();
                    cursor.skip_spaces();
                    return match cursor.peek() {
                        None => Ok(side),
                        Some(c) => {
                            cursor.error(format!("{c:?} after the full stop that ends a position"))
                        }
                    };
                }
                Some(c) => {
                    return cursor.error(format!(
                        "{c:?} does not belong here: pieces are listed as :W21,22,K23"
                    ));
                }
            }
            cursor.next();
            cursor.skip_spaces();
            let place = cursor.offset();
            let Some(colour) = cursor.take_if(|c| "BbWw".contains(c)).map(colour) else {
                return cursor.error("after ':' comes the colour of a list of pieces, B or W");
            };
            if std::mem::replace(&mut seen[colour.index()], true) {
                return cursor.error_at(place, "this colour's pieces are listed twice");
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
            let place = cursor.offset();
            let king = cursor.take_if(|c| c == 'K' || c == 'k').is_some();
            let first = parse_square(cursor)?;
            let last =
                if cursor.take_if(|c| c == '-').is_some() { parse_square(cursor)? } else { first };
            if last < first {
                return cursor.error_at(place, format!("the range {first}-{last} runs backward"));
            }
            for square in first..=last {
                self.pieces.push(Piece { square, side, king, offset: place });
            }
            cursor.skip_spaces();
            if cursor.take_if(|c| c == ',').is_none() {
                return Ok(());
            }
        }
    }

    /// Eight rows of `b B w W`, then the side to move.
    fn parse_rows(
        &mut self,
        cursor: &mut Cursor<'_>,
        sides: [SideInfo; 2],
    ) -> Result<Side, PositionError> {
        for (cell, letter, place) in parse_rows(cursor, "bBwW")? {
            let Some(square) = squares::from_cell(cell) else {
                // The neighbours of a light cell are dark.
                let dark = cell.offset(0, 1).or(cell.offset(0, -1)).unwrap_or(cell);
                return cursor.error_at(
                    place,
                    format!("a piece on the light cell {cell}: pieces stand on dark cells, such as {dark}"),
                );
            };
            let (side, king) = (colour(letter), letter.is_uppercase());
            self.pieces.push(Piece { square, side, king, offset: place });
        }
        let side = cursor.parse_side(sides)?;
        cursor.expect_end()?;
        Ok(side)
    }

    fn check<V: Variant>(
        &self,
        cursor: &Cursor<'_>,
        side: Side,
        sides: [SideInfo; 2],
        options: &Options<V>,
    ) -> Result<Checkers<V>, PositionError> {
        let mut pieces = [0; 2];
        let mut kings = 0;
        for piece in &self.pieces {
            let (square, bit) = (piece.square, squares::bit(piece.square));
            let name = sides[piece.side.index()].name;
            let refuse = |message: String| cursor.error_at(piece.offset, message);
            if (pieces[0] | pieces[1]) & bit != 0 {
                return refuse(format!("square {square} is occupied twice"));
            }
            if piece.king && !options.rules.kings {
                return refuse(format!(
                    "a king on {square}: {} is played without kings here",
                    V::ID
                ));
            }
            if !piece.king
                && options.rules.kings
                && bit & movegen::king_row(piece.side == Side::First) != 0
            {
                return refuse(format!(
                    "a man of {name} on {square}, its king-row: there it would be a king, K{square}"
                ));
            }
            let own = &mut pieces[piece.side.index()];
            *own |= bit;
            if own.count_ones() > MAX_PIECES {
                return refuse(format!("{name} has more than {MAX_PIECES} pieces"));
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
    let place = cursor.offset();
    let sign = cursor.take_while(|c| c == '-' || c == '+');
    let digits = cursor.take_while(|c| c.is_ascii_digit());
    if digits.is_empty() {
        return cursor.error_at(place, "a square number is missing: squares are 1 to 32");
    }
    match digits.parse() {
        Ok(square @ 1..=32) if sign.is_empty() => Ok(square),
        _ => {
            let shown = truncate(&format!("{sign}{digits}"), 12);
            cursor.error_at(place, format!("there is no square {shown}: squares are 1 to 32"))
        }
    }
}

pub(super) fn format<V: Variant>(position: &Checkers<V>) -> String {
    let list = |side: Side| {
        let own = position.pieces[side.index()];
        let squares: Vec<_> = (1..=32)
            .filter(|&n| own & squares::bit(n) != 0)
            .map(|n| {
                if position.kings & squares::bit(n) != 0 { format!("K{n}") } else { n.to_string() }
            })
            .collect();
        squares.join(",")
    };
    let side = if position.side == Side::First { 'B' } else { 'W' };
    format!("{side}:W{}:B{}", list(Side::Second), list(Side::First))
}

pub(super) fn board<V: Variant>(position: &Checkers<V>) -> [char; 64] {
    let mut board = ['.'; 64];
    for n in 1..=32 {
        let bit = squares::bit(n);
        for side in [Side::First, Side::Second] {
            if position.pieces[side.index()] & bit != 0 {
                let man = V::SIDES[side.index()].letter;
                let king = position.kings & bit != 0;
                board[squares::cell(n).index() as usize] =
                    if king { man.to_ascii_uppercase() } else { man };
            }
        }
    }
    board
}
