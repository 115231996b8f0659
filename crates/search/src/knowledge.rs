//! The tables a search may consult.

use std::sync::Arc;

use crownhead_rules::Side;

/// Exact knowledge that evaluations may ask for; each works without.
#[derive(Clone, Default)]
pub struct Knowledge {
    /// Distances in Chinese checkers.
    pub solo: Option<Arc<dyn SoloDistances>>,
}

/// How far a player of Chinese checkers has to go.
pub trait SoloDistances: Send + Sync {
    /// The least number of own turns to fill the target if no opponent were there; none unless
    /// there are six pieces.
    fn turns(&self, pieces: u64, side: Side) -> Option<u8>;
}
