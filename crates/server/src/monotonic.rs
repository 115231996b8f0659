//! Monotonic time since the server started, for the clocks of games.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time since the start.
pub(crate) fn now() -> Duration {
    START.elapsed()
}

/// The instant of a time since the start; `None` if it is too far in the future.
pub(crate) fn instant(time: Duration) -> Option<Instant> {
    START.checked_add(time)
}
