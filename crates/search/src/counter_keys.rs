//! Draw counters and the transposition table.
//!
//! A position's key does not contain its draw counters. Far from a draw they do not matter; where
//! the search can see the end of a counter, its value becomes part of the TT key.

use crate::score::MAX_EVAL;
use crate::search::{MAX_DEPTH, Searcher};
use crate::tt::Entry;
use crate::{Evaluator, Score, Searchable, WIN};

/// A counter with at most this many plies left is part of the TT key at every depth.
const COUNTER_KEY_PLIES: u32 = 24;
/// Plies by which a line seldom exceeds its nominal depth, through forced moves and captures.
const MAX_OVERSHOOT: u32 = 10;

/// Returns the largest counter value that is part of the key in a search of this depth.
pub(crate) fn counter_key_plies(depth: i32) -> u32 {
    COUNTER_KEY_PLIES.max(depth as u32 + MAX_OVERSHOOT)
}

impl<P: Searchable, E: Evaluator<P>> Searcher<'_, P, E> {
    /// Returns the TT key of a position and its entry. `counters` are the position's
    /// [`plies_to_draw`](Searchable::plies_to_draw).
    ///
    /// An entry comes from a search that did not reach the end of a counter that is not in its key.
    /// It is used for its move only if that search could reach the end now, or if its forced win
    /// (which may come from a table) takes longer.
    #[inline(always)]
    pub(crate) fn probe_tt(
        &self,
        position: &P,
        counters: [u32; 2],
        ply: usize,
    ) -> (u64, Option<Entry>) {
        let mut key = position.key();
        // On the counters that are not in the key.
        let mut plies_left = u32::MAX;
        for (counter, keys) in counters.into_iter().zip(&COUNTER_KEYS) {
            if counter <= self.counter_key_plies {
                key ^= keys[counter as usize % COUNTER_KEYS_LEN];
            } else {
                plies_left = plies_left.min(counter);
            }
        }
        let mut entry = self.tt.probe(key, ply);
        if let Some(entry) = &mut entry {
            let reaches_draw = entry.depth as u32 + MAX_OVERSHOOT >= plies_left;
            if reaches_draw || (!self.probes.is_empty() && is_slower(entry.score, ply, plies_left))
            {
                entry.depth = 0;
            }
        }
        (key, entry)
    }
}

/// Whether `score`, seen from the root, is a result forced `plies_left` or more plies after `ply`.
fn is_slower(score: Score, ply: usize, plies_left: u32) -> bool {
    score.abs() > MAX_EVAL && (WIN - score.abs() - ply as Score) as u32 >= plies_left
}

/// Number of counter values that a search can reach.
const COUNTER_KEYS_LEN: usize = (MAX_DEPTH + 1) as usize + MAX_OVERSHOOT as usize;

/// Random keys of counter values, for each of two counters.
static COUNTER_KEYS: [[u64; COUNTER_KEYS_LEN]; 2] = {
    let mut keys = [[0; COUNTER_KEYS_LEN]; 2];
    let mut index = 0;
    while index < 2 * COUNTER_KEYS_LEN {
        // SplitMix64.
        let mut z = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(index as u64 + 77);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        keys[index % 2][index / 2] = z ^ z >> 31;
        index += 1;
    }
    keys
};

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crownhead_rules::{English, Notation, Position, Probe, TableValue};

    use super::*;
    use crate::eval::material::MaterialEvaluator;
    use crate::limits::NodeBudget;
    use crate::params::Reductions;
    use crate::search::Shared;
    use crate::thread_data::ThreadData;
    use crate::tt::{Bound, TranspositionTable};
    use crate::{EngineConfig, Instant, SearchLimits, SearchParams, StopFlag};

    struct Table;

    impl Probe<English> for Table {
        fn probe(&self, _: &English) -> Option<TableValue> {
            None
        }
    }

    /// A man's move restarts the first counter, and the win may still take longer than the second
    /// one has left.
    #[test]
    fn win_is_not_reused_where_a_counter_outside_the_key_ends_the_game_first() {
        let shared = Shared {
            evaluator: Arc::new(MaterialEvaluator),
            probes: Arc::from([Arc::new(Table) as Arc<dyn Probe<English>>]),
            tt: Arc::new(TranspositionTable::new(1).unwrap()),
            config: EngineConfig::default(),
            params: SearchParams::DEFAULT,
            reductions: Arc::new(Reductions::new(&SearchParams::DEFAULT)),
        };
        let mut data = ThreadData::new();
        let budget = NodeBudget::new(&SearchLimits::default(), Instant::now(), &StopFlag::new());
        let searcher = Searcher::new(&shared, &budget, &mut data, &[]);
        let position = English::start(&English::parse_options("").unwrap());
        let is_reused = |stored, found| {
            let (key, _) = searcher.probe_tt(&position, stored, 0);
            let (score, static_eval, depth) = (WIN - 40, 0, 3);
            let entry = Entry { score, static_eval, depth, bound: Bound::Exact, best_index: None };
            shared.tt.clear();
            shared.tt.store(key, 0, entry);
            let (_, entry) = searcher.probe_tt(&position, found, 0);
            entry.is_some_and(|entry| entry.depth == depth)
        };
        assert!(is_reused([50, 50], [41, 45]));
        assert!(!is_reused([50, 50], [45, 40]));
        assert!(is_reused([10, 50], [10, 41]));
        assert!(!is_reused([10, 50], [10, 40]));
        assert!(!is_reused([50, 10], [30, 10]));
        // Both are in the key: the win does not come from other counters.
        assert!(is_reused([10, 20], [10, 20]));
    }
}
