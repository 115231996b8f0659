//! What workers do, and where it comes from.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crownhead_analysis::SearchedGame;
use crownhead_play::{Knowledge, StopFlag};
use crownhead_rules::Game;
use crownhead_search::train::data::Block;
use crownhead_tournament::job::JobError;
use crownhead_tournament::{FinishedGame, GameJob, JobResult};
use serde::{Deserialize, Serialize};

use crate::analysis::AnalysisWork;
use crate::messages::{Outcome, ReturnReason};
use crate::training::SelfPlayWork;

/// Task of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Work {
    /// A pair of games, or a single game.
    Games(Vec<GameJob>),
    /// Consecutive self-play games for training.
    SelfPlay(SelfPlayWork),
    /// A recorded game to analyse.
    Analysis(AnalysisWork),
}

/// The result of work.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Done {
    Games(Vec<FinishedGame>),
    SelfPlay(Block),
    Analysis(SearchedGame),
}

/// What became of work.
pub(crate) enum WorkEnd {
    Done(Done),
    /// A game could not be played.
    Failed(JobError),
    /// It was not finished.
    Stopped,
}

/// Source of the work of a run, and destination of the results.
pub(crate) trait WorkSource: Sync {
    /// Number of games still to come, at most.
    fn games(&self) -> u64;

    /// Returns the next work, waiting for it if necessary; `None` if there is no more.
    fn next(&self) -> Option<Work>;

    /// Returns why a result is invalid. It comes from a machine that may be hostile.
    fn check(&self, work: &Work, done: &Done) -> Result<(), String>;

    /// Takes what became of work.
    fn on_end(&self, work: &Work, end: WorkEnd);
}

/// Why a result is invalid that belongs to another kind of work.
pub(crate) const OTHER_WORK: &str = "it is the result of other work";

impl Work {
    /// Numbers of the games: they identify the job in its run.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        match self {
            Work::Games(games) => games.iter().map(|game| game.number).collect(),
            Work::SelfPlay(work) => work.games().map(i64::from).collect(),
            Work::Analysis(work) => vec![work.number as i64],
        }
    }

    /// The game that is played.
    pub(crate) fn game(&self) -> Option<&Game> {
        match self {
            Work::Games(games) => games.first().map(|game| &game.game),
            Work::SelfPlay(work) => Some(&work.game),
            Work::Analysis(work) => Some(&work.game),
        }
    }

    /// The games to play, if that is the work.
    pub(crate) fn games(&self) -> &[GameJob] {
        match self {
            Work::Games(games) => games,
            _ => &[],
        }
    }

    /// Does work other than games.
    pub(crate) fn run(
        &self,
        knowledge: &Knowledge,
        time_factor: f64,
        stop: &StopFlag,
    ) -> Result<Outcome, ReturnReason> {
        match self {
            Work::Games(_) => Err(ReturnReason::Unable("the job has no games".into())),
            Work::SelfPlay(work) => {
                let block = work.play(knowledge, stop)?;
                let mut bytes = Vec::new();
                let written = block.write(&mut bytes);
                written.map_err(|error| ReturnReason::Unable(error.to_string()))?;
                Ok(Outcome::SelfPlay(BASE64.encode(bytes)))
            }
            Work::Analysis(work) => {
                work.search(knowledge, time_factor, stop).map(Outcome::Analysed)
            }
        }
    }
}

impl Outcome {
    /// Converts a result that a worker has sent, or returns why it is invalid. A job that the
    /// worker gave back is none.
    pub(crate) fn into_end(self) -> Result<WorkEnd, String> {
        Ok(WorkEnd::Done(match self {
            Outcome::Returned(_) => return Ok(WorkEnd::Stopped),
            Outcome::Analysed(searched) => Done::Analysis(searched),
            Outcome::SelfPlay(text) => {
                let bytes = BASE64.decode(text).map_err(|error| error.to_string())?;
                let mut rest = bytes.as_slice();
                match Block::read(&mut rest) {
                    Ok(Some(Some(block))) if rest.is_empty() => Done::SelfPlay(block),
                    _ => return Err("its block of training data is damaged".into()),
                }
            }
            Outcome::Played(results) => {
                let mut games = Vec::new();
                for result in results {
                    match result {
                        JobResult::Finished(game) => games.push(*game),
                        JobResult::Failed(error) => return Ok(WorkEnd::Failed(error)),
                        JobResult::Stopped => return Err("a game has no result".into()),
                    }
                }
                Done::Games(games)
            }
        }))
    }
}

impl Done {
    /// Positions stored for training, or moves analysed.
    pub(crate) fn positions(&self) -> u64 {
        match self {
            Done::Games(_) => 0,
            Done::SelfPlay(block) => block.records.len() as u64,
            Done::Analysis(searched) => searched.moves() as u64,
        }
    }
}
