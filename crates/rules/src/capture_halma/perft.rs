//! Counting the leaves of a move tree without playing the last ply; two plies above them, by
//! [`reply_count`](crate::hopping::reply_count).

use super::hops::{Hopper, count_steps, hoppers, neighbours, within_two};
use super::{CaptureHalma, MAX_PLIES};
use crate::cell::Bits;
use crate::cpu::{self, Kernel};
use crate::hopping::reply_count::{ReplyCounter, ReplyPiece, at_least_one};
use crate::{BulkPerft, Position, Side};

impl BulkPerft for CaptureHalma {
    fn max_bulk_depth(&self) -> u32 {
        u32::from(MAX_PLIES.saturating_sub(self.plies()))
    }

    fn board_ends_game(&self) -> bool {
        self.is_home(Side::First) || self.is_home(Side::Second)
    }

    fn count_moves(&self) -> u64 {
        cpu::with_bmi(CountMoves(self))
    }

    fn count_two_plies(&self) -> u64 {
        cpu::with_bmi(CountTwoPlies(self))
    }
}

/// Counts the moves of a position.
struct CountMoves<'a>(&'a CaptureHalma);

impl Kernel for CountMoves<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let (own, other) = (self.0.0.own(), self.0.0.opponent());
        let hops = Bits(hoppers(own, other)).map(|from| count_hops(own, other, from));
        at_least_one(count_steps(own, !(own | other)) + hops.sum::<u32>())
    }
}

#[inline(always)]
fn count_hops(own: u64, other: u64, from: u32) -> u32 {
    let mut hops = 0;
    Hopper::new(own, other, from).each_region(|cells, captured| {
        // With nothing taken, ending on the start changes nothing.
        hops += cells.count_ones() - u32::from(captured == 0);
    });
    hops
}

#[inline(always)]
fn count_piece(own: u64, other: u64, from: u32) -> u32 {
    count_steps(1 << from, !(own | other)) + count_hops(own, other, from)
}

/// Counts the opponent's moves after all moves of a position.
struct CountTwoPlies<'a>(&'a CaptureHalma);

impl Kernel for CountTwoPlies<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let (own, other) = (self.0.0.own(), self.0.0.opponent());
        let repliers = ReplyCounter::new(Bits(other).map(|from| reply_piece(other, own, from)));
        let mut total = 0;
        self.0.each_move(|mv| {
            if mv.captured != 0 {
                total += self.0.after(mv).bulk_leaves(1);
                return;
            }
            let changed = mv.from().bit() ^ mv.to().bit();
            let after = own ^ changed;
            // A player without pieces is never home.
            if after == 0 || after & !self.0.target() != 0 {
                total += repliers.count(changed, |from| count_piece(other, after, from));
            } // else all are home, and the game is over
        });
        total
    }
}

#[inline(always)]
fn reply_piece(own: u64, other: u64, from: u32) -> ReplyPiece {
    let mut depends_on = neighbours(1 << from);
    let mut moves = count_steps(1 << from, !(own | other));
    Hopper::new(own, other, from).each_region(|cells, captured| {
        moves += cells.count_ones() - u32::from(captured == 0);
        // A hop is over a cell next to the area, to one behind it.
        depends_on |= within_two(cells);
    });
    ReplyPiece { from, moves, depends_on }
}
