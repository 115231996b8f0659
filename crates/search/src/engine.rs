//! The engine: owns the transposition table and the threads, turns requests into reports.

use std::sync::Arc;
use std::time::Duration;

use crownhead_rules::Position;

use crate::helpers::{HELPER_STACK_BYTES, HelperThread};
use crate::limits::NodeBudget;
use crate::params::Reductions;
use crate::search::{RootMove, Searcher, Shared, iterative_deepening, root_moves};
use crate::thread_data::ThreadData;
use crate::tt::TranspositionTable;
use crate::{
    Evaluator, Instant, Knowledge, ParamChanges, Score, SearchLimits, Searchable, StopFlag,
};

/// Configuration of an engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Search threads. Only a search with one thread is reproducible.
    pub threads: usize,
    /// Size of the transposition table in MB; 0 disables it.
    pub hash_mb: usize,
    /// Whether reductions and forward pruning are enabled. Without them the search is far slower,
    /// and misses nothing within its nominal depth.
    pub pruning: bool,
    /// Points by which the side to move at the root prefers other results to an immediate draw;
    /// more distant draws count less. If it is not 0, all searches up to the next
    /// [`Engine::clear`] must be for the same side, because the transposition table stores draws
    /// from that side's point of view.
    pub contempt: Score,
    /// Search parameters that differ from the game's own.
    pub params: ParamChanges,
}

impl Default for EngineConfig {
    fn default() -> EngineConfig {
        let params = ParamChanges::NONE;
        EngineConfig { threads: 1, hash_mb: 64, pruning: true, contempt: 0, params }
    }
}

/// What to search, and for how long.
#[derive(Debug)]
pub struct SearchRequest<'a, P> {
    /// The position to search.
    pub position: &'a P,
    /// Keys of the earlier positions of the game, for repetitions.
    pub history_keys: &'a [u64],
    /// When to stop.
    pub limits: SearchLimits,
    /// Number of best moves to report a line for.
    pub multipv: usize,
}

// Derived implementations would require `P: Clone` and `P: Copy`.
impl<P> Clone for SearchRequest<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for SearchRequest<'_, P> {}

impl<'a, P> SearchRequest<'a, P> {
    /// Requests the best line of a position without history.
    pub fn new(position: &'a P, limits: SearchLimits) -> Self {
        SearchRequest { position, history_keys: &[], limits, multipv: 1 }
    }
}

/// A principal variation and its score.
#[derive(Clone, Debug)]
pub struct PvLine<P: Position> {
    /// Score for the side to move at the root.
    pub score: Score,
    /// The moves; at least one.
    pub moves: Vec<P::Move>,
}

/// Result of a search, or of an iteration.
#[derive(Clone, Debug)]
pub struct SearchReport<P: Position> {
    /// The best lines, the best first; empty if the game is over.
    pub lines: Vec<PvLine<P>>,
    /// Depth of the last complete iteration.
    pub depth: u32,
    /// Length of the longest line searched.
    pub seldepth: u32,
    /// Nodes searched by all threads.
    pub nodes: u64,
    /// Nodes decided by a table instead of a search.
    pub table_hits: u64,
    /// Time since the start of the search.
    pub time: Duration,
    /// Use of the transposition table, in permille.
    pub hashfull: u32,
}

impl<P: Position> SearchReport<P> {
    /// The best move; `None` if the game is over.
    pub fn best_move(&self) -> Option<P::Move> {
        self.lines.first().and_then(|line| line.moves.first().copied())
    }

    /// Score of the best line.
    pub fn score(&self) -> Score {
        self.lines.first().map_or(0, |line| line.score)
    }
}

/// The transposition table does not fit into memory.
#[derive(Debug, thiserror::Error)]
#[error("cannot allocate a hash table of {0} MB")]
pub struct HashAllocError(usize);

/// A search with its transposition table and threads.
pub struct Engine<P: Searchable, E: Evaluator<P> = <P as Searchable>::Evaluator> {
    shared: Shared<P, E>,
    thread_data: ThreadData<P>,
    helpers: Vec<HelperThread<P>>,
}

impl<P: Searchable> Engine<P> {
    /// Creates an engine with the game's own evaluator.
    pub fn new(config: EngineConfig, knowledge: &Knowledge) -> Result<Self, HashAllocError> {
        Engine::with_evaluator(P::evaluator(knowledge), config, knowledge)
    }
}

impl<P: Searchable, E: Evaluator<P> + 'static> Engine<P, E> {
    /// Creates an engine with another evaluator.
    pub fn with_evaluator(
        evaluator: E,
        config: EngineConfig,
        knowledge: &Knowledge,
    ) -> Result<Self, HashAllocError> {
        let tt = TranspositionTable::new(config.hash_mb).ok_or(HashAllocError(config.hash_mb))?;
        let params = P::PARAMS.with(&config.params);
        Ok(Engine {
            shared: Shared {
                evaluator: Arc::new(evaluator),
                probes: knowledge.probes::<P>(),
                tt: Arc::new(tt),
                config,
                params,
                reductions: Arc::new(Reductions::new(&params)),
            },
            thread_data: ThreadData::new(),
            helpers: (1..config.threads).map(|_| HelperThread::New).collect(),
        })
    }

    /// The evaluator.
    pub fn evaluator(&self) -> &E {
        &self.shared.evaluator
    }

    /// Clears the transposition table and the history.
    pub fn clear(&mut self) {
        self.helpers.iter_mut().for_each(|helper| drop(helper.join()));
        self.thread_data.clear();
        self.shared.tt.clear();
    }

    /// Searches until a limit is reached, `stop` is set or the result is proved. Calls
    /// `on_iteration` after every complete iteration.
    pub fn search(
        &mut self,
        request: SearchRequest<P>,
        stop: &StopFlag,
        mut on_iteration: impl FnMut(&SearchReport<P>),
    ) -> SearchReport<P> {
        let start = Instant::now();
        let moves = root_moves(&request, self.evaluator());
        let mut report = SearchReport {
            lines: Vec::new(),
            depth: 0,
            seldepth: 0,
            nodes: 0,
            table_hits: 0,
            time: Duration::ZERO,
            hashfull: 0,
        };
        let Some(first) = moves.first() else { return report };
        // An aborted search reports a move too.
        report.lines.push(PvLine { score: first.score, moves: first.pv.clone() });
        let budget = Arc::new(NodeBudget::new(&request.limits, start, stop));
        let tt = Arc::clone(&self.shared.tt);
        tt.new_search();
        self.start_helpers(&request, &moves, start, &budget);
        let mut searcher =
            Searcher::new(&self.shared, &budget, &mut self.thread_data, request.history_keys);
        iterative_deepening(&mut searcher, &request, moves, start, 0, |searcher, iteration| {
            report.lines = iteration.lines;
            report.depth = iteration.depth;
            report.seldepth = searcher.seldepth as u32;
            report.nodes = searcher.nodes();
            report.table_hits = searcher.table_hits();
            report.time = start.elapsed();
            if iteration.is_complete {
                report.hashfull = tt.hashfull();
                on_iteration(&report);
            }
        });
        budget.finish();
        searcher.release_nodes();
        if request.limits.hard_time.is_none() {
            // No clock is running, and the node count becomes exact.
            self.helpers.iter_mut().for_each(HelperThread::wait);
        }
        report.nodes = budget.used();
        report.table_hits = budget.table_hits();
        report.time = start.elapsed();
        report.hashfull = tt.hashfull();
        report
    }

    /// Starts the helper threads, or as many as the system and the time allow.
    fn start_helpers(
        &mut self,
        request: &SearchRequest<P>,
        moves: &[RootMove<P>],
        start: Instant,
        budget: &Arc<NodeBudget>,
    ) {
        for (number, helper) in self.helpers.iter_mut().enumerate() {
            if let Some(time) = request.limits.hard_time {
                // Starting many threads takes time too.
                if start.elapsed() > time / 8 {
                    break;
                }
                if helper.is_busy() {
                    continue;
                }
            }
            let (shared, budget) = (self.shared.clone(), Arc::clone(budget));
            let (position, history_keys) =
                (request.position.clone(), request.history_keys.to_vec());
            let (moves, limits, multipv) = (moves.to_vec(), request.limits, request.multipv);
            let mut data = helper.join();
            let run = move || {
                let history_keys = &history_keys;
                let request = SearchRequest { position: &position, history_keys, limits, multipv };
                let mut searcher = Searcher::new(&shared, &budget, &mut data, history_keys);
                let depth_offset = 1 + number as i32 % 2;
                iterative_deepening(&mut searcher, &request, moves, start, depth_offset, |_, _| {});
                searcher.release_nodes();
                data
            };
            // Without further threads (or any, as on wasm32) the search runs on those it has.
            match std::thread::Builder::new().stack_size(HELPER_STACK_BYTES).spawn(run) {
                Ok(thread) => *helper = HelperThread::Busy(thread),
                Err(_) => break,
            }
        }
    }
}
