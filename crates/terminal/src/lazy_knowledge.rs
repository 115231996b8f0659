//! Tables loaded on first use, by the thread that needs them: loading takes longer than a frame.

use std::sync::{Arc, OnceLock};

use crownhead_play::Knowledge;
use crownhead_play::knowledge::from_tables;
use crownhead_rules::Game;
use crownhead_tables::registry;

/// Tables of one game, shared by its players and searches.
#[derive(Clone, Default)]
pub struct LazyKnowledge(Arc<OnceLock<(Knowledge, Option<String>)>>);

impl LazyKnowledge {
    /// Returns the tables; the first caller loads them.
    pub fn get(&self, game: &Game) -> &Knowledge {
        let load = || {
            let (tables, warning) = registry::load(game.info().id);
            (from_tables(&tables), warning)
        };
        &self.0.get_or_init(load).0
    }

    /// Warning about a missing table, once the tables have been loaded.
    pub fn warning(&self) -> Option<&str> {
        self.0.get().and_then(|(_, warning)| warning.as_deref())
    }
}
