//! Counting the leaves of a move tree without playing the last ply; two plies above them, by
//! [`reply_count`](crate::hopping::reply_count).

use super::jumps::{STEPS, jumps, watched};
use super::{CAMPS, ChineseCheckers, MAX_PLIES, Move};
use crate::cell::Bits;
use crate::cpu::{self, Work};
use crate::hopping::reply_count::{Replier, Repliers, or_pass};
use crate::{Perft, Position};

impl Perft for ChineseCheckers {
    fn horizon(&self) -> u32 {
        u32::from(MAX_PLIES.saturating_sub(self.plies()))
    }

    fn decided(&self) -> bool {
        self.is_won()
    }

    fn count_moves(&self) -> u64 {
        cpu::bits(CountMoves(self))
    }

    fn count_replies(&self) -> u64 {
        cpu::bits(CountReplies(self))
    }
}

/// Counts the moves of a position.
struct CountMoves<'a>(&'a ChineseCheckers);

impl Work for CountMoves<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let board = &self.0.0;
        let targets =
            Bits(board.own()).map(|from| ChineseCheckers::targets(board.occupied(), from));
        or_pass(targets.map(u64::count_ones).sum())
    }
}

/// Counts the opponent's moves after all moves of a position.
struct CountReplies<'a>(&'a ChineseCheckers);

impl Work for CountReplies<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let board = &self.0.0;
        let occupied = board.occupied();
        let repliers = Repliers::new(Bits(board.other()).map(|from| replier(occupied, from)));
        let camp = CAMPS[board.side().other().index()];
        let mut any = 0;
        let mut total = 0;
        for from in Bits(board.own()) {
            let targets = ChineseCheckers::targets(occupied, from);
            any |= targets;
            for to in Bits(targets) {
                let changed = 1 << from | 1 << to;
                let after = occupied ^ changed;
                if camp & !after != 0 || (board.own() ^ changed) & camp == 0 {
                    let recount = |from| ChineseCheckers::targets(after, from).count_ones();
                    total += repliers.count(changed, recount);
                } // else the camp is filled, and the game is over
            }
        }
        if any == 0 { self.0.after(Move::PASS).leaves(1) } else { total }
    }
}

#[inline(always)]
fn replier(occupied: u64, from: u32) -> Replier {
    let lifted = occupied & !(1 << from);
    let steps = STEPS[from as usize & 63];
    let mut cells = steps;
    let mut reached = 1u64 << from;
    let mut left = Bits(reached);
    while let Some(cell) = left.next() {
        cells |= watched(lifted, cell);
        let fresh = jumps(lifted, cell) & !reached;
        reached |= fresh;
        left.0 |= fresh;
    }
    let targets = (steps & !occupied | reached) & !(1 << from);
    // Whoever comes to a cell that it can reach is in its way.
    Replier { from, moves: targets.count_ones(), watched: cells | reached }
}
