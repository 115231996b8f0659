//! What coordinators and workers send each other, as JSON.

use std::collections::BTreeMap;

use crownhead_tournament::{GameJob, JobResult};
use serde::{Deserialize, Serialize};

use crate::players::PlayerMessage;

/// A pair of games to play, or a single game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobMessage {
    /// The run it belongs to.
    pub(crate) run: String,
    /// Secret that the result must show.
    pub(crate) lease: String,
    /// The program that the worker must run.
    pub(crate) build: String,
    /// The tables that the games need, empty if they need none.
    pub(crate) tables: Vec<String>,
    /// Nodes per second of the coordinator, by game. Time controls are scaled by the ratio.
    pub(crate) speed: BTreeMap<String, f64>,
    /// Worker that must not play it, because it played these games before.
    #[serde(default)]
    pub(crate) excluded: Option<String>,
    /// Whether a game counts even if the referee was starved.
    #[serde(default)]
    pub(crate) accepts_starved: bool,
    /// The players; the games refer to them by index.
    pub(crate) players: Vec<PlayerMessage>,
    /// The games.
    pub(crate) games: Vec<GameJob>,
}

impl JobMessage {
    /// Returns whether a message that cannot be read is a job of another program than `build`.
    pub(crate) fn is_of_another_build(payload: &[u8], build: &str) -> bool {
        let message: Option<serde_json::Value> = serde_json::from_slice(payload).ok();
        let other = message.as_ref().and_then(|message| message["build"].as_str());
        other.is_some_and(|other| other != build)
    }
}

/// Answer of a worker to a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ResultMessage {
    /// Numbers of the games.
    pub(crate) games: Vec<i64>,
    /// Whether the games were played to check another worker.
    #[serde(default)]
    pub(crate) is_check: bool,
    /// The secret of the job.
    pub(crate) lease: String,
    /// What became of the job.
    pub(crate) outcome: Outcome,
}

/// What became of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// Results by game, in the order of the job.
    Played(Vec<JobResult>),
    /// The worker does not play the job.
    Returned(ReturnReason),
}

/// Why a worker does not play a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum ReturnReason {
    /// It was stopped.
    Stopped,
    /// The referee was starved while a bot was late.
    Starved,
    /// It played the same games before.
    Excluded,
    /// It cannot play these games.
    Unable(String),
}

/// State of a worker. Every worker publishes it every few seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WorkerReport {
    /// Name of the worker.
    pub name: String,
    /// Name of its machine.
    pub machine: String,
    /// Version and bench signature of its program.
    pub build: String,
    /// Cores of the machine.
    pub cores: usize,
    /// Most games in parallel.
    pub concurrency: usize,
    /// Nodes per second, by game.
    pub speed: BTreeMap<String, f64>,
    /// The jobs that it plays.
    pub running: Vec<String>,
    /// Games played.
    pub games: u64,
    /// Faults of bots in these games.
    pub faults: u64,
    /// Jobs given back.
    pub returned: u64,
    /// Seconds since it joined.
    pub seconds: u64,
    /// Whether it starts no more games.
    pub is_draining: bool,
    /// Whether this is its last report.
    pub has_left: bool,
}

/// State of a run. Every coordinator publishes it every few seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunReport {
    /// Id of the run.
    pub id: String,
    /// Description of the run.
    pub name: String,
    /// Games that this coordinator has to play.
    pub games: u64,
    /// Games played so far.
    pub finished: u64,
    /// Jobs that are queued or being played.
    pub queued: u64,
    /// Jobs on the dead-letter list.
    pub dead: u64,
    /// Games per second over the whole run.
    pub games_per_second: f64,
    /// Seconds since the start.
    pub seconds: u64,
    /// Whether this is its last report.
    pub has_ended: bool,
}

impl RunReport {
    /// Returns the estimated seconds until the last game is played.
    pub fn seconds_left(&self) -> Option<f64> {
        let left = self.games.saturating_sub(self.finished) as f64;
        (self.games_per_second > 0.0).then(|| left / self.games_per_second)
    }
}
