//! A thread that ticks every few milliseconds while programs run.
//!
//! Each tick freezes programs that run between their turns, so that they take no CPU time from
//! others. A program that waits for input costs nothing, and most do. So a program is left alone
//! until a thread of it is found running a few milliseconds after its turn. Then its process group,
//! which it cannot leave, gets SIGSTOP until the next line is sent to it. It has no way to send
//! itself SIGCONT: whatever could do so later is refused by the seccomp filters.
//!
//! A tick that comes late shows that this process itself did not run: it was stopped, the machine
//! was suspended, or others took all CPUs. A program must not be blamed for that time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use crate::UsageMeter;
use crate::monitor::{now, thread_cpu_time};

/// Time between two ticks.
const TICK: Duration = Duration::from_millis(4);
/// Maximum delay of a tick on a busy machine. Longer delays are absences.
const MAX_DELAY: Duration = Duration::from_millis(60);
/// Time that a program has after its answer to become idle.
const IDLE_DELAY: Duration = Duration::from_millis(2);

/// Whether a program should be idle, and whether it was frozen because it was not.
#[derive(Default)]
pub(crate) struct FreezeState {
    /// End of the last turn; `None` during a turn and outside of games.
    pub(crate) idle_since: Option<Instant>,
    pub(crate) is_frozen: bool,
    /// Whether it was frozen in this game.
    pub(crate) was_frozen: bool,
}

struct Heartbeat {
    meters: Mutex<Vec<Arc<UsageMeter>>>,
    changed: Condvar,
    /// Time of the last tick, see [`now`].
    last_tick: AtomicU64,
    /// Nanoseconds of all absences.
    away: AtomicU64,
}

static HEARTBEAT: Heartbeat = Heartbeat {
    meters: Mutex::new(Vec::new()),
    changed: Condvar::new(),
    last_tick: AtomicU64::new(0),
    away: AtomicU64::new(0),
};

/// Time for which this process was stopped or starved while programs ran, since its start. Only
/// differences are meaningful.
pub fn time_away() -> Duration {
    let away = HEARTBEAT.away.load(Ordering::Relaxed);
    // The thread that ticks may not have noticed yet.
    let since_tick = now().saturating_sub(HEARTBEAT.last_tick.load(Ordering::Relaxed));
    Duration::from_nanos(away) + absence(Duration::from_nanos(since_tick))
}

/// Time of absence, given the time since the last tick in which this process did not work.
fn absence(idle: Duration) -> Duration {
    let delay = idle.saturating_sub(TICK);
    if delay > MAX_DELAY { delay } else { Duration::ZERO }
}

/// Watches a program until [`remove`] is called.
pub(crate) fn add(meter: &Arc<UsageMeter>) {
    static THREAD: Once = Once::new();
    THREAD.call_once(|| {
        let thread = std::thread::Builder::new().name("heartbeat".into());
        let _ = thread.spawn(|| HEARTBEAT.run());
    });
    let mut meters = HEARTBEAT.meters.lock().unwrap_or_else(PoisonError::into_inner);
    if meters.is_empty() {
        HEARTBEAT.last_tick.store(now(), Ordering::Relaxed);
    }
    meters.push(meter.clone());
    HEARTBEAT.changed.notify_one();
}

pub(crate) fn remove(meter: &Arc<UsageMeter>) {
    let mut meters = HEARTBEAT.meters.lock().unwrap_or_else(PoisonError::into_inner);
    meters.retain(|other| !Arc::ptr_eq(meter, other));
}

impl Heartbeat {
    fn run(&self) {
        let mut buffer = String::with_capacity(4096);
        let mut meters = Vec::new();
        loop {
            {
                let mut current = self.meters.lock().unwrap_or_else(PoisonError::into_inner);
                if current.is_empty() {
                    while current.is_empty() {
                        current =
                            self.changed.wait(current).unwrap_or_else(PoisonError::into_inner);
                    }
                    self.last_tick.store(now(), Ordering::Relaxed);
                }
                meters.clone_from(&current);
            }
            let work_start = thread_cpu_time();
            for meter in meters.drain(..) {
                meter.freeze_if_running(IDLE_DELAY, &mut buffer);
            }
            let work = thread_cpu_time().saturating_sub(work_start);
            std::thread::sleep(TICK);
            let tick = now();
            let since = Duration::from_nanos(tick - self.last_tick.load(Ordering::Relaxed));
            let away = absence(since.saturating_sub(work));
            // Added before the time of the tick is set: an absence may count twice for an instant,
            // but is never missed.
            self.away.fetch_add(away.as_nanos() as u64, Ordering::Relaxed);
            self.last_tick.store(tick, Ordering::Relaxed);
        }
    }
}
