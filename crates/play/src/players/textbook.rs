//! The players of the textbook: minimax and alpha-beta, so many plies deep and not cleverer. They
//! count what anyone would count (`crates/search/weights/textbook`), so that who compares them with
//! the levels sees what a search and what an evaluation is worth.
//!
//! Among equally good moves both draw lots: the first in the list would be a man at the front for one
//! side and a man at the back for the other.
//!
//! They look one ply ahead, then two, and so on to their depth, so that there is a move whenever the
//! time is up; without a time limit only the last look counts.

use crownhead_search::textbook::{DynTextbook, SearchResult};
use crownhead_search::{HasEngine, Instant, Knowledge, StopFlag};

use super::{limits, shorter, told, typed, without_thought};
use crate::{Choice, Clock, Player, PlayerError, PlayerOptions, Session};

pub(crate) struct Textbook<P: HasEngine> {
    search: Box<dyn DynTextbook<P>>,
    depth: u32,
    pruning: bool,
    options: PlayerOptions,
    lots: fastrand::Rng,
}

impl<P: HasEngine> Textbook<P> {
    /// Looks at every line.
    pub(crate) fn minimax(depth: u32, options: PlayerOptions, knowledge: &Knowledge) -> Self {
        let search = P::new_textbook(knowledge);
        let lots = fastrand::Rng::with_seed(0);
        Textbook { search, depth, pruning: false, options, lots }
    }

    /// Leaves out what cannot matter.
    pub(crate) fn alpha_beta(depth: u32, options: PlayerOptions, knowledge: &Knowledge) -> Self {
        Textbook { pruning: true, ..Textbook::minimax(depth, options, knowledge) }
    }
}

impl<P: HasEngine> Player for Textbook<P> {
    fn new_game(&mut self, seed: u64) {
        self.lots = fastrand::Rng::with_seed(seed);
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
        if let Some(choice) = without_thought(game)? {
            return Ok(choice);
        }
        let (position, past) = (game.current(), game.past());
        let limits = limits(&self.options, clock);
        let deadline = limits.hard_time.and_then(|time| start.checked_add(time));
        let is_over =
            || stop.is_set() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        // The first look is short and must not fail: without it there is no move.
        let first = self.search.minimax(position, past, 1, &|| false);
        let (mut depth, mut found) = (1, first.ok_or(PlayerError::GameOver)?);
        let mut growth = 1;
        while depth < self.depth && !found.complete && !stop.is_set() {
            // A look that is broken off counts for nothing: one that would be is not begun. As
            // long as the last, times the growth of the last, is what it will take.
            let begun = Instant::now();
            let forecast = begun.saturating_duration_since(start).saturating_mul(growth);
            let enough = shorter(limits.hard_time, limits.soft_time);
            if enough.is_some_and(|time| forecast >= time) {
                break;
            }
            let deeper = if self.pruning {
                self.search.alpha_beta(position, past, depth + 1, &is_over)
            } else {
                self.search.minimax(position, past, depth + 1, &is_over)
            };
            let Some(deeper) = deeper else { break };
            growth = (deeper.nodes / found.nodes.max(1)).clamp(1, 1000) as u32;
            (depth, found) = (depth + 1, deeper);
        }
        let SearchResult { score, best_moves: best, nodes, .. } = found;
        let chosen = self.lots.choice(best);
        let line = told(position, &[chosen.ok_or(PlayerError::GameOver)?]);
        let text = line.first().cloned().ok_or(PlayerError::GameOver)?;
        Ok(Choice { text, score: Some(score), depth, nodes, pv: line })
    }
}
