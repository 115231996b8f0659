//! The search as its users see it: iterative deepening, several threads, several best lines.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crownhead_rules::{MoveList, Position};

use crate::limits::Budget;
use crate::table::Table;
use crate::worker::{Desk, MAX_DEPTH, RootMove, Worker};
use crate::{Evaluate, Knowledge, Limits, Score, Searchable, Stop, WIN, plies_to_end};

/// How an engine is set up.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Threads that search together. One alone always finds the same for the same task.
    pub threads: usize,
    /// Megabytes of hash table; 0 does without.
    pub hash: usize,
    /// Whether reductions and forward pruning are used: without them the search is far slower and
    /// no deeper than its nominal depth, and misses nothing within it.
    pub pruning: bool,
    /// Points that the side to move at the root gives for not drawing at once; a draw further away
    /// troubles it less. With other than 0, all searches until the next [`Engine::clear`] must be
    /// for the same side: what the hash table knows of draws is seen from there.
    pub contempt: Score,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { threads: 1, hash: 64, pruning: true, contempt: 0 }
    }
}

/// What to search.
#[derive(Debug)]
pub struct Task<'a, P> {
    /// The position; its game must not be over.
    pub position: &'a P,
    /// The keys of the positions before it.
    pub past: &'a [u64],
    /// When to end.
    pub limits: Limits,
    /// How many best moves to find a line for.
    pub lines: usize,
}

// By hand: derived, they would ask that positions can be copied.
impl<P> Clone for Task<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Task<'_, P> {}

impl<'a, P> Task<'a, P> {
    /// The best line from a position without a past.
    pub fn new(position: &'a P, limits: Limits) -> Self {
        Task { position, past: &[], limits, lines: 1 }
    }
}

/// A line of play and its worth.
#[derive(Clone, Debug)]
pub struct Line<P: Position> {
    /// For the side to move in the position searched.
    pub score: Score,
    /// The moves, the best one first; at least one.
    pub moves: Vec<P::Move>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Report<P: Position> {
    /// The best lines, the best first; none if there is no legal move or the game is over.
    pub lines: Vec<Line<P>>,
    /// The depth of the last finished iteration.
    pub depth: u32,
    /// The longest line looked at.
    pub deepest: u32,
    /// Positions looked at, by all threads.
    pub nodes: u64,
    /// Time since the start.
    pub time: Duration,
    /// How full the hash table is, in thousandths.
    pub fullness: u32,
}

impl<P: Position> Report<P> {
    /// The best move.
    pub fn best(&self) -> Option<P::Move> {
        self.lines.first().and_then(|line| line.moves.first().copied())
    }

    /// The score of the best line.
    pub fn score(&self) -> Score {
        self.lines.first().map_or(0, |line| line.score)
    }

    /// Positions per second.
    pub fn speed(&self) -> f64 {
        self.nodes as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// A search with its hash table and what it has learnt about moves.
pub struct Engine<P: Searchable> {
    evaluation: Arc<P::Evaluation>,
    table: Arc<Table>,
    desk: Desk<P>,
    helpers: Vec<Helper<P>>,
    settings: Settings,
}

/// A thread that searches beside the main one.
///
/// When the main thread is done a helper may be waiting for a processor, and on a busy machine it
/// waits for longer than a short turn lasts. So nobody whose clock runs waits for it: it ends by
/// itself, and a search that begins before that does without it.
enum Helper<P: Searchable> {
    Idle(Desk<P>),
    Busy(JoinHandle<Desk<P>>),
    /// It has not been needed yet, or its desk is lost.
    New,
}

impl<P: Searchable> Helper<P> {
    /// Waits until it has ended.
    fn desk(&mut self) -> Desk<P> {
        match std::mem::replace(self, Helper::New) {
            Helper::Idle(desk) => desk,
            Helper::Busy(thread) => thread.join().unwrap_or_else(|_| Desk::new()),
            Helper::New => Desk::new(),
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self, Helper::Busy(thread) if !thread.is_finished())
    }

    fn rest(&mut self) {
        if let Helper::Busy(_) = self {
            *self = Helper::Idle(self.desk());
        }
    }
}

/// There is no memory for a hash table.
#[derive(Debug, thiserror::Error)]
#[error("there is no memory for a hash table of {0} MB")]
pub struct NoMemory(usize);

impl<P: Searchable> Engine<P> {
    /// An engine with the game's tuned evaluation.
    pub fn new(settings: Settings, knowledge: &Knowledge) -> Result<Self, NoMemory> {
        Engine::with(P::evaluation(knowledge), settings)
    }

    /// An engine with another evaluation of the same kind.
    pub fn with(evaluation: P::Evaluation, settings: Settings) -> Result<Self, NoMemory> {
        let table = Table::new(settings.hash).ok_or(NoMemory(settings.hash))?;
        let helpers = (1..settings.threads).map(|_| Helper::New).collect();
        let (evaluation, table) = (Arc::new(evaluation), Arc::new(table));
        Ok(Engine { evaluation, table, desk: Desk::new(), helpers, settings })
    }

    /// Judges a position without a search.
    pub fn evaluation(&self) -> &P::Evaluation {
        &self.evaluation
    }

    /// Forgets all earlier searches.
    pub fn clear(&mut self) {
        self.helpers.iter_mut().for_each(|helper| drop(helper.desk()));
        self.desk.clear();
        self.table.clear();
    }

    /// Searches until a limit is reached, `stop` is raised, or the end of the game is proved.
    /// `progress` hears of every finished iteration.
    pub fn search(
        &mut self,
        task: Task<P>,
        stop: &Stop,
        mut progress: impl FnMut(&Report<P>),
    ) -> Report<P> {
        let start = Instant::now();
        let moves = root_moves(&task, &self.evaluation);
        let mut report = Report {
            lines: Vec::new(),
            depth: 0,
            deepest: 0,
            nodes: 0,
            time: Duration::ZERO,
            fullness: 0,
        };
        let Some(first) = moves.first() else { return report };
        // Whatever happens, there is a move.
        report.lines.push(Line { score: first.score, moves: first.line.clone() });
        let budget = Arc::new(Budget::new(&task.limits, start, stop));
        self.table.grow_older();
        for (number, helper) in self.helpers.iter_mut().enumerate() {
            if let Some(time) = task.limits.time {
                // Starting many threads takes time too.
                if start.elapsed() > time / 8 {
                    break;
                }
                if helper.is_busy() {
                    continue;
                }
            }
            let (evaluation, table) = (Arc::clone(&self.evaluation), Arc::clone(&self.table));
            let (budget, settings) = (Arc::clone(&budget), self.settings);
            let (position, past) = (task.position.clone(), task.past.to_vec());
            let (moves, limits, lines) = (moves.clone(), task.limits, task.lines);
            let mut desk = helper.desk();
            let work = move || {
                let task = Task { position: &position, past: &past, limits, lines };
                let mut worker =
                    Worker::new(&*evaluation, &table, &budget, &mut desk, &past, settings);
                deepen(&mut worker, &task, moves, start, 1 + number as i32 % 2, |_, _| {});
                worker.give_back();
                desk
            };
            // Where the system gives no more threads, fewer do the work.
            match std::thread::Builder::new().stack_size(STACK).spawn(work) {
                Ok(thread) => *helper = Helper::Busy(thread),
                Err(_) => break,
            }
        }
        let mut worker = Worker::new(
            &*self.evaluation,
            &self.table,
            &budget,
            &mut self.desk,
            task.past,
            self.settings,
        );
        deepen(&mut worker, &task, moves, start, 0, |worker, iteration| {
            report.lines = iteration.lines;
            report.depth = iteration.depth;
            report.deepest = worker.deepest as u32;
            report.nodes = worker.nodes();
            report.time = start.elapsed();
            if iteration.finished {
                report.fullness = self.table.fullness();
                progress(&report);
            }
        });
        budget.finish();
        worker.give_back();
        if task.limits.time.is_none() {
            // Nobody's clock runs, and the number of nodes is exact.
            self.helpers.iter_mut().for_each(Helper::rest);
        }
        report.nodes = budget.taken();
        report.time = start.elapsed();
        report.fullness = self.table.fullness();
        report
    }
}

/// For helper threads: a line of [`MAX_PLY`](crate::MAX_PLY) plies must fit, in builds without
/// optimisation too.
const STACK: usize = 16 << 20;

/// What an iteration, finished or broken off, found.
struct Iteration<P: Position> {
    lines: Vec<Line<P>>,
    depth: u32,
    finished: bool,
}

/// The legal moves, those first that lead to positions judged well; none if the game is over.
fn root_moves<P: Searchable>(task: &Task<P>, evaluation: &P::Evaluation) -> Vec<RootMove<P>> {
    if task.position.outcome(task.past).is_some() {
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
                None => -evaluation.score(&child),
            };
            RootMove { mv, score, before: score, exact: false, line: vec![mv] }
        })
        .collect();
    moves.sort_by_key(|root| -root.score);
    moves
}

/// Half the width of the first window around the last score.
const WINDOW: Score = 18;

/// Searches deeper and deeper; `offset` makes helper threads differ.
fn deepen<P: Searchable>(
    worker: &mut Worker<'_, P, P::Evaluation>,
    task: &Task<P>,
    mut moves: Vec<RootMove<P>>,
    start: Instant,
    offset: i32,
    mut heard: impl FnMut(&Worker<'_, P, P::Evaluation>, Iteration<P>),
) {
    let last = task.limits.depth.map_or(MAX_DEPTH, |depth| depth.min(MAX_DEPTH as u32) as i32);
    let lines = task.lines.clamp(1, moves.len().max(1));
    for depth in 1..=last {
        let nominal = (depth + offset).min(MAX_DEPTH);
        for root in &mut moves {
            (root.before, root.exact) = (root.score, false);
        }
        for line in 0..lines {
            let before = moves[line].before;
            let mut low = if depth >= 5 { before - WINDOW } else { -WIN };
            let mut high = if depth >= 5 { before + WINDOW } else { WIN };
            let mut width = WINDOW;
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
                let best = moves[line..].iter().map(|root| root.before).max().unwrap_or(-WIN);
                for root in moves[line..].iter_mut().filter(|root| !root.exact) {
                    root.score = if root.before == -WIN { best } else { root.before };
                }
                break;
            }
        }
        let finished = !worker.is_stopped();
        moves[..lines].sort_by_key(|root| -root.score);
        let found = moves[..lines].iter();
        let found = found.map(|root| Line { score: root.score, moves: root.line.clone() });
        let done = if finished { depth } else { depth - 1 };
        let lines_found: Vec<_> = found.collect();
        let proved = lines_found
            .iter()
            .all(|line| plies_to_end(line.score).is_some_and(|plies| plies.abs() <= depth));
        heard(worker, Iteration { lines: lines_found, depth: done as u32, finished });
        let enough = task.limits.enough.is_some_and(|time| start.elapsed() >= time);
        if !finished || enough || proved {
            break;
        }
    }
}
