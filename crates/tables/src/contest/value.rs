//! Values of positions.
//!
//! Without a capture, the game is drawn after ten plies. So the result depends on the number of
//! plies that are left, from 10 right after a capture to 1. A result other than a draw stays the
//! same with more plies left: by induction, its winner and its last move are the same. So one
//! number is enough: n means that the side to move wins with n or more plies left, and draws with
//! fewer; -n that it loses with n or more plies left, and draws with fewer. 0 is a draw.

use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::checkers::squares::{compact, spread};

use super::index::Men;
use super::slice;
use crate::endgame::Slice;

/// Plies without a capture that draw the game.
pub(super) const DRAW_PLIES: u8 = 10;

/// The side to move has no legal move.
pub(super) const NO_MOVE: i8 = -1;

/// Neither side can force a win.
pub(super) const DRAW: i8 = 0;

/// Worse than every value.
const WORST: i8 = i8::MIN;

impl Men {
    pub(super) fn of(board: MoverBoard) -> Men {
        Men { own: compact(board.own), opponent: compact(board.opponent) }
    }

    pub(super) fn board(self) -> MoverBoard {
        MoverBoard { own: spread(self.own), opponent: spread(self.opponent), kings: 0 }
    }

    pub(super) fn slice(self) -> Slice {
        let [own, opponent] = [self.own, self.opponent].map(|men| men.count_ones() as u8);
        slice(own, opponent)
    }

    /// Maximum number of plies to the end of a game that the side to move wins, or loses. The game
    /// is over at the latest when all men, or all men of the loser, are on their last row.
    pub(super) fn max_plies(self, wins: bool) -> u32 {
        let steps = |rows: [u8; 4], to_last: [u32; 8]| {
            let row = |row: usize| (rows[row / 2] >> (row % 2 * 4) & 15).count_ones();
            (0..8).map(|number| row(number) * to_last[number]).sum::<u32>()
        };
        let own = steps(self.own.to_le_bytes(), [7, 6, 5, 4, 3, 2, 1, 0]);
        let opponent = steps(self.opponent.to_le_bytes(), [0, 1, 2, 3, 4, 5, 6, 7]);
        let turns = if wins { 2 * opponent + 1 } else { 2 * own };
        turns.min(own + opponent)
    }
}

/// Value of a position whose only move is a step to a position of this value.
#[inline(always)]
pub(super) const fn before_step(after: i8) -> i8 {
    let value = -after - after.signum();
    if value.unsigned_abs() > DRAW_PLIES { DRAW } else { value }
}

/// The same for a capture: all plies are left after it.
#[inline(always)]
pub(super) const fn before_capture(after: i8) -> i8 {
    -after.signum()
}

/// The better of two values for the side to move: a win with fewer plies left, a loss that needs
/// more.
#[inline(always)]
pub(super) const fn better(a: i8, b: i8) -> i8 {
    if order(a) >= order(b) { a } else { b }
}

#[inline(always)]
const fn order(value: i8) -> i8 {
    if value == WORST { value } else { (DRAW_PLIES as i8 + 1) * value.signum() - value }
}

/// Value of a position by its moves. `known` is called with each position after a move, in which
/// both sides have men.
#[inline(always)]
pub(super) fn derive(board: MoverBoard, mut known: impl FnMut(Men) -> Option<i8>) -> Option<i8> {
    let mut best = Some(WORST);
    board.each_move(false, |mv| {
        let Some(value) = best else { return };
        let after = board.after(mv);
        let known = if after.own == 0 { Some(NO_MOVE) } else { known(Men::of(after)) };
        let before =
            |after| if mv.is_capture() { before_capture(after) } else { before_step(after) };
        best = known.map(|after| better(value, before(after)));
    });
    best.map(|value| if value == WORST { NO_MOVE } else { value })
}
