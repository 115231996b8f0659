//! Counting the leaves of a move tree without playing the last ply; two plies above them, by
//! [`reply_count`](crate::hopping::reply_count).

use super::hops::{Hopper, around, count_steps, hoppers, near};
use super::{CaptureHalma, MAX_PLIES};
use crate::cell::Bits;
use crate::cpu::{self, Work};
use crate::hopping::reply_count::{Replier, Repliers, or_pass};
use crate::{Perft, Position, Side};

impl Perft for CaptureHalma {
    fn horizon(&self) -> u32 {
        u32::from(MAX_PLIES.saturating_sub(self.plies()))
    }

    fn decided(&self) -> bool {
        self.is_home(Side::First) || self.is_home(Side::Second)
    }

    fn count_moves(&self) -> u64 {
        cpu::bits(CountMoves(self))
    }

    fn count_replies(&self) -> u64 {
        cpu::bits(CountReplies(self))
    }
}

/// Counts the moves of a position.
struct CountMoves<'a>(&'a CaptureHalma);

impl Work for CountMoves<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let (own, other) = (self.0.0.own(), self.0.0.other());
        let hops = Bits(hoppers(own, other)).map(|from| count_hops(own, other, from));
        or_pass(count_steps(own, !(own | other)) + hops.sum::<u32>())
    }
}

#[inline(always)]
fn count_hops(own: u64, other: u64, from: u32) -> u32 {
    let mut hops = 0;
    Hopper::new(own, other, from).each(|cells, captured| {
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
struct CountReplies<'a>(&'a CaptureHalma);

impl Work for CountReplies<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let (own, other) = (self.0.0.own(), self.0.0.other());
        let repliers = Repliers::new(Bits(other).map(|from| replier(other, own, from)));
        let mut total = 0;
        self.0.each_move(|mv| {
            if mv.captured != 0 {
                total += self.0.after(mv).leaves(1);
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
fn replier(own: u64, other: u64, from: u32) -> Replier {
    let mut watched = around(1 << from);
    let mut moves = count_steps(1 << from, !(own | other));
    Hopper::new(own, other, from).each(|cells, captured| {
        moves += cells.count_ones() - u32::from(captured == 0);
        // A hop is over a cell next to the area, to one behind it.
        watched |= near(cells);
    });
    Replier { from, moves, watched }
}
