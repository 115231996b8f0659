//! Results of jobs: checked, and passed to the source of the work.

use std::time::Instant;

use async_nats::jetstream::Message;
use crownhead_play::TimeControl;
use crownhead_tournament::job::JobError;

use super::{Drive, RETURN_DELAY};
use crate::dead::games_text;
use crate::in_order::MAX_AHEAD;
use crate::messages::{Outcome, ResultMessage, ReturnReason};
use crate::outstanding::{FirstResult, Outstanding, agree};
use crate::work::{Done, OTHER_WORK, Work, WorkEnd};

/// Maximum number of results of an earlier coordinator that wait for their jobs.
const MAX_EARLY: usize = 100_000;
/// Maximum length of a message about an invalid result, which may quote it.
const MAX_REASON: usize = 300;
/// Number of workers that must say that a game cannot be played, if there are so many.
const MIN_FAILURES: usize = 3;
/// How often workers may give a check back before it is dropped: there may be only one worker.
const MAX_CHECK_RETURNS: u32 = 40;

impl Drive<'_> {
    /// Takes a result, and removes it from the queue.
    pub(super) async fn on_message(&mut self, message: &Message) {
        let worker = message.subject.rsplit('.').next().unwrap_or_default().to_string();
        match serde_json::from_slice::<ResultMessage>(&message.payload) {
            Ok(result) => self.on_result(&worker, result),
            // Maybe of another worker: one can have the server send its answers under any name.
            Err(error) => {
                self.notify(&format!("an unreadable result under the name {worker}: {error}"));
            }
        }
        // If this fails, the result is delivered again, and has no effect.
        if let Err(error) = message.ack().await {
            self.notify(&format!("NATS: {error}"));
        }
    }

    fn on_result(&mut self, worker: &str, result: ResultMessage) {
        let ResultMessage { games, is_check, lease, outcome } = result;
        if lease != self.run.key.lease(&games, is_check) {
            self.notify(&format!("{worker} answered for a job that it did not get: ignored"));
            return;
        }
        let first = games.first().copied().unwrap_or_default();
        let is_expected =
            |job: &&Outstanding| job.numbers() == games && job.to_check.is_some() == is_check;
        if self.jobs.get(&first).filter(is_expected).is_none() {
            if !is_check && self.run.is_resumable {
                self.keep_early(&games, outcome);
            }
            return;
        }
        if let Outcome::Returned(reason) = outcome {
            return self.on_returned(first, worker, reason);
        }
        let Some(job) = self.jobs.get(&first) else { return };
        let end = outcome.into_end().and_then(|end| match &end {
            WorkEnd::Done(done) => self.source.check(&job.work, done).map(|()| end),
            WorkEnd::Failed(_) if !job.work.games().is_empty() => Ok(end),
            WorkEnd::Failed(_) | WorkEnd::Stopped => Err(OTHER_WORK.into()),
        });
        match end {
            Err(reason) => {
                let reason: String = reason.chars().take(MAX_REASON).collect();
                self.notify(&format!("{worker} sent an invalid result: {reason}"));
                self.on_returned(first, worker, ReturnReason::Stopped);
            }
            Ok(WorkEnd::Failed(error)) => self.on_failed(first, worker, error),
            Ok(end) => {
                let Some(job) = self.jobs.remove(&first) else { return };
                match end {
                    WorkEnd::Done(done) => self.on_done(job, worker.into(), done),
                    end => self.source.on_end(&job.work, end),
                }
            }
        }
    }

    /// Believes that a game cannot be played if several workers say so, or all that there are. The
    /// source decides what it means.
    fn on_failed(&mut self, first: i64, worker: &str, error: JobError) {
        let needed = match self.live_workers().count() {
            0 => MIN_FAILURES,
            live => live.min(MIN_FAILURES),
        };
        let Some(job) = self.jobs.get_mut(&first) else { return };
        job.failed_on.insert(worker.into());
        if job.failed_on.len() < needed {
            return self.on_returned(first, worker, ReturnReason::Unable(error.to_string()));
        }
        if let Some(job) = self.jobs.remove(&first) {
            self.source.on_end(&job.work, WorkEnd::Failed(error));
        }
    }

    /// Keeps a result for an earlier coordinator until its job comes up.
    fn keep_early(&mut self, numbers: &[i64], outcome: Outcome) {
        match outcome.into_end() {
            Ok(WorkEnd::Done(Done::Games(games))) if self.early.len() < MAX_EARLY => {
                let games = games.into_iter().map(|game| Done::Games(vec![game]));
                self.early.extend(numbers.iter().copied().zip(games));
            }
            // Other work comes up in order: what has come up is not needed again.
            Ok(WorkEnd::Done(done)) if self.early.len() < MAX_AHEAD => {
                let first = numbers.first().filter(|&&first| first > self.last_number);
                self.early.extend(first.map(|&first| (first, done)));
            }
            _ => {}
        }
    }

    /// Takes a result that was there before its job came up.
    pub(super) fn take_early(&mut self, work: &Work) -> Option<Done> {
        let numbers = work.numbers();
        let Work::Games(_) = work else { return self.early.remove(numbers.first()?) };
        if !numbers.iter().all(|number| self.early.contains_key(number)) {
            return None;
        }
        let games = numbers.iter().filter_map(|number| match self.early.remove(number)? {
            Done::Games(games) => Some(games),
            Done::SelfPlay(_) | Done::Analysis(_) => None,
        });
        Some(Done::Games(games.flatten().collect()))
    }

    fn on_returned(&mut self, first: i64, worker: &str, reason: ReturnReason) {
        let Some(job) = self.jobs.get_mut(&first) else { return };
        job.returns += 1;
        job.publish_at = Some(Instant::now() + RETURN_DELAY);
        match reason {
            ReturnReason::Starved => job.starved += 1,
            ReturnReason::Unable(reason) => {
                let reason: String = reason.chars().take(MAX_REASON).collect();
                self.notify(&format!("{worker} gave games back: {reason}"));
            }
            ReturnReason::Stopped | ReturnReason::Excluded => {}
        }
        let Some(job) = self.jobs.get_mut(&first) else { return };
        if job.to_check.is_some()
            && job.returns > MAX_CHECK_RETURNS
            && let Some(job) = self.jobs.remove(&first)
            && let Some(FirstResult { done, .. }) = job.to_check
        {
            self.unchecked += 1;
            self.finish_work(&job.work, done);
        }
    }

    /// Passes a result to the source, or has another worker do the work as a check.
    pub(super) fn on_done(&mut self, mut job: Outstanding, worker: String, done: Done) {
        // A result for an earlier coordinator has not been checked yet.
        if worker.is_empty()
            && let Err(reason) = self.source.check(&job.work, &done)
        {
            self.notify(&format!("a result that arrived earlier is invalid: {reason}"));
            self.insert_again(job);
            return;
        }
        if let Some(first) = job.to_check.take() {
            if first.worker == worker {
                // Nobody confirms a result of their own.
                let number = job.numbers().first().copied().unwrap_or_default();
                job.to_check = Some(first);
                self.jobs.insert(number, job);
                return self.on_returned(number, &worker, ReturnReason::Excluded);
            }
            if agree(&first.done, &done) {
                return self.finish_work(&job.work, first.done);
            }
            self.notify(&format!(
                "{} and {worker} played {} differently: one of them is wrong; both results are \
                 dropped, and other workers play again",
                first.worker,
                games_text(&job.numbers())
            ));
            job.returns = 0;
            self.insert_again(job);
            return;
        }
        let percent = self.run.checked_percent;
        let is_checked = self.is_repeatable(&job.work) && !worker.is_empty();
        if is_checked && self.run.key.is_checked(&job.numbers(), percent) {
            job.to_check = Some(FirstResult { worker, done });
            job.returns = 0;
            self.insert_again(job);
            return;
        }
        self.finish_work(&job.work, done);
    }

    /// Whether the result is the same on every worker.
    fn is_repeatable(&self, work: &Work) -> bool {
        match work {
            Work::Games(games) => games.iter().all(|game| {
                game.settings.time_control == TimeControl::Unlimited
                    && game
                        .players
                        .iter()
                        .all(|player| self.players[player.index].is_deterministic())
            }),
            Work::SelfPlay(_) => true,
            Work::Analysis(work) => work.is_repeatable(),
        }
    }

    fn insert_again(&mut self, mut job: Outstanding) {
        job.publish_at = Some(Instant::now());
        if let Some(&first) = job.numbers().first() {
            self.jobs.insert(first, job);
        }
    }

    fn finish_work(&mut self, work: &Work, done: Done) {
        self.finished += work.numbers().len() as u64;
        self.positions += done.positions();
        self.source.on_end(work, WorkEnd::Done(done));
    }
}
