//! What happens while a tournament runs, for whoever watches: `tournament run --json` prints one object
//! for each event.
//!
//! The objects are versioned: within a version keys are added, never changed or taken away.

use serde_json::{Value, json};

use crate::IsolationRecord;
use crate::journal::{Brief, Game};
use crate::schedule::PlayerIndex;

/// The version of the objects.
pub const VERSION: u32 = 1;

/// Something that happened.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// A run begins.
    RunStarted {
        /// What the tournament is called.
        name: String,
        /// The game.
        game: String,
        /// The kind of schedule.
        schedule: &'static str,
        /// The seed.
        seed: u64,
        /// The names of the players.
        players: Vec<String>,
        /// How many games there will be, if that is known.
        planned: Option<u64>,
        /// How many are finished already.
        finished: u64,
        /// The walls around programs, if one takes part.
        walls: Option<IsolationRecord>,
    },
    /// A round has been scheduled.
    Round {
        /// From 1.
        number: u32,
        /// What people call it.
        title: String,
        /// How many games.
        games: u64,
        /// Who rests.
        byes: Vec<PlayerIndex>,
        /// How many games there will be in all, if that is known.
        planned: Option<u64>,
    },
    /// A game has begun.
    GameStarted(GameRef),
    /// A game is finished and in the journal.
    GameFinished(GameRef, Brief),
    /// The run has ended; the word says how.
    RunEnded {
        /// `finished`, `interrupted`, `cancelled` or `failed`.
        how: &'static str,
        /// What there is to say if it failed.
        message: Option<String>,
        /// The rows of the table.
        standings: Value,
    },
}

/// Which game it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameRef {
    /// From 1.
    pub number: i64,
    /// From 1.
    pub round: u32,
    /// Who plays, the one who moves first first.
    pub names: [String; 2],
}

impl GameRef {
    pub(crate) fn new(game: &Game, names: &[String]) -> GameRef {
        let name = |player: PlayerIndex| names.get(player).cloned().unwrap_or_default();
        GameRef { number: game.number, round: game.round, names: game.players.map(name) }
    }
}

/// The result of a game: `1-0`, `0-1` or `1/2-1/2`, the one who moved first being first.
pub fn result(winner: Option<usize>) -> &'static str {
    match winner {
        Some(0) => "1-0",
        Some(_) => "0-1",
        None => "1/2-1/2",
    }
}

impl Event {
    /// The event as one object; `names` are those of all players.
    pub fn json(&self, names: &[String]) -> Value {
        match self {
            Event::RunStarted { name, game, schedule, seed, players, planned, finished, walls } => {
                json!({
                    "event": "contest",
                    "version": VERSION,
                    "name": name,
                    "game": game,
                    "schedule": schedule,
                    "seed": seed,
                    "players": players,
                    "planned": planned,
                    "finished": finished,
                    "isolation": walls.as_ref().map(IsolationRecord::json),
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
            Event::GameFinished(game, brief) => json!({
                "event": "finished",
                "version": VERSION,
                "game": game.number,
                "round": game.round,
                "first": game.names[0],
                "second": game.names[1],
                "result": result(brief.winner),
                "winner": brief.winner.map(|side| &game.names[side]),
                "reason": brief.reason,
                "ending": brief.ending,
                "forfeit": brief.forfeit.map(|side| &game.names[side]),
                "score": brief.score,
                "faults": brief.faults,
                "plies": brief.plies,
                "milliseconds": brief.milliseconds,
            }),
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
