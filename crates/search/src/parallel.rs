//! Numbered work on several threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::StopFlag;

/// Calls `work` with every number, on one thread for each worker, until `stop` is set. Returns the
/// results in the order of the numbers.
pub fn map<W: Send, T: Send>(
    mut workers: Vec<W>,
    numbers: Range<u32>,
    stop: &StopFlag,
    work: impl Fn(&mut W, u32) -> T + Sync,
) -> Vec<T> {
    let next = AtomicU32::new(numbers.start);
    let finished = Mutex::new(Vec::new());
    let run = |worker: &mut W| {
        while !stop.is_set() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                break;
            }
            let result = work(worker, number);
            finished.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    std::thread::scope(|scope| {
        let Some((main, others)) = workers.split_first_mut() else { return };
        for worker in others {
            // If a thread cannot be started, the others do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || run(worker));
        }
        run(main);
    });
    let mut finished = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
    finished.sort_by_key(|(number, _)| *number);
    finished.into_iter().map(|(_, result)| result).collect()
}
