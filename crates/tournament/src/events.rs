//! Events of a run. `tournament run --json` prints one JSON object per event.
//!
//! The objects are versioned: within a version, keys are added but never renamed or removed.

use serde_json::{Value, json};

use crate::journal::Game;
use crate::schedule::PlayerIndex;
use crate::{FinishedGame, IsolationRecord};

/// Version of the JSON objects.
pub const VERSION: u32 = 1;

/// An event of a run.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The run has started.
    RunStarted {
        /// Name of the tournament.
        name: String,
        /// The game and its options.
        game: String,
        /// Tournament format.
        schedule: &'static str,
        /// Random seed.
        seed: u64,
        /// Names of the players.
        players: Vec<String>,
        /// Total number of games, if known.
        planned: Option<u64>,
        /// Number of games finished before this run.
        finished: u64,
        /// Isolation of the bots, if there are any.
        isolation: Option<IsolationRecord>,
    },
    /// A round has been scheduled.
    Round {
        /// Number of the round, from 1.
        number: u32,
        /// Title of the round.
        title: String,
        /// Number of games.
        games: u64,
        /// Players with a bye.
        byes: Vec<PlayerIndex>,
        /// Total number of games, if known.
        planned: Option<u64>,
    },
    /// A game has started.
    GameStarted(GameRef),
    /// A game is finished and stored.
    GameFinished(GameRef, Box<FinishedGame>),
    /// The run has ended.
    RunEnded {
        /// `finished`, `interrupted`, `cancelled` or `failed`.
        how: &'static str,
        /// Error message of a failed run.
        message: Option<String>,
        /// Rows of the standings.
        standings: Value,
    },
}

/// A game and its players.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameRef {
    /// Number of the game, from 1.
    pub number: i64,
    /// Round, from 1.
    pub round: u32,
    /// Number of the opening. Two games with reversed colours share it.
    pub opening: u32,
    /// Names of the players; the first one moves first.
    pub names: [String; 2],
}

impl GameRef {
    pub(crate) fn new(game: &Game, names: &[String]) -> GameRef {
        let name = |player: PlayerIndex| names.get(player).cloned().unwrap_or_default();
        GameRef {
            number: game.number,
            round: game.round,
            opening: game.opening,
            names: game.players.map(name),
        }
    }
}

impl Event {
    /// Returns the event as a JSON object; `names` are those of all players.
    pub fn json(&self, names: &[String]) -> Value {
        match self {
            Event::RunStarted {
                name,
                game,
                schedule,
                seed,
                players,
                planned,
                finished,
                isolation,
            } => {
                json!({
                    "event": "run",
                    "version": VERSION,
                    "name": name,
                    "game": game,
                    "schedule": schedule,
                    "seed": seed,
                    "players": players,
                    "planned": planned,
                    "finished": finished,
                    "isolation": isolation.as_ref().map(IsolationRecord::json),
                })
            }
            Event::Round { number, title, games, byes, planned } => json!({
                "event": "round",
                "version": VERSION,
                "round": number,
                "title": title,
                "games": games,
                "byes": byes.iter().filter_map(|player| names.get(*player)).collect::<Vec<_>>(),
                "planned": planned,
            }),
            Event::GameStarted(game) => json!({
                "event": "started",
                "version": VERSION,
                "game": game.number,
                "round": game.round,
                "first": game.names[0],
                "second": game.names[1],
            }),
            Event::GameFinished(game, finished) => {
                let summary = &finished.summary;
                json!({
                    "event": "finished",
                    "version": VERSION,
                    "game": game.number,
                    "round": game.round,
                    "first": game.names[0],
                    "second": game.names[1],
                    "result": summary.result(),
                    "winner": summary.winner.map(|side| &game.names[side]),
                    "reason": summary.reason,
                    "ending": finished.description,
                    "forfeit": summary.forfeit.map(|side| &game.names[side]),
                    "score": summary.score,
                    "faults": summary.faults,
                    "plies": summary.plies,
                    "milliseconds": summary.milliseconds,
                    "replayed": finished.replaces.is_some(),
                })
            }
            Event::RunEnded { how, message, standings } => json!({
                "event": "ended",
                "version": VERSION,
                "how": how,
                "message": message,
                "standings": standings,
            }),
        }
    }
}
