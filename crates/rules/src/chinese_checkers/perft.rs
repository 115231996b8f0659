//! Bulk counting: the last two plies by [`reply_count`](crate::hopping::reply_count).

use super::jumps::{STEPS, jump_dependencies, jumps};
use super::{CAMPS, ChineseCheckers, MAX_PLIES, Move};
use crate::cell::Bits;
use crate::cpu::{self, Kernel};
use crate::hopping::reply_count::{ReplyCounter, ReplyPiece, at_least_one};
use crate::{BulkPerft, Position};

impl BulkPerft for ChineseCheckers {
    fn max_bulk_depth(&self) -> u32 {
        u32::from(MAX_PLIES.saturating_sub(self.plies()))
    }

    fn board_ends_game(&self) -> bool {
        self.is_won()
    }

    fn count_moves(&self) -> u64 {
        cpu::with_bmi(CountMoves(self))
    }

    fn count_two_plies(&self) -> u64 {
        cpu::with_bmi(CountTwoPlies(self))
    }
}

/// Counts the moves of a position.
struct CountMoves<'a>(&'a ChineseCheckers);

impl Kernel for CountMoves<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let board = &self.0.0;
        let destinations =
            Bits(board.own()).map(|from| ChineseCheckers::destinations(board.occupied(), from));
        at_least_one(destinations.map(u64::count_ones).sum())
    }
}

/// Counts the replies to all moves of a position.
struct CountTwoPlies<'a>(&'a ChineseCheckers);

impl Kernel for CountTwoPlies<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let board = &self.0.0;
        let occupied = board.occupied();
        let repliers =
            ReplyCounter::new(Bits(board.opponent()).map(|from| reply_piece(occupied, from)));
        let camp = CAMPS[board.side().other().index()];
        let mut any = 0;
        let mut total = 0;
        for from in Bits(board.own()) {
            let destinations = ChineseCheckers::destinations(occupied, from);
            any |= destinations;
            for to in Bits(destinations) {
                let changed = 1 << from | 1 << to;
                let after = occupied ^ changed;
                if camp & !after != 0 || (board.own() ^ changed) & camp == 0 {
                    let recount = |from| ChineseCheckers::destinations(after, from).count_ones();
                    total += repliers.count(changed, recount);
                } // else the camp is filled and the game is over
            }
        }
        if any == 0 { self.0.after(Move::PASS).bulk_leaves(1) } else { total }
    }
}

#[inline(always)]
fn reply_piece(occupied: u64, from: u32) -> ReplyPiece {
    let lifted = occupied & !(1 << from);
    let steps = STEPS[from as usize & 63];
    let mut cells = steps;
    let mut reached = 1u64 << from;
    let mut pending = Bits(reached);
    while let Some(cell) = pending.next() {
        cells |= jump_dependencies(lifted, cell);
        let fresh = jumps(lifted, cell) & !reached;
        reached |= fresh;
        pending.0 |= fresh;
    }
    let destinations = (steps & !occupied | reached) & !(1 << from);
    // A piece that arrives on a reachable cell blocks it.
    ReplyPiece { from, moves: destinations.count_ones(), depends_on: cells | reached }
}
