//! The coordinator, and an [`Executor`] whose games are played by the workers of a fleet.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use crownhead_play::StopFlag;
use crownhead_rules::Game;
use crownhead_tournament::runner::{Executor, JobSource};
use crownhead_tournament::{Entrant, JobResult};
use futures_util::TryStreamExt;
use tokio::runtime::Runtime;

use crate::connection::{Connection, parse_worker_report, runtime, server_error};
use crate::drive::drive;
use crate::players::PlayerMessage;
use crate::work::{Done, OTHER_WORK, Work, WorkEnd, WorkSource};
use crate::worker::Notify;
use crate::{BuildId, FleetError, RunKey, ServerOptions, bots, build_id, result_check, streams};

/// A connection of a coordinator.
pub struct Coordinator {
    pub(crate) runtime: Runtime,
    pub(crate) connection: Connection,
    pub(crate) build: BuildId,
    pub(crate) notify: Notify,
}

/// A run, as the fleet needs to know it.
#[derive(Clone)]
pub struct FleetRun {
    /// Description for people.
    pub name: String,
    /// Id and secrets.
    pub(crate) key: RunKey,
    /// Whether results that arrive after the coordinator has stopped are kept for the next one.
    pub(crate) is_resumable: bool,
    /// The tables that the results depend on, by game.
    pub(crate) tables: BTreeMap<String, Vec<String>>,
    /// Percentage of the jobs that two workers do, to compare the results. Only those without time
    /// limits are compared.
    pub checked_percent: u8,
    /// Starts no more jobs.
    pub finish: StopFlag,
    /// The players by name and text.
    players: HashMap<String, PlayerMessage>,
}

impl FleetRun {
    /// Describes a run that is not resumed. Its results depend on the tables of some games, so
    /// workers must have the same as this machine.
    pub fn new<'a>(
        name: String,
        games_with_tables: impl IntoIterator<Item = &'a Game>,
        checked_percent: u8,
    ) -> FleetRun {
        FleetRun {
            name,
            key: RunKey::random(),
            is_resumable: false,
            tables: build_id::tables(games_with_tables),
            checked_percent,
            finish: StopFlag::new(),
            players: HashMap::new(),
        }
    }

    /// Makes the run one that is resumed by the next coordinator with the same `identity`, the same
    /// program and tables, and the secret in `file`.
    pub fn resumable(
        mut self,
        coordinator: &Coordinator,
        file: &Path,
        identity: &str,
    ) -> io::Result<FleetRun> {
        let identity = format!("{} {:?} {identity}", coordinator.build(), self.tables);
        self.key = RunKey::derived(file, &identity)?;
        self.is_resumable = true;
        Ok(self)
    }
}

impl Coordinator {
    /// Connects to the server and creates the streams that are missing. Fails if workers of
    /// this fleet run another program.
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
                _ => build_id::require(&connection, &build.text).await?,
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
    pub(crate) coordinator: &'a Coordinator,
    pub(crate) run: FleetRun,
    pub(crate) players: Vec<PlayerMessage>,
}

impl Executor for FleetExecutor<'_> {
    /// The moves of games in progress stay on the workers.
    fn slots(&self) -> usize {
        1
    }

    fn run(&self, source: &dyn JobSource, stop: &StopFlag) {
        drive(self.coordinator, &self.run, &self.players, &GameSource(source), stop);
    }
}

/// Games of a match or a tournament.
struct GameSource<'a>(&'a dyn JobSource);

impl WorkSource for GameSource<'_> {
    fn games(&self) -> u64 {
        self.0.max_jobs() as u64
    }

    fn next(&self) -> Option<Work> {
        Some(self.0.next_pair()).filter(|games| !games.is_empty()).map(Work::Games)
    }

    fn check(&self, work: &Work, done: &Done) -> Result<(), String> {
        let (Work::Games(jobs), Done::Games(games)) = (work, done) else {
            return Err(OTHER_WORK.into());
        };
        if jobs.len() != games.len() {
            return Err(format!("{} results for {} games", games.len(), jobs.len()));
        }
        jobs.iter().zip(games).try_for_each(|(job, game)| {
            let checked = result_check::check(job, game);
            checked.map_err(|reason| format!("game {}: {reason}", job.number))
        })
    }

    fn on_end(&self, work: &Work, end: WorkEnd) {
        let (mut games, failure) = match end {
            WorkEnd::Done(Done::Games(games)) => (games.into_iter(), JobResult::Stopped),
            WorkEnd::Failed(error) => (Vec::new().into_iter(), JobResult::Failed(error)),
            _ => (Vec::new().into_iter(), JobResult::Stopped),
        };
        for job in work.games() {
            let result = match games.next() {
                Some(game) => {
                    self.0.on_start(0, job, game.summary.finished - game.summary.milliseconds);
                    JobResult::Finished(Box::new(game))
                }
                None => failure.clone(),
            };
            self.0.on_result(0, job, result);
        }
    }
}
