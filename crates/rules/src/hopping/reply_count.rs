//! Incremental reply counts for perft, for games where a move changes few cells.
//!
//! Most moves do not affect most of the opponent's pieces. So the moves of each piece are counted
//! once, together with the cells that the count depends on; after a move only the pieces that
//! depend on a changed cell are counted again.

use arrayvec::ArrayVec;

/// A piece of the side that replies.
pub(crate) struct ReplyPiece {
    pub(crate) from: u32,
    /// Number of its moves.
    pub(crate) moves: u32,
    /// The cells that the number depends on.
    pub(crate) depends_on: u64,
}

/// All pieces of the side that replies; at most nine in a hopping game.
pub(crate) struct ReplyCounter {
    pieces: ArrayVec<ReplyPiece, 9>,
    moves: u32,
    depends_on: u64,
}

impl ReplyCounter {
    #[inline(always)]
    pub(crate) fn new(pieces: impl Iterator<Item = ReplyPiece>) -> ReplyCounter {
        let pieces: ArrayVec<ReplyPiece, 9> = pieces.collect();
        let moves = pieces.iter().map(|piece| piece.moves).sum();
        let depends_on = pieces.iter().fold(0, |cells, piece| cells | piece.depends_on);
        ReplyCounter { pieces, moves, depends_on }
    }

    /// Counts the replies to a move that changes these cells. `recount` counts the moves of one
    /// piece after it.
    #[inline(always)]
    pub(crate) fn count(&self, changed: u64, recount: impl Fn(u32) -> u32) -> u64 {
        if changed & self.depends_on == 0 {
            return at_least_one(self.moves);
        }
        let moves = |piece: &ReplyPiece| {
            if changed & piece.depends_on == 0 { piece.moves } else { recount(piece.from) }
        };
        at_least_one(self.pieces.iter().map(moves).sum())
    }
}

/// Returns the number of moves of a side: without any other move there is the pass.
#[inline(always)]
pub(crate) fn at_least_one(moves: u32) -> u64 {
    u64::from(moves.max(1))
}
