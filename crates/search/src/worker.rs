//! One thread's search: principal-variation alpha-beta with a hash table, reductions and a
//! quiescence search. What is pruned, and what each part gained, is in `docs/search.md`.

use crownhead_rules::Position;

use crate::limits::Budget;
use crate::order::{Choice, Memory, pick};
use crate::score::HIGHEST_GUESS;
use crate::table::{Bound, Entry, Table};
use crate::{DRAW, Evaluate, MAX_PLY, Score, Searchable, Settings, Unrest, WIN};

/// Where so few plies are left before a count ends the game, the count is part of what the hash
/// table knows a position by.
const CLOCK_PLIES: u32 = 24;
/// A line may be longer than its nominal depth, by forced moves and captures; seldom by more than
/// this.
const BEYOND: u32 = 10;
/// Draws so many plies away do not trouble a player who wants to win.
const FAR: usize = 40;
/// Deepest nominal depth.
pub(crate) const MAX_DEPTH: i32 = 120;

/// A move of the position that a search starts from.
#[derive(Clone)]
pub(crate) struct RootMove<P: Position> {
    pub(crate) mv: P::Move,
    pub(crate) score: Score,
    /// The score of the last iteration.
    pub(crate) before: Score,
    /// Whether the score is more than a bound.
    pub(crate) exact: bool,
    /// The line that begins with it, itself included.
    pub(crate) line: Vec<P::Move>,
}

/// What a thread works with, kept from search to search.
pub(crate) struct Desk<P: Position> {
    memory: Memory<P>,
    keys: Vec<u64>,
    moves: Vec<Choice<P::Move>>,
    lines: Vec<Vec<P::Move>>,
}

impl<P: Searchable> Desk<P> {
    pub(crate) fn new() -> Self {
        Desk {
            memory: Memory::new(),
            keys: Vec::new(),
            moves: Vec::with_capacity(64 * MAX_PLY),
            lines: (0..=MAX_PLY + 1).map(|ply| Vec::with_capacity(MAX_PLY + 2 - ply)).collect(),
        }
    }

    /// Forgets what earlier searches taught.
    pub(crate) fn clear(&mut self) {
        self.memory = Memory::new();
    }
}

pub(crate) struct Worker<'a, P: Searchable, E> {
    evaluation: &'a E,
    table: &'a Table,
    budget: &'a Budget,
    memory: &'a mut Memory<P>,
    /// Whether anything but what cannot matter is left out.
    prune: bool,
    /// Points that the side to move at the root gives for not drawing.
    contempt: Score,
    /// Up to so many plies left, a count is part of the key in the hash table.
    clock_plies: u32,
    /// Keys of the game so far and of the line being looked at.
    keys: &'a mut Vec<u64>,
    /// Where the root's key stands among them.
    root: usize,
    /// The moves still to be tried at every ply of that line, one after the other.
    moves: &'a mut Vec<Choice<P::Move>>,
    /// The best line from every ply on.
    lines: &'a mut [Vec<P::Move>],
    left: u64,
    pub(crate) deepest: usize,
    stopped: bool,
}

impl<'a, P: Searchable, E: Evaluate<P>> Worker<'a, P, E> {
    pub(crate) fn new(
        evaluation: &'a E,
        table: &'a Table,
        budget: &'a Budget,
        desk: &'a mut Desk<P>,
        past: &[u64],
        settings: Settings,
    ) -> Self {
        let Desk { memory, keys, moves, lines } = desk;
        memory.fade();
        moves.clear();
        keys.clear();
        keys.reserve(past.len() + MAX_PLY + 2);
        keys.extend_from_slice(past);
        Worker {
            evaluation,
            table,
            budget,
            memory,
            prune: settings.pruning,
            contempt: settings.contempt,
            clock_plies: CLOCK_PLIES,
            keys,
            root: past.len(),
            moves,
            lines,
            left: 0,
            deepest: 0,
            stopped: false,
        }
    }

    /// Positions that all threads have looked at; those of others as far as they have told.
    pub(crate) fn nodes(&self) -> u64 {
        self.budget.taken() - self.left
    }

    /// Tells the other threads what was not looked at.
    pub(crate) fn give_back(&mut self) {
        self.budget.give_back(std::mem::take(&mut self.left));
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Counts a node; false ends the search.
    #[inline(always)]
    fn enter(&mut self) -> bool {
        if self.left == 0 {
            self.left = self.budget.take();
            if self.left == 0 {
                self.stopped = true;
                return false;
            }
        }
        self.left -= 1;
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
        self.clock_plies = CLOCK_PLIES.max(depth as u32 + BEYOND);
        self.keys.push(position.key());
        for index in first..moves.len() {
            let child = position.after(moves[index].mv);
            let mut score = 0;
            if index > first {
                let less = self.reduction(depth, index - first).min(1).min(depth - 1);
                let less = if P::gain(moves[index].mv) > 0 { 0 } else { less };
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
                root.line.truncate(1);
                root.line.extend_from_slice(&self.lines[1]);
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
    fn reduction(&self, depth: i32, index: usize) -> i32 {
        if !self.prune || depth < 3 {
            return 0;
        }
        i32::from(REDUCTIONS[depth.min(63) as usize][index.min(63)])
    }

    /// Whether the position is as good as drawn because it stood on the board before. If it stands
    /// on the line twice, whoever could do better would have done so the first time. What came
    /// before the root cannot be done otherwise: there the rules decide.
    #[inline(always)]
    fn is_repeated(&self, position: &P) -> bool {
        let back = (position.reversible_plies() as usize).min(self.keys.len());
        if back < 4 {
            return false;
        }
        let key = position.key();
        let mut before = 0;
        for index in (self.keys.len() - back..self.keys.len() - 3).rev().step_by(2) {
            if self.keys[index] == key {
                if index >= self.root {
                    return true;
                }
                before += 1;
            }
        }
        before >= 2 && position.outcome(self.keys).is_some()
    }

    /// The value of a position, at least roughly, between `alpha` and `beta`.
    fn search<const PV: bool>(
        &mut self,
        position: &P,
        mut alpha: Score,
        mut beta: Score,
        mut depth: i32,
        ply: usize,
    ) -> Score {
        if PV {
            self.lines[ply].clear();
        }
        if depth <= 0 {
            return self.quiesce::<PV>(position, alpha, beta, ply);
        }
        if !self.enter() {
            return DRAW;
        }
        if let Some(score) = self.ended(position, ply) {
            return score;
        }
        // No line from here can be better than a win at the next ply, or worse than a loss now.
        alpha = alpha.max(-WIN + ply as Score);
        beta = beta.min(WIN - ply as Score - 1);
        if alpha >= beta {
            return alpha;
        }
        let counts = position.counts_left();
        let (key, known) = self.look_up(position, counts, ply);
        let mut best_place = None;
        if let Some(entry) = known {
            best_place = entry.best;
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
        let unrest = position.unrest();
        let guess = match known {
            Some(entry) => entry.guess,
            None if unrest == Unrest::Forced => alpha,
            None => self.guess(position, ply),
        };
        if self.prune && !PV && unrest != Unrest::Forced && beta.abs() < HIGHEST_GUESS {
            // So far ahead that the opponent would not come back in the plies left.
            if depth <= 6 && guess - P::PRUNING.margin * depth >= beta && guess < HIGHEST_GUESS {
                return guess;
            }
        }
        if self.prune && best_place.is_none() && depth >= 5 {
            depth -= 1;
        }

        let first = self.moves.len();
        let side = position.side();
        {
            let (moves, memory, evaluation) = (&mut *self.moves, &*self.memory, self.evaluation);
            let mut place = 0u32;
            position.each_move(|mv| {
                let rank = if best_place.is_some_and(|best| u32::from(best) == place) {
                    Memory::<P>::BEST
                } else {
                    let promise = evaluation.promise(position, mv);
                    memory.rank(side, ply, mv, promise)
                };
                moves.push(Choice { mv, rank, place: place.min(255) as u8 });
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
            pick(&mut self.moves[first + index..]);
            let mv = self.moves[first + index].mv;
            let quiet = P::gain(mv) == 0;
            // Once a move is found that does not lose by force.
            if !PV
                && self.prune
                && index > 0
                && quiet
                && unrest != Unrest::Forced
                && best > -HIGHEST_GUESS
                && alpha.abs() < HIGHEST_GUESS
            {
                if is_late::<P>(depth, index) {
                    break;
                }
                if is_behind::<P>(depth, guess, alpha) && !self.memory.is_killer(ply, mv) {
                    continue;
                }
            }
            let child = position.after(mv);
            let next = depth - 1 + extension;
            let mut score = 0;
            let mut full = PV && index == 0;
            if !full {
                let mut less = 0;
                if index >= 2 && quiet && unrest != Unrest::Forced {
                    less = self.reduction(depth, index);
                    if less > 0 {
                        less -= i32::from(self.memory.is_killer(ply, mv));
                        less -= self.memory.history(side, mv) / 4096;
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
                    best_place = Some(self.moves[first + index].place);
                    if PV {
                        if !full {
                            // Nobody kept a line there: what stands in its place is old.
                            self.lines[ply + 1].clear();
                        }
                        self.keep_line(ply, mv);
                    }
                    if score >= beta {
                        if quiet {
                            let tried = &self.moves[first..first + index];
                            self.memory.reward(side, ply, depth, mv, tried);
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
        self.table.put(key, ply, Entry { score: best, guess, depth, bound, best: best_place });
        best
    }

    /// Goes on until no capture is forced or worth taking.
    fn quiesce<const PV: bool>(
        &mut self,
        position: &P,
        mut alpha: Score,
        beta: Score,
        ply: usize,
    ) -> Score {
        if PV {
            self.lines[ply].clear();
        }
        if !self.enter() {
            return DRAW;
        }
        if let Some(score) = self.ended(position, ply) {
            return score;
        }
        let unrest = position.unrest();
        let mut best = -WIN + ply as Score;
        if unrest != Unrest::Forced || ply >= MAX_PLY - 1 {
            best = self.guess(position, ply);
            if best >= beta || unrest == Unrest::Quiet || ply >= MAX_PLY - 1 {
                return best;
            }
            alpha = alpha.max(best);
        }
        let first = self.moves.len();
        let moves = &mut *self.moves;
        position.each_move(|mv| {
            let gain = P::gain(mv);
            if gain > 0 {
                moves.push(Choice { mv, rank: gain as i32, place: 0 });
            }
        });
        let count = self.moves.len() - first;
        self.keys.push(position.key());
        for index in 0..count {
            pick(&mut self.moves[first + index..]);
            let mv = self.moves[first + index].mv;
            let child = position.after(mv);
            let score = -self.quiesce::<PV>(&child, -beta, -alpha, ply + 1);
            if self.stopped {
                break;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    if PV {
                        self.keep_line(ply, mv);
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

    /// The score of a game that is over, or as good as: a repeated position, or a line that has
    /// become too long.
    #[inline(always)]
    fn ended(&mut self, position: &P, ply: usize) -> Option<Score> {
        self.deepest = self.deepest.max(ply);
        if let Some(outcome) = position.outcome(&[]) {
            return Some(match outcome.winner {
                None => self.drawn(ply),
                Some(winner) if winner == position.side() => WIN - ply as Score,
                Some(_) => -WIN + ply as Score,
            });
        }
        if self.is_repeated(position) {
            return Some(self.drawn(ply));
        }
        if ply >= MAX_PLY {
            return Some(self.guess(position, ply));
        }
        None
    }

    /// What a draw is worth: the side to move at the root does not like it, and likes it less the
    /// nearer it is. On a long way the opponent may still go wrong.
    #[inline(always)]
    fn drawn(&self, ply: usize) -> Score {
        let dislike = self.contempt * (FAR - ply.min(FAR)) as Score / FAR as Score;
        if ply.is_multiple_of(2) { DRAW - dislike } else { DRAW + dislike }
    }

    #[inline(always)]
    fn guess(&self, position: &P, ply: usize) -> Score {
        let mut score = self.evaluation.score(position);
        if self.contempt != 0 {
            score += self.drawn(ply) * position.drawishness() / 100;
        }
        score.clamp(-HIGHEST_GUESS, HIGHEST_GUESS)
    }

    /// The line at this ply is now the move and the line one ply on.
    fn keep_line(&mut self, ply: usize, mv: P::Move) {
        let (before, after) = self.lines.split_at_mut(ply + 1);
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
    fn look_up(&self, position: &P, counts: [u32; 2], ply: usize) -> (u64, Option<Entry>) {
        let mut key = position.key();
        let mut free = true;
        for (count, clocks) in counts.into_iter().zip(&CLOCKS) {
            if count <= self.clock_plies {
                key ^= clocks[count as usize % CLOCKS_LEN];
                free = false;
            }
        }
        let mut entry = self.table.get(key, ply);
        if free
            && let Some(entry) = &mut entry
            && entry.depth as u32 + BEYOND >= counts[0].min(counts[1])
        {
            entry.depth = 0;
        }
        (key, entry)
    }
}

/// Whether a quiet move stands so far back in the order that it is left out.
#[inline(always)]
fn is_late<P: Searchable>(depth: i32, index: usize) -> bool {
    let (first, more) = P::PRUNING.late;
    depth <= P::PRUNING.late_depth && index >= first + more * (depth * depth) as usize
}

/// Whether the side to move is so far behind that no quiet move will help.
#[inline(always)]
fn is_behind<P: Searchable>(depth: i32, guess: Score, alpha: Score) -> bool {
    let (points, more) = P::PRUNING.behind;
    depth <= P::PRUNING.behind_depth && guess + points + more * depth <= alpha
}

/// More counts than a search can see the end of.
const CLOCKS_LEN: usize = (MAX_DEPTH + 1) as usize + BEYOND as usize;

/// Numbers that tell counts of plies apart, for each of two counts.
static CLOCKS: [[u64; CLOCKS_LEN]; 2] = {
    let mut numbers = [[0; CLOCKS_LEN]; 2];
    let mut index = 0;
    while index < 2 * CLOCKS_LEN {
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
            let product = LOGARITHMS[depth] * LOGARITHMS[index + 1];
            table[depth][index] = ((50 * 220 + product) / (220 * 100)) as u8;
            index += 1;
        }
        depth += 1;
    }
    table
};

/// 100·ln(n), rounded down: how often the factor 1.01 (almost) fits into n.
const LOGARITHMS: [u64; 65] = {
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
