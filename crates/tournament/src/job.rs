//! One game as a unit of work: an [`Executor`](crate::runner::Executor) turns a [`GameJob`] into a
//! [`JobResult`]. Both are serialisable, so where the game is played is a detail.

use std::time::Duration;

use crownhead_play::{
    Absence, Adjudication, AdjudicationRule, End, FaultPolicy, GameSettings, Incident, Opening,
    PlayedGame, PlayedMove, PlayerError, TimeControl, move_eval,
};
use crownhead_records::{GameRecord, GameResult, MoveData, Ply, format_date};
use crownhead_rules::{Game, Side};
use serde::{Deserialize, Serialize};

use crate::schedule::PlayerIndex;

/// A game to play.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GameJob {
    /// Number of the game in its match or tournament, from 1.
    pub number: i64,
    /// The game and its options.
    #[serde(with = "as_text")]
    pub game: Game,
    /// The players; the first one moves first.
    pub players: [JobPlayer; 2],
    /// Time control, fault policy and adjudication.
    #[serde(with = "GameSettingsDef")]
    pub settings: GameSettings,
    /// Opening of the game.
    #[serde(with = "OpeningDef")]
    pub opening: Opening,
    /// Random seeds of the players.
    pub seeds: [u64; 2],
    /// Random seed of the referee.
    pub referee_seed: u64,
}

/// A player of a [`GameJob`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobPlayer {
    /// Index among the players that the executor was given.
    pub index: PlayerIndex,
    /// Name shown to the opponent.
    pub name: String,
}

/// Result of a [`GameJob`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum JobResult {
    /// The game was played to its end.
    Finished(Box<FinishedGame>),
    /// The game was stopped and has no result.
    Stopped,
    /// The game could not be played.
    Failed(JobError),
}

/// Why a game could not be played. A bot's misbehaviour is not an error: the fault policy decides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
pub enum JobError {
    /// A bot could not be built or started.
    #[error("{0}")]
    StartFailed(String),
    /// The machine lacks something, such as memory or file descriptors.
    #[error("{0}")]
    Unavailable(String),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

impl From<PlayerError> for JobError {
    fn from(error: PlayerError) -> JobError {
        match error {
            PlayerError::StartFailed(message) => JobError::StartFailed(message),
            PlayerError::Unavailable(message) => JobError::Unavailable(message),
            error => JobError::Other(error.to_string()),
        }
    }
}

/// A finished game. Pairs are by side, first mover first; sides are 0 and 1.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FinishedGame {
    /// Result and counts.
    pub summary: GameSummary,
    /// How the game ended, as a sentence.
    pub description: String,
    /// Opening of the game.
    #[serde(with = "OpeningDef")]
    pub opening: Opening,
    /// Moves after the opening.
    pub moves: Vec<String>,
    /// Time taken by each move, and what its player reported about its search.
    pub reports: Vec<MoveReport>,
    /// The first faults, and every fault that ended a bot.
    pub incidents: Vec<IncidentRecord>,
    /// Turns lost on time, by side.
    pub timeouts: [u32; 2],
    /// Longest time taken for a move, by side.
    pub slowest_move: [Duration; 2],
    /// Why a bot's log is incomplete.
    pub log_error: Option<String>,
    /// Turns in which the referee itself was stopped or starved.
    #[serde(default)]
    pub absences: Vec<AbsenceRecord>,
    /// The game that this one replaces, because its referee was away while a bot was late.
    #[serde(default)]
    pub replaces: Option<Box<FinishedGame>>,
}

/// A turn in which the referee itself was stopped or starved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AbsenceRecord {
    /// Side to move.
    pub side: usize,
    /// Plies played before it, opening included.
    pub ply: u32,
    /// Time that was not charged, in milliseconds.
    pub milliseconds: u64,
    /// Whether the player was late all the same. The journal does not store it.
    #[serde(default)]
    pub is_late: bool,
}

/// Time taken by a move, and what its player reported about its search.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct MoveReport {
    /// Time, in milliseconds.
    pub milliseconds: u64,
    /// Time left for the rest of the game, in milliseconds, if it is limited.
    pub clock: Option<u64>,
    /// Score for the player, in hundredths of a man.
    pub score: Option<i32>,
    /// Search depth, in plies.
    pub depth: Option<u32>,
}

impl From<PlayedMove<'_>> for MoveReport {
    fn from(mv: PlayedMove<'_>) -> MoveReport {
        MoveReport {
            milliseconds: mv.time.as_millis() as u64,
            clock: mv.time_left.map(|time| time.as_millis() as u64),
            score: mv.score,
            depth: (mv.depth > 0).then_some(mv.depth),
        }
    }
}

impl MoveReport {
    /// Returns the report on a move of `side` for game files. Without a time control a game is
    /// the same in every run, so its file has no times.
    fn data(&self, side: Side, time_control: TimeControl) -> MoveData {
        let is_timed = matches!(time_control, TimeControl::PerMove(_));
        MoveData {
            clock: self.clock.map(Duration::from_millis),
            elapsed: is_timed.then_some(Duration::from_millis(self.milliseconds)),
            eval: self.score.map(|score| move_eval(score, self.depth, side)),
        }
    }
}

/// Result and counts of a finished game: what standings, listings and statistics need.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GameSummary {
    /// Time the game ended, in milliseconds since 1970.
    pub finished: i64,
    /// Time the game took, in milliseconds.
    pub milliseconds: i64,
    /// Winning side; `None` for a draw.
    pub winner: Option<usize>,
    /// Code of the reason for the end.
    pub reason: String,
    /// Side that lost by a fault.
    pub forfeit: Option<usize>,
    /// Score of the game itself, in games that have one.
    pub score: Option<[i64; 2]>,
    /// Number of faults, by side.
    pub faults: [u32; 2],
    /// Number of moves after the opening.
    pub plies: u32,
}

/// A fault in a finished game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IncidentRecord {
    /// Side at fault.
    pub side: usize,
    /// Plies played before it, opening included.
    pub ply: u32,
    /// Code of the fault.
    pub code: String,
    /// What happened.
    pub message: String,
    /// Start of the offending output.
    pub received: Option<String>,
    /// Position at that moment.
    pub position: String,
    /// Legal moves in that position, possibly truncated.
    pub moves: String,
    /// Everything above in a sentence or two.
    pub description: String,
    /// Whether it lost the game or ended the bot.
    pub is_fatal: bool,
    /// Last lines of the standard error of a bot that crashed.
    #[serde(default)]
    pub stderr: Vec<String>,
}

impl IncidentRecord {
    fn new(incident: &Incident, game: &Game) -> IncidentRecord {
        IncidentRecord {
            side: incident.side.index(),
            ply: incident.ply as u32,
            code: incident.fault.kind.code().into(),
            message: incident.fault.message.clone(),
            received: incident.fault.received.clone(),
            position: incident.position.clone(),
            moves: incident.moves.clone(),
            description: incident.describe(game),
            is_fatal: incident.is_fatal(),
            stderr: incident.fault.stderr.clone(),
        }
    }
}

impl FinishedGame {
    /// Whether a bot was late while the referee was stopped or starved.
    pub fn is_disputed(&self) -> bool {
        self.absences.iter().any(|absence| absence.is_late)
    }

    /// Creates the record of a game that started at `started`, in milliseconds since 1970, and took
    /// `duration`. The system clock may be set meanwhile.
    pub(crate) fn new(
        job: &GameJob,
        played: PlayedGame,
        reports: Vec<MoveReport>,
        started: i64,
        duration: Duration,
    ) -> FinishedGame {
        let duration = duration.as_millis() as i64;
        let forfeit = match &played.end {
            End::Forfeited(incident) => Some(incident.side.index()),
            _ => None,
        };
        let incident = |incident: &Incident| IncidentRecord::new(incident, &job.game);
        let absence = |absence: &Absence| AbsenceRecord {
            side: absence.side.index(),
            ply: absence.ply as u32,
            milliseconds: absence.time.as_millis() as u64,
            is_late: absence.is_late,
        };
        FinishedGame {
            summary: GameSummary {
                finished: started + duration,
                milliseconds: duration,
                winner: played.end.winner().map(Side::index),
                reason: played.end.code().into(),
                forfeit,
                score: played.end.score().map(|(first, second)| [first.into(), second.into()]),
                faults: played.faults,
                plies: played.moves.len() as u32,
            },
            incidents: played.incidents.iter().map(incident).collect(),
            description: played.description,
            opening: job.opening.clone(),
            moves: played.moves,
            reports,
            timeouts: played.timeouts,
            slowest_move: played.slowest_move,
            log_error: None,
            absences: played.absences.iter().map(absence).collect(),
            replaces: None,
        }
    }
}

impl GameSummary {
    /// Returns the result as in PDN: `1-0`, `0-1` or `1/2-1/2`.
    pub fn result(&self) -> &'static str {
        match self.winner {
            Some(0) => "1-0",
            Some(_) => "0-1",
            None => "1/2-1/2",
        }
    }

    /// Returns whether the referee ended the game.
    pub fn is_adjudicated(&self) -> bool {
        AdjudicationRule::ALL.iter().any(|rule| rule.code() == self.reason)
    }

    /// Returns the game as a PDN record, without event, round and names. `description` says how
    /// the game ended.
    pub fn record(
        &self,
        game: &Game,
        time_control: TimeControl,
        opening: &Opening,
        moves: &[String],
        reports: &[MoveReport],
        description: Option<&str>,
    ) -> GameRecord {
        let mut record = GameRecord::new(game.clone());
        let started = u64::try_from(self.finished - self.milliseconds).unwrap_or(0);
        record.set_tag("Date", format_date(started));
        if time_control != TimeControl::Unlimited {
            record.set_tag("TimeControl", time_control.to_string());
        }
        record.set_tag("Termination", self.reason.clone());
        let needs_reason = self.forfeit.is_some() || self.is_adjudicated();
        if let Some(description) = description.filter(|_| needs_reason) {
            record.set_tag("Reason", description);
        }
        record.start.clone_from(&opening.start);
        let first = opening.session(game).map_or(Side::First, |session| session.side());
        let played = moves.iter().enumerate().map(|(index, text)| {
            let side = if index.is_multiple_of(2) { first } else { first.other() };
            let data = reports.get(index).map(|report| report.data(side, time_control));
            Ply::with_data(text, &data.unwrap_or_default())
        });
        record.line.plies = opening.moves.iter().map(Ply::new).chain(played).collect();
        record.result = match self.winner {
            Some(0) => GameResult::FirstWins,
            Some(_) => GameResult::SecondWins,
            None => GameResult::Draw,
        };
        record
    }
}

/// Serialises a value as the text it displays as.
/// Serialises values as text, for `#[serde(with)]`.
pub mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Serialises a value.
    pub fn serialize<T: Display, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// Deserialises a value.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Serialised form of [`Opening`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Opening")]
struct OpeningDef {
    start: Option<String>,
    moves: Vec<String>,
}

/// Serialised form of [`GameSettings`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "GameSettings")]
struct GameSettingsDef {
    #[serde(with = "TimeControlDef")]
    time_control: TimeControl,
    grace: Duration,
    startup_timeout: Duration,
    #[serde(with = "as_text")]
    fault_policy: FaultPolicy,
    #[serde(with = "as_text")]
    adjudication: Adjudication,
}

/// Serialised form of [`TimeControl`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "TimeControl")]
enum TimeControlDef {
    Unlimited,
    PerMove(Duration),
    PerGame { time: Duration, increment: Duration },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_survives_serialisation() {
        let game: Game = "contest:kings=true".parse().unwrap();
        let settings = GameSettings {
            time_control: TimeControl::PerGame {
                time: Duration::from_secs(60),
                increment: Duration::from_millis(1500),
            },
            fault_policy: FaultPolicy::RandomMove,
            adjudication: "draw-score=10,tables=true".parse().unwrap(),
            ..GameSettings::default_for(&game)
        };
        let player = |index, name: &str| JobPlayer { index, name: name.into() };
        let job = GameJob {
            number: 7,
            game,
            players: [player(1, "Ada"), player(0, "best:nodes=100")],
            settings,
            opening: Opening { start: None, moves: vec!["11-15".into(), "23-19".into()] },
            seeds: [u64::MAX, 1],
            referee_seed: 2,
        };
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<GameJob>(&text).unwrap(), job);
    }

    #[test]
    fn result_survives_serialisation() {
        let result = JobResult::Finished(Box::new(FinishedGame {
            summary: GameSummary {
                finished: 2_000,
                milliseconds: 1_000,
                winner: Some(1),
                reason: "illegal-move".into(),
                forfeit: Some(0),
                score: None,
                faults: [1, 0],
                plies: 1,
            },
            description: "illegal-move, Black, ply 2".into(),
            opening: Opening { start: Some("B:W25,27:B1,3".into()), moves: Vec::new() },
            moves: vec!["1-6".into()],
            reports: vec![MoveReport {
                milliseconds: 3,
                clock: Some(997),
                score: Some(-12),
                depth: None,
            }],
            incidents: vec![IncidentRecord {
                side: 0,
                ply: 2,
                code: "illegal-move".into(),
                message: "invalid move".into(),
                received: Some("move 9-9".into()),
                position: "B:W25,27:B3,6".into(),
                moves: "3-7,3-8".into(),
                description: "illegal-move, Black, ply 2".into(),
                is_fatal: true,
                stderr: vec!["panicked".into()],
            }],
            timeouts: [0, 0],
            slowest_move: [Duration::from_micros(3_141), Duration::ZERO],
            log_error: None,
            absences: vec![AbsenceRecord { side: 1, ply: 3, milliseconds: 900, is_late: true }],
            replaces: None,
        }));
        for result in [result, JobResult::Stopped, JobResult::Failed(JobError::Other("x".into()))] {
            let text = serde_json::to_string(&result).unwrap();
            assert_eq!(serde_json::from_str::<JobResult>(&text).unwrap(), result);
        }
    }
}
