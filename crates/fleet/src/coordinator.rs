//! The coordinator: an [`Executor`] whose games are played by the workers of a fleet.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{PullConsumer, pull};
use crownhead_play::{StopFlag, TimeControl};
use crownhead_tournament::runner::{Executor, JobSource};
use crownhead_tournament::{Entrant, FinishedGame, GameJob, JobResult};
use futures_util::{StreamExt, TryStreamExt};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::connection::{Connection, parse_worker_report, runtime, server_error};
use crate::messages::{JobMessage, Outcome, ResultMessage, ReturnReason, RunReport, WorkerReport};
use crate::outstanding::{FirstResult, Jobs, Outstanding, agree, job_name};
use crate::players::PlayerMessage;
use crate::streams::{self, JOBS, MAX_REPORT_AGE, REPORT_INTERVAL, RESULTS};
use crate::worker::Notify;
use crate::{BuildId, FleetError, RunKey, ServerOptions, bots, build_id, dead, result_check};

/// A connection of a coordinator.
pub struct Coordinator {
    runtime: Runtime,
    connection: Connection,
    build: BuildId,
    notify: Notify,
}

/// A run, as the fleet needs to know it.
#[derive(Clone)]
pub struct FleetRun {
    /// Description for people.
    pub name: String,
    /// Id and secrets.
    pub key: RunKey,
    /// Whether results that arrive after the coordinator has stopped are kept for the next one.
    pub is_resumable: bool,
    /// The tables that the games need, as [`worker::tables`](crate::worker::tables) lists them.
    pub tables: Vec<String>,
    /// How many pairs of a hundred are played twice, on different workers, and compared. Only
    /// games without time limits are.
    pub checked_percent: u8,
    /// Starts no more games.
    pub finish: StopFlag,
    /// The players by name and text.
    players: HashMap<String, PlayerMessage>,
}

impl FleetRun {
    /// Describes a run that is not resumed.
    pub fn new(name: String, tables: Vec<String>, checked_percent: u8) -> FleetRun {
        FleetRun {
            name,
            key: RunKey::random(),
            is_resumable: false,
            tables,
            checked_percent,
            finish: StopFlag::new(),
            players: HashMap::new(),
        }
    }
}

impl Coordinator {
    /// Connects to the server and creates the streams that are missing. Fails if workers are there
    /// that run another program.
    pub fn join(options: &ServerOptions, notify: Notify) -> Result<Coordinator, FleetError> {
        let build = BuildId::measure(1)?;
        let runtime = runtime(1)?;
        let connection = runtime.block_on(async {
            let connection =
                Connection::open(options, "crownhead coordinator", notify.clone()).await?;
            streams::create(&connection.jetstream).await?;
            match build_id::required(&connection).await? {
                Some(text) if text == build.text => {}
                Some(text) if has_workers(&connection).await? => {
                    return Err(FleetError::Refused(format!(
                        "the workers of this fleet run crownhead {text}, this is crownhead {}: \
                         use the same program, or stop the workers first",
                        build.text
                    )));
                }
                _ => {
                    let text = build.text.clone().into_bytes();
                    let jetstream = &connection.jetstream;
                    let ack = jetstream.publish(streams::FLEET_SUBJECT, text.into()).await;
                    ack.map_err(server_error)?.await.map_err(server_error)?;
                }
            }
            Ok(connection)
        })?;
        Ok(Coordinator { runtime, connection, build, notify })
    }

    /// Returns version and bench signature of this program.
    pub fn build(&self) -> &str {
        &self.build.text
    }

    /// Stores the bots of a run where workers find them.
    pub fn upload(&self, run: &mut FleetRun, entrants: &[&Entrant]) -> Result<(), FleetError> {
        let upload = bots::upload(&self.connection, entrants, run.key.bot_secret());
        run.players = self.runtime.block_on(upload)?;
        Ok(())
    }

    /// Creates the executor of a run whose players have been [uploaded](Coordinator::upload). Jobs
    /// refer to them by index.
    pub fn executor<'a>(
        &'a self,
        run: FleetRun,
        players: &[Option<&Entrant>],
    ) -> FleetExecutor<'a> {
        let message = |entrant: &Option<&Entrant>| {
            let uploaded = entrant.and_then(|entrant| run.players.get(&bots::key(entrant)));
            uploaded.cloned().unwrap_or_else(|| PlayerMessage::new(None))
        };
        let players = players.iter().map(message).collect();
        FleetExecutor { coordinator: self, run, players }
    }
}

/// Returns whether any worker has reported recently.
async fn has_workers(connection: &Connection) -> Result<bool, FleetError> {
    let reports = streams::get(&connection.jetstream, streams::REPORTS).await?;
    let subjects = reports.info_with_subjects("crownhead.workers.*").await.map_err(server_error)?;
    let subjects: Vec<(String, usize)> = subjects.try_collect().await.map_err(server_error)?;
    for (subject, _) in subjects {
        let Ok(message) = reports.get_last_raw_message_by_subject(&subject).await else { continue };
        let report = parse_worker_report(&subject, &message.payload);
        if report.is_some_and(|report| !report.has_left) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Plays the games of a run on the workers of the fleet.
pub struct FleetExecutor<'a> {
    coordinator: &'a Coordinator,
    run: FleetRun,
    players: Vec<PlayerMessage>,
}

impl Executor for FleetExecutor<'_> {
    /// The moves of games in progress stay on the workers.
    fn slots(&self) -> usize {
        1
    }

    fn run(&self, source: &dyn JobSource, stop: &StopFlag) {
        let (sender, pairs) = mpsc::channel(1);
        std::thread::scope(|scope| {
            // The source may wait for players that are busy.
            scope.spawn(move || {
                loop {
                    let pair = source.next_pair();
                    if pair.is_empty() || sender.blocking_send(pair).is_err() {
                        return;
                    }
                }
            });
            let mut drive = Drive::new(self, source, stop, pairs);
            self.coordinator.runtime.block_on(drive.run());
        });
    }
}

/// How often the flags are checked.
const TICK: Duration = Duration::from_millis(50);
/// How often the queue is compared with what it should hold.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(5);
/// Jobs that may be queued before any worker has reported.
const MIN_QUEUE: usize = 64;
/// Most results of an earlier coordinator that wait for their jobs.
const MAX_EARLY: usize = 100_000;
/// How long a job that was given back waits.
const RETURN_DELAY: Duration = Duration::from_millis(500);
/// How often workers may give a check back before it is dropped: there may be one worker only.
const MAX_CHECK_RETURNS: u32 = 40;

/// One call of [`Executor::run`].
struct Drive<'a> {
    executor: &'a FleetExecutor<'a>,
    run: &'a FleetRun,
    connection: &'a Connection,
    source: &'a dyn JobSource,
    stop: &'a StopFlag,
    pairs: mpsc::Receiver<Vec<GameJob>>,
    /// Whether there are no more pairs.
    is_fed: bool,
    jobs: Jobs,
    /// Jobs that an earlier coordinator queued.
    queued_before: HashSet<String>,
    /// Games that were played for an earlier coordinator, until their jobs come up.
    early: HashMap<i64, FinishedGame>,
    /// Last report of each worker, and when it came.
    workers: HashMap<String, (WorkerReport, Instant)>,
    results: Option<pull::Stream>,
    /// Jobs that may be queued.
    max_queue: usize,
    /// When running games were the last ones to be waited for.
    finishing: Option<Instant>,
    finished: u64,
    unchecked: u64,
    started: Instant,
}

impl<'a> Drive<'a> {
    fn new(
        executor: &'a FleetExecutor<'a>,
        source: &'a dyn JobSource,
        stop: &'a StopFlag,
        pairs: mpsc::Receiver<Vec<GameJob>>,
    ) -> Drive<'a> {
        Drive {
            executor,
            run: &executor.run,
            connection: &executor.coordinator.connection,
            source,
            stop,
            pairs,
            is_fed: false,
            jobs: Jobs::new(),
            queued_before: HashSet::new(),
            early: HashMap::new(),
            workers: HashMap::new(),
            results: None,
            max_queue: MIN_QUEUE,
            finishing: None,
            finished: 0,
            unchecked: 0,
            started: Instant::now(),
        }
    }

    fn notify(&self, message: &str) {
        (self.executor.coordinator.notify)(message);
    }

    async fn run(&mut self) {
        let mut reports = loop {
            match self.connection.client.subscribe("crownhead.workers.*").await {
                Ok(reports) => break reports,
                Err(error) => self.notify(&format!("NATS: {error}")),
            }
            tokio::time::sleep(RETURN_DELAY).await;
            if self.stop.is_set() {
                return;
            }
        };
        if let Err(error) = self.adopt().await {
            self.notify(&error.to_string());
        }
        let mut tick = tokio::time::interval(TICK);
        let mut reconcile = tokio::time::interval(RECONCILE_INTERVAL);
        let mut report = tokio::time::interval(REPORT_INTERVAL);
        loop {
            let may_queue = self.run.finish.is_set() || self.jobs.len() < self.max_queue;
            tokio::select! {
                pair = self.pairs.recv(), if !self.is_fed && may_queue => self.on_pair(pair).await,
                message = next_result(&mut self.results, self.connection, &self.run.key.id) => {
                    match message {
                        Ok(message) => self.on_message(&message).await,
                        Err(error) => {
                            self.notify(&error.to_string());
                            tokio::time::sleep(RETURN_DELAY).await;
                        }
                    }
                }
                message = reports.next() => {
                    if let Some(message) = message
                        && let Some(report) = parse_worker_report(&message.subject, &message.payload)
                    {
                        self.workers.insert(report.name.clone(), (report, Instant::now()));
                    }
                }
                _ = tick.tick() => {
                    if self.stop.is_set() {
                        break;
                    }
                    self.publish_due(self.unpublished()).await;
                    self.finish();
                }
                _ = reconcile.tick() => {
                    if let Err(error) = self.reconcile().await {
                        self.notify(&error.to_string());
                    }
                }
                _ = report.tick() => {
                    self.max_queue = self.max_queue();
                    self.report(false).await;
                }
            }
            if self.is_fed && self.jobs.values().all(|job| job.is_dead) {
                break;
            }
        }
        self.end().await;
    }

    /// Jobs that may be queued: enough for all workers for a while.
    fn max_queue(&self) -> usize {
        let live = self.workers.values().filter(|(_, at)| at.elapsed() < MAX_REPORT_AGE);
        let slots: usize = live.map(|(worker, _)| worker.concurrency.min(4096)).sum();
        let dead = self.jobs.values().filter(|job| job.is_dead).count();
        MIN_QUEUE + 3 * slots + dead
    }

    /// Finds out which jobs of this run an earlier coordinator has queued.
    async fn adopt(&mut self) -> Result<(), FleetError> {
        self.queued_before = self.queued().await?.into_keys().collect();
        Ok(())
    }

    /// Names of the run's jobs in the queue.
    async fn queued(&self) -> Result<HashMap<String, usize>, FleetError> {
        let jobs = streams::get(&self.connection.jetstream, JOBS).await?;
        let filter = streams::job_subject(&self.run.key.id, "*");
        let subjects = jobs.info_with_subjects(filter).await.map_err(server_error)?;
        let subjects: Vec<(String, usize)> = subjects.try_collect().await.map_err(server_error)?;
        let name = |subject: String| subject.rsplit('.').next().unwrap_or_default().to_string();
        Ok(subjects.into_iter().map(|(subject, count)| (name(subject), count)).collect())
    }

    /// Queues a pair, unless its results or the job itself are there.
    async fn on_pair(&mut self, pair: Option<Vec<GameJob>>) {
        let Some(pair) = pair else {
            self.is_fed = true;
            return;
        };
        if self.run.finish.is_set() {
            self.finish_games(&pair, |_| JobResult::Stopped);
            return;
        }
        let mut job = Outstanding::new(pair);
        let numbers = job.numbers();
        if numbers.iter().all(|number| self.early.contains_key(number)) {
            let early = numbers.iter().filter_map(|number| self.early.remove(number)).collect();
            self.on_played(job, String::new(), early);
            return;
        }
        if self.queued_before.remove(&job.name()) {
            job.publish_at = None;
        }
        if let Some(&first) = numbers.first() {
            self.jobs.insert(first, job);
        }
        self.publish_due(numbers.into_iter().take(1).collect()).await;
    }

    /// Publishes those of these jobs whose time has come.
    async fn publish_due(&mut self, jobs: Vec<i64>) {
        let now = Instant::now();
        for first in jobs {
            let is_due = |job: &&Outstanding| job.publish_at.is_some_and(|at| at <= now);
            let Some(job) = self.jobs.get(&first).filter(is_due) else { continue };
            let subject = streams::job_subject(&self.run.key.id, &job.name());
            let published = self.connection.store(subject, &self.message(job)).await;
            let Some(job) = self.jobs.get_mut(&first) else { continue };
            match published {
                Ok(()) => (job.publish_at, job.published, job.missing) = (None, now, 0),
                Err(error) => {
                    job.publish_at = Some(Instant::now() + Duration::from_secs(1));
                    self.notify(&error.to_string());
                    // The server is away: the other jobs would fail, too.
                    return;
                }
            }
        }
    }

    /// The jobs that wait to be published, in order.
    fn unpublished(&self) -> Vec<i64> {
        let waiting = self.jobs.iter().filter(|(_, job)| job.publish_at.is_some());
        let mut waiting: Vec<i64> = waiting.map(|(first, _)| *first).collect();
        waiting.sort_unstable();
        waiting
    }

    fn message(&self, job: &Outstanding) -> JobMessage {
        let build = &self.executor.coordinator.build;
        let mut players = Vec::new();
        let mut indices = HashMap::new();
        let games = job.games.iter().map(|game| {
            let mut game = game.clone();
            for player in &mut game.players {
                player.index = *indices.entry(player.index).or_insert_with(|| {
                    players.push(self.executor.players[player.index].clone());
                    players.len() - 1
                });
            }
            game
        });
        let games = games.collect();
        JobMessage {
            run: self.run.key.id.clone(),
            lease: self.run.key.lease(&job.numbers(), job.to_check.is_some()),
            build: build.text.clone(),
            tables: self.run.tables.clone(),
            speed: build.speed.clone(),
            excluded: job.to_check.as_ref().map(|first| first.worker.clone()),
            accepts_starved: job.starved > 0,
            players,
            games,
        }
    }

    /// Takes a result, and removes it from the queue.
    async fn on_message(&mut self, message: &Message) {
        let worker = message.subject.rsplit('.').next().unwrap_or_default().to_string();
        match serde_json::from_slice::<ResultMessage>(&message.payload) {
            Ok(result) => self.on_result(&worker, result),
            Err(error) => self.notify(&format!("{worker} sent an invalid result: {error}")),
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
    fn on_played(&mut self, mut job: Outstanding, worker: String, games: Vec<FinishedGame>) {
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

    fn finish_games(&self, jobs: &[GameJob], mut result: impl FnMut(&GameJob) -> JobResult) {
        for job in jobs {
            let result = result(job);
            if let JobResult::Finished(game) = &result {
                let started = game.summary.finished - game.summary.milliseconds;
                self.source.on_start(0, job, started);
            }
            self.source.on_result(0, job, result);
        }
    }

    /// Queues jobs again that have disappeared, and finds dead ones.
    async fn reconcile(&mut self) -> Result<(), FleetError> {
        if self.jobs.is_empty() {
            return Ok(());
        }
        let queued = match self.queued().await {
            Ok(queued) => queued,
            // A server that lost its data has no streams either.
            Err(error) => {
                streams::create(&self.connection.jetstream).await?;
                self.results = None;
                return Err(error);
            }
        };
        for job in self.jobs.values_mut().filter(|job| job.publish_at.is_none()) {
            let is_new = job.published.elapsed() < RECONCILE_INTERVAL;
            let is_missing = !is_new && !queued.contains_key(&job.name());
            job.missing = if is_missing { job.missing + 1 } else { 0 };
            // The result of a job that has just left the queue may still be on its way.
            if job.missing > 2 && self.finishing.is_none() {
                job.publish_at = Some(Instant::now());
            }
        }
        let dead = dead::list(&self.connection.jetstream).await?;
        let is_ours = |dead: &&dead::DeadJob| dead.run == self.run.key.id;
        let dead: HashSet<i64> =
            dead.iter().filter(is_ours).filter_map(|job| job.games.first().copied()).collect();
        let mut died = Vec::new();
        for (first, job) in &mut self.jobs {
            let was_dead = std::mem::replace(&mut job.is_dead, dead.contains(first));
            if job.is_dead && !was_dead {
                died.push(*first);
            }
        }
        for first in died {
            self.notify(&format!(
                "the job of game {first} ended five workers and is on the dead-letter list: see \
                 crownhead fleet dead"
            ));
            if let Some(job) = self.jobs.get(&first) {
                self.finish_games(&job.games, |_| JobResult::Stopped);
            }
        }
        Ok(())
    }

    /// Once no more games are to be started: waits for those that workers are playing only.
    fn finish(&mut self) {
        if !self.run.finish.is_set() {
            return;
        }
        let since = *self.finishing.get_or_insert_with(Instant::now);
        // The workers' reports are older than that by then.
        if since.elapsed() < 2 * REPORT_INTERVAL {
            return;
        }
        let live = self.workers.values().filter(|(_, at)| at.elapsed() < MAX_REPORT_AGE);
        let running: HashSet<&str> =
            live.flat_map(|(worker, _)| worker.running.iter().map(String::as_str)).collect();
        let id = &self.run.key.id;
        let is_waiting =
            |job: &Outstanding| !running.contains(format!("{id}.{}", job.name()).as_str());
        let dropped: Vec<i64> =
            self.jobs.iter().filter(|(_, job)| is_waiting(job)).map(|(first, _)| *first).collect();
        for first in dropped {
            if let Some(job) = self.jobs.remove(&first) {
                self.finish_games(&job.games, |_| JobResult::Stopped);
            }
        }
    }

    async fn report(&self, has_ended: bool) {
        let seconds = self.started.elapsed().as_secs_f64();
        let dead = self.jobs.values().filter(|job| job.is_dead).count() as u64;
        let id = self.run.key.id.clone();
        let report = RunReport {
            name: self.run.name.clone(),
            games: self.source.max_jobs() as u64,
            finished: self.finished,
            queued: self.jobs.len() as u64 - dead,
            dead,
            games_per_second: self.finished as f64 / seconds.max(1e-3),
            seconds: seconds as u64,
            has_ended,
            id,
        };
        self.connection.report(streams::run_subject(&report.id), &report).await;
    }

    /// Removes what is left of the run from the server. A run that can be resumed keeps the jobs on
    /// the dead-letter list, and the results that are still to come.
    async fn end(&mut self) {
        let dead: Vec<_> = self.jobs.values().filter(|job| job.is_dead).collect();
        let is_complete = self.is_fed && self.jobs.is_empty() && !self.run.finish.is_set();
        for job in self.jobs.values().filter(|job| !job.is_dead) {
            self.finish_games(&job.games, |_| JobResult::Stopped);
        }
        if self.unchecked > 0 {
            self.notify(&format!(
                "{} pairs were not checked: no second worker was there",
                self.unchecked
            ));
        }
        self.report(true).await;
        let id = &self.run.key.id;
        let jetstream = &self.connection.jetstream;
        if dead.is_empty()
            && let Ok(jobs) = streams::get(jetstream, JOBS).await
        {
            let _ = jobs.purge().filter(streams::job_subject(id, "*")).await;
        }
        if (is_complete || !self.run.is_resumable)
            && let Ok(results) = streams::get(jetstream, RESULTS).await
        {
            self.results = None;
            let _ = results.delete_consumer(id).await;
            let _ = results.purge().filter(streams::result_subject(id, "*")).await;
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

/// Waits for the next result.
async fn next_result(
    results: &mut Option<pull::Stream>,
    connection: &Connection,
    run: &str,
) -> Result<Message, FleetError> {
    loop {
        let stream = match results {
            Some(stream) => stream,
            None => {
                let consumer: PullConsumer = streams::results(&connection.jetstream, run).await?;
                let stream = consumer.stream().max_messages_per_batch(200);
                let stream = stream.expires(Duration::from_secs(10));
                let stream = stream.heartbeat(Duration::from_secs(3));
                results.insert(stream.messages().await.map_err(server_error)?)
            }
        };
        match stream.next().await {
            Some(Ok(message)) => return Ok(message),
            // After a restart of the server: ask again.
            Some(Err(_)) | None => *results = None,
        }
    }
}

/// Returns the name of a job as workers report it.
pub(crate) fn reported_name(run: &str, games: &[i64], is_check: bool) -> String {
    format!("{run}.{}", job_name(games, is_check))
}

// The connection and the runtime are used from several threads.
const _: fn() = || {
    fn is_sync<T: Sync>() {}
    is_sync::<FleetExecutor<'_>>();
    is_sync::<Arc<Coordinator>>();
};
