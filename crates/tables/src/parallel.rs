//! Work on all threads.

use std::ops::{ControlFlow, Range};
#[cfg(feature = "fs")]
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Splits `0..total` into batches, which the threads take in turn. `Break` stops all of them.
pub(crate) fn each_batch(
    threads: usize,
    total: u64,
    batch: u64,
    work: impl Fn(Range<u64>) -> ControlFlow<()> + Sync,
) -> ControlFlow<()> {
    let next = AtomicU64::new(0);
    let stopped = AtomicBool::new(false);
    let run = || {
        while !stopped.load(Relaxed) {
            let first = next.fetch_add(batch, Relaxed);
            if first >= total {
                break;
            }
            if work(first..total.min(first + batch)).is_break() {
                stopped.store(true, Relaxed);
            }
        }
    };
    let useful = total.div_ceil(batch).min(threads as u64);
    std::thread::scope(|scope| {
        for _ in 1..useful {
            // Threads that cannot be started are not needed: the others do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    if stopped.into_inner() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Results of `work` for each of `0..count`, in order.
#[cfg(feature = "fs")]
pub(crate) fn map<T: Send>(threads: usize, count: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let results: Vec<_> = (0..count).map(|_| Mutex::new(None)).collect();
    let _ = each_batch(threads, count, 1, |range| {
        let result = work(range.start);
        if let Ok(mut entry) = results[range.start as usize].lock() {
            *entry = Some(result);
        }
        ControlFlow::Continue(())
    });
    // Nothing returned `Break`, so all entries are filled.
    results.into_iter().filter_map(|result| result.into_inner().ok().flatten()).collect()
}
