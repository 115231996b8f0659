//! Plays the missing games of a tournament.
//!
//! Games are played in batches: all games of a fixed schedule at once, otherwise one round after
//! the other. The [`queue`] hands out games whose players are free, an [`Executor`] plays them,
//! and a result counts once the journal has stored it. An interrupted run continues from the
//! [`ScheduleState`] that the journal describes, like any other run.

mod executor;
mod pool;
mod queue;
mod worker;

use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crownhead_play::{Knowledge, OpeningPicker, StopFlag, derive_seed};

pub use executor::{Executor, JobSource, ThreadExecutor};

use crate::events::{Event, GameRef};
use crate::job::{GameJob, JobError, JobPlayer, JobResult, MoveReport};
use crate::journal::{Game, Journal, JournalError, JournalHandle, Snapshot, State};
use crate::journal::{Writer, WriterEvent};
use crate::schedule::{NextRound, Round, ScheduleState};
use crate::{Entrant, IsolationRecord, Tournament};
use queue::GameQueue;

/// Flags that end a run early.
#[derive(Clone, Default)]
pub struct RunControl {
    /// Starts no more games; running games are played to the end.
    pub finish_running: StopFlag,
    /// Stops running games, too; they have no result.
    pub abort: StopFlag,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// All games are finished.
    Finished,
    /// The run was interrupted and can be resumed.
    Interrupted,
    /// The tournament was cancelled.
    Cancelled,
}

impl RunOutcome {
    /// Name in JSON.
    pub const fn code(self) -> &'static str {
        match self {
            RunOutcome::Finished => "finished",
            RunOutcome::Interrupted => "interrupted",
            RunOutcome::Cancelled => "cancelled",
        }
    }
}

/// Why a run failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RunError {
    /// The journal failed.
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// A game could not be played, through no fault of its players.
    #[error("cannot play a game: {0}")]
    Game(JobError),
    /// The required isolation is unavailable.
    #[error("{0}")]
    Isolation(String),
    /// The writer thread panicked.
    #[error("internal error: the journal writer panicked")]
    WriterPanicked,
}

/// How often the control flags are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Creates the executor of a run for its players; jobs refer to them by index.
pub type NewExecutor<'a> = dyn Fn(&[Option<&'a Entrant>]) -> Box<dyn Executor + 'a> + 'a;

/// Plays all games of a tournament that are missing from its journal, on threads of this process.
pub fn run(
    tournament: &Tournament,
    journal: Journal,
    knowledge: &Knowledge,
    control: &RunControl,
    on_event: &mut dyn FnMut(&Event),
) -> Result<RunOutcome, RunError> {
    let log = tournament.log.as_deref();
    run_on(tournament, journal, knowledge, control, on_event, &|players| {
        let threads = tournament.concurrency;
        Box::new(ThreadExecutor::new(players.to_vec(), knowledge, threads, log))
    })
}

/// Plays all games of a tournament that are missing from its journal, on another executor.
pub fn run_on<'a>(
    tournament: &'a Tournament,
    mut journal: Journal,
    knowledge: &'a Knowledge,
    control: &RunControl,
    on_event: &mut dyn FnMut(&Event),
    new_executor: &NewExecutor<'a>,
) -> Result<RunOutcome, RunError> {
    let isolation = IsolationRecord::detect(tournament).map_err(RunError::Isolation)?;
    let isolation_number =
        isolation.as_ref().map(|isolation| journal.record_isolation(isolation)).transpose()?;
    journal.reset_unfinished()?;
    let snapshot = journal.snapshot()?;
    let names = snapshot.names();
    let entrants = entrants(tournament, &snapshot);
    let executor = new_executor(&entrants);
    let mut state = ScheduleState::new(&snapshot);
    let finished = snapshot.finished().count() as u64;
    let mut pending: Vec<Game> =
        snapshot.games.iter().filter(|game| game.summary.is_none()).cloned().collect();
    drop(snapshot);
    // Rounds of a fixed schedule are announced after the start of the run, but the total number
    // of games must be known before.
    let mut rounds = Vec::new();
    if tournament.schedule.is_fixed() {
        let collect = &mut |event: &Event| rounds.push(event.clone());
        pending.extend(schedule(tournament, &mut journal, &mut state, collect)?);
    }
    on_event(&Event::RunStarted {
        name: tournament.name.clone(),
        game: tournament.game.to_string(),
        schedule: tournament.schedule.code(),
        seed: tournament.seed,
        players: names.clone(),
        planned: state.planned(),
        finished,
        isolation,
    });
    rounds.iter().for_each(&mut *on_event);
    let context = RunContext {
        tournament,
        control,
        executor: executor.as_ref(),
        openings: tournament.openings.picker(&tournament.game, knowledge, tournament.seed),
        names: &names,
        entrants: &entrants,
        built: Mutex::new(vec![false; entrants.len()]),
        isolation: isolation_number,
    };
    loop {
        if pending.is_empty() {
            pending = schedule(tournament, &mut journal, &mut state, on_event)?;
        }
        if pending.is_empty() {
            journal.set_state(State::Finished)?;
            return Ok(RunOutcome::Finished);
        }
        let batch = context.play_batch(journal, pending, &mut state, on_event)?;
        if let Some(outcome) = batch.outcome {
            return Ok(outcome);
        }
        (journal, pending) = (batch.journal, Vec::new());
        // A batch may be too short for the writer to check.
        if journal.state()? == State::Cancelled {
            return Ok(RunOutcome::Cancelled);
        }
    }
}

/// Returns the entrants by player index.
fn entrants<'a>(tournament: &'a Tournament, snapshot: &Snapshot) -> Vec<Option<&'a Entrant>> {
    let by_name: HashMap<&str, &Entrant> =
        tournament.entrants.iter().map(|entrant| (entrant.name.as_str(), entrant)).collect();
    snapshot.players.iter().map(|player| by_name.get(player.name.as_str()).copied()).collect()
}

/// Schedules all rounds that are known by now, and returns their games.
fn schedule(
    tournament: &Tournament,
    journal: &mut Journal,
    state: &mut ScheduleState,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Vec<Game>, RunError> {
    let is_fixed = tournament.schedule.is_fixed();
    let mut rounds = Vec::new();
    while let NextRound::Round(round) = state.scheduler.next() {
        let games = state.schedule_games(&round, tournament);
        state.scheduler.on_scheduled(&round);
        if !games.is_empty() || !is_fixed {
            let number = state.on_scheduled(&games);
            // Rounds added to a fixed schedule are numbered on from the last one.
            let title = if is_fixed { format!("round {number}") } else { round.title };
            rounds.push((Round { number, title, ..round }, games));
        }
        let is_empty = rounds.last().is_some_and(|(_, games)| games.is_empty());
        if is_empty && state.scheduler.next() == NextRound::Wait {
            // A round of byes is over at once.
            state.finish_empty_round();
        }
    }
    if rounds.is_empty() {
        return Ok(Vec::new());
    }
    let last_game = state.last_game();
    journal.schedule(&rounds)?;
    for (round, games) in &rounds {
        on_event(&Event::Round {
            number: round.number,
            title: round.title.clone(),
            games: games.len() as u64,
            byes: round.byes.clone(),
            planned: state.planned(),
        });
    }
    Ok(journal.games_after(last_game)?)
}

struct RunContext<'a> {
    tournament: &'a Tournament,
    control: &'a RunControl,
    executor: &'a dyn Executor,
    openings: OpeningPicker<'a>,
    names: &'a [String],
    /// Players by index; `None` for those that have left.
    entrants: &'a [Option<&'a Entrant>],
    /// Whether a player's files were recorded after its build.
    built: Mutex<Vec<bool>>,
    /// Number of this run's isolation in the journal.
    isolation: Option<i64>,
}

/// Result of a batch.
struct Batch {
    journal: Journal,
    /// How the run ends, if it does.
    outcome: Option<RunOutcome>,
}

impl RunContext<'_> {
    /// Returns a game as a job.
    fn job(&self, game: &Game) -> GameJob {
        let RunContext { tournament, openings, names, .. } = self;
        let [first, second, referee] =
            seeds(tournament.seed, game.players.map(|player| names[player].as_str()), game.repeat);
        GameJob {
            number: game.number,
            game: tournament.game.clone(),
            players: game.players.map(|index| JobPlayer { index, name: names[index].clone() }),
            settings: tournament.game_settings,
            opening: openings.opening(game.opening),
            seeds: [first, second],
            referee_seed: referee,
        }
    }

    fn play_batch(
        &self,
        journal: Journal,
        games: Vec<Game>,
        state: &mut ScheduleState,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Batch, RunError> {
        let RunControl { finish_running, abort } = self.control;
        let mut unfinished: HashMap<i64, Game> =
            games.iter().map(|game| (game.number, game.clone())).collect();
        let exclusive_players = self.tournament.exclusive_players;
        let max_jobs = games.len();
        let queue = GameQueue::new(games, self.names.len(), exclusive_players);
        if finish_running.is_set() || abort.is_set() {
            queue.close();
        }
        let failure = Mutex::new(None);
        let (sender, events) = channel();
        let (writer, handle) = Writer::start(journal, self.executor.slots(), sender);
        let (mut write_error, mut is_cancelled) = (None, false);
        std::thread::scope(|scope| {
            let jobs = TournamentJobs {
                context: self,
                queue: &queue,
                max_jobs,
                journal: handle,
                failure: &failure,
            };
            // The writer ends when `jobs` is dropped, and with it the loop below.
            scope.spawn(move || self.executor.run(&jobs, abort));
            loop {
                if finish_running.is_set() || abort.is_set() {
                    queue.close();
                }
                let event = match events.recv_timeout(POLL_INTERVAL) {
                    Ok(event) => event,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                match event {
                    WriterEvent::Started(number) => {
                        if let Some(game) = unfinished.get(&number) {
                            on_event(&Event::GameStarted(GameRef::new(game, self.names)));
                        }
                    }
                    WriterEvent::Finished(number, finished) => {
                        if let Some(game) = unfinished.remove(&number) {
                            state.on_game_finished(&game, finished.summary.winner);
                            let game = GameRef::new(&game, self.names);
                            on_event(&Event::GameFinished(game, finished));
                        }
                    }
                    WriterEvent::Cancelled => {
                        is_cancelled = true;
                        queue.close();
                        abort.set();
                    }
                    WriterEvent::Failed(error) => {
                        write_error = Some(error);
                        queue.close();
                        abort.set();
                    }
                }
            }
        });
        let journal = writer.finish().ok_or(RunError::WriterPanicked)?;
        if let Some(error) = write_error {
            return Err(error.into());
        }
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(RunError::Game(error));
        }
        let outcome = match (is_cancelled, unfinished.is_empty()) {
            (true, _) => Some(RunOutcome::Cancelled),
            (false, true) => None,
            (false, false) => Some(RunOutcome::Interrupted),
        };
        Ok(Batch { journal, outcome })
    }
}

/// The games of a batch as jobs.
struct TournamentJobs<'a> {
    context: &'a RunContext<'a>,
    queue: &'a GameQueue,
    max_jobs: usize,
    journal: JournalHandle,
    failure: &'a Mutex<Option<JobError>>,
}

impl JobSource for TournamentJobs<'_> {
    fn max_jobs(&self) -> usize {
        self.max_jobs
    }

    fn next_job(&self) -> Option<GameJob> {
        self.queue.take().map(|game| self.context.job(&game))
    }

    fn next_pair(&self) -> Vec<GameJob> {
        self.queue.take_pair().iter().map(|game| self.context.job(game)).collect()
    }

    fn on_players_ready(&self, job: &GameJob) {
        for player in &job.players {
            let Some(entrant) = self.context.entrants[player.index].filter(|it| it.has_build())
            else {
                continue;
            };
            let mut built = self.context.built.lock().unwrap_or_else(PoisonError::into_inner);
            if !std::mem::replace(&mut built[player.index], true) {
                self.journal.built(player.index, entrant.files().to_text());
            }
        }
    }

    fn on_start(&self, slot: usize, job: &GameJob, started: i64) {
        self.journal.started(job.number, started);
        self.journal.slot(slot).start(job.number, &job.opening);
    }

    fn replays_disputed_games(&self) -> bool {
        true
    }

    fn on_move(&self, slot: usize, text: &str, report: MoveReport) {
        self.journal.slot(slot).add_move(text, report);
    }

    fn on_result(&self, slot: usize, job: &GameJob, result: JobResult) {
        let players = job.players.each_ref().map(|player| player.index);
        self.journal.slot(slot).end();
        match result {
            JobResult::Finished(game) => {
                let is_bot =
                    |player: usize| self.context.entrants[player].is_some_and(Entrant::is_bot);
                let has_bot = players.into_iter().any(is_bot);
                let isolation = self.context.isolation.filter(|_| has_bot);
                self.journal.finished(job.number, isolation, game);
            }
            JobResult::Stopped => {}
            JobResult::Failed(error) => {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.queue.close();
                self.context.control.abort.set();
            }
        }
        self.queue.release(players);
    }
}

/// Derives the seeds of both players and the referee. They depend only on the tournament's seed,
/// the players and how often they have played, not on what else is played or when.
fn seeds(seed: u64, names: [&str; 2], repeat: u32) -> [u64; 3] {
    let [first, second] = names.map(fnv1a);
    [0, 1, 2].map(|role| derive_seed(&[seed, first, second, repeat.into(), role]))
}

/// FNV-1a hash of a name: the same on every machine.
fn fnv1a(name: &str) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    name.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step)
}
