//! Counting the replies to many moves of one position, for games where a turn changes few cells.
//!
//! Most pieces of the opponent do not care about a turn. So each of them is looked at once, for how
//! many moves it has and on which cells that number depends; after a turn only those are looked at
//! again whose cells have changed.

use arrayvec::ArrayVec;

/// A piece of the player who replies.
pub(crate) struct ReplyPiece {
    pub(crate) from: u32,
    /// How many moves it has.
    pub(crate) moves: u32,
    /// The cells that number depends on.
    pub(crate) depends_on: u64,
}

/// All pieces of the player who replies; no hopping game has more than nine.
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

    /// The number of replies to a turn that changes these cells; `recount` gives the moves of a
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

/// The moves of a player whose pieces have so many: at least the pass.
#[inline(always)]
pub(crate) fn at_least_one(moves: u32) -> u64 {
    u64::from(moves.max(1))
}
