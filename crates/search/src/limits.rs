//! Search limits, the stop flag, and the node budget shared by all threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::{Instant, Stopwatch};

/// Limits of a search. Without any, it runs until it is stopped or the result is proved.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchLimits {
    /// Maximum depth in plies, without extensions.
    pub depth: Option<u32>,
    /// Maximum number of nodes, summed over all threads; exact.
    pub nodes: Option<u64>,
    /// The search is aborted after this time.
    pub hard_time: Option<Duration>,
    /// No new iteration is started after this time.
    pub soft_time: Option<Duration>,
    /// The search is aborted after this CPU time of its thread; for searches with one thread.
    pub cpu_time: Option<Duration>,
}

/// A flag that stops a search from another thread.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Creates a flag that is not set.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Stops every search that uses this flag.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) || host_stops()
    }
}

/// Whether the host stops the searches. A search in a browser runs on the only thread of its
/// worker, so nothing else in the program can set a flag meanwhile.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
use crate::instant::host_stops;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn host_stops() -> bool {
    false
}

/// Nodes between two checks of the clock and the stop flag: well below a millisecond in every game.
const NODES_PER_CHECK: u64 = 128;

/// Nodes and time shared by the threads of one search.
pub(crate) struct NodeBudget {
    stop: StopFlag,
    /// Set when the main thread has finished.
    done: AtomicBool,
    total: u64,
    remaining: AtomicU64,
    table_hits: AtomicU64,
    deadline: Option<Instant>,
    cpu_time: Option<(Stopwatch, Duration)>,
}

impl NodeBudget {
    pub(crate) fn new(limits: &SearchLimits, start: Instant, stop: &StopFlag) -> NodeBudget {
        let total = limits.nodes.unwrap_or(u64::MAX);
        NodeBudget {
            stop: stop.clone(),
            done: AtomicBool::new(false),
            total,
            remaining: AtomicU64::new(total),
            table_hits: AtomicU64::new(0),
            deadline: limits.hard_time.and_then(|time| start.checked_add(time)),
            cpu_time: limits.cpu_time.map(|time| (Stopwatch::start(), time)),
        }
    }

    /// Takes nodes from the budget and returns how many; 0 means that the search must end.
    pub(crate) fn acquire(&self) -> u64 {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let is_used_up = self.cpu_time.is_some_and(|(watch, time)| watch.elapsed() >= time);
        if is_late || is_used_up || self.stop.is_set() || self.done.load(Ordering::Relaxed) {
            return 0;
        }
        let before = self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |nodes| {
            Some(nodes.saturating_sub(NODES_PER_CHECK))
        });
        // The closure always returns `Some`, but both variants hold the previous value.
        before.unwrap_or_else(|nodes| nodes).min(NODES_PER_CHECK)
    }

    /// Returns acquired nodes that were not searched.
    pub(crate) fn release(&self, nodes: u64) {
        self.remaining.fetch_add(nodes, Ordering::Relaxed);
    }

    /// Nodes acquired so far.
    pub(crate) fn used(&self) -> u64 {
        self.total - self.remaining.load(Ordering::Relaxed)
    }

    /// Nodes that tables have decided, as far as the threads have reported them.
    pub(crate) fn table_hits(&self) -> u64 {
        self.table_hits.load(Ordering::Relaxed)
    }

    /// Adds to the nodes that tables have decided.
    pub(crate) fn add_table_hits(&self, hits: u64) {
        self.table_hits.fetch_add(hits, Ordering::Relaxed);
    }

    /// Ends the search of the helper threads.
    pub(crate) fn finish(&self) {
        self.done.store(true, Ordering::Relaxed);
    }
}
