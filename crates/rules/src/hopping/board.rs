//! Board of the hopping games: 64 cells, one kind of piece per side, side to move and ply count.

use std::hash::{Hash, Hasher};

use crate::cell::Bits;
use crate::parse::{Cursor, format_rows, parse_rows, truncate};
use crate::{Cell, PositionError, Side, SideInfo, zobrist};

static KEYS: [[u64; 64]; 2] = zobrist::table(2);

#[derive(Clone)]
pub(crate) struct HopBoard {
    pieces: [u64; 2],
    key: u64,
    side: Side,
    plies: u16,
}

impl HopBoard {
    pub(crate) fn new(pieces: [u64; 2], side: Side, plies: u16) -> Self {
        let mut board = HopBoard { pieces, key: 0, side, plies };
        board.key = board.recompute_key();
        board
    }

    #[inline(always)]
    pub(crate) const fn side(&self) -> Side {
        self.side
    }

    /// Returns the number of plies played, passes included.
    #[inline(always)]
    pub(crate) const fn plies(&self) -> u16 {
        self.plies
    }

    #[inline(always)]
    pub(crate) const fn key(&self) -> u64 {
        self.key
    }

    #[inline(always)]
    pub(crate) const fn pieces(&self, side: Side) -> u64 {
        self.pieces[side.index()]
    }

    /// Returns the pieces of the side to move.
    #[inline(always)]
    pub(crate) const fn own(&self) -> u64 {
        self.pieces(self.side)
    }

    /// Returns the pieces of the other side.
    #[inline(always)]
    pub(crate) const fn opponent(&self) -> u64 {
        self.pieces(self.side.other())
    }

    #[inline(always)]
    pub(crate) const fn occupied(&self) -> u64 {
        self.pieces[0] | self.pieces[1]
    }

    /// Returns the board after a move. A pass is a move that ends where it starts.
    #[inline(always)]
    pub(crate) fn after(&self, from: Cell, to: Cell, captured: u64) -> Self {
        let (us, them) = (self.side.index(), self.side.other().index());
        let mut pieces = self.pieces;
        pieces[us] ^= from.bit() ^ to.bit();
        pieces[them] &= !captured;
        let mut key = self.key ^ zobrist::SIDE_TO_MOVE;
        key ^= KEYS[us][from.index() as usize] ^ KEYS[us][to.index() as usize];
        for cell in Bits(captured) {
            key ^= KEYS[them][cell as usize & 63];
        }
        HopBoard { pieces, key, side: self.side.other(), plies: self.plies.saturating_add(1) }
    }

    pub(crate) fn recompute_key(&self) -> u64 {
        let mut key = if self.side == Side::First { 0 } else { zobrist::SIDE_TO_MOVE };
        for (pieces, keys) in self.pieces.into_iter().zip(&KEYS) {
            key = Bits(pieces).fold(key, |key, cell| key ^ keys[cell as usize & 63]);
        }
        key
    }

    /// Returns the letters of the 64 cells.
    pub(crate) fn letters(&self, sides: [SideInfo; 2]) -> [char; 64] {
        let letter = |bit: u64| {
            let owner = self.pieces.iter().position(|pieces| pieces & bit != 0);
            owner.map_or('.', |side| sides[side].letter)
        };
        std::array::from_fn(|index| letter(1 << index))
    }

    /// Formats the eight rows, the letter of the side to move and the ply count.
    pub(crate) fn format(&self, sides: [SideInfo; 2]) -> String {
        let rows = format_rows(&self.letters(sides));
        format!("{rows} {} {}", sides[self.side.index()].letter, self.plies)
    }

    /// Parses the output of [`format`](HopBoard::format). The ply count is optional and need not
    /// match the side to move, since people who set up a position rarely know it.
    pub(crate) fn parse(
        text: &str,
        sides: [SideInfo; 2],
        max_pieces: u32,
        max_plies: u16,
    ) -> Result<HopBoard, PositionError> {
        let mut cursor = Cursor::new(text);
        cursor.skip_spaces();
        let letters = String::from_iter(sides.map(|side| side.letter));
        let mut pieces = [0u64; 2];
        for (cell, letter, offset) in parse_rows(&mut cursor, &letters)? {
            let side = usize::from(letter == sides[1].letter);
            pieces[side] |= cell.bit();
            if pieces[side].count_ones() > max_pieces {
                let name = sides[side].name;
                return cursor
                    .error_at(offset, format!("{name} has more than {max_pieces} pieces"));
            }
        }
        let side = cursor.parse_side(sides)?;
        cursor.skip_spaces();
        let offset = cursor.offset();
        let number = cursor.take_while(|c| !c.is_whitespace());
        let plies = match number.parse() {
            Ok(plies) if plies <= max_plies => plies,
            _ if number.is_empty() => 0,
            _ => {
                let number = truncate(number, 12);
                let message = format!("invalid ply count {number:?}; expected 0 to {max_plies}");
                return cursor.error_at(offset, message);
            }
        };
        cursor.expect_end()?;
        Ok(HopBoard::new(pieces, side, plies))
    }
}

impl PartialEq for HopBoard {
    fn eq(&self, other: &Self) -> bool {
        (self.pieces, self.side) == (other.pieces, other.side)
    }
}

impl Eq for HopBoard {}

impl Hash for HopBoard {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}
