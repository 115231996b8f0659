//! Helper threads (Lazy SMP).

use std::thread::JoinHandle;

use crate::Searchable;
use crate::thread_data::ThreadData;

/// Stack of a helper thread. A line of [`MAX_PLY`](crate::MAX_PLY) plies must fit, in unoptimised
/// builds too.
pub(crate) const HELPER_STACK_BYTES: usize = 16 << 20;

/// A thread that searches beside the main thread.
///
/// When the main thread finishes, a helper may be waiting for a processor; on a busy machine that
/// can take longer than a short turn. So a timed search does not wait for its helpers. They end on
/// their own, and a search that starts before that runs without them.
pub(crate) enum HelperThread<P: Searchable> {
    Idle(ThreadData<P>),
    Busy(JoinHandle<ThreadData<P>>),
    /// Not started yet, or its data were lost in a panic.
    New,
}

impl<P: Searchable> HelperThread<P> {
    /// Waits for the thread and takes its data.
    pub(crate) fn join(&mut self) -> ThreadData<P> {
        match std::mem::replace(self, HelperThread::New) {
            HelperThread::Idle(data) => data,
            HelperThread::Busy(thread) => thread.join().unwrap_or_else(|_| ThreadData::new()),
            HelperThread::New => ThreadData::new(),
        }
    }

    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, HelperThread::Busy(thread) if !thread.is_finished())
    }

    /// Waits for the thread.
    pub(crate) fn wait(&mut self) {
        if let HelperThread::Busy(_) = self {
            *self = HelperThread::Idle(self.join());
        }
    }
}
