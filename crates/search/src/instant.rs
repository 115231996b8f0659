//! Monotonic clock, and on `wasm32-unknown-unknown` the host that provides it.
//!
//! [`Instant`] is [`std::time::Instant`], except on `wasm32-unknown-unknown`, which has no clock:
//! there the host provides one with `set_clock`. Until it does, time stands still, and only
//! depth, node limits and the stop flag end a search.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use host::host_stops;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use host::{Instant, set_clock, set_stop};

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod host {
    use std::sync::OnceLock;
    use std::time::Duration;

    static CLOCK: OnceLock<fn() -> Duration> = OnceLock::new();
    static STOP: OnceLock<fn() -> bool> = OnceLock::new();

    /// Sets the clock: a function that returns the time since a fixed moment, for example since
    /// the page was loaded (`performance.now()`). Only the first call has an effect.
    pub fn set_clock(clock: fn() -> Duration) {
        let _ = CLOCK.set(clock); // later calls are documented to do nothing
    }

    /// Sets a function that searches ask every few dozen microseconds: if it returns true, every
    /// stop flag counts as set. Only the first call has an effect.
    pub fn set_stop(stop: fn() -> bool) {
        let _ = STOP.set(stop); // later calls are documented to do nothing
    }

    pub(crate) fn host_stops() -> bool {
        STOP.get().is_some_and(|stop| stop())
    }

    /// A moment on the host's clock.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct Instant(Duration);

    impl Instant {
        /// The current time.
        pub fn now() -> Instant {
            Instant(CLOCK.get().map_or(Duration::ZERO, |clock| clock()))
        }

        /// Time since this instant.
        pub fn elapsed(&self) -> Duration {
            Instant::now().saturating_duration_since(*self)
        }

        /// Time from `earlier` to this instant; zero if `earlier` is later.
        pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
            self.0.saturating_sub(earlier.0)
        }

        /// This instant plus `duration`; `None` on overflow.
        pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
            self.0.checked_add(duration).map(Instant)
        }
    }
}
