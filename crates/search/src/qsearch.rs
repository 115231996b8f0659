//! Quiescence search.

use crate::movepick::{ScoredMove, pick_best};
use crate::search::Searcher;
use crate::{DRAW, Evaluator, MAX_PLY, Quiescence, Score, Searchable, WIN};

impl<P: Searchable, E: Evaluator<P>> Searcher<'_, P, E> {
    /// Goes on until no capture is forced or worth taking.
    pub(crate) fn qsearch<const PV: bool>(
        &mut self,
        position: &P,
        mut alpha: Score,
        beta: Score,
        ply: usize,
    ) -> Score {
        if PV {
            self.pv_table[ply].clear();
        }
        if !self.count_node() {
            return DRAW;
        }
        if let Some(score) = self.terminal_score(position, ply) {
            return score;
        }
        let unrest = position.quiescence();
        let mut best = -WIN + ply as Score;
        if unrest != Quiescence::ForcedCaptures || ply >= MAX_PLY - 1 {
            best = self.static_eval(position, ply);
            if best >= beta || unrest == Quiescence::Quiet || ply >= MAX_PLY - 1 {
                return best;
            }
            alpha = alpha.max(best);
        }
        let first = self.moves.len();
        let moves = &mut *self.moves;
        position.each_move(|mv| {
            let gain = P::capture_count(mv);
            if gain > 0 {
                moves.push(ScoredMove { mv, score: gain as i32, index: 0 });
            }
        });
        let count = self.moves.len() - first;
        self.keys.push(position.key());
        for index in 0..count {
            pick_best(&mut self.moves[first + index..]);
            let mv = self.moves[first + index].mv;
            let child = position.after(mv);
            let score = -self.qsearch::<PV>(&child, -beta, -alpha, ply + 1);
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
        self.keys.pop();
        self.moves.truncate(first);
        best
    }
}
