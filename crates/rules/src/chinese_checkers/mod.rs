//! Chinese checkers on 8x8: two camps of six in opposite corners, steps and jumps in eight
//! directions.

mod jumps;
mod perft;
mod text;

use std::fmt;

use crate::cell::Bits;
use crate::hopping::board::HopBoard;
use crate::{Cell, EndReason, Outcome, Position, Side};
use jumps::{STEPS, reachable};

/// Camp of Blue, 11 12 13 21 22 31, and of Red, 88 87 86 78 77 68. Each is the target of the other.
pub const CAMPS: [u64; 2] = [0x0001_0307, 0xe0c0_8000_0000_0000];
/// The game is drawn after 100 turns by each player.
pub const MAX_PLIES: u16 = 200;
/// Number of pieces of each side. They are never captured.
const MAX_PIECES: u32 = 6;

/// A move: start and end. The path between them is not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    from: u8,
    to: u8,
}

impl Move {
    /// The pass of a player who cannot move. No other move ends where it starts.
    const PASS: Move = Move { from: 0, to: 0 };

    /// Returns whether this is a pass.
    pub fn is_pass(self) -> bool {
        self == Move::PASS
    }

    /// Returns the start.
    #[inline(always)]
    pub fn from(self) -> Cell {
        Cell::from_index(self.from.into())
    }

    /// Returns the end.
    #[inline(always)]
    pub fn to(self) -> Cell {
        Cell::from_index(self.to.into())
    }
}

/// A position of Chinese checkers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ChineseCheckers(HopBoard);

impl ChineseCheckers {
    /// Returns the number of plies played, passes included.
    pub fn plies(&self) -> u16 {
        self.0.plies()
    }

    /// Returns the pieces of a side; bit 0 is cell `11`.
    pub fn pieces(&self, side: Side) -> u64 {
        self.0.pieces(side)
    }

    /// Returns the cells that the piece on `from` can reach in one turn.
    ///
    /// `occupied` holds all pieces, including the one on `from`.
    #[inline(always)]
    pub fn destinations(occupied: u64, from: u32) -> u64 {
        let lifted = occupied & !(1 << from);
        STEPS[from as usize & 63] & !occupied | reachable(lifted, from)
    }

    /// Returns whether the player who has just moved has won.
    #[inline(always)]
    fn is_won(&self) -> bool {
        let target = CAMPS[self.0.side().index()];
        target & !self.0.occupied() == 0 && self.0.opponent() & target != 0
    }
}

impl Position for ChineseCheckers {
    type Move = Move;
    type Options = ();

    fn start(_: &()) -> Self {
        ChineseCheckers(HopBoard::new(CAMPS, Side::First, 0))
    }

    #[inline(always)]
    fn side(&self) -> Side {
        self.0.side()
    }

    #[inline(always)]
    fn each_move(&self, mut visit: impl FnMut(Move)) {
        let occupied = self.0.occupied();
        let mut any = 0;
        for from in Bits(self.0.own()) {
            let destinations = Self::destinations(occupied, from);
            any |= destinations;
            for to in Bits(destinations) {
                visit(Move { from: from as u8, to: to as u8 });
            }
        }
        if any == 0 {
            visit(Move::PASS);
        }
    }

    fn skip_move() -> Option<Move> {
        Some(Move::PASS)
    }

    #[inline(always)]
    fn after(&self, mv: Move) -> Self {
        ChineseCheckers(self.0.after(mv.from(), mv.to(), 0))
    }

    fn outcome(&self, _past: &[u64]) -> Option<Outcome> {
        if self.is_won() {
            let winner = Some(self.0.side().other());
            return Some(Outcome { winner, reason: EndReason::CampFilled, score: None });
        }
        let draw = Outcome { winner: None, reason: EndReason::TurnLimit, score: None };
        (self.plies() >= MAX_PLIES).then_some(draw)
    }

    #[inline(always)]
    fn key(&self) -> u64 {
        self.0.key()
    }

    fn recompute_key(&self) -> u64 {
        self.0.recompute_key()
    }
}

impl fmt::Debug for ChineseCheckers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::Notation;
        f.write_str(&self.format_position())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())
    }
}
