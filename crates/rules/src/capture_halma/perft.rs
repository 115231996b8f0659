//! Bulk counting: the last two plies by [`reply_count`](crate::hopping::reply_count).

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
        let (own, opponent) = (self.0.0.own(), self.0.0.opponent());
        let hops = Bits(hoppers(own, opponent)).map(|from| count_hops(own, opponent, from));
        at_least_one(count_steps(own, !(own | opponent)) + hops.sum::<u32>())
    }
}

#[inline(always)]
fn count_hops(own: u64, opponent: u64, from: u32) -> u32 {
    let mut hops = 0;
    Hopper::new(own, opponent, from).each_region(|cells, captured| {
        // Without a capture, a move back to the start would change nothing.
        hops += cells.count_ones() - u32::from(captured == 0);
    });
    hops
}

#[inline(always)]
fn count_piece(own: u64, opponent: u64, from: u32) -> u32 {
    count_steps(1 << from, !(own | opponent)) + count_hops(own, opponent, from)
}

/// Counts the replies to all moves of a position.
struct CountTwoPlies<'a>(&'a CaptureHalma);

impl Kernel for CountTwoPlies<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let (own, opponent) = (self.0.0.own(), self.0.0.opponent());
        let repliers =
            ReplyCounter::new(Bits(opponent).map(|from| reply_piece(opponent, own, from)));
        let mut total = 0;
        self.0.each_move(|mv| {
            if mv.captured != 0 {
                total += self.0.after(mv).bulk_leaves(1);
                return;
            }
            let changed = mv.from().bit() ^ mv.to().bit();
            let after = own ^ changed;
            // The game does not end if a player has no pieces.
            if after == 0 || after & !self.0.target() != 0 {
                total += repliers.count(changed, |from| count_piece(opponent, after, from));
            } // else all pieces are home and the game is over
        });
        total
    }
}

#[inline(always)]
fn reply_piece(own: u64, opponent: u64, from: u32) -> ReplyPiece {
    let mut depends_on = neighbours(1 << from);
    let mut moves = count_steps(1 << from, !(own | opponent));
    Hopper::new(own, opponent, from).each_region(|cells, captured| {
        moves += cells.count_ones() - u32::from(captured == 0);
        // A hop goes over a cell next to the region to the cell behind it.
        depends_on |= within_two(cells);
    });
    ReplyPiece { from, moves, depends_on }
}
