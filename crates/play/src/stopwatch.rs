//! How long a player took, as far as that is its own doing.
//!
//! On a machine with more work than processors a thread is kept waiting, easily for longer than
//! a short turn lasts, and no care of the player helps. Linux tells how long a thread has been
//! waiting for a processor; that time is not charged. Where the system does not tell, all time is.

use std::time::{Duration, Instant};

/// Measures the time of the thread that started it.
pub(crate) struct Stopwatch {
    start: Instant,
    waited: Option<Duration>,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        // In this order, so that reading is not charged.
        let waited = waited();
        Stopwatch { start: Instant::now(), waited }
    }

    /// The time since the start, without what the thread waited for a processor.
    pub(crate) fn used(&self) -> Duration {
        let elapsed = self.start.elapsed();
        match (self.waited, waited()) {
            (Some(before), Some(now)) => elapsed.saturating_sub(now.saturating_sub(before)),
            _ => elapsed,
        }
    }
}

/// How long this thread has been ready to run while others did.
fn waited() -> Option<Duration> {
    // Three numbers: nanoseconds run, nanoseconds waited, turns had.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
