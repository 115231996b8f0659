//! Work whose results are needed in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crownhead_play::StopFlag;

use crate::drive::drive;
use crate::work::{Done, Work, WorkEnd, WorkSource};
use crate::{Coordinator, FleetRun};

/// Most jobs that are handed out before the result of the first of them is there. Their results
/// wait in memory.
pub(crate) const MAX_AHEAD: usize = 2048;

/// Checks a result.
type Check<'a> = dyn Fn(&Work, &Done) -> Result<(), String> + Sync + 'a;

/// Hands out work, and hands on the results in the same order.
pub(crate) struct InOrder<'a, W, D, E> {
    games: u64,
    check: &'a Check<'a>,
    stop: &'a StopFlag,
    state: Mutex<State<W, D, E>>,
    /// Signals that results were handed on, or that the run ends.
    advanced: Condvar,
}

struct State<W, D, E> {
    work: W,
    deliver: D,
    /// Work whose result has not been handed on, by its first number, which grows from job to job.
    pending: BTreeMap<i64, Option<Done>>,
    /// Whether the run ends early, and why if `deliver` failed.
    is_over: bool,
    error: Option<E>,
}

impl<'a, W, D, E> InOrder<'a, W, D, E>
where
    W: Iterator<Item = Work> + Send,
    D: FnMut(Done) -> Result<(), E> + Send,
    E: Send,
{
    pub(crate) fn new(
        games: u64,
        work: W,
        check: &'a Check<'a>,
        deliver: D,
        stop: &'a StopFlag,
    ) -> Self {
        let pending = BTreeMap::new();
        let state = State { work, deliver, pending, is_over: false, error: None };
        InOrder { games, check, stop, state: Mutex::new(state), advanced: Condvar::new() }
    }

    /// Gets all work done. Returns whether all results have been handed on.
    pub(crate) fn run(self, coordinator: &Coordinator, run: &FleetRun) -> Result<bool, E> {
        drive(coordinator, run, &[], &self, self.stop);
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.error {
            Some(error) => Err(error),
            None => Ok(state.pending.is_empty() && state.work.next().is_none()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<W, D, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W, D, E> WorkSource for InOrder<'_, W, D, E>
where
    W: Iterator<Item = Work> + Send,
    D: FnMut(Done) -> Result<(), E> + Send,
    E: Send,
{
    fn games(&self) -> u64 {
        self.games
    }

    fn next(&self) -> Option<Work> {
        let is_full =
            |state: &mut State<W, D, E>| state.pending.len() >= MAX_AHEAD && !state.is_over;
        let state = self.advanced.wait_while(self.state(), is_full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.is_over {
            return None;
        }
        let work = state.work.next()?;
        let first = work.numbers().first().copied()?;
        state.pending.insert(first, None);
        Some(work)
    }

    fn check(&self, work: &Work, done: &Done) -> Result<(), String> {
        (self.check)(work, done)
    }

    fn on_end(&self, work: &Work, end: WorkEnd) {
        let mut state = self.state();
        match end {
            WorkEnd::Done(done) => {
                let first = work.numbers().first().copied().unwrap_or_default();
                state.pending.insert(first, Some(done));
            }
            // Nothing after it can be handed on.
            WorkEnd::Failed(_) | WorkEnd::Stopped => {
                state.is_over = true;
                self.stop.set();
            }
        }
        while state.error.is_none()
            && let Some(first) = state.pending.first_entry()
            && first.get().is_some()
        {
            let Some(done) = first.remove() else { break };
            if let Err(error) = (state.deliver)(done) {
                (state.error, state.is_over) = (Some(error), true);
                self.stop.set();
            }
        }
        self.advanced.notify_all();
    }
}
