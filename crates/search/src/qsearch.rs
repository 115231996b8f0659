//! Quiescence search.

use crate::movepick::{pick_best, push_captures};
use crate::search::Searcher;
use crate::{DRAW, Evaluator, MAX_PLY, Quiescence, Score, Searchable, WIN};

impl<P: Searchable, E: Evaluator<P>> Searcher<'_, P, E> {
    /// Searches captures until none is mandatory or worth making.
    pub(crate) fn qsearch<const PV: bool>(
        &mut self,
        position: &P,
        state: &E::State,
        mut alpha: Score,
        beta: Score,
        ply: usize,
    ) -> Score {
        if PV {
            self.stack.pv_table[ply].clear();
        }
        if !self.count_node() {
            return DRAW;
        }
        if let Some(score) = self.terminal_score(position, state, (alpha, beta), ply) {
            return score;
        }
        let quiescence = position.quiescence();
        let mut best = -WIN + ply as Score;
        if quiescence != Quiescence::ForcedCaptures || ply >= MAX_PLY - 1 {
            // Stand pat.
            best = self.static_eval(position, state, ply);
            if best >= beta || quiescence == Quiescence::Quiet || ply >= MAX_PLY - 1 {
                return best;
            }
            alpha = alpha.max(best);
        }
        let first = self.stack.moves.len();
        push_captures(position, &mut self.stack.moves);
        let count = self.stack.moves.len() - first;
        self.stack.keys.push(position.key());
        for index in 0..count {
            pick_best(&mut self.stack.moves[first + index..]);
            let mv = self.stack.moves[first + index].mv;
            let child = position.after(mv);
            let child_state = self.evaluator.after(state, position, mv);
            let score = -self.qsearch::<PV>(&child, &child_state, -beta, -alpha, ply + 1);
            if self.stopped {
                break;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    if PV {
                        self.update_pv(ply, mv);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        self.stack.keys.pop();
        self.stack.moves.truncate(first);
        best
    }
}
