//! Per-thread search state.

use crownhead_rules::Position;

use crate::history::History;
use crate::movepick::ScoredMove;
use crate::{MAX_PLY, Score, Searchable};

/// Per-thread search state, reused across searches.
pub(crate) struct ThreadData<P: Position> {
    pub(crate) history: History<P>,
    pub(crate) stack: SearchStack<P>,
}

/// Buffers of the line being searched. They are allocated once, so that a node allocates nothing.
pub(crate) struct SearchStack<P: Position> {
    /// Keys of the game so far, then of the current line.
    pub(crate) keys: Vec<u64>,
    /// Moves still to be searched, one ply after the other.
    pub(crate) moves: Vec<ScoredMove<P::Move>>,
    /// Triangular PV table: the best line from each ply on.
    pub(crate) pv_table: Vec<Vec<P::Move>>,
    /// Static evals by ply; `None` where captures are mandatory.
    pub(crate) static_evals: Vec<Option<Score>>,
}

impl<P: Searchable> ThreadData<P> {
    pub(crate) fn new() -> Self {
        let pv_table = (0..=MAX_PLY + 1).map(|ply| Vec::with_capacity(MAX_PLY + 2 - ply));
        ThreadData {
            history: History::new(),
            stack: SearchStack {
                keys: Vec::new(),
                moves: Vec::with_capacity(64 * MAX_PLY),
                pv_table: pv_table.collect(),
                static_evals: vec![None; MAX_PLY + 1],
            },
        }
    }

    /// Prepares for a search of a position with these earlier positions.
    pub(crate) fn new_search(&mut self, history_keys: &[u64]) {
        self.history.halve();
        self.stack.moves.clear();
        self.stack.keys.clear();
        self.stack.keys.reserve(history_keys.len() + MAX_PLY + 2);
        self.stack.keys.extend_from_slice(history_keys);
    }

    /// Clears the history.
    pub(crate) fn clear(&mut self) {
        self.history = History::new();
    }
}
