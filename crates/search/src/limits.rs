//! When a search ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a search may use. Without any limit it goes on until it is stopped or knows everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchLimits {
    /// Plies, not counting extensions.
    pub depth: Option<u32>,
    /// Positions looked at, by all threads together; exact.
    pub nodes: Option<u64>,
    /// Time after which the search is broken off.
    pub hard_time: Option<Duration>,
    /// Time after which no further iteration is begun.
    pub soft_time: Option<Duration>,
}

/// A flag that ends a search from outside.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is not yet raised.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Ends whatever search looks at this flag.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How many nodes are searched between looks at the clock and the flag: well under a millisecond,
/// in the slowest game too.
const NODES_PER_CHECK: u64 = 128;

/// The nodes and the time that the threads of one search share.
pub(crate) struct NodeBudget {
    stop: StopFlag,
    /// Raised when the main thread is done.
    done: AtomicBool,
    nodes: u64,
    remaining: AtomicU64,
    deadline: Option<Instant>,
}

impl NodeBudget {
    pub(crate) fn new(limits: &SearchLimits, start: Instant, stop: &StopFlag) -> NodeBudget {
        let nodes = limits.nodes.unwrap_or(u64::MAX);
        NodeBudget {
            stop: stop.clone(),
            done: AtomicBool::new(false),
            nodes,
            remaining: AtomicU64::new(nodes),
            deadline: limits.hard_time.and_then(|time| start.checked_add(time)),
        }
    }

    /// Nodes that the caller may now search; 0 ends its search.
    pub(crate) fn acquire(&self) -> u64 {
        let over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if over || self.stop.is_set() || self.done.load(Ordering::Relaxed) {
            return 0;
        }
        let before = self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left.saturating_sub(NODES_PER_CHECK))
        });
        // The closure never refuses, so both arms hold the number before.
        before.unwrap_or_else(|left| left).min(NODES_PER_CHECK)
    }

    /// Gives back what was taken and not searched.
    pub(crate) fn release(&self, nodes: u64) {
        self.remaining.fetch_add(nodes, Ordering::Relaxed);
    }

    /// Nodes taken so far.
    pub(crate) fn used(&self) -> u64 {
        self.nodes - self.remaining.load(Ordering::Relaxed)
    }

    pub(crate) fn finish(&self) {
        self.done.store(true, Ordering::Relaxed);
    }
}
