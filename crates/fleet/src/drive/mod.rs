//! How a coordinator has the work of a run done: it queues jobs, takes results, and queues lost
//! jobs again.

mod results;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{PullConsumer, pull};
use crownhead_play::StopFlag;
use futures_util::{StreamExt, TryStreamExt};
use tokio::sync::mpsc;

use crate::connection::{Connection, parse_worker_report, server_error};
use crate::messages::{JobMessage, RunReport, WorkerReport};
use crate::outstanding::{Jobs, Outstanding};
use crate::players::PlayerMessage;
use crate::streams::{self, JOBS, MAX_REPORT_AGE, REPORT_INTERVAL, RESULTS};
use crate::work::{Done, Work, WorkEnd, WorkSource};
use crate::{Coordinator, FleetError, FleetRun, dead};

/// How often the flags are checked.
const TICK: Duration = Duration::from_millis(50);
/// How often the queue is compared with what it should hold.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum number of queued jobs before any worker has reported.
const MIN_QUEUE: usize = 64;
/// Rounds after which jobs that the consumer does not deliver are queued again.
const MAX_IDLE_ROUNDS: u32 = 3;
/// How long a job that was given back waits until it is queued again.
const RETURN_DELAY: Duration = Duration::from_millis(500);

/// Has workers do the work of a source until there is no more, or `stop` is set. Games refer to
/// the players by index.
pub(crate) fn drive(
    coordinator: &Coordinator,
    run: &FleetRun,
    players: &[PlayerMessage],
    source: &dyn WorkSource,
    stop: &StopFlag,
) {
    let (sender, work) = mpsc::channel(1);
    std::thread::scope(|scope| {
        // The source may wait for players that are busy.
        scope.spawn(move || {
            while let Some(work) = source.next() {
                if sender.blocking_send(work).is_err() {
                    return;
                }
            }
        });
        let mut drive = Drive::new(coordinator, run, players, source, stop, work);
        coordinator.runtime.block_on(drive.run());
    });
}

/// One call of [`drive`].
struct Drive<'a> {
    coordinator: &'a Coordinator,
    run: &'a FleetRun,
    players: &'a [PlayerMessage],
    connection: &'a Connection,
    source: &'a dyn WorkSource,
    stop: &'a StopFlag,
    work: mpsc::Receiver<Work>,
    /// Whether there is no more work.
    is_fed: bool,
    jobs: Jobs,
    /// Jobs that an earlier coordinator queued.
    queued_before: HashSet<String>,
    /// Results for an earlier coordinator, until their jobs come up: games by number, other work by
    /// its first number.
    early: HashMap<i64, Done>,
    /// Highest number of the jobs that have come up.
    last_number: i64,
    /// Last report of each worker, and when it came.
    workers: HashMap<String, (WorkerReport, Instant)>,
    results: Option<pull::Stream>,
    /// Maximum number of queued jobs.
    max_queue: usize,
    /// Since when no more games are started.
    finishing: Option<Instant>,
    finished: u64,
    positions: u64,
    unchecked: u64,
    /// Whether it has been checked once that there are workers.
    looked_for_workers: bool,
    /// How often in a row the consumer had nothing to deliver although jobs were in the queue.
    idle_rounds: u32,
    started: Instant,
}

impl<'a> Drive<'a> {
    fn new(
        coordinator: &'a Coordinator,
        run: &'a FleetRun,
        players: &'a [PlayerMessage],
        source: &'a dyn WorkSource,
        stop: &'a StopFlag,
        work: mpsc::Receiver<Work>,
    ) -> Drive<'a> {
        Drive {
            coordinator,
            run,
            players,
            connection: &coordinator.connection,
            source,
            stop,
            work,
            is_fed: false,
            jobs: Jobs::new(),
            queued_before: HashSet::new(),
            early: HashMap::new(),
            last_number: i64::MIN,
            workers: HashMap::new(),
            results: None,
            max_queue: MIN_QUEUE,
            finishing: None,
            finished: 0,
            positions: 0,
            unchecked: 0,
            looked_for_workers: false,
            idle_rounds: 0,
            started: Instant::now(),
        }
    }

    fn notify(&self, message: &str) {
        (self.coordinator.notify)(message);
    }

    /// Has all work done.
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
                work = self.work.recv(), if !self.is_fed && may_queue => self.on_work(work).await,
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

    /// The workers that have reported recently.
    fn live_workers(&self) -> impl Iterator<Item = &WorkerReport> {
        let live = self.workers.values().filter(|(_, at)| at.elapsed() < MAX_REPORT_AGE);
        live.map(|(worker, _)| worker)
    }

    /// Maximum number of queued jobs: enough to keep all workers busy for a while.
    fn max_queue(&self) -> usize {
        let slots: usize = self.live_workers().map(|worker| worker.concurrency.min(4096)).sum();
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

    /// Queues work, unless its result or the job itself is there.
    async fn on_work(&mut self, work: Option<Work>) {
        let Some(work) = work else {
            self.is_fed = true;
            return;
        };
        if self.run.finish.is_set() {
            self.source.on_end(&work, WorkEnd::Stopped);
            return;
        }
        let mut job = Outstanding::new(work);
        let numbers = job.numbers();
        self.last_number = numbers.iter().copied().fold(self.last_number, i64::max);
        if let Some(done) = self.take_early(&job.work) {
            self.on_done(job, String::new(), done);
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
                    // The server is unreachable: the other jobs would fail, too.
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
        let build = &self.coordinator.build;
        let mut players = Vec::new();
        let mut indices = HashMap::new();
        let mut work = job.work.clone();
        if let Work::Games(games) = &mut work {
            for player in games.iter_mut().flat_map(|game| &mut game.players) {
                player.index = *indices.entry(player.index).or_insert_with(|| {
                    players.push(self.players[player.index].clone());
                    players.len() - 1
                });
            }
        }
        let tables = work.game().and_then(|game| self.run.tables.get(game.info().id));
        JobMessage {
            run: self.run.key.id.clone(),
            lease: self.run.key.lease(&job.numbers(), job.to_check.is_some()),
            build: build.text.clone(),
            tables: tables.cloned(),
            speed: build.speed.clone(),
            excluded: job.to_check.as_ref().map(|first| first.worker.clone()),
            accepts_starved: job.starved > 0,
            players,
            work,
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
        self.requeue_forgotten(&queued).await?;
        // By now every worker has sent a report.
        if !self.looked_for_workers && self.started.elapsed() >= RECONCILE_INTERVAL {
            self.looked_for_workers = true;
            if self.live_workers().next().is_none() {
                self.notify("waiting for a worker: start one with `crownhead worker`");
            }
        }
        for first in died {
            self.notify(&format!(
                "five workers failed to finish the job of game {first}: it is on the dead-letter \
                 list, see crownhead fleet dead"
            ));
            if let Some(job) = self.jobs.get(&first) {
                self.source.on_end(&job.work, WorkEnd::Stopped);
            }
        }
        Ok(())
    }

    /// Queues jobs again that are in the stream but that the consumer would never deliver: a server
    /// that was killed may remember acknowledgements of messages that it still has.
    async fn requeue_forgotten(
        &mut self,
        queued: &HashMap<String, usize>,
    ) -> Result<(), FleetError> {
        let jobs = streams::get(&self.connection.jetstream, JOBS).await?;
        let consumer = jobs.consumer_info(streams::WORKERS).await.map_err(server_error)?;
        let dead = self.jobs.values().filter(|job| job.is_dead).count();
        let is_ours = |job: &&mut Outstanding| {
            let is_new = job.published.elapsed() < RECONCILE_INTERVAL;
            job.publish_at.is_none() && !job.is_dead && !is_new && queued.contains_key(&job.name())
        };
        let is_idle = consumer.num_pending == 0 && consumer.num_ack_pending <= dead;
        let forgotten: Vec<_> = self.jobs.values_mut().filter(is_ours).collect();
        self.idle_rounds = if is_idle && !forgotten.is_empty() { self.idle_rounds + 1 } else { 0 };
        if self.idle_rounds < MAX_IDLE_ROUNDS {
            return Ok(());
        }
        for job in forgotten {
            let subject = streams::job_subject(&self.run.key.id, &job.name());
            jobs.purge().filter(subject).await.map_err(server_error)?;
            job.publish_at = Some(Instant::now());
        }
        self.idle_rounds = 0;
        Ok(())
    }

    /// If no more games are to be started, drops the jobs that no worker is playing.
    fn finish(&mut self) {
        if !self.run.finish.is_set() {
            return;
        }
        let since = *self.finishing.get_or_insert_with(Instant::now);
        // After that time every worker has sent a new report.
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
                self.source.on_end(&job.work, WorkEnd::Stopped);
            }
        }
    }

    async fn report(&self, has_ended: bool) {
        let seconds = self.started.elapsed().as_secs_f64();
        let dead = self.jobs.values().filter(|job| job.is_dead).count() as u64;
        let id = self.run.key.id.clone();
        let report = RunReport {
            name: self.run.name.clone(),
            games: self.source.games(),
            finished: self.finished,
            positions: self.positions,
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
            self.source.on_end(&job.work, WorkEnd::Stopped);
        }
        if self.unchecked > 0 {
            self.notify(&format!(
                "{} jobs were not checked: no second worker was available",
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
