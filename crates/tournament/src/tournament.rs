//! What a tournament is, once its file has been read and checked.

use std::path::PathBuf;

use crownhead_bots::PlayerSpec;
use crownhead_play::{GameSettings, Openings, format_duration};
use crownhead_rules::Game;
use crownhead_sandbox::{Isolation, Limits};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::FileDigests;
use crate::standings::TieBreak;

/// A tournament to be played.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// What it is called.
    pub name: String,
    /// The game.
    pub game: Game,
    /// Who takes part, the best seed first.
    pub entrants: Vec<Entrant>,
    /// Who meets whom.
    pub schedule: Schedule,
    /// Games of each pair when it meets.
    pub games: u32,
    /// Who moves first where the number of games is odd.
    pub colours: Colours,
    /// The times, and what faults cost.
    pub game_settings: GameSettings,
    /// Which walls are around outside programs.
    pub isolation: Isolation,
    /// What each of them may use.
    pub limits: Limits,
    /// What the games begin with.
    pub openings: Openings,
    /// The same as it was written.
    pub openings_text: String,
    /// What everything that is drawn by lot follows from.
    pub seed: u64,
    /// What a game brings.
    pub points: Points,
    /// What decides between equal points, in this order.
    pub tie_breaks: Vec<TieBreak>,
    /// How many games are played at once.
    pub concurrency: usize,
    /// Whether a player plays no two games at once.
    pub exclusive_players: bool,
    /// A folder for a log of each game and outside program.
    pub log: Option<PathBuf>,
    /// What the organiser should know: folders that are no submissions.
    pub warnings: Vec<String>,
}

/// Somebody who takes part.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// The name in the table; no two have the same.
    pub name: String,
    /// The player as it was written.
    pub text: String,
    /// The player, or why a submission is none: it takes part, and every turn is a fault.
    pub player: Result<PlayerSpec, String>,
}

impl Entrant {
    /// Who plays under this name, with everything that makes a difference but the contents of files.
    pub fn description(&self) -> String {
        match &self.player {
            Ok(spec) if spec.program().is_none() => spec.to_string(),
            Ok(_) => self.text.clone(),
            // In which way it is broken makes no difference.
            Err(_) => format!("{} (broken)", self.text),
        }
    }

    /// The files it is made of now.
    pub fn files(&self) -> FileDigests {
        self.player.as_ref().map(FileDigests::compute).unwrap_or_default()
    }
}

/// Who meets whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// Everybody meets everybody.
    RoundRobin,
    /// These meet all the others.
    Gauntlet {
        /// Their names.
        challengers: Vec<String>,
    },
    /// So many rounds among players with about the same points.
    Swiss {
        /// How many.
        rounds: u32,
    },
    /// Who loses is out.
    Knockout {
        /// How often a tied meeting is repeated before the better seed goes on.
        tie_replays: u32,
    },
    /// Neighbours challenge each other, without end or for so many rounds.
    Ladder {
        /// How many.
        rounds: Option<u32>,
    },
}

impl Schedule {
    /// Its name in a tournament file.
    pub const fn code(&self) -> &'static str {
        match self {
            Schedule::RoundRobin => "round-robin",
            Schedule::Gauntlet { .. } => "gauntlet",
            Schedule::Swiss { .. } => "swiss",
            Schedule::Knockout { .. } => "knockout",
            Schedule::Ladder { .. } => "ladder",
        }
    }

    /// Whether all games are known from the beginning.
    pub const fn is_fixed(&self) -> bool {
        matches!(self, Schedule::RoundRobin | Schedule::Gauntlet { .. })
    }
}

/// Who moves first in a game that has no second one with colours exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    /// Whom the lot chooses.
    Random,
    /// Whoever moved first less often in a Swiss tournament or a round robin; the better seed in a knockout,
    /// and the challenger on a ladder.
    Balanced,
}

/// What a game brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Points {
    /// For a win.
    pub win: i64,
    /// For a draw, each.
    pub draw: i64,
    /// For a loss.
    pub loss: i64,
    /// For a round without an opponent, for each game of it.
    pub bye: i64,
}

impl Default for Points {
    fn default() -> Points {
        Points { win: 2, draw: 1, loss: 0, bye: 2 }
    }
}

impl Tournament {
    /// What its table and its status depend on.
    pub fn settings(&self) -> Settings {
        Settings {
            game: self.game.to_string(),
            schedule: self.schedule.clone(),
            games: self.games,
            points: self.points,
            tie_breaks: self.tie_breaks.clone(),
            concurrency: self.concurrency,
            planned: self.planned_games(),
        }
    }

    /// What finished games depend on, as key and value: if one changes, they would have gone
    /// otherwise.
    pub fn result_settings(&self) -> Vec<(&'static str, String)> {
        let GameSettings {
            time_control: time,
            grace,
            startup_timeout: startup,
            fault_policy: policy,
            ..
        } = &self.game_settings;
        let schedule = match &self.schedule {
            Schedule::RoundRobin => "round-robin".into(),
            Schedule::Gauntlet { challengers } => format!("gauntlet of {}", challengers.join(", ")),
            Schedule::Swiss { .. } => "swiss".into(),
            Schedule::Knockout { .. } => "knockout".into(),
            Schedule::Ladder { .. } => "ladder".into(),
        };
        let mut facts = vec![
            ("game", self.game.to_string()),
            ("schedule", schedule),
            ("games", self.games.to_string()),
            ("colours", format!("{:?}", self.colours).to_ascii_lowercase()),
            ("time", time.to_string()),
            ("grace", format_duration(*grace)),
            ("startup", format_duration(*startup)),
            ("policy", policy.to_string()),
            ("openings", self.openings_setting()),
            ("seed", self.seed.to_string()),
        ];
        if let Schedule::Knockout { tie_replays: replays } = self.schedule {
            facts.push(("replays", replays.to_string()));
        }
        if self.has_bots() {
            facts.push(("isolation", self.isolation.to_string()));
            facts.push(("limits", self.limits.to_string()));
        }
        if !self.schedule.is_fixed() {
            let names: Vec<_> = self.entrants.iter().map(|entrant| entrant.name.as_str()).collect();
            facts.push(("order of players", names.join(", ")));
        }
        facts
    }

    /// Whether an outside program takes part.
    pub fn has_bots(&self) -> bool {
        let is_program = |entrant: &Entrant| match &entrant.player {
            Ok(player) => player.program().is_some(),
            Err(_) => false,
        };
        self.entrants.iter().any(is_program)
    }

    /// The name of the openings, and of a file its contents too.
    fn openings_setting(&self) -> String {
        let Openings::Listed(openings) = &self.openings else { return self.openings_text.clone() };
        let mut hash = Sha256::new();
        for opening in openings {
            hash.update(opening.start.as_deref().unwrap_or_default());
            hash.update(opening.moves.join(" "));
            hash.update("\n");
        }
        let digest: String =
            hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("{} ({digest})", self.openings_text)
    }

    /// How many games there will be; none if that is not known, as on a ladder.
    pub fn planned_games(&self) -> Option<u64> {
        let count = self.entrants.len() as u64;
        let games = u64::from(self.games);
        match &self.schedule {
            Schedule::RoundRobin => Some(count * count.saturating_sub(1) / 2 * games),
            Schedule::Gauntlet { challengers } => {
                let heroes = challengers.len() as u64;
                let among = heroes * heroes.saturating_sub(1) / 2;
                Some((among + heroes * count.saturating_sub(heroes)) * games)
            }
            Schedule::Swiss { rounds } => Some(count / 2 * games * u64::from(*rounds)),
            // Replays may come on top.
            Schedule::Knockout { .. } => Some(count.saturating_sub(1) * games),
            Schedule::Ladder { rounds } => {
                // Odd and even rounds pair different neighbours.
                let rounds = u64::from((*rounds)?);
                let (odd, even) = (count / 2, count.saturating_sub(1) / 2);
                Some((rounds.div_ceil(2) * odd + rounds / 2 * even) * games)
            }
        }
    }
}

/// What the table and the status of a tournament depend on.
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
            Schedule::Knockout { tie_replays: count } => replays = Some(*count),
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
            "knockout" => {
                Schedule::Knockout { tie_replays: number(&value["replays"]).unwrap_or(0) }
            }
            "ladder" => Schedule::Ladder { rounds },
            _ => Schedule::RoundRobin,
        };
        let usual = Points::default();
        let points = |key: &str, usual| value["points"][key].as_i64().unwrap_or(usual);
        let codes = value["tie_breaks"].as_array().cloned().unwrap_or_default();
        let tie_break =
            |code: &Value| TieBreak::ALL.into_iter().find(|tie| Some(tie.code()) == code.as_str());
        Settings {
            game: value["game"].as_str().unwrap_or("english").into(),
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
