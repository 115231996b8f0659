//! Capture Halma: steps and hops along rows and columns. A hop over an opponent's piece captures
//! it.

mod hops;
mod perft;
mod text;

use std::fmt;

use crate::cell::Bits;
use crate::hopping::board::HopBoard;
use crate::{Cell, EndReason, Outcome, Position, Side};
use hops::{Hopper, hoppers, neighbours};

/// Targets: columns 7 and 8 for Black, columns 1 and 2 for White.
pub const TARGETS: [u64; 2] = [0xc0c0_c0c0_c0c0_c0c0, 0x0303_0303_0303_0303];
/// The game ends after 200 turns by each player.
pub const MAX_PLIES: u16 = 400;
/// Each side starts with nine pieces and cannot gain any.
const MAX_PIECES: u32 = 9;
/// Cells 11 22 31 33 42 51 53 62 71, and their mirror images.
const START: [u64; 2] = [0x0001_0205_0205_0201, 0x8040_a040_a040_8000];

/// A move: start, end and the cells of the captured pieces. The path between is not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    captured: u64,
    from: u8,
    to: u8,
}

impl Move {
    /// A skipped turn. No other move leaves the board unchanged.
    const PASS: Move = Move { captured: 0, from: 0, to: 0 };

    /// Returns whether this is a skipped turn.
    pub fn is_pass(self) -> bool {
        self == Move::PASS
    }

    /// Returns the number of captured pieces.
    pub fn captures(self) -> u32 {
        self.captured.count_ones()
    }

    /// Returns the cells of the captured pieces.
    #[inline(always)]
    pub fn captured(self) -> u64 {
        self.captured
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

/// A position of Capture Halma.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CaptureHalma(HopBoard);

impl CaptureHalma {
    /// Returns the number of plies played, skipped turns included.
    pub fn plies(&self) -> u16 {
        self.0.plies()
    }

    /// Returns the pieces of a side; bit 0 is cell `11`.
    pub fn pieces(&self, side: Side) -> u64 {
        self.0.pieces(side)
    }

    /// Returns the current score of a side: the number of its pieces in its target.
    pub fn score(&self, side: Side) -> u8 {
        (self.pieces(side) & TARGETS[side.index()]).count_ones() as u8
    }

    /// Returns the target of the side to move.
    #[inline(always)]
    fn target(&self) -> u64 {
        TARGETS[self.0.side().index()]
    }

    /// Returns whether a side has pieces and all of them are in its target.
    #[inline(always)]
    fn is_home(&self, side: Side) -> bool {
        let own = self.pieces(side);
        own != 0 && own & !TARGETS[side.index()] == 0
    }
}

impl Position for CaptureHalma {
    type Move = Move;
    type Options = ();

    fn start(_: &()) -> Self {
        CaptureHalma(HopBoard::new(START, Side::First, 0))
    }

    #[inline(always)]
    fn side(&self) -> Side {
        self.0.side()
    }

    #[inline(always)]
    fn each_move(&self, mut visit: impl FnMut(Move)) {
        let (own, opponent) = (self.0.own(), self.0.opponent());
        let empty = !(own | opponent);
        let hoppers = hoppers(own, opponent);
        for from in Bits(own) {
            let mut visit = |cells, captured| {
                for to in Bits(cells) {
                    visit(Move { captured, from: from as u8, to: to as u8 });
                }
            };
            visit(neighbours(1 << from) & empty, 0);
            if hoppers >> from & 1 != 0 {
                Hopper::new(own, opponent, from).each_region(|cells, captured| {
                    // Without a capture, a move back to the start would change nothing.
                    visit(if captured == 0 { cells & !(1 << from) } else { cells }, captured);
                });
            }
        }
        if neighbours(own) & empty == 0 && hoppers == 0 {
            visit(Move::PASS);
        }
    }

    fn skip_move() -> Option<Move> {
        Some(Move::PASS)
    }

    #[inline(always)]
    fn after(&self, mv: Move) -> Self {
        CaptureHalma(self.0.after(mv.from(), mv.to(), mv.captured))
    }

    fn outcome(&self, _past: &[u64]) -> Option<Outcome> {
        let reason = if self.is_home(Side::First) || self.is_home(Side::Second) {
            EndReason::AllHome
        } else if self.plies() >= MAX_PLIES {
            EndReason::TurnLimit
        } else {
            return None;
        };
        let (first, second) = (self.score(Side::First), self.score(Side::Second));
        let winner = match first.cmp(&second) {
            std::cmp::Ordering::Greater => Some(Side::First),
            std::cmp::Ordering::Less => Some(Side::Second),
            std::cmp::Ordering::Equal => None,
        };
        Some(Outcome { winner, reason, score: Some((first, second)) })
    }

    #[inline(always)]
    fn key(&self) -> u64 {
        self.0.key()
    }

    fn recompute_key(&self) -> u64 {
        self.0.recompute_key()
    }
}

impl fmt::Debug for CaptureHalma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::Notation;
        f.write_str(&self.format_position())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.from(), self.to())?;
        if self.captured != 0 {
            let captured: Vec<_> = Bits(self.captured).map(Cell::from_index).collect();
            write!(f, " capturing {captured:?}")?;
        }
        Ok(())
    }
}
