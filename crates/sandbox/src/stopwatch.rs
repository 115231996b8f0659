//! How long a built-in player took, as far as that is its own doing.
//!
//! On a machine with more work than processors a thread is kept waiting, and a virtual machine stands
//! still whenever its host likes (pauses of 16 ms were seen in a loop that did nothing but look at
//! the clock): easily for longer than a short turn lasts, and no care of the player helps. So a
//! player that computes on the referee's thread is charged the time that this thread ran. It never
//! sleeps, so that on an idle machine this is the time that passed.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Measures the time of the thread that started it.
pub(crate) struct Stopwatch {
    start: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch { start: ran() }
    }

    /// How long the thread has run since the start.
    pub(crate) fn used(&self) -> Duration {
        ran().saturating_sub(self.start)
    }
}

/// How long this thread has run.
fn ran() -> Duration {
    // Neither number is negative, and nanoseconds stay below a second.
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn waiting_is_not_charged_and_computing_is() {
        let (watch, start) = (Stopwatch::start(), Instant::now());
        std::thread::park_timeout(Duration::from_millis(20));
        let waited = watch.used();
        assert!(waited < start.elapsed(), "{waited:?} of {:?}", start.elapsed());
        while watch.used() < waited + Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        assert!(watch.used() <= start.elapsed());
    }
}
