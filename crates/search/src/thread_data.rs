//! Per-thread search state.

use crownhead_rules::Position;

use crate::history::History;
use crate::movepick::ScoredMove;
use crate::{MAX_PLY, Searchable};

/// What a thread works with, kept from search to search.
pub(crate) struct ThreadData<P: Position> {
    pub(crate) history: History<P>,
    pub(crate) keys: Vec<u64>,
    pub(crate) moves: Vec<ScoredMove<P::Move>>,
    pub(crate) pv_table: Vec<Vec<P::Move>>,
}

impl<P: Searchable> ThreadData<P> {
    pub(crate) fn new() -> Self {
        ThreadData {
            history: History::new(),
            keys: Vec::new(),
            moves: Vec::with_capacity(64 * MAX_PLY),
            pv_table: (0..=MAX_PLY + 1).map(|ply| Vec::with_capacity(MAX_PLY + 2 - ply)).collect(),
        }
    }

    /// Forgets what earlier searches taught.
    pub(crate) fn clear(&mut self) {
        self.history = History::new();
    }
}
