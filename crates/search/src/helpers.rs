//! Helper threads (Lazy SMP).

use std::thread::JoinHandle;

use crate::Searchable;
use crate::thread_data::ThreadData;

/// For helper threads: a line of [`MAX_PLY`](crate::MAX_PLY) plies must fit, in builds without
/// optimisation too.
pub(crate) const HELPER_STACK_BYTES: usize = 16 << 20;

/// A thread that searches beside the main one.
///
/// When the main thread is done a helper may be waiting for a processor, and on a busy machine it
/// waits for longer than a short turn lasts. So nobody whose clock runs waits for it: it ends by
/// itself, and a search that begins before that does without it.
pub(crate) enum HelperThread<P: Searchable> {
    Idle(ThreadData<P>),
    Busy(JoinHandle<ThreadData<P>>),
    /// It has not been needed yet, or its desk is lost.
    New,
}

impl<P: Searchable> HelperThread<P> {
    /// Waits until it has ended.
    pub(crate) fn join(&mut self) -> ThreadData<P> {
        match std::mem::replace(self, HelperThread::New) {
            HelperThread::Idle(desk) => desk,
            HelperThread::Busy(thread) => thread.join().unwrap_or_else(|_| ThreadData::new()),
            HelperThread::New => ThreadData::new(),
        }
    }

    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, HelperThread::Busy(thread) if !thread.is_finished())
    }

    pub(crate) fn wait(&mut self) {
        if let HelperThread::Busy(_) = self {
            *self = HelperThread::Idle(self.join());
        }
    }
}
