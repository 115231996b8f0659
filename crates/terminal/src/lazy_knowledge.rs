//! What players and searches may know of a game. It is looked up when it is first needed, on the thread
//! that needs it: tables are large, and a screen does not wait for them.

use std::sync::{Arc, OnceLock};

use crownhead_play::{Knowledge, knowledge_for};
use crownhead_rules::Game;

/// What is known of one game, shared by all who think about it.
#[derive(Clone, Default)]
pub struct LazyKnowledge(Arc<OnceLock<(Knowledge, Option<String>)>>);

impl LazyKnowledge {
    /// The knowledge; the first who asks waits for it.
    pub fn of(&self, game: &Game) -> &Knowledge {
        &self.0.get_or_init(|| knowledge_for(game)).0
    }

    /// A sentence on what is missing, once somebody has asked.
    pub fn missing(&self) -> Option<&str> {
        self.0.get().and_then(|(_, missing)| missing.as_deref())
    }
}
