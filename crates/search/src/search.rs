//! Iterative deepening, aspiration windows and principal variation search.
//!
//! `docs/search.md` lists the pruning rules and what each of them gained.

use crownhead_rules::{MoveList, Position, Probe};
use std::sync::Arc;

use crate::counter_keys::counter_key_plies;
use crate::history::{HISTORY_MAX, History};
use crate::knowledge::has_repetition;
use crate::limits::NodeBudget;
use crate::movepick::{pick_best, push_moves};
use crate::params::Reductions;
use crate::score::MAX_EVAL;
use crate::thread_data::{SearchStack, ThreadData};
use crate::tt::{Bound, Entry, TranspositionTable};
use crate::{
    DRAW, EngineConfig, Evaluator, Instant, MAX_PLY, PvLine, Quiescence, Score, SearchParams,
    SearchRequest, Searchable, WIN, plies_to_end,
};

/// Maximum nominal depth.
pub(crate) const MAX_DEPTH: i32 = 120;

/// A move of the root position.
#[derive(Clone)]
pub(crate) struct RootMove<P: Position> {
    pub(crate) mv: P::Move,
    pub(crate) score: Score,
    /// Score of the previous iteration.
    pub(crate) previous_score: Score,
    /// Whether `score` is exact, not a bound.
    pub(crate) exact: bool,
    /// Principal variation, `mv` included.
    pub(crate) pv: Vec<P::Move>,
}

/// Result of a complete or aborted iteration.
pub(crate) struct Iteration<P: Position> {
    pub(crate) lines: Vec<PvLine<P>>,
    /// Depth of the last complete iteration.
    pub(crate) depth: u32,
    pub(crate) is_complete: bool,
}

/// What all threads of a search share.
pub(crate) struct Shared<P: Searchable, E> {
    pub(crate) evaluator: Arc<E>,
    pub(crate) probes: Arc<[Arc<dyn Probe<P>>]>,
    pub(crate) tt: Arc<TranspositionTable>,
    pub(crate) config: EngineConfig,
    pub(crate) params: SearchParams,
    pub(crate) reductions: Arc<Reductions>,
}

impl<P: Searchable, E> Clone for Shared<P, E> {
    fn clone(&self) -> Self {
        Shared {
            evaluator: Arc::clone(&self.evaluator),
            probes: Arc::clone(&self.probes),
            tt: Arc::clone(&self.tt),
            config: self.config,
            params: self.params,
            reductions: Arc::clone(&self.reductions),
        }
    }
}

/// The search of one thread.
pub(crate) struct Searcher<'a, P: Searchable, E: Evaluator<P>> {
    pub(crate) evaluator: &'a E,
    pub(crate) probes: &'a [Arc<dyn Probe<P>>],
    pub(crate) tt: &'a TranspositionTable,
    budget: &'a NodeBudget,
    pub(crate) history: &'a mut History<P>,
    pub(crate) stack: &'a mut SearchStack<P>,
    /// Whether reductions and forward pruning are enabled.
    pruning: bool,
    params: &'a SearchParams,
    reductions: &'a Reductions,
    /// See [`EngineConfig::contempt`].
    pub(crate) contempt: Score,
    /// Draw counters up to this value are part of the TT key.
    pub(crate) counter_key_plies: u32,
    /// Index of the root's key in [`SearchStack::keys`].
    pub(crate) root_index: usize,
    /// Whether a position occurred twice before the root or at it, since the last move that cannot
    /// be taken back.
    pub(crate) repeats_before_root: bool,
    /// Ply of the node that a skipped turn has led to: there no turn is skipped again.
    skipped_ply: Option<usize>,
    /// Nodes acquired from the budget and not searched yet.
    nodes_left: u64,
    pub(crate) seldepth: usize,
    /// Nodes decided by a table and not yet reported to the budget.
    pub(crate) table_hits: u64,
    pub(crate) stopped: bool,
}

impl<'a, P: Searchable, E: Evaluator<P>> Searcher<'a, P, E> {
    pub(crate) fn new(
        shared: &'a Shared<P, E>,
        budget: &'a NodeBudget,
        data: &'a mut ThreadData<P>,
        history_keys: &[u64],
    ) -> Self {
        data.new_search(history_keys);
        Searcher {
            evaluator: &shared.evaluator,
            probes: &shared.probes,
            tt: &shared.tt,
            budget,
            history: &mut data.history,
            stack: &mut data.stack,
            pruning: shared.config.pruning,
            params: &shared.params,
            reductions: &shared.reductions,
            contempt: shared.config.contempt,
            counter_key_plies: counter_key_plies(0),
            root_index: history_keys.len(),
            repeats_before_root: false,
            skipped_ply: None,
            nodes_left: 0,
            seldepth: 0,
            table_hits: 0,
            stopped: false,
        }
    }

    /// Nodes searched by all threads; other threads report in blocks.
    pub(crate) fn nodes(&self) -> u64 {
        self.budget.used() - self.nodes_left
    }

    /// Nodes of all threads that a table has decided; other threads report them at their end.
    pub(crate) fn table_hits(&self) -> u64 {
        self.budget.table_hits() + self.table_hits
    }

    /// Returns unused nodes to the budget, and reports the table hits.
    pub(crate) fn release_nodes(&mut self) {
        self.budget.release(std::mem::take(&mut self.nodes_left));
        self.budget.add_table_hits(std::mem::take(&mut self.table_hits));
    }

    /// Counts a node. Returns false if the search must stop.
    #[inline(always)]
    pub(crate) fn count_node(&mut self) -> bool {
        if self.nodes_left == 0 {
            self.nodes_left = self.budget.acquire();
            if self.nodes_left == 0 {
                self.stopped = true;
                return false;
            }
        }
        self.nodes_left -= 1;
        true
    }

    /// Searches the root moves from `first` on and moves the best one to `first`.
    fn search_root(
        &mut self,
        position: &P,
        moves: &mut [RootMove<P>],
        first: usize,
        window: (Score, Score),
        depth: i32,
    ) -> Score {
        let (mut alpha, beta) = window;
        let mut best = -WIN;
        self.counter_key_plies = counter_key_plies(depth);
        let state = self.evaluator.refresh(position);
        self.repeats_before_root = has_repetition(position, &self.stack.keys);
        self.stack.keys.push(position.key());
        self.stack.static_evals[0] = None;
        for index in first..moves.len() {
            let mv = moves[index].mv;
            let child = position.after(mv);
            let child_state = self.evaluator.after(&state, position, mv);
            let mut score = 0;
            if index > first {
                let reduction = self.reduction(depth, index - first).min(1).min(depth - 1);
                let reduction = if P::capture_count(mv) > 0 { 0 } else { reduction };
                let reduced = depth - 1 - reduction;
                score = -self.search::<false>(&child, &child_state, -alpha - 1, -alpha, reduced, 1);
                if score > alpha && reduction > 0 {
                    let full = depth - 1;
                    score =
                        -self.search::<false>(&child, &child_state, -alpha - 1, -alpha, full, 1);
                }
            }
            if index == first || score > alpha {
                score = -self.search::<true>(&child, &child_state, -beta, -alpha, depth - 1, 1);
            }
            if self.stopped {
                break;
            }
            let root = &mut moves[index];
            root.exact = score > alpha && score < beta;
            if score > alpha {
                root.score = score;
                root.pv.truncate(1);
                root.pv.extend_from_slice(&self.stack.pv_table[1]);
                // The other moves keep their order.
                moves[first..=index].rotate_right(1);
            } else {
                root.score = if index == first { score } else { -WIN };
            }
            best = best.max(score);
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        self.stack.keys.pop();
        best
    }

    /// Late move reduction in plies.
    #[inline(always)]
    fn reduction(&self, depth: i32, index: usize) -> i32 {
        if !self.pruning || depth < self.params.lmr_depth {
            return 0;
        }
        self.reductions.plies(depth, index)
    }

    /// Principal variation search (fail-soft).
    fn search<const PV: bool>(
        &mut self,
        position: &P,
        state: &E::State,
        mut alpha: Score,
        mut beta: Score,
        mut depth: i32,
        ply: usize,
    ) -> Score {
        if PV {
            self.stack.pv_table[ply].clear();
        }
        if depth <= 0 {
            return self.qsearch::<PV>(position, state, alpha, beta, ply);
        }
        if !self.count_node() {
            return DRAW;
        }
        if let Some(score) = self.terminal_score(position, state, (alpha, beta), ply) {
            return score;
        }
        // Mate distance pruning: the best result is a win at the next ply, the worst a loss now.
        alpha = alpha.max(-WIN + ply as Score);
        beta = beta.min(WIN - ply as Score - 1);
        if alpha >= beta {
            return alpha;
        }
        let (key, entry) = self.probe_tt(position, position.plies_to_draw(), ply);
        let mut best_index = None;
        if let Some(entry) = entry {
            best_index = entry.best_index;
            let causes_cutoff = entry.depth >= depth
                && match entry.bound {
                    Bound::Exact => true,
                    Bound::Lower => entry.score >= beta,
                    Bound::Upper => entry.score <= alpha,
                };
            // PV nodes must produce a line, not only a score.
            if causes_cutoff && !PV {
                return entry.score;
            }
        }
        let is_forced = position.quiescence() == Quiescence::ForcedCaptures;
        let static_eval = match entry {
            Some(entry) => entry.static_eval,
            None if is_forced => alpha,
            None => self.static_eval(position, state, ply),
        };
        self.stack.static_evals[ply] = (!is_forced).then_some(static_eval);
        let is_improving = !is_forced && self.is_improving(static_eval, ply);
        // Reverse futility pruning.
        if self.pruning
            && !PV
            && !is_forced
            && beta.abs() < MAX_EVAL
            && depth <= self.params.rfp_depth
            && static_eval - self.params.rfp_margin(depth, is_improving) >= beta
            && static_eval < MAX_EVAL
        {
            return static_eval;
        }
        if self.pruning
            && !PV
            && !is_forced
            && static_eval >= beta
            && let Some(score) = self.null_move_score(position, state, beta, depth, ply)
        {
            return score;
        }
        // Internal iterative reduction.
        if self.pruning && best_index.is_none() && depth >= self.params.iir_depth {
            depth -= 1;
        }

        let first = self.stack.moves.len();
        let side = position.side();
        push_moves(position, ply, best_index, self.history, &mut self.stack.moves);
        let count = self.stack.moves.len() - first;
        // A single legal move is not a decision, so it costs no depth.
        let extension = i32::from(count == 1 && ply < MAX_PLY / 2);
        self.stack.keys.push(position.key());
        let mut best = -WIN;
        let original_alpha = alpha;
        for index in 0..count {
            pick_best(&mut self.stack.moves[first + index..]);
            let mv = self.stack.moves[first + index].mv;
            let is_quiet = P::capture_count(mv) == 0;
            // Prune only after a move that does not lose by force.
            if !PV
                && self.pruning
                && index > 0
                && is_quiet
                && !is_forced
                && best > -MAX_EVAL
                && alpha.abs() < MAX_EVAL
            {
                if self.params.lmp_skips(depth, index, is_improving) {
                    break;
                }
                if self.params.futility_skips(depth, static_eval, alpha)
                    && !self.history.is_killer(ply, mv)
                {
                    continue;
                }
            }
            let child = position.after(mv);
            self.tt.prefetch(child.key());
            let child_state = self.evaluator.after(state, position, mv);
            let new_depth = depth - 1 + extension;
            let next = ply + 1;
            let mut score = 0;
            let mut full_window = PV && index == 0;
            if !full_window {
                let mut reduction = 0;
                if index >= self.params.lmr_moves as usize && is_quiet && !is_forced {
                    reduction = self.reduction(depth, index);
                    if reduction > 0 {
                        reduction -= i32::from(self.history.is_killer(ply, mv));
                        reduction -= self.history.count(side, mv) * self.params.lmr_history
                            / (8 * HISTORY_MAX);
                        reduction -= i32::from(PV);
                        reduction = reduction.clamp(0, new_depth - 1);
                    }
                }
                let (low, high, reduced) = (-alpha - 1, -alpha, new_depth - reduction);
                score = -self.search::<false>(&child, &child_state, low, high, reduced, next);
                if score > alpha && reduction > 0 {
                    score = -self.search::<false>(&child, &child_state, low, high, new_depth, next);
                }
                full_window = PV && score > alpha && score < beta;
            }
            if full_window {
                score = -self.search::<true>(&child, &child_state, -beta, -alpha, new_depth, next);
            }
            if self.stopped {
                break;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_index = Some(self.stack.moves[first + index].index);
                    if PV {
                        if !full_window {
                            // A null-window search keeps no line; the child's is outdated.
                            self.stack.pv_table[next].clear();
                        }
                        self.update_pv(ply, mv);
                    }
                    if score >= beta {
                        if is_quiet {
                            let SearchParams { history_bonus, history_max, .. } = *self.params;
                            let bonus = (depth * (depth + history_bonus)).min(history_max);
                            let tried = &self.stack.moves[first..first + index];
                            self.history.update(side, ply, bonus, mv, tried);
                        }
                        break;
                    }
                }
            }
        }
        self.stack.keys.pop();
        self.stack.moves.truncate(first);
        if self.stopped {
            return DRAW;
        }
        let bound = if best >= beta {
            Bound::Lower
        } else if best > original_alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        self.tt.store(key, ply, Entry { score: best, static_eval, depth, bound, best_index });
        best
    }

    /// Whether the static eval has risen since the side's last turn that has one.
    #[inline(always)]
    fn is_improving(&self, static_eval: Score, ply: usize) -> bool {
        let before = |plies: usize| self.stack.static_evals[ply.checked_sub(plies)?];
        before(2).or_else(|| before(4)).is_some_and(|before| static_eval > before)
    }

    /// Null-move pruning: a side to move that stays above `beta` even if it skips its turn does so
    /// with its best move, too. Only games in which a turn can be skipped have it, and it is never
    /// applied twice in a row.
    fn null_move_score(
        &mut self,
        position: &P,
        state: &E::State,
        beta: Score,
        depth: i32,
        ply: usize,
    ) -> Option<Score> {
        let reduction = self.params.null_reduction;
        let is_allowed = reduction > 0 && depth >= self.params.null_depth && beta.abs() < MAX_EVAL;
        if !is_allowed || self.skipped_ply == Some(ply) {
            return None;
        }
        let skip = P::skip_move()?;
        let child = position.after(skip);
        let child_state = self.evaluator.after(state, position, skip);
        let reduced = depth - 1 - reduction - depth / 4;
        self.stack.keys.push(position.key());
        self.skipped_ply = Some(ply + 1);
        let score = -self.search::<false>(&child, &child_state, -beta, -beta + 1, reduced, ply + 1);
        self.skipped_ply = None;
        self.stack.keys.pop();
        // A win after a skipped turn proves no win.
        (score >= beta && !self.stopped).then_some(if score > MAX_EVAL { beta } else { score })
    }

    /// Sets the line at `ply` to `mv` followed by the line of the next ply.
    pub(crate) fn update_pv(&mut self, ply: usize, mv: P::Move) {
        let (before, after) = self.stack.pv_table.split_at_mut(ply + 1);
        let line = &mut before[ply];
        line.clear();
        line.push(mv);
        line.extend_from_slice(&after[0]);
    }
}

/// Returns the legal moves with their static evals, the best first; none if the game is over.
pub(crate) fn root_moves<P: Searchable, E: Evaluator<P>>(
    request: &SearchRequest<P>,
    evaluator: &E,
) -> Vec<RootMove<P>> {
    let position = request.position;
    if position.outcome(request.history_keys).is_some() {
        return Vec::new();
    }
    let mut list = MoveList::new();
    position.legal_moves(&mut list);
    let mut moves: Vec<_> = list
        .iter()
        .map(|&mv| {
            let child = position.after(mv);
            let score = match child.outcome(&[]) {
                Some(outcome) => match outcome.winner {
                    None => 0,
                    Some(winner) if winner == child.side() => 1 - WIN,
                    Some(_) => WIN - 1,
                },
                None => -evaluator.evaluate(&child),
            };
            RootMove { mv, score, previous_score: score, exact: false, pv: vec![mv] }
        })
        .collect();
    moves.sort_by_key(|root| -root.score);
    moves
}

/// Searches with increasing depth. `depth_offset` makes helper threads search other depths.
pub(crate) fn iterative_deepening<P: Searchable, E: Evaluator<P>>(
    searcher: &mut Searcher<'_, P, E>,
    request: &SearchRequest<P>,
    mut moves: Vec<RootMove<P>>,
    start: Instant,
    depth_offset: i32,
    mut on_iteration: impl FnMut(&Searcher<'_, P, E>, Iteration<P>),
) {
    let max_depth =
        request.limits.depth.map_or(MAX_DEPTH, |depth| depth.min(MAX_DEPTH as u32) as i32);
    let multipv = request.multipv.clamp(1, moves.len().max(1));
    for depth in 1..=max_depth {
        for root in &mut moves {
            (root.previous_score, root.exact) = (root.score, false);
        }
        for line in 0..multipv {
            let nominal = (depth + depth_offset).min(MAX_DEPTH);
            aspirate(searcher, request.position, &mut moves, line, (depth, nominal));
            if searcher.stopped {
                // Moves that were not searched keep the score of the previous iteration.
                let best =
                    moves[line..].iter().map(|root| root.previous_score).max().unwrap_or(-WIN);
                for root in moves[line..].iter_mut().filter(|root| !root.exact) {
                    let is_unknown = root.previous_score == -WIN;
                    root.score = if is_unknown { best } else { root.previous_score };
                }
                break;
            }
        }
        let is_complete = !searcher.stopped;
        moves[..multipv].sort_by_key(|root| -root.score);
        let lines: Vec<_> = moves[..multipv]
            .iter()
            .map(|root| PvLine { score: root.score, moves: root.pv.clone() })
            .collect();
        let is_proved = lines
            .iter()
            .all(|line| plies_to_end(line.score).is_some_and(|plies| plies.abs() <= depth));
        let complete_depth = if is_complete { depth } else { depth - 1 };
        on_iteration(searcher, Iteration { lines, depth: complete_depth as u32, is_complete });
        let is_out_of_time = request.limits.soft_time.is_some_and(|time| start.elapsed() >= time);
        if !is_complete || is_out_of_time || is_proved {
            break;
        }
    }
}

/// Searches one line of an iteration with windows that widen until the score is inside.
fn aspirate<P: Searchable, E: Evaluator<P>>(
    searcher: &mut Searcher<'_, P, E>,
    position: &P,
    moves: &mut [RootMove<P>],
    line: usize,
    (depth, nominal): (i32, i32),
) {
    let previous = moves[line].previous_score;
    let mut width = searcher.params.aspiration_window;
    let (mut low, mut high) = match depth {
        5.. => (previous - width, previous + width),
        _ => (-WIN, WIN),
    };
    loop {
        let window = (low.max(-WIN), high.min(WIN));
        let score = searcher.search_root(position, moves, line, window, nominal);
        if searcher.stopped {
            break;
        }
        if score <= low && low > -WIN {
            low = score - width;
        } else if score >= high && high < WIN {
            high = score + width;
        } else {
            break;
        }
        width = width * searcher.params.aspiration_growth / 100;
        if width > 500 {
            (low, high) = (-WIN, WIN);
        }
    }
}
