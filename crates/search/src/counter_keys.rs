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
    /// An entry without counters in its key comes from a search that did not reach the end of a
    /// counter. It is used for its move only if that search could reach the end now, or if its
    /// forced win (which may come from a table) takes longer.
    #[inline(always)]
    pub(crate) fn probe_tt(
        &self,
        position: &P,
        counters: [u32; 2],
        ply: usize,
    ) -> (u64, Option<Entry>) {
        let mut key = position.key();
        let mut is_plain_key = true;
        for (counter, keys) in counters.into_iter().zip(&COUNTER_KEYS) {
            if counter <= self.counter_key_plies {
                key ^= keys[counter as usize % COUNTER_KEYS_LEN];
                is_plain_key = false;
            }
        }
        let mut entry = self.tt.probe(key, ply);
        if is_plain_key && let Some(entry) = &mut entry {
            let plies_left = counters[0].min(counters[1]);
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
