//! What a search or a count needs of a game: the hot interface, always monomorphised.

use std::fmt::Debug;
use std::hash::Hash;

use crate::{MoveList, Outcome, Side};

/// A position of one game: the board, the side to move, and the counters that end games.
///
/// `Eq`, `Hash` and [`key`](Position::key) see the board and the side to move only, not the
/// counters.
pub trait Position: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// A whole turn, never a single hop.
    type Move: Copy + Eq + Hash + Debug + Send + Sync + 'static;
    /// The rules that can be chosen for a game.
    type Options: Clone + Default + Eq + Debug + Send + Sync + 'static;

    /// The position every game starts from.
    fn start(options: &Self::Options) -> Self;

    /// The side to move.
    fn side(&self) -> Side;

    /// Hands every move of the side to move to `visit`, in a fixed order.
    ///
    /// The moves are those the pieces can make; whether the game has already ended is
    /// [`outcome`](Position::outcome)'s question. Where the rules let a player who cannot move
    /// pass, the pass is the only move.
    fn each_move(&self, visit: impl FnMut(Self::Move));

    /// Fills `out` with the moves of [`each_move`](Position::each_move).
    #[inline(always)]
    fn legal_moves(&self, out: &mut MoveList<Self::Move>) {
        out.clear();
        self.each_move(|mv| out.push(mv));
    }

    /// The turn of a player who is made to pass though there are moves, in games that know such
    /// turns. It is no legal move, and [`after`](Position::after) takes it all the same.
    fn skip_move() -> Option<Self::Move> {
        None
    }

    /// The position after a move that came from [`legal_moves`](Position::legal_moves) of this
    /// position. The caller is trusted: any other move leaves a board of no meaning (but no
    /// panic and no undefined behaviour).
    fn after(&self, mv: Self::Move) -> Self;

    /// Plays a move in place; see [`after`](Position::after).
    #[inline(always)]
    fn play(&mut self, mv: Self::Move) {
        *self = self.after(mv);
    }

    /// How the game ended, if it has. `past` holds the keys of the earlier positions of the game,
    /// for the rules that ask for repetition.
    fn outcome(&self, past: &[u64]) -> Option<Outcome>;

    /// A hash of the board and the side to move, kept up to date by [`after`](Position::after).
    fn key(&self) -> u64;

    /// The key computed afresh from the board: what [`key`](Position::key) must equal.
    fn recompute_key(&self) -> u64;
}
