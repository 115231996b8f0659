//! The interface of a game for search and perft. Hot, always monomorphised.

use std::fmt::Debug;
use std::hash::Hash;

use crate::{MoveList, Outcome, Side};

/// A position: the board, the side to move and the counters that end a game.
///
/// `Eq`, `Hash` and [`key`](Position::key) ignore the counters.
pub trait Position: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// A complete turn, never a single jump of several.
    type Move: Copy + Eq + Hash + Debug + Send + Sync + 'static;
    /// Rule options.
    type Options: Clone + Default + Eq + Debug + Send + Sync + 'static;

    /// Returns the start position.
    fn start(options: &Self::Options) -> Self;

    /// Returns the side to move.
    fn side(&self) -> Side;

    /// Calls `visit` with every move of the side to move, in a fixed order.
    ///
    /// Does not check whether the game has ended; see [`outcome`](Position::outcome). In games
    /// where a player without a move passes, the pass is then the only move.
    fn each_move(&self, visit: impl FnMut(Self::Move));

    /// Replaces the contents of `out` by the moves of [`each_move`](Position::each_move).
    #[inline(always)]
    fn legal_moves(&self, out: &mut MoveList<Self::Move>) {
        out.clear();
        self.each_move(|mv| out.push(mv));
    }

    /// Returns the move that stands for a turn skipped as a penalty; `None` if the game has no such
    /// turns. It is not a legal move, but [`after`](Position::after) accepts it.
    fn skip_move() -> Option<Self::Move> {
        None
    }

    /// Returns the position after a legal move.
    ///
    /// An illegal move gives a meaningless board, but neither a panic nor undefined behaviour.
    fn after(&self, mv: Self::Move) -> Self;

    /// Plays a legal move in place; see [`after`](Position::after).
    #[inline(always)]
    fn play(&mut self, mv: Self::Move) {
        *self = self.after(mv);
    }

    /// Returns the outcome; `None` if the game is not over. `past` holds the keys of the earlier
    /// positions of the game, for repetition rules.
    fn outcome(&self, past: &[u64]) -> Option<Outcome>;

    /// Returns the hash of the board and the side to move, updated incrementally by
    /// [`after`](Position::after).
    fn key(&self) -> u64;

    /// Computes the hash from the board. Equals [`key`](Position::key).
    fn recompute_key(&self) -> u64;
}
