//! A worker: takes jobs from the queue and does them.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::jetstream::{AckKind, Message};
use crownhead_play::{Knowledge, StopFlag, knowledge::from_tables};
use crownhead_rules::Game;
use crownhead_tables::registry;
use crownhead_tournament::job::JobError;
use crownhead_tournament::runner::{Executor, JobSource, ThreadExecutor};
use crownhead_tournament::{Entrant, GameJob, JobResult};
use futures_util::StreamExt;
use tokio::runtime::Handle;

use crate::bots::Bots;
use crate::build_id::describe_tables;
use crate::connection::{Connection, runtime, server_error};
use crate::messages::{JobMessage, Outcome, ResultMessage, ReturnReason, WorkerReport};
use crate::outstanding::reported_name;
use crate::players::{BotMessage, PlayerMessage, scale_time_control};
use crate::run_key::random_hex;
use crate::streams::{self, JOBS, REPORT_INTERVAL, WORKERS};
use crate::{BuildId, FleetError, ServerOptions, build_id};

/// Passes a message on to the user.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

/// How a worker runs.
#[derive(Clone)]
pub struct WorkerOptions {
    /// The server.
    pub server: ServerOptions,
    /// Name of the worker, unless its credentials name it. If `None`, the name of the machine and a
    /// random number.
    pub name: Option<String>,
    /// Games in parallel; as many as cores if `None`.
    pub concurrency: Option<usize>,
    /// Starts no more games.
    pub drain: StopFlag,
    /// Also gives running games back.
    pub abort: StopFlag,
}

/// How long one request for a job waits at the server.
const PULL_TIME: Duration = Duration::from_secs(20);
/// How long bots stay for the next job after their last game.
const MAX_IDLE: Duration = Duration::from_secs(1);
/// How often a worker looks for the first run of a fleet.
const FLEET_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How often the flags are checked.
const TICK: Duration = Duration::from_millis(50);
/// How long a worker that had to give a job back waits before it takes another one.
const STARVED_PAUSE: Duration = Duration::from_secs(5);

/// Runs a worker until it is drained. Fails if it is refused.
pub fn run(options: &WorkerOptions, notify: Notify) -> Result<(), FleetError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let concurrency = options.concurrency.unwrap_or(cores);
    if concurrency > cores {
        return Err(FleetError::Machine(format!(
            "{concurrency} games at once on {cores} cores would slow each other down: use \
             --concurrency {cores} or less"
        )));
    }
    let machine = machine_name();
    // The server lets a user publish under its own name only.
    let user = options.server.own_credentials()?.map(|credentials| credentials.name);
    let name = user.or_else(|| options.name.clone());
    let name = name.unwrap_or_else(|| format!("{machine}-{}", random_hex(2)));
    let build = BuildId::measure(concurrency)?;
    let runtime = runtime(1)?;
    let connect = Connection::open(&options.server, &name, notify.clone());
    let connection = runtime.block_on(connect)?;
    let consumer = runtime.block_on(async {
        let mut is_announced = false;
        loop {
            match build_id::required(&connection).await? {
                Some(required) if required == build.text => break,
                Some(required) => return Err(refused(&build.text, &required)),
                None if options.drain.is_set() => return Ok(None),
                None => {}
            }
            if !std::mem::replace(&mut is_announced, true) {
                notify("no run has been started on this server yet; waiting");
            }
            tokio::time::sleep(FLEET_POLL_INTERVAL).await;
        }
        let consumer = connection.jetstream.get_consumer_from_stream(WORKERS, JOBS).await;
        consumer.map(Some).map_err(server_error)
    })?;
    let Some(consumer) = consumer else { return Ok(()) };
    let report = WorkerReport {
        name: name.clone(),
        machine,
        build: build.text.clone(),
        cores,
        concurrency,
        speed: build.speed.clone(),
        running: Vec::new(),
        games: 0,
        faults: 0,
        returned: 0,
        seconds: 0,
        is_draining: false,
        has_left: false,
    };
    let worker = Worker {
        options,
        handle: runtime.handle().clone(),
        connection,
        consumer,
        build,
        name,
        notify,
        knowledge: Mutex::default(),
        bots: Bots::default(),
        state: Arc::default(),
        refusal: Mutex::default(),
    };
    (worker.notify)(&format!("{} waits for games ({concurrency} at once)", worker.name));
    std::thread::scope(|scope| {
        let reports = worker.report(report);
        let reporter = runtime.spawn(reports);
        let slots: Vec<_> = (0..concurrency).map(|_| scope.spawn(|| worker.play_jobs())).collect();
        for slot in slots {
            let _ = slot.join();
        }
        worker.state.has_left.set();
        let _ = runtime.block_on(reporter);
    });
    let flush = runtime.block_on(worker.connection.client.flush());
    worker
        .refusal
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .map_or_else(|| flush.map_err(server_error), Err)
}

fn refused(own: &str, required: &str) -> FleetError {
    FleetError::Refused(format!(
        "refused: this worker is crownhead {own}, the fleet runs crownhead {required}: install \
         the same program here"
    ))
}

/// Returns the name of this machine, in characters that a subject may contain.
fn machine_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    let name: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    if name.is_empty() { "worker".into() } else { name }
}

/// State that the reports of a worker show.
#[derive(Default)]
struct State {
    running: Mutex<BTreeMap<String, usize>>,
    games: AtomicU64,
    faults: AtomicU64,
    returned: AtomicU64,
    has_left: StopFlag,
}

/// The tables of a game, loaded once.
struct LoadedTables {
    knowledge: Knowledge,
    descriptions: Vec<String>,
}

struct Worker<'a> {
    options: &'a WorkerOptions,
    handle: Handle,
    connection: Connection,
    consumer: PullConsumer,
    build: BuildId,
    name: String,
    notify: Notify,
    knowledge: Mutex<HashMap<&'static str, Arc<LoadedTables>>>,
    bots: Bots,
    state: Arc<State>,
    /// Why the worker was refused, if it was.
    refusal: Mutex<Option<FleetError>>,
}

/// A job that this worker has taken. Sends heartbeats to the server until it is dropped.
struct TakenJob {
    message: JobMessage,
    acker: Message,
    heartbeat: tokio::task::JoinHandle<()>,
}

impl Drop for TakenJob {
    fn drop(&mut self) {
        self.heartbeat.abort();
    }
}

impl TakenJob {
    fn numbers(&self) -> Vec<i64> {
        self.message.work.numbers()
    }

    fn name(&self) -> String {
        reported_name(&self.message.run, &self.numbers(), self.message.excluded.is_some())
    }
}

impl Worker<'_> {
    /// Plays jobs one after the other until the worker is drained.
    fn play_jobs(&self) {
        let mut next = None;
        while let Some(job) = next.take().or_else(|| self.take(None)) {
            next = self.play(job);
        }
    }

    fn is_draining(&self) -> bool {
        self.options.drain.is_set() || self.options.abort.is_set()
    }

    /// Waits for a job; `None` once the worker is drained, or if none comes within `max_wait`.
    fn take(&self, max_wait: Option<Duration>) -> Option<TakenJob> {
        loop {
            let message = self.handle.block_on(self.next_message(max_wait))?;
            let parsed: Result<JobMessage, _> = serde_json::from_slice(&message.payload);
            let job = match parsed {
                Ok(job) => job,
                Err(error)
                    if JobMessage::is_of_another_build(&message.payload, &self.build.text) =>
                {
                    self.refuse(FleetError::Refused(format!("a job is unreadable: {error}")));
                    return None;
                }
                // A worker can have the server send its answers anywhere, also into the queue.
                Err(_) => {
                    let _ = self.handle.block_on(message.ack_with(AckKind::Term));
                    continue;
                }
            };
            let taken = self.hold(job, message);
            let reason = match self.objection(&taken.message) {
                None => return Some(taken),
                Some(reason) => reason,
            };
            self.give_back(taken, reason);
        }
    }

    /// Marks a job as being played, and keeps the server informed.
    fn hold(&self, message: JobMessage, acker: Message) -> TakenJob {
        let interval = self.consumer.cached_info().config.ack_wait / 3;
        let interval = interval.max(Duration::from_millis(100));
        let (_, ack) = acker.clone().split();
        let heartbeat = self.handle.spawn(async move {
            loop {
                tokio::time::sleep(interval).await;
                // While the connection is lost, this fails; the client reconnects on its own.
                let _ = ack.ack_with(AckKind::Progress).await;
            }
        });
        let job = TakenJob { message, acker, heartbeat };
        *self.running().entry(job.name()).or_default() += 1;
        job
    }

    fn running(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, usize>> {
        self.state.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self, error: FleetError) {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.options.drain.set();
    }

    /// Returns why this worker must not play a job.
    fn objection(&self, job: &JobMessage) -> Option<ReturnReason> {
        if self.is_draining() {
            return Some(ReturnReason::Stopped);
        }
        if job.excluded.as_ref() == Some(&self.name) {
            return Some(ReturnReason::Excluded);
        }
        if job.build != self.build.text {
            let error = refused(&self.build.text, &job.build);
            let reason = ReturnReason::Unable(error.to_string());
            self.refuse(error);
            return Some(reason);
        }
        if let Some(reason) = job.players.iter().find_map(PlayerMessage::missing_isolation) {
            self.refuse(FleetError::Refused(format!("refused: {reason}")));
            return Some(ReturnReason::Unable(reason));
        }
        let game = job.work.game()?;
        if let Some(tables) = &job.tables
            && self.tables(game).descriptions != *tables
        {
            let message = format!(
                "the tables of {game} here differ from the coordinator's: copy them, or build those \
                 that it has with `crownhead tables build {}`",
                game.info().id
            );
            self.refuse(FleetError::Refused(format!("refused: {message}")));
            return Some(ReturnReason::Unable(message));
        }
        None
    }

    fn tables(&self, game: &Game) -> Arc<LoadedTables> {
        let mut all = self.knowledge.lock().unwrap_or_else(PoisonError::into_inner);
        let load = || {
            let (tables, _) = registry::load(game.info().id);
            let knowledge = from_tables(&tables);
            Arc::new(LoadedTables { knowledge, descriptions: describe_tables(&tables) })
        };
        all.entry(game.info().id).or_insert_with(load).clone()
    }

    async fn next_message(&self, max_wait: Option<Duration>) -> Option<Message> {
        let expires = max_wait.unwrap_or(PULL_TIME);
        while !self.is_draining() {
            let batch = self.consumer.batch().max_messages(1).expires(expires).messages().await;
            match batch {
                Ok(mut batch) => {
                    if let Some(message) = self.first(&mut batch, expires).await {
                        return Some(message);
                    }
                }
                Err(_) => tokio::time::sleep(TICK * 10).await,
            }
            if max_wait.is_some() {
                return None;
            }
        }
        None
    }

    /// Returns the message that answers a request, if it arrives before the request expires.
    async fn first(&self, batch: &mut pull::Batch, expires: Duration) -> Option<Message> {
        let deadline = Instant::now() + expires + Duration::from_secs(1);
        while !self.is_draining() && Instant::now() < deadline {
            match tokio::time::timeout(TICK, batch.next()).await {
                Ok(Some(Ok(message))) => return Some(message),
                Ok(Some(Err(_)) | None) => {
                    // If the server answers with an error at once, do not poll in a busy loop.
                    tokio::time::sleep(TICK).await;
                    return None;
                }
                Err(_) => {}
            }
        }
        None
    }

    /// Does a job and the next ones with the same players. Returns the first one with others.
    fn play(&self, job: TakenJob) -> Option<TakenJob> {
        let Some(game) = job.message.work.game().cloned() else {
            self.give_back(job, ReturnReason::Unable("the job has no games".into()));
            return None;
        };
        let factor = self.build.time_factor(&job.message.speed, game.info().id);
        if job.message.work.games().is_empty() {
            let tables = self.tables(&game);
            match job.message.work.run(&tables.knowledge, factor, &self.options.abort) {
                Ok(outcome) => {
                    let games = job.numbers().len() as u64;
                    self.state.games.fetch_add(games, Ordering::Relaxed);
                    self.answer(job, outcome);
                }
                Err(reason) => self.give_back(job, reason),
            }
            return None;
        }
        // The files of the bots stay until the players have ended.
        let unpacked = RefCell::new(Vec::new());
        let find = |bot: &BotMessage| {
            let mut unpacked = unpacked.borrow_mut();
            self.bots.find(bot, &self.handle, &self.connection, &mut unpacked)
        };
        let players = job.message.players.iter().map(|player| player.entrant(factor, &find));
        let players: Vec<Entrant> = match players.collect() {
            Ok(players) => players,
            Err(reason) => {
                self.give_back(job, ReturnReason::Unable(reason));
                return None;
            }
        };
        let tables = self.tables(&game);
        let entrants = players.iter().map(Some).collect();
        let executor = ThreadExecutor::new(entrants, &tables.knowledge, 1, None);
        let source = SlotJobs { worker: self, factor, slot: Mutex::new(Slot::new(job)) };
        executor.run(&source, &self.options.abort);
        let slot = source.slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = slot.job {
            self.give_back(job, ReturnReason::Stopped);
        }
        slot.next
    }

    fn give_back(&self, job: TakenJob, reason: ReturnReason) {
        self.state.returned.fetch_add(1, Ordering::Relaxed);
        self.answer(job, Outcome::Returned(reason));
    }

    /// Sends the answer to a job, and then removes the job from the queue.
    fn answer(&self, job: TakenJob, outcome: Outcome) {
        let name = job.name();
        let mut result = ResultMessage {
            games: job.numbers(),
            is_check: job.message.excluded.is_some(),
            lease: job.message.lease.clone(),
            outcome,
        };
        if let Err(reason) = self.connection.check_size(&result) {
            (self.notify)(&reason);
            result.outcome = Outcome::Returned(ReturnReason::Unable(reason));
        }
        let subject = streams::result_subject(&job.message.run, &self.name);
        self.handle.block_on(async {
            while let Err(error) = self.connection.store(subject.clone(), &result).await {
                (self.notify)(&format!("cannot send a result, trying again: {error}"));
                if self.options.abort.is_set() {
                    return;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            // A job whose acknowledgement is lost is played again, and its results are dropped.
            let _ = tokio::time::timeout(Duration::from_secs(2), job.acker.double_ack()).await;
        });
        let mut running = self.running();
        if let Some(count) = running.get_mut(&name) {
            *count -= 1;
            if *count == 0 {
                running.remove(&name);
            }
        }
    }

    /// Publishes reports until the worker has left.
    fn report(&self, mut report: WorkerReport) -> impl Future<Output = ()> + Send + 'static {
        let (state, connection) = (self.state.clone(), self.connection.clone());
        let drain = self.options.drain.clone();
        let joined = Instant::now();
        async move {
            let mut tick = tokio::time::interval(TICK);
            let mut last: Option<Instant> = None;
            loop {
                tick.tick().await;
                let has_left = state.has_left.is_set();
                if !has_left && last.is_some_and(|last| last.elapsed() < REPORT_INTERVAL) {
                    continue;
                }
                last = Some(Instant::now());
                report.running = {
                    let running = state.running.lock().unwrap_or_else(PoisonError::into_inner);
                    running.keys().cloned().collect()
                };
                report.games = state.games.load(Ordering::Relaxed);
                report.faults = state.faults.load(Ordering::Relaxed);
                report.returned = state.returned.load(Ordering::Relaxed);
                report.seconds = joined.elapsed().as_secs();
                (report.is_draining, report.has_left) = (drain.is_set(), has_left);
                connection.report(streams::worker_subject(&report.name), &report).await;
                if has_left {
                    return;
                }
            }
        }
    }
}

/// Hands the games of the jobs that one thread takes to its executor.
struct SlotJobs<'a> {
    worker: &'a Worker<'a>,
    factor: f64,
    slot: Mutex<Slot>,
}

struct Slot {
    /// The job whose games are played; `None` once it is answered.
    job: Option<TakenJob>,
    /// Index of the next game to play.
    position: usize,
    results: Vec<JobResult>,
    /// A job with other players.
    next: Option<TakenJob>,
}

impl Slot {
    fn new(job: TakenJob) -> Slot {
        Slot { job: Some(job), position: 0, results: Vec::new(), next: None }
    }
}

impl SlotJobs<'_> {
    fn slot(&self) -> std::sync::MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the players of this executor can play another job.
    fn suits(&self, current: &JobMessage, next: &JobMessage) -> bool {
        let game = |job: &JobMessage| job.work.games().first().map(|game| game.game.clone());
        current.players == next.players
            && current.speed == next.speed
            && game(current) == game(next)
    }

    /// Answers the finished job.
    fn answer(&self, job: TakenJob, results: Vec<JobResult>) {
        let state = &self.worker.state;
        let finished = |result: &JobResult| match result {
            JobResult::Finished(game) => Some(game.clone()),
            _ => None,
        };
        let games: Vec<_> = results.iter().filter_map(finished).collect();
        if !job.message.accepts_starved && games.iter().any(|game| game.is_disputed()) {
            (self.worker.notify)("this machine is too busy: a bot was late because of it");
            self.worker.give_back(job, ReturnReason::Starved);
            std::thread::sleep(STARVED_PAUSE);
            return;
        }
        let unavailable = results.iter().find_map(|result| match result {
            JobResult::Failed(JobError::Unavailable(reason)) => Some(reason.clone()),
            _ => None,
        });
        if let Some(reason) = unavailable {
            (self.worker.notify)(&reason);
            self.worker.give_back(job, ReturnReason::Unable(reason));
            std::thread::sleep(STARVED_PAUSE);
            return;
        }
        state.games.fetch_add(games.len() as u64, Ordering::Relaxed);
        let faults: u32 = games.iter().flat_map(|game| game.summary.faults).sum();
        state.faults.fetch_add(faults.into(), Ordering::Relaxed);
        self.worker.answer(job, Outcome::Played(results));
    }
}

impl JobSource for SlotJobs<'_> {
    fn max_jobs(&self) -> usize {
        1
    }

    fn next_job(&self) -> Option<GameJob> {
        let mut slot = self.slot();
        let games = slot.job.as_ref()?.message.work.games().len();
        if slot.position == games {
            let results = std::mem::take(&mut slot.results);
            let job = slot.job.take()?;
            let played = job.message.clone();
            self.answer(job, results);
            let next = self.worker.take(Some(MAX_IDLE))?;
            if !self.suits(&played, &next.message) {
                slot.next = Some(next);
                return None;
            }
            *slot = Slot::new(next);
        }
        let position = slot.position;
        let mut game = slot.job.as_ref()?.message.work.games().get(position)?.clone();
        slot.position += 1;
        let control = &mut game.settings.time_control;
        *control = scale_time_control(*control, self.factor);
        Some(game)
    }

    fn next_pair(&self) -> Vec<GameJob> {
        self.next_job().into_iter().collect()
    }

    fn on_result(&self, _: usize, _: &GameJob, result: JobResult) {
        let mut slot = self.slot();
        if matches!(result, JobResult::Stopped) {
            // Nothing more is played: the job is given back.
            slot.position = usize::MAX;
            return;
        }
        slot.results.push(result);
    }
}
