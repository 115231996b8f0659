//! One thread's search: principal-variation alpha-beta with a hash table, reductions and a
//! quiescence search. What is pruned, and what each part gained, is in `docs/search.md`.

use std::time::Instant;

use crownhead_rules::{MoveList, Position};

use crate::engine::{PvLine, SearchRequest};
use crate::history::History;
use crate::limits::NodeBudget;
use crate::movepick::{ScoredMove, pick_best};
use crate::score::MAX_EVAL;
use crate::thread_data::ThreadData;
use crate::tt::{Bound, Entry, TranspositionTable};
use crate::{
    DRAW, EngineConfig, Evaluator, MAX_PLY, Quiescence, Score, Searchable, WIN, plies_to_end,
};

/// Where so few plies are left before a count ends the game, the count is part of what the hash
/// table knows a position by.
const COUNTER_KEY_PLIES: u32 = 24;
/// A line may be longer than its nominal depth, by forced moves and captures; seldom by more than
/// this.
const MAX_OVERSHOOT: u32 = 10;
/// Draws so many plies away do not trouble a player who wants to win.
const CONTEMPT_HORIZON: usize = 40;
/// Deepest nominal depth.
pub(crate) const MAX_DEPTH: i32 = 120;

/// A move of the position that a search starts from.
#[derive(Clone)]
pub(crate) struct RootMove<P: Position> {
    pub(crate) mv: P::Move,
    pub(crate) score: Score,
    /// The score of the last iteration.
    pub(crate) previous_score: Score,
    /// Whether the score is more than a bound.
    pub(crate) exact: bool,
    /// The line that begins with it, itself included.
    pub(crate) pv: Vec<P::Move>,
}

pub(crate) struct Searcher<'a, P: Searchable, E> {
    pub(crate) evaluator: &'a E,
    pub(crate) tt: &'a TranspositionTable,
    pub(crate) budget: &'a NodeBudget,
    pub(crate) history: &'a mut History<P>,
    /// Whether anything but what cannot matter is left out.
    pub(crate) pruning: bool,
    /// Points that the side to move at the root gives for not drawing.
    pub(crate) contempt: Score,
    /// Up to so many plies left, a count is part of the key in the hash table.
    pub(crate) counter_key_plies: u32,
    /// Keys of the game so far and of the line being looked at.
    pub(crate) keys: &'a mut Vec<u64>,
    /// Where the root's key stands among them.
    pub(crate) root_index: usize,
    /// The moves still to be tried at every ply of that line, one after the other.
    pub(crate) moves: &'a mut Vec<ScoredMove<P::Move>>,
    /// The best line from every ply on.
    pub(crate) pv_table: &'a mut [Vec<P::Move>],
    pub(crate) nodes_left: u64,
    pub(crate) seldepth: usize,
    pub(crate) stopped: bool,
}

impl<'a, P: Searchable, E: Evaluator<P>> Searcher<'a, P, E> {
    pub(crate) fn new(
        evaluation: &'a E,
        table: &'a TranspositionTable,
        budget: &'a NodeBudget,
        desk: &'a mut ThreadData<P>,
        past: &[u64],
        settings: EngineConfig,
    ) -> Self {
        let ThreadData { history: memory, keys, moves, pv_table: lines } = desk;
        memory.halve();
        moves.clear();
        keys.clear();
        keys.reserve(past.len() + MAX_PLY + 2);
        keys.extend_from_slice(past);
        Searcher {
            evaluator: evaluation,
            tt: table,
            budget,
            history: memory,
            pruning: settings.pruning,
            contempt: settings.contempt,
            counter_key_plies: COUNTER_KEY_PLIES,
            keys,
            root_index: past.len(),
            moves,
            pv_table: lines,
            nodes_left: 0,
            seldepth: 0,
            stopped: false,
        }
    }

    /// Positions that all threads have looked at; those of others as far as they have told.
    pub(crate) fn nodes(&self) -> u64 {
        self.budget.used() - self.nodes_left
    }

    /// Tells the other threads what was not looked at.
    pub(crate) fn release_nodes(&mut self) {
        self.budget.release(std::mem::take(&mut self.nodes_left));
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Counts a node; false ends the search.
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

    /// Searches the root moves from `first` on and sorts the best to `first`.
    pub(crate) fn root(
        &mut self,
        position: &P,
        moves: &mut [RootMove<P>],
        first: usize,
        window: (Score, Score),
        depth: i32,
    ) -> Score {
        let (mut alpha, beta) = window;
        let mut best = -WIN;
        self.counter_key_plies = COUNTER_KEY_PLIES.max(depth as u32 + MAX_OVERSHOOT);
        self.keys.push(position.key());
        for index in first..moves.len() {
            let child = position.after(moves[index].mv);
            let mut score = 0;
            if index > first {
                let less = self.reduction(depth, index - first).min(1).min(depth - 1);
                let less = if P::capture_count(moves[index].mv) > 0 { 0 } else { less };
                score = -self.search::<false>(&child, -alpha - 1, -alpha, depth - 1 - less, 1);
                if score > alpha && less > 0 {
                    score = -self.search::<false>(&child, -alpha - 1, -alpha, depth - 1, 1);
                }
            }
            if index == first || score > alpha {
                score = -self.search::<true>(&child, -beta, -alpha, depth - 1, 1);
            }
            if self.stopped {
                break;
            }
            let root = &mut moves[index];
            root.exact = score > alpha && score < beta;
            if score > alpha {
                root.score = score;
                root.pv.truncate(1);
                root.pv.extend_from_slice(&self.pv_table[1]);
                // The better move goes to the front, the others keep their order.
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
        self.keys.pop();
        best
    }

    /// How many plies less a late move is searched.
    #[inline(always)]
    pub(crate) fn reduction(&self, depth: i32, index: usize) -> i32 {
        if !self.pruning || depth < 3 {
            return 0;
        }
        i32::from(REDUCTIONS[depth.min(63) as usize][index.min(63)])
    }

    /// Whether the position is as good as drawn because it stood on the board before. If it stands
    /// on the line twice, whoever could do better would have done so the first time. What came
    /// before the root cannot be done otherwise: there the rules decide.
    #[inline(always)]
    pub(crate) fn is_repetition(&self, position: &P) -> bool {
        let back = (position.reversible_plies() as usize).min(self.keys.len());
        if back < 4 {
            return false;
        }
        let key = position.key();
        let mut before = 0;
        for index in (self.keys.len() - back..self.keys.len() - 3).rev().step_by(2) {
            if self.keys[index] == key {
                if index >= self.root_index {
                    return true;
                }
                before += 1;
            }
        }
        before >= 2 && position.outcome(self.keys).is_some()
    }

    /// The value of a position, at least roughly, between `alpha` and `beta`.
    pub(crate) fn search<const PV: bool>(
        &mut self,
        position: &P,
        mut alpha: Score,
        mut beta: Score,
        mut depth: i32,
        ply: usize,
    ) -> Score {
        if PV {
            self.pv_table[ply].clear();
        }
        if depth <= 0 {
            return self.qsearch::<PV>(position, alpha, beta, ply);
        }
        if !self.count_node() {
            return DRAW;
        }
        if let Some(score) = self.terminal_score(position, ply) {
            return score;
        }
        // No line from here can be better than a win at the next ply, or worse than a loss now.
        alpha = alpha.max(-WIN + ply as Score);
        beta = beta.min(WIN - ply as Score - 1);
        if alpha >= beta {
            return alpha;
        }
        let counts = position.plies_to_draw();
        let (key, known) = self.probe_tt(position, counts, ply);
        let mut best_place = None;
        if let Some(entry) = known {
            best_place = entry.best_index;
            let trusted = entry.depth >= depth
                && match entry.bound {
                    Bound::Exact => true,
                    Bound::Lower => entry.score >= beta,
                    Bound::Upper => entry.score <= alpha,
                };
            // On the principal variation the line is wanted too, not the score alone.
            if trusted && !PV {
                return entry.score;
            }
        }
        let unrest = position.quiescence();
        let guess = match known {
            Some(entry) => entry.static_eval,
            None if unrest == Quiescence::ForcedCaptures => alpha,
            None => self.static_eval(position, ply),
        };
        if self.pruning && !PV && unrest != Quiescence::ForcedCaptures && beta.abs() < MAX_EVAL {
            // So far ahead that the opponent would not come back in the plies left.
            if depth <= 6 && guess - P::PARAMS.rfp_margin * depth >= beta && guess < MAX_EVAL {
                return guess;
            }
        }
        if self.pruning && best_place.is_none() && depth >= 5 {
            depth -= 1;
        }

        let first = self.moves.len();
        let side = position.side();
        {
            let (moves, memory) = (&mut *self.moves, &*self.history);
            let mut place = 0u32;
            position.each_move(|mv| {
                let rank = if best_place.is_some_and(|best| u32::from(best) == place) {
                    History::<P>::TT_MOVE
                } else {
                    let promise = position.move_score(mv);
                    memory.score(side, ply, mv, promise)
                };
                moves.push(ScoredMove { mv, score: rank, index: place.min(255) as u8 });
                place += 1;
            });
        }
        let count = self.moves.len() - first;
        // A forced move costs nothing: it is no decision.
        let extension = i32::from(count == 1 && ply < MAX_PLY / 2);
        self.keys.push(position.key());
        let mut best = -WIN;
        let entry_alpha = alpha;
        for index in 0..count {
            pick_best(&mut self.moves[first + index..]);
            let mv = self.moves[first + index].mv;
            let quiet = P::capture_count(mv) == 0;
            // Once a move is found that does not lose by force.
            if !PV
                && self.pruning
                && index > 0
                && quiet
                && unrest != Quiescence::ForcedCaptures
                && best > -MAX_EVAL
                && alpha.abs() < MAX_EVAL
            {
                if lmp_skips::<P>(depth, index) {
                    break;
                }
                if futility_skips::<P>(depth, guess, alpha) && !self.history.is_killer(ply, mv) {
                    continue;
                }
            }
            let child = position.after(mv);
            let next = depth - 1 + extension;
            let mut score = 0;
            let mut full = PV && index == 0;
            if !full {
                let mut less = 0;
                if index >= 2 && quiet && unrest != Quiescence::ForcedCaptures {
                    less = self.reduction(depth, index);
                    if less > 0 {
                        less -= i32::from(self.history.is_killer(ply, mv));
                        less -= self.history.history(side, mv) / 4096;
                        less -= i32::from(PV);
                        less = less.clamp(0, next - 1);
                    }
                }
                score = -self.search::<false>(&child, -alpha - 1, -alpha, next - less, ply + 1);
                if score > alpha && less > 0 {
                    score = -self.search::<false>(&child, -alpha - 1, -alpha, next, ply + 1);
                }
                full = PV && score > alpha && score < beta;
            }
            if full {
                score = -self.search::<true>(&child, -beta, -alpha, next, ply + 1);
            }
            if self.stopped {
                break;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_place = Some(self.moves[first + index].index);
                    if PV {
                        if !full {
                            // Nobody kept a line there: what stands in its place is old.
                            self.pv_table[ply + 1].clear();
                        }
                        self.update_pv(ply, mv);
                    }
                    if score >= beta {
                        if quiet {
                            let tried = &self.moves[first..first + index];
                            self.history.update(side, ply, depth, mv, tried);
                        }
                        break;
                    }
                }
            }
        }
        self.keys.pop();
        self.moves.truncate(first);
        if self.stopped {
            return DRAW;
        }
        let bound = if best >= beta {
            Bound::Lower
        } else if best > entry_alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        self.tt.store(
            key,
            ply,
            Entry { score: best, static_eval: guess, depth, bound, best_index: best_place },
        );
        best
    }

    /// The score of a game that is over, or as good as: a repeated position, or a line that has
    /// become too long.
    #[inline(always)]
    pub(crate) fn terminal_score(&mut self, position: &P, ply: usize) -> Option<Score> {
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
        if ply >= MAX_PLY {
            return Some(self.static_eval(position, ply));
        }
        None
    }

    /// What a draw is worth: the side to move at the root does not like it, and likes it less the
    /// nearer it is. On a long way the opponent may still go wrong.
    #[inline(always)]
    pub(crate) fn draw_score(&self, ply: usize) -> Score {
        let dislike = self.contempt * (CONTEMPT_HORIZON - ply.min(CONTEMPT_HORIZON)) as Score
            / CONTEMPT_HORIZON as Score;
        if ply.is_multiple_of(2) { DRAW - dislike } else { DRAW + dislike }
    }

    #[inline(always)]
    pub(crate) fn static_eval(&self, position: &P, ply: usize) -> Score {
        let mut score = self.evaluator.eval(position);
        if self.contempt != 0 {
            score += self.draw_score(ply) * position.drawishness() / 100;
        }
        score.clamp(-MAX_EVAL, MAX_EVAL)
    }

    /// The line at this ply is now the move and the line one ply on.
    pub(crate) fn update_pv(&mut self, ply: usize, mv: P::Move) {
        let (before, after) = self.pv_table.split_at_mut(ply + 1);
        let line = &mut before[ply];
        line.clear();
        line.push(mv);
        line.extend_from_slice(&after[0]);
    }

    /// What the hash table knows, under which key. A position's key says nothing about the counts
    /// of plies, and where the search may see the end of a count it is what matters: there it
    /// becomes part of the key. What is known without it comes from searches that did not see an
    /// end; it is believed here unless it looked further than the end of a count is now.
    #[inline(always)]
    pub(crate) fn probe_tt(
        &self,
        position: &P,
        counts: [u32; 2],
        ply: usize,
    ) -> (u64, Option<Entry>) {
        let mut key = position.key();
        let mut free = true;
        for (count, clocks) in counts.into_iter().zip(&COUNTER_KEYS) {
            if count <= self.counter_key_plies {
                key ^= clocks[count as usize % COUNTER_KEYS_LEN];
                free = false;
            }
        }
        let mut entry = self.tt.probe(key, ply);
        if free
            && let Some(entry) = &mut entry
            && entry.depth as u32 + MAX_OVERSHOOT >= counts[0].min(counts[1])
        {
            entry.depth = 0;
        }
        (key, entry)
    }
}

/// Whether a quiet move stands so far back in the order that it is left out.
#[inline(always)]
fn lmp_skips<P: Searchable>(depth: i32, index: usize) -> bool {
    let (first, more) = P::PARAMS.lmp_count;
    depth <= P::PARAMS.lmp_depth && index >= first + more * (depth * depth) as usize
}

/// Whether the side to move is so far behind that no quiet move will help.
#[inline(always)]
fn futility_skips<P: Searchable>(depth: i32, guess: Score, alpha: Score) -> bool {
    let (points, more) = P::PARAMS.futility_margin;
    depth <= P::PARAMS.futility_depth && guess + points + more * depth <= alpha
}

/// More counts than a search can see the end of.
const COUNTER_KEYS_LEN: usize = (MAX_DEPTH + 1) as usize + MAX_OVERSHOOT as usize;

/// Numbers that tell counts of plies apart, for each of two counts.
static COUNTER_KEYS: [[u64; COUNTER_KEYS_LEN]; 2] = {
    let mut numbers = [[0; COUNTER_KEYS_LEN]; 2];
    let mut index = 0;
    while index < 2 * COUNTER_KEYS_LEN {
        // SplitMix64.
        let mut z = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(index as u64 + 77);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        numbers[index % 2][index / 2] = z ^ z >> 31;
        index += 1;
    }
    numbers
};

/// By depth and place of a move: how much less deep it is searched. About 0.5 + ln(d)·ln(n)/2.2, in
/// whole plies.
static REDUCTIONS: [[u8; 64]; 64] = {
    let mut table = [[0; 64]; 64];
    let mut depth = 1;
    while depth < 64 {
        let mut index = 1;
        while index < 64 {
            let product = LN_TIMES_100[depth] * LN_TIMES_100[index + 1];
            table[depth][index] = ((50 * 220 + product) / (220 * 100)) as u8;
            index += 1;
        }
        depth += 1;
    }
    table
};

/// 100·ln(n), rounded down: how often the factor 1.01 (almost) fits into n.
const LN_TIMES_100: [u64; 65] = {
    let mut table = [0; 65];
    let (mut count, mut power, mut n) = (0, 1_000_000_000, 1);
    while n < table.len() {
        while power + power / 100 <= n as u64 * 1_000_000_000 {
            power += power / 100;
            count += 1;
        }
        table[n] = count;
        n += 1;
    }
    table
};

/// What an iteration, finished or broken off, found.
pub(crate) struct Iteration<P: Position> {
    pub(crate) lines: Vec<PvLine<P>>,
    pub(crate) depth: u32,
    pub(crate) finished: bool,
}

/// The legal moves, those first that lead to positions judged well; none if the game is over.
pub(crate) fn root_moves<P: Searchable>(
    task: &SearchRequest<P>,
    evaluation: &P::Evaluator,
) -> Vec<RootMove<P>> {
    if task.position.outcome(task.history_keys).is_some() {
        return Vec::new();
    }
    let mut list = MoveList::new();
    task.position.legal_moves(&mut list);
    let mut moves: Vec<_> = list
        .iter()
        .map(|&mv| {
            let child = task.position.after(mv);
            let score = match child.outcome(&[]) {
                Some(outcome) => match outcome.winner {
                    None => 0,
                    Some(winner) if winner == child.side() => 1 - WIN,
                    Some(_) => WIN - 1,
                },
                None => -evaluation.eval(&child),
            };
            RootMove { mv, score, previous_score: score, exact: false, pv: vec![mv] }
        })
        .collect();
    moves.sort_by_key(|root| -root.score);
    moves
}

/// Half the width of the first window around the last score.
const ASPIRATION_WINDOW: Score = 18;

/// Searches deeper and deeper; `offset` makes helper threads differ.
pub(crate) fn iterative_deepening<P: Searchable>(
    worker: &mut Searcher<'_, P, P::Evaluator>,
    task: &SearchRequest<P>,
    mut moves: Vec<RootMove<P>>,
    start: Instant,
    offset: i32,
    mut heard: impl FnMut(&Searcher<'_, P, P::Evaluator>, Iteration<P>),
) {
    let last = task.limits.depth.map_or(MAX_DEPTH, |depth| depth.min(MAX_DEPTH as u32) as i32);
    let lines = task.multipv.clamp(1, moves.len().max(1));
    for depth in 1..=last {
        let nominal = (depth + offset).min(MAX_DEPTH);
        for root in &mut moves {
            (root.previous_score, root.exact) = (root.score, false);
        }
        for line in 0..lines {
            let before = moves[line].previous_score;
            let mut low = if depth >= 5 { before - ASPIRATION_WINDOW } else { -WIN };
            let mut high = if depth >= 5 { before + ASPIRATION_WINDOW } else { WIN };
            let mut width = ASPIRATION_WINDOW;
            loop {
                let window = (low.max(-WIN), high.min(WIN));
                let score = worker.root(task.position, &mut moves, line, window, nominal);
                if worker.is_stopped() {
                    break;
                }
                if score <= low && low > -WIN {
                    low = score - width;
                } else if score >= high && high < WIN {
                    high = score + width;
                } else {
                    break;
                }
                width *= 3;
                if width > 500 {
                    (low, high) = (-WIN, WIN);
                }
            }
            if worker.is_stopped() {
                // What was not found out stands as it was.
                let best =
                    moves[line..].iter().map(|root| root.previous_score).max().unwrap_or(-WIN);
                for root in moves[line..].iter_mut().filter(|root| !root.exact) {
                    root.score =
                        if root.previous_score == -WIN { best } else { root.previous_score };
                }
                break;
            }
        }
        let finished = !worker.is_stopped();
        moves[..lines].sort_by_key(|root| -root.score);
        let found = moves[..lines].iter();
        let found = found.map(|root| PvLine { score: root.score, moves: root.pv.clone() });
        let done = if finished { depth } else { depth - 1 };
        let lines_found: Vec<_> = found.collect();
        let proved = lines_found
            .iter()
            .all(|line| plies_to_end(line.score).is_some_and(|plies| plies.abs() <= depth));
        heard(worker, Iteration { lines: lines_found, depth: done as u32, finished });
        let enough = task.limits.soft_time.is_some_and(|time| start.elapsed() >= time);
        if !finished || enough || proved {
            break;
        }
    }
}
