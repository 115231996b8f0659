//! Results of jobs: checked, and handed on to the source of the games.

use std::time::Instant;

use async_nats::jetstream::Message;
use crownhead_play::TimeControl;
use crownhead_tournament::{FinishedGame, GameJob, JobResult};

use super::{Drive, RETURN_DELAY};
use crate::messages::{Outcome, ResultMessage, ReturnReason};
use crate::outstanding::{FirstResult, Outstanding, agree};
use crate::result_check;

/// Most results of an earlier coordinator that wait for their jobs.
const MAX_EARLY: usize = 100_000;
/// How often workers may give a check back before it is dropped: there may be one worker only.
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
        // A result that is delivered again is known by then.
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
        let Some(job) = self.jobs.get(&first).filter(is_expected) else {
            if let Outcome::Played(results) = outcome
                && !is_check
                && self.run.is_resumable
                && self.early.len() < MAX_EARLY
            {
                for (number, result) in games.into_iter().zip(results) {
                    if let JobResult::Finished(game) = result {
                        self.early.insert(number, *game);
                    }
                }
            }
            return;
        };
        let returned = match outcome {
            Outcome::Returned(reason) => reason,
            Outcome::Played(results) => {
                if let Err(reason) = check_all(&job.games, &results) {
                    self.notify(&format!("{worker} sent an invalid result: {reason}"));
                    ReturnReason::Stopped
                } else {
                    if let Some(job) = self.jobs.remove(&first) {
                        self.on_results(job, worker, results);
                    }
                    return;
                }
            }
        };
        self.on_returned(first, worker, returned);
    }

    fn on_returned(&mut self, first: i64, worker: &str, reason: ReturnReason) {
        let Some(job) = self.jobs.get_mut(&first) else { return };
        job.returns += 1;
        job.publish_at = Some(Instant::now() + RETURN_DELAY);
        match reason {
            ReturnReason::Starved => job.starved += 1,
            ReturnReason::Unable(reason) => {
                self.notify(&format!("{worker} gave games back: {reason}"));
            }
            ReturnReason::Stopped | ReturnReason::Excluded => {}
        }
        let Some(job) = self.jobs.get_mut(&first) else { return };
        if job.to_check.is_some()
            && job.returns > MAX_CHECK_RETURNS
            && let Some(job) = self.jobs.remove(&first)
            && let Some(FirstResult { games, .. }) = job.to_check
        {
            self.unchecked += 1;
            self.finish_all(&job.games, games);
        }
    }

    /// Handles valid results of all games of a job.
    fn on_results(&mut self, job: Outstanding, worker: &str, results: Vec<JobResult>) {
        let mut played = Vec::new();
        for result in results {
            match result {
                JobResult::Finished(game) => played.push(*game),
                // The source decides what a failure means.
                result => return self.finish_games(&job.games, |_| result.clone()),
            }
        }
        self.on_played(job, worker.into(), played);
    }

    /// Hands played games on, or has another worker play them, too.
    pub(super) fn on_played(
        &mut self,
        mut job: Outstanding,
        worker: String,
        games: Vec<FinishedGame>,
    ) {
        if let Err(reason) = check_played(&job.games, &games) {
            self.notify(&format!("an invalid result was waiting: {reason}"));
            self.insert_again(job);
            return;
        }
        if let Some(first) = job.to_check.take() {
            if first.worker == worker || agree(&first.games, &games) {
                return self.finish_all(&job.games, first.games);
            }
            let numbers: Vec<_> = job.numbers().iter().map(ToString::to_string).collect();
            self.notify(&format!(
                "{} and {worker} played game {} differently: one of them is wrong; both results \
                 are dropped, and other workers play again",
                first.worker,
                numbers.join(" and ")
            ));
            job.returns = 0;
            self.insert_again(job);
            return;
        }
        let percent = self.run.checked_percent;
        let is_checked = self.is_repeatable(&job) && !worker.is_empty();
        if is_checked && self.run.key.is_checked(&job.numbers(), percent) {
            job.to_check = Some(FirstResult { worker, games });
            job.returns = 0;
            self.insert_again(job);
            return;
        }
        self.finish_all(&job.games, games);
    }

    /// Whether the games are the same wherever they are played.
    fn is_repeatable(&self, job: &Outstanding) -> bool {
        let players = &self.executor.players;
        job.games.iter().all(|game| {
            game.settings.time_control == TimeControl::Unlimited
                && game.players.iter().all(|player| players[player.index].is_deterministic())
        })
    }

    fn insert_again(&mut self, mut job: Outstanding) {
        job.publish_at = Some(Instant::now());
        if let Some(&first) = job.numbers().first() {
            self.jobs.insert(first, job);
        }
    }

    fn finish_all(&mut self, jobs: &[GameJob], games: Vec<FinishedGame>) {
        self.finished += games.len() as u64;
        let mut games = games.into_iter();
        self.finish_games(jobs, |_| match games.next() {
            Some(game) => JobResult::Finished(Box::new(game)),
            None => JobResult::Stopped,
        });
    }

    pub(super) fn finish_games(
        &self,
        jobs: &[GameJob],
        mut result: impl FnMut(&GameJob) -> JobResult,
    ) {
        for job in jobs {
            let result = result(job);
            if let JobResult::Finished(game) = &result {
                let started = game.summary.finished - game.summary.milliseconds;
                self.source.on_start(0, job, started);
            }
            self.source.on_result(0, job, result);
        }
    }
}

/// Returns why the results of a job are invalid.
fn check_all(jobs: &[GameJob], results: &[JobResult]) -> Result<(), String> {
    if jobs.len() != results.len() {
        return Err(format!("{} results for {} games", results.len(), jobs.len()));
    }
    for (job, result) in jobs.iter().zip(results) {
        match result {
            JobResult::Finished(game) => result_check::check(job, game)
                .map_err(|reason| format!("game {}: {reason}", job.number))?,
            JobResult::Stopped => return Err(format!("game {} has no result", job.number)),
            JobResult::Failed(_) => {}
        }
    }
    Ok(())
}

fn check_played(jobs: &[GameJob], games: &[FinishedGame]) -> Result<(), String> {
    jobs.iter().zip(games).try_for_each(|(job, game)| result_check::check(job, game))
}
