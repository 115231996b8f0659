//! Messages between coordinators and workers, as JSON.

use std::collections::BTreeMap;

use crownhead_analysis::SearchedGame;
use crownhead_tournament::JobResult;
use serde::{Deserialize, Serialize};

use crate::players::PlayerMessage;
use crate::work::Work;

/// Work for a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobMessage {
    /// The run it belongs to.
    pub(crate) run: String,
    /// Secret that the result must contain.
    pub(crate) lease: String,
    /// The program that the worker must run.
    pub(crate) build: String,
    /// The tables that the worker must have; `None` if the results do not depend on any.
    pub(crate) tables: Option<Vec<String>>,
    /// Nodes per second of the coordinator, by game. Time controls are scaled by the ratio.
    pub(crate) speed: BTreeMap<String, f64>,
    /// Worker that must not do it, because it did it before.
    #[serde(default)]
    pub(crate) excluded: Option<String>,
    /// Whether a game counts even if the referee was starved.
    #[serde(default)]
    pub(crate) accepts_starved: bool,
    /// The players; the games refer to them by index.
    pub(crate) players: Vec<PlayerMessage>,
    /// What to do.
    #[serde(flatten)]
    pub(crate) work: Work,
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
    /// Whether the job was done to check another worker.
    #[serde(default)]
    pub(crate) is_check: bool,
    /// The secret of the job.
    pub(crate) lease: String,
    /// Whether the job was played.
    pub(crate) outcome: Outcome,
}

/// Whether a job was played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// Results by game, in the order of the job.
    Played(Vec<JobResult>),
    /// A block of training data, in base 64.
    SelfPlay(String),
    /// Findings of the searches of a recorded game.
    Analysed(SearchedGame),
    /// The worker does not do the job.
    Returned(ReturnReason),
}

/// Why a worker does not do a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum ReturnReason {
    /// It was stopped.
    Stopped,
    /// The referee was starved while a bot was late.
    Starved,
    /// It did the same job before.
    Excluded,
    /// It cannot do this.
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
    /// Maximum number of games in parallel.
    pub concurrency: usize,
    /// Nodes per second, by game.
    pub speed: BTreeMap<String, f64>,
    /// The jobs that it is doing.
    pub running: Vec<String>,
    /// Games played or analysed.
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
    /// Games that this coordinator has to play or analyse.
    pub games: u64,
    /// Games finished so far.
    pub finished: u64,
    /// Positions stored for training, or moves analysed, so far.
    #[serde(default)]
    pub positions: u64,
    /// Jobs that are queued or being done.
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
    /// Returns the estimated seconds until the last game is finished.
    pub fn seconds_left(&self) -> Option<f64> {
        let left = self.games.saturating_sub(self.finished) as f64;
        (self.games_per_second > 0.0).then(|| left / self.games_per_second)
    }
}
