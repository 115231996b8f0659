//! Nodes that end a line: finished games, repetitions and table hits; and what a draw is worth.

use crownhead_rules::TableValue;

use crate::score::MAX_EVAL;
use crate::search::Searcher;
use crate::{DRAW, Evaluator, MAX_PLY, Score, Searchable, WIN};

/// Contempt fades to zero for draws this many plies away.
const CONTEMPT_HORIZON: usize = 40;

impl<P: Searchable, E: Evaluator<P>> Searcher<'_, P, E> {
    /// Score of a node without a search: the game is over, the position is repeated, a table
    /// contains it, or the line has reached [`MAX_PLY`].
    #[inline(always)]
    pub(crate) fn terminal_score(
        &mut self,
        position: &P,
        state: &E::State,
        ply: usize,
    ) -> Option<Score> {
        self.seldepth = self.seldepth.max(ply);
        if let Some(outcome) = position.outcome(&[]) {
            return Some(match outcome.winner {
                None => self.draw_score(ply),
                Some(winner) if winner == position.side() => WIN - ply as Score,
                Some(_) => -WIN + ply as Score,
            });
        }
        if self.is_repetition(position) {
            return Some(self.draw_score(ply));
        }
        if !self.probes.is_empty()
            && let Some(score) = self.table_score(position, ply)
        {
            return Some(score);
        }
        if ply >= MAX_PLY {
            return Some(self.static_eval(position, state, ply));
        }
        None
    }

    /// Whether the position counts as a draw by repetition. A second occurrence on the searched
    /// line is enough: a side that could do better would have done so the first time. Positions
    /// before the root cannot be avoided any more, so for them the rules decide.
    #[inline(always)]
    fn is_repetition(&self, position: &P) -> bool {
        let keys = &self.stack.keys;
        let back = (position.reversible_plies() as usize).min(keys.len());
        if back < 4 {
            return false;
        }
        let key = position.key();
        let mut before_root = 0;
        for index in (keys.len() - back..keys.len() - 3).rev().step_by(2) {
            if keys[index] == key {
                if index >= self.root_index {
                    return true;
                }
                before_root += 1;
            }
        }
        before_root >= 2 && position.outcome(keys).is_some()
    }

    /// Score from the first table that contains the position and whose value holds in spite of the
    /// draw counters ([`TableValue::before_draw`]).
    #[inline(never)]
    fn table_score(&self, position: &P, ply: usize) -> Option<Score> {
        let value = self.probes.iter().find_map(|probe| probe.probe(position))?;
        let win_in = |plies: u32| (WIN - (ply as Score + plies as Score)).max(MAX_EVAL + 1);
        Some(match value.before_draw(position.plies_left())? {
            TableValue::Win { plies } => win_in(plies),
            TableValue::Draw => self.draw_score(ply),
            TableValue::Loss { plies } => -win_in(plies),
        })
    }

    /// Score of a draw at this ply. With contempt, a draw is worse for the side to move at the
    /// root, and a near draw worse than a distant one: before a distant one the opponent may still
    /// go wrong.
    #[inline(always)]
    pub(crate) fn draw_score(&self, ply: usize) -> Score {
        let plies = CONTEMPT_HORIZON - ply.min(CONTEMPT_HORIZON);
        let contempt = self.contempt * plies as Score / CONTEMPT_HORIZON as Score;
        if ply.is_multiple_of(2) { DRAW - contempt } else { DRAW + contempt }
    }

    /// Static eval with contempt.
    #[inline(always)]
    pub(crate) fn static_eval(&self, position: &P, state: &E::State, ply: usize) -> Score {
        let mut score = self.evaluator.eval(position, state);
        if self.contempt != 0 {
            score += self.draw_score(ply) * position.drawishness() / 100;
        }
        score.clamp(-MAX_EVAL, MAX_EVAL)
    }
}
