//! Nodes that end a line: finished games, repetitions and table hits; and what a draw is worth.

use std::sync::Arc;

use crownhead_rules::{Probe, TableValue};

use crate::score::MAX_EVAL;
use crate::search::Searcher;
use crate::{DRAW, Evaluator, MAX_PLY, Score, Searchable, WIN};

/// Contempt fades to zero for draws this many plies away.
const CONTEMPT_HORIZON: usize = 40;

/// Static eval of a position that a table knows to be won, if enough plies were left.
const UNPROVED_WIN: Score = 1000;
/// Penalty for each ply that is missing.
const MISSING_PLY: Score = 5;
/// Minimum static eval of such a position.
const MIN_UNPROVED_WIN: Score = 100;

impl<P: Searchable, E: Evaluator<P>> Searcher<'_, P, E> {
    /// Score of a node without a search: the game is over, the position is repeated, a table
    /// decides it, or the line has reached [`MAX_PLY`].
    #[inline(always)]
    pub(crate) fn terminal_score(
        &mut self,
        position: &P,
        state: &E::State,
        window: (Score, Score),
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
            && let Some(score) = self.table_score(position, window, ply)
        {
            self.table_hits += 1;
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

    /// Value that the first table with the position proves. A repetition in the game
    /// before the root may stand in the way of a table's win, until a move cannot be taken back.
    fn table_value(&self, position: &P) -> Option<TableValue> {
        let plies_left = position.plies_left();
        let probe = |probe: &Arc<dyn Probe<P>>| probe.probe_in_game(position, plies_left);
        let value = self.probes.iter().find_map(probe)?;
        let since_root = self.stack.keys.len() - self.root_index;
        let may_repeat =
            self.repeats_before_root && position.reversible_plies() as usize >= since_root;
        Some(if may_repeat { value.unproved() } else { value })
    }

    /// Score from a table, if it proves one or a bound that causes a cutoff.
    #[inline(never)]
    fn table_score(
        &self,
        position: &P,
        (alpha, beta): (Score, Score),
        ply: usize,
    ) -> Option<Score> {
        let win_in = |plies: u32| (WIN - (ply as Score + plies as Score)).max(MAX_EVAL + 1);
        let draw = self.draw_score(ply);
        match self.table_value(position)? {
            TableValue::Win { plies } => Some(win_in(plies)),
            TableValue::Draw => Some(draw),
            TableValue::Loss { plies } => Some(-win_in(plies)),
            TableValue::AtLeastDraw { .. } => Some(draw).filter(|&draw| draw >= beta),
            TableValue::AtMostDraw { .. } => Some(draw).filter(|&draw| draw <= alpha),
        }
    }

    /// Static eval of a position that a table may know to be won or lost, without proof that it is
    /// before a draw. It rises as the win comes nearer.
    #[inline(never)]
    fn table_eval(&self, position: &P, eval: Score) -> Score {
        let unproved = |plies: Option<u32>, eval: Score| match plies {
            None => eval.max(MIN_UNPROVED_WIN) + UNPROVED_WIN / 2,
            Some(plies) => {
                let missing = (plies + 1).saturating_sub(position.plies_left()) as Score;
                (UNPROVED_WIN - missing * MISSING_PLY).max(MIN_UNPROVED_WIN)
            }
        };
        match self.table_value(position) {
            Some(TableValue::AtLeastDraw { plies }) => unproved(plies, eval),
            Some(TableValue::AtMostDraw { plies }) => -unproved(plies, -eval),
            _ => eval,
        }
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
        if !self.probes.is_empty() {
            score = self.table_eval(position, score);
        }
        score.clamp(-MAX_EVAL, MAX_EVAL)
    }
}
