//! The search as its users see it: iterative deepening, several threads, several best lines.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crownhead_rules::Position;

use crate::helpers::{HELPER_STACK_BYTES, HelperThread};
use crate::limits::NodeBudget;
use crate::search::{Searcher, iterative_deepening, root_moves};
use crate::thread_data::ThreadData;
use crate::tt::TranspositionTable;
use crate::{Knowledge, Score, SearchLimits, Searchable, StopFlag};

/// How an engine is set up.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Threads that search together. One alone always finds the same for the same task.
    pub threads: usize,
    /// Megabytes of hash table; 0 does without.
    pub hash_mb: usize,
    /// Whether reductions and forward pruning are used: without them the search is far slower and
    /// no deeper than its nominal depth, and misses nothing within it.
    pub pruning: bool,
    /// Points that the side to move at the root gives for not drawing at once; a draw further away
    /// troubles it less. With other than 0, all searches until the next [`Engine::clear`] must be
    /// for the same side: what the hash table knows of draws is seen from there.
    pub contempt: Score,
}

impl Default for EngineConfig {
    fn default() -> EngineConfig {
        EngineConfig { threads: 1, hash_mb: 64, pruning: true, contempt: 0 }
    }
}

/// What to search.
#[derive(Debug)]
pub struct SearchRequest<'a, P> {
    /// The position; its game must not be over.
    pub position: &'a P,
    /// The keys of the positions before it.
    pub history_keys: &'a [u64],
    /// When to end.
    pub limits: SearchLimits,
    /// How many best moves to find a line for.
    pub multipv: usize,
}

// By hand: derived, they would ask that positions can be copied.
impl<P> Clone for SearchRequest<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for SearchRequest<'_, P> {}

impl<'a, P> SearchRequest<'a, P> {
    /// The best line from a position without a past.
    pub fn new(position: &'a P, limits: SearchLimits) -> Self {
        SearchRequest { position, history_keys: &[], limits, multipv: 1 }
    }
}

/// A line of play and its worth.
#[derive(Clone, Debug)]
pub struct PvLine<P: Position> {
    /// For the side to move in the position searched.
    pub score: Score,
    /// The moves, the best one first; at least one.
    pub moves: Vec<P::Move>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct SearchReport<P: Position> {
    /// The best lines, the best first; none if there is no legal move or the game is over.
    pub lines: Vec<PvLine<P>>,
    /// The depth of the last finished iteration.
    pub depth: u32,
    /// The longest line looked at.
    pub seldepth: u32,
    /// Positions looked at, by all threads.
    pub nodes: u64,
    /// Time since the start.
    pub time: Duration,
    /// How full the hash table is, in thousandths.
    pub hashfull: u32,
}

impl<P: Position> SearchReport<P> {
    /// The best move.
    pub fn best_move(&self) -> Option<P::Move> {
        self.lines.first().and_then(|line| line.moves.first().copied())
    }

    /// The score of the best line.
    pub fn score(&self) -> Score {
        self.lines.first().map_or(0, |line| line.score)
    }

    /// Positions per second.
    pub fn nps(&self) -> f64 {
        self.nodes as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// A search with its hash table and what it has learnt about moves.
pub struct Engine<P: Searchable> {
    evaluator: Arc<P::Evaluator>,
    tt: Arc<TranspositionTable>,
    thread_data: ThreadData<P>,
    helpers: Vec<HelperThread<P>>,
    config: EngineConfig,
}

/// There is no memory for a hash table.
#[derive(Debug, thiserror::Error)]
#[error("there is no memory for a hash table of {0} MB")]
pub struct HashAllocError(usize);

impl<P: Searchable> Engine<P> {
    /// An engine with the game's tuned evaluation.
    pub fn new(settings: EngineConfig, knowledge: &Knowledge) -> Result<Self, HashAllocError> {
        Engine::with_evaluator(P::evaluator(knowledge), settings)
    }

    /// An engine with another evaluation of the same kind.
    pub fn with_evaluator(
        evaluation: P::Evaluator,
        settings: EngineConfig,
    ) -> Result<Self, HashAllocError> {
        let table =
            TranspositionTable::new(settings.hash_mb).ok_or(HashAllocError(settings.hash_mb))?;
        let helpers = (1..settings.threads).map(|_| HelperThread::New).collect();
        let (evaluation, table) = (Arc::new(evaluation), Arc::new(table));
        Ok(Engine {
            evaluator: evaluation,
            tt: table,
            thread_data: ThreadData::new(),
            helpers,
            config: settings,
        })
    }

    /// Judges a position without a search.
    pub fn evaluation(&self) -> &P::Evaluator {
        &self.evaluator
    }

    /// Forgets all earlier searches.
    pub fn clear(&mut self) {
        self.helpers.iter_mut().for_each(|helper| drop(helper.join()));
        self.thread_data.clear();
        self.tt.clear();
    }

    /// Searches until a limit is reached, `stop` is raised, or the end of the game is proved.
    /// `progress` hears of every finished iteration.
    pub fn search(
        &mut self,
        task: SearchRequest<P>,
        stop: &StopFlag,
        mut progress: impl FnMut(&SearchReport<P>),
    ) -> SearchReport<P> {
        let start = Instant::now();
        let moves = root_moves(&task, &self.evaluator);
        let mut report = SearchReport {
            lines: Vec::new(),
            depth: 0,
            seldepth: 0,
            nodes: 0,
            time: Duration::ZERO,
            hashfull: 0,
        };
        let Some(first) = moves.first() else { return report };
        // Whatever happens, there is a move.
        report.lines.push(PvLine { score: first.score, moves: first.pv.clone() });
        let budget = Arc::new(NodeBudget::new(&task.limits, start, stop));
        self.tt.new_search();
        for (number, helper) in self.helpers.iter_mut().enumerate() {
            if let Some(time) = task.limits.hard_time {
                // Starting many threads takes time too.
                if start.elapsed() > time / 8 {
                    break;
                }
                if helper.is_busy() {
                    continue;
                }
            }
            let (evaluation, table) = (Arc::clone(&self.evaluator), Arc::clone(&self.tt));
            let (budget, settings) = (Arc::clone(&budget), self.config);
            let (position, past) = (task.position.clone(), task.history_keys.to_vec());
            let (moves, limits, lines) = (moves.clone(), task.limits, task.multipv);
            let mut desk = helper.join();
            let work = move || {
                let task = SearchRequest {
                    position: &position,
                    history_keys: &past,
                    limits,
                    multipv: lines,
                };
                let mut worker =
                    Searcher::new(&*evaluation, &table, &budget, &mut desk, &past, settings);
                iterative_deepening(
                    &mut worker,
                    &task,
                    moves,
                    start,
                    1 + number as i32 % 2,
                    |_, _| {},
                );
                worker.release_nodes();
                desk
            };
            // Where the system gives no more threads, fewer do the work.
            match std::thread::Builder::new().stack_size(HELPER_STACK_BYTES).spawn(work) {
                Ok(thread) => *helper = HelperThread::Busy(thread),
                Err(_) => break,
            }
        }
        let mut worker = Searcher::new(
            &*self.evaluator,
            &self.tt,
            &budget,
            &mut self.thread_data,
            task.history_keys,
            self.config,
        );
        iterative_deepening(&mut worker, &task, moves, start, 0, |worker, iteration| {
            report.lines = iteration.lines;
            report.depth = iteration.depth;
            report.seldepth = worker.seldepth as u32;
            report.nodes = worker.nodes();
            report.time = start.elapsed();
            if iteration.finished {
                report.hashfull = self.tt.hashfull();
                progress(&report);
            }
        });
        budget.finish();
        worker.release_nodes();
        if task.limits.hard_time.is_none() {
            // Nobody's clock runs, and the number of nodes is exact.
            self.helpers.iter_mut().for_each(HelperThread::wait);
        }
        report.nodes = budget.used();
        report.time = start.elapsed();
        report.hashfull = self.tt.hashfull();
        report
    }
}
