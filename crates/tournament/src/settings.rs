//! What the table of a contest depends on, besides its games: kept in the journal, so that a table can
//! be had when the contest file is gone.

use crownhead_rules::GAMES;
use serde_json::{Value, json};

use crate::standings::TieBreak;
use crate::{Points, Schedule};

/// What the table and the status of a contest depend on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The game with its options.
    pub game: String,
    /// Who meets whom.
    pub schedule: Schedule,
    /// Games of each pair.
    pub games: u32,
    /// What games bring.
    pub points: Points,
    /// What decides between equal points.
    pub tie_breaks: Vec<TieBreak>,
    /// How many games are played at once.
    pub concurrency: usize,
    /// How many games there will be, if that is known.
    pub planned: Option<u64>,
}

impl Settings {
    /// One object of JSON.
    pub fn text(&self) -> String {
        let (mut rounds, mut replays, mut challengers) = (None, None, None);
        match &self.schedule {
            Schedule::RoundRobin => {}
            Schedule::Gauntlet { challengers: names } => challengers = Some(names.clone()),
            Schedule::Swiss { rounds: count } => rounds = Some(*count),
            Schedule::Knockout { replays: count } => replays = Some(*count),
            Schedule::Ladder { rounds: count } => rounds = *count,
        }
        let Points { win, draw, loss, bye } = self.points;
        let tie_breaks: Vec<_> = self.tie_breaks.iter().map(|tie| tie.code()).collect();
        json!({
            "game": self.game,
            "schedule": self.schedule.code(),
            "rounds": rounds,
            "replays": replays,
            "challengers": challengers,
            "games": self.games,
            "points": { "win": win, "draw": draw, "loss": loss, "bye": bye },
            "tie_breaks": tie_breaks,
            "concurrency": self.concurrency,
            "planned": self.planned,
        })
        .to_string()
    }

    /// Reads [`text`](Settings::text); what is missing is as usual.
    pub fn read(text: &str) -> Settings {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
        let rounds = number(&value["rounds"]);
        let names = value["challengers"].as_array().cloned().unwrap_or_default();
        let schedule = match value["schedule"].as_str().unwrap_or_default() {
            "gauntlet" => Schedule::Gauntlet {
                challengers: names.iter().filter_map(Value::as_str).map(String::from).collect(),
            },
            "swiss" => Schedule::Swiss { rounds: rounds.unwrap_or(0) },
            "knockout" => Schedule::Knockout { replays: number(&value["replays"]).unwrap_or(0) },
            "ladder" => Schedule::Ladder { rounds },
            _ => Schedule::RoundRobin,
        };
        let usual = Points::default();
        let points = |key: &str, usual| value["points"][key].as_i64().unwrap_or(usual);
        let codes = value["tie_breaks"].as_array().cloned().unwrap_or_default();
        let tie_break =
            |code: &Value| TieBreak::ALL.into_iter().find(|tie| Some(tie.code()) == code.as_str());
        Settings {
            game: value["game"].as_str().unwrap_or(GAMES[0].id).into(),
            schedule,
            games: number(&value["games"]).unwrap_or(1),
            points: Points {
                win: points("win", usual.win),
                draw: points("draw", usual.draw),
                loss: points("loss", usual.loss),
                bye: points("bye", usual.bye),
            },
            tie_breaks: codes.iter().filter_map(tie_break).collect(),
            concurrency: value["concurrency"].as_u64().map_or(1, |count| count.max(1) as usize),
            planned: value["planned"].as_u64(),
        }
    }
}
