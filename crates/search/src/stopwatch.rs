//! Measures how long a thread computes.
//!
//! A search is not charged for waiting for a core: on a busy machine, pauses of 16 ms were seen in
//! a loop that only read the clock, longer than a short turn. A search never sleeps, so that on an
//! idle machine CPU time and wall-clock time agree. On systems without a per-thread CPU clock this
//! is wall-clock time.

use std::time::Duration;

/// Measures the CPU time of the thread that started it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    #[cfg(unix)]
    start: Duration,
    #[cfg(not(unix))]
    start: crate::Instant,
}

#[cfg(unix)]
impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Stopwatch {
        Stopwatch { start: thread_time() }
    }

    /// Time that the thread has used since the start.
    pub fn elapsed(&self) -> Duration {
        thread_time().saturating_sub(self.start)
    }
}

#[cfg(not(unix))]
impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Stopwatch {
        Stopwatch { start: crate::Instant::now() }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// CPU time of this thread.
#[cfg(unix)]
fn thread_time() -> Duration {
    // The clock is never negative, and nanoseconds stay below a second.
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn stopwatch_charges_computing_but_not_waiting() {
        let (watch, start) = (Stopwatch::start(), Instant::now());
        std::thread::park_timeout(Duration::from_millis(20));
        let waited = watch.elapsed();
        assert!(waited < start.elapsed(), "{waited:?} of {:?}", start.elapsed());
        while watch.elapsed() < waited + Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        assert!(watch.elapsed() <= start.elapsed());
    }
}
