//! The textbook players: plain minimax and alpha-beta to a fixed depth.
//!
//! Their evaluation is elementary (`crates/search/weights/textbook`), so that a comparison with the
//! levels shows what a better search and evaluation gain.
//!
//! Both choose at random among equally good moves: the first in generation order would be a front
//! man for one side and a back man for the other.
//!
//! They search one ply, then two, and so on to their depth, so that they have a move when the time
//! is up. Without a time limit only the last iteration counts.

use crownhead_search::textbook::{DynTextbook, SearchResult};
use crownhead_search::{HasEngine, Instant, Knowledge, StopFlag};

use super::{limits, min_time, only_move, pv_texts, typed};
use crate::{Choice, Clock, GameStart, Player, PlayerError, PlayerOptions, Session};

pub(crate) struct Textbook<P: HasEngine> {
    search: Box<dyn DynTextbook<P>>,
    depth: u32,
    pruning: bool,
    options: PlayerOptions,
    rng: fastrand::Rng,
}

impl<P: HasEngine> Textbook<P> {
    /// Creates a minimax player.
    pub(crate) fn minimax(depth: u32, options: PlayerOptions, knowledge: &Knowledge) -> Self {
        let search = P::new_textbook(knowledge);
        let rng = fastrand::Rng::with_seed(0);
        Textbook { search, depth, pruning: false, options, rng }
    }

    /// Creates an alpha-beta player.
    pub(crate) fn alpha_beta(depth: u32, options: PlayerOptions, knowledge: &Knowledge) -> Self {
        Textbook { pruning: true, ..Textbook::minimax(depth, options, knowledge) }
    }
}

impl<P: HasEngine> Player for Textbook<P> {
    fn start_game(&mut self, start: &GameStart<'_>, _: &StopFlag) {
        self.rng = fastrand::Rng::with_seed(start.seed);
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &StopFlag,
        _: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        let start = Instant::now();
        let game = typed::<P>(game)?;
        if let Some(choice) = only_move(game)? {
            return Ok(choice);
        }
        let (position, history_keys) = (game.current(), game.history_keys());
        let limits = limits(&self.options, clock);
        let deadline = limits.hard_time.and_then(|time| start.checked_add(time));
        let should_stop =
            || stop.is_set() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        // The first iteration is short and runs to the end, so that there is always a move.
        let first = self.search.search(position, history_keys, 1, false, &|| false);
        let (mut depth, mut result) = (1, first.ok_or(PlayerError::GameOver)?);
        let mut growth = 1;
        let max_time = min_time(limits.hard_time, limits.soft_time);
        while depth < self.depth && !result.complete && !stop.is_set() {
            // A stopped iteration is wasted, so do not start one that will not finish. It is
            // expected to take the time so far, times the growth of the last iteration.
            let elapsed = Instant::now().saturating_duration_since(start);
            if max_time.is_some_and(|time| elapsed.saturating_mul(growth) >= time) {
                break;
            }
            let deeper =
                self.search.search(position, history_keys, depth + 1, self.pruning, &should_stop);
            let Some(deeper) = deeper else { break };
            growth = (deeper.nodes / result.nodes.max(1)).clamp(1, 1000) as u32;
            (depth, result) = (depth + 1, deeper);
        }
        let SearchResult { score, best_moves, nodes, .. } = result;
        let chosen = self.rng.choice(best_moves).ok_or(PlayerError::GameOver)?;
        let pv = pv_texts(position, &[chosen]);
        let text = pv.first().cloned().ok_or(PlayerError::GameOver)?;
        Ok(Choice { text, score: Some(score), depth, nodes, pv })
    }
}
