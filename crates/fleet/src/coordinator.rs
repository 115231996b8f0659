//! The coordinator: an [`Executor`] whose games are played by the workers of a fleet.

use std::collections::HashMap;

use crownhead_play::StopFlag;
use crownhead_tournament::Entrant;
use crownhead_tournament::runner::{Executor, JobSource};
use futures_util::TryStreamExt;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::connection::{Connection, parse_worker_report, runtime, server_error};
use crate::drive::Drive;
use crate::players::PlayerMessage;
use crate::streams;
use crate::worker::Notify;
use crate::{BuildId, FleetError, RunKey, ServerOptions, bots, build_id};

/// A connection of a coordinator.
pub struct Coordinator {
    runtime: Runtime,
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
