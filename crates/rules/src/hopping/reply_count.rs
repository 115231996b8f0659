//! Counting the replies to many moves of one position, for games where a turn changes few cells.
//!
//! Most pieces of the opponent do not care about a turn. So each of them is looked at once, for how
//! many moves it has and on which cells that number depends; after a turn only those are looked at
//! again whose cells have changed.

use arrayvec::ArrayVec;

/// A piece of the player who replies.
pub(crate) struct Replier {
    pub(crate) from: u32,
    /// How many moves it has.
    pub(crate) moves: u32,
    /// The cells that number depends on.
    pub(crate) watched: u64,
}

/// All pieces of the player who replies; no hopping game has more than nine.
pub(crate) struct Repliers {
    pieces: ArrayVec<Replier, 9>,
    moves: u32,
    watched: u64,
}

impl Repliers {
    #[inline(always)]
    pub(crate) fn new(pieces: impl Iterator<Item = Replier>) -> Repliers {
        let pieces: ArrayVec<Replier, 9> = pieces.collect();
        let moves = pieces.iter().map(|piece| piece.moves).sum();
        let watched = pieces.iter().fold(0, |cells, piece| cells | piece.watched);
        Repliers { pieces, moves, watched }
    }

    /// The number of replies to a turn that changes these cells; `recount` gives the moves of a
    /// piece after it.
    #[inline(always)]
    pub(crate) fn count(&self, changed: u64, recount: impl Fn(u32) -> u32) -> u64 {
        if changed & self.watched == 0 {
            return or_pass(self.moves);
        }
        let moves = |piece: &Replier| {
            if changed & piece.watched == 0 { piece.moves } else { recount(piece.from) }
        };
        or_pass(self.pieces.iter().map(moves).sum())
    }
}

/// The moves of a player whose pieces have so many: at least the pass.
#[inline(always)]
pub(crate) fn or_pass(moves: u32) -> u64 {
    u64::from(moves.max(1))
}
