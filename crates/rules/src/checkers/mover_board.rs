//! Pieces without side, key and counters, as endgame tables store them.

use super::movegen::{Jumps, Move, Pieces, king_row};
use super::{Checkers, Variant};
use crate::{Position, Side};

/// Pieces seen from the side to move, in the layout of [`squares`](super::squares): the board is
/// turned so that its men move toward the higher bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MoverBoard {
    /// Pieces of the side to move.
    pub own: u64,
    /// Pieces of the opponent.
    pub opponent: u64,
    /// Kings of both sides.
    pub kings: u64,
}

impl MoverBoard {
    /// Returns the same pieces seen from the other side.
    #[inline(always)]
    pub const fn turned(self) -> MoverBoard {
        MoverBoard {
            own: turned(self.opponent),
            opponent: turned(self.own),
            kings: turned(self.kings),
        }
    }

    /// Returns whether the side to move can, and so must, capture.
    #[inline(always)]
    pub const fn has_capture(self) -> bool {
        let pieces = self.pieces();
        let empty = pieces.empty();
        pieces.capturing(Jumps::new::<true>(self.opponent, empty)) != 0
    }

    /// Calls `visit` with every move. Men become kings on the last row if `crowning`.
    #[inline(always)]
    pub fn each_move(self, crowning: bool, visit: impl FnMut(Move)) {
        self.pieces().moves::<true, false>(if crowning { king_row(true) } else { 0 }, visit);
    }

    /// Returns the board after a move of [`each_move`](MoverBoard::each_move), seen from the
    /// opponent, whose turn it is.
    #[inline(always)]
    pub const fn after(self, mv: Move) -> MoverBoard {
        let Pieces { own, opponent, kings } = self.pieces().after(mv);
        MoverBoard { own: turned(own), opponent: turned(opponent), kings: turned(kings) }
    }

    #[inline(always)]
    const fn pieces(self) -> Pieces {
        Pieces { own: self.own, opponent: self.opponent, kings: self.kings }
    }
}

/// Returns the board turned by 180°.
#[inline(always)]
const fn turned(board: u64) -> u64 {
    board.reverse_bits() >> 29
}

impl<V: Variant> Checkers<V> {
    /// Returns the pieces seen from the side to move.
    #[inline(always)]
    pub fn mover_board(&self) -> MoverBoard {
        let board = MoverBoard {
            own: self.pieces(Side::First),
            opponent: self.pieces(Side::Second),
            kings: self.kings(),
        };
        if self.side() == Side::First { board } else { board.turned() }
    }
}
