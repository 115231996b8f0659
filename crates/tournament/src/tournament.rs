//! A [`Tournament`], checked and ready to run, and the [`Settings`] its standings depend on.

use std::path::PathBuf;

use crownhead_bots::PlayerSpec;
use crownhead_play::{GameSettings, Openings, format_duration};
use crownhead_rules::Game;
use crownhead_sandbox::{Isolation, Limits};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::FileDigests;
use crate::standings::TieBreak;

/// A tournament to play.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// Display name.
    pub name: String,
    /// The game and its options.
    pub game: Game,
    /// Participants, best seed first.
    pub entrants: Vec<Entrant>,
    /// Tournament format.
    pub schedule: Schedule,
    /// Games per pairing.
    pub games: u32,
    /// Who moves first in an odd game.
    pub colours: Colours,
    /// Time control, fault policy and adjudication.
    pub game_settings: GameSettings,
    /// Isolation of bots.
    pub isolation: Isolation,
    /// Resource limits of each bot.
    pub limits: Limits,
    /// Openings of the games.
    pub openings: Openings,
    /// The openings as written in the tournament file.
    pub openings_text: String,
    /// Random seed.
    pub seed: u64,
    /// Points per result.
    pub points: Points,
    /// Tie-breaks, in order.
    pub tie_breaks: Vec<TieBreak>,
    /// Number of games played in parallel.
    pub concurrency: usize,
    /// Whether a player plays at most one game at a time.
    pub exclusive_players: bool,
    /// Folder for bot logs.
    pub log: Option<PathBuf>,
    /// Warnings for the organiser, such as folders that are not submissions.
    pub warnings: Vec<String>,
}

/// A participant.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// Name in the standings, unique in the tournament.
    pub name: String,
    /// The player as written in the tournament file.
    pub text: String,
    /// The player, or why the submission is invalid. An invalid player takes part, and each of its
    /// turns is a fault.
    pub player: Result<PlayerSpec, String>,
}

impl Entrant {
    /// Describes the player completely, except for the contents of its files.
    pub fn description(&self) -> String {
        match &self.player {
            Ok(spec) if spec.program().is_none() => spec.to_string(),
            Ok(_) => self.text.clone(),
            // The reason may change without affecting any game.
            Err(_) => format!("{} (broken)", self.text),
        }
    }

    /// Computes the digests of the player's files.
    pub fn files(&self) -> FileDigests {
        self.player.as_ref().map(FileDigests::compute).unwrap_or_default()
    }

    /// Returns whether the player has a build command, which may change its files.
    pub(crate) fn has_build(&self) -> bool {
        let program = self.player.as_ref().ok().and_then(|player| player.program());
        program.is_some_and(|program| program.build.is_some())
    }

    /// Returns whether the player is an external program.
    pub(crate) fn is_bot(&self) -> bool {
        self.player.as_ref().is_ok_and(|player| player.program().is_some())
    }
}

/// Tournament format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "schedule", rename_all = "kebab-case")]
pub enum Schedule {
    /// Every player plays every other player.
    RoundRobin,
    /// The challengers play every other player.
    Gauntlet {
        /// Names of the challengers.
        challengers: Vec<String>,
    },
    /// Players with similar points play each other.
    Swiss {
        /// Number of rounds.
        rounds: u32,
    },
    /// Single elimination.
    Knockout {
        /// How often a tied pairing is replayed before the better seed advances.
        tie_replays: u32,
    },
    /// Neighbours on the ladder challenge each other.
    Ladder {
        /// Number of rounds; unlimited if `None`.
        rounds: Option<u32>,
    },
}

impl Schedule {
    /// Name in tournament files and JSON.
    pub const fn code(&self) -> &'static str {
        match self {
            Schedule::RoundRobin => "round-robin",
            Schedule::Gauntlet { .. } => "gauntlet",
            Schedule::Swiss { .. } => "swiss",
            Schedule::Knockout { .. } => "knockout",
            Schedule::Ladder { .. } => "ladder",
        }
    }

    /// Returns whether all pairings are known in advance.
    pub const fn is_fixed(&self) -> bool {
        matches!(self, Schedule::RoundRobin | Schedule::Gauntlet { .. })
    }
}

/// Who moves first in a game that has no counterpart with colours reversed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    /// Random.
    Random,
    /// The player who has moved first less often in a Swiss tournament or round robin, the better
    /// seed in a knockout, the challenger on a ladder.
    Balanced,
}

/// Points per result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Points {
    /// For a win.
    pub win: i64,
    /// For a draw.
    pub draw: i64,
    /// For a loss.
    pub loss: i64,
    /// For each game missed by a bye.
    pub bye: i64,
}

impl Default for Points {
    fn default() -> Points {
        Points { win: 2, draw: 1, loss: 0, bye: 2 }
    }
}

/// Settings that standings and status depend on. The journal stores them, so both can be computed
/// without the tournament file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The game and its options, as text.
    pub game: String,
    /// Tournament format.
    #[serde(flatten)]
    pub schedule: Schedule,
    /// Games per pairing.
    pub games: u32,
    /// Points per result.
    pub points: Points,
    /// Tie-breaks, in order.
    pub tie_breaks: Vec<TieBreak>,
    /// Number of games played in parallel.
    pub concurrency: usize,
    /// Total number of games, if known in advance.
    pub planned: Option<u64>,
}

impl Tournament {
    /// Returns the settings that standings and status depend on.
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

    /// Returns the settings that game results depend on, as keys and values.
    pub fn result_settings(&self) -> Vec<(&'static str, String)> {
        let GameSettings { time_control, grace, startup_timeout, fault_policy, adjudication } =
            &self.game_settings;
        let schedule = match &self.schedule {
            Schedule::Gauntlet { challengers } => format!("gauntlet of {}", challengers.join(", ")),
            schedule => schedule.code().into(),
        };
        let mut settings = vec![
            ("game", self.game.to_string()),
            ("schedule", schedule),
            ("games", self.games.to_string()),
            ("colours", format!("{:?}", self.colours).to_ascii_lowercase()),
            ("time", time_control.to_string()),
            ("grace", format_duration(*grace)),
            ("startup-timeout", format_duration(*startup_timeout)),
            ("policy", fault_policy.to_string()),
            ("adjudication", adjudication.to_string()),
            ("openings", self.openings_setting()),
            ("seed", self.seed.to_string()),
        ];
        if let Schedule::Knockout { tie_replays } = self.schedule {
            settings.push(("tie-replays", tie_replays.to_string()));
        }
        if self.has_bots() {
            settings.push(("isolation", self.isolation.to_string()));
            settings.push(("limits", self.limits.to_string()));
        }
        if !self.schedule.is_fixed() {
            let names: Vec<_> = self.entrants.iter().map(|entrant| entrant.name.as_str()).collect();
            settings.push(("order of players", names.join(", ")));
        }
        settings
    }

    /// Returns whether any player is an external program.
    pub fn has_bots(&self) -> bool {
        self.entrants.iter().any(Entrant::is_bot)
    }

    /// Returns the openings as text; lists get a digest of their contents.
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

    /// Returns the total number of games without tie replays; `None` if it is unlimited.
    pub fn planned_games(&self) -> Option<u64> {
        let players = self.entrants.len() as u64;
        let games = u64::from(self.games);
        match &self.schedule {
            Schedule::RoundRobin => Some(players * players.saturating_sub(1) / 2 * games),
            Schedule::Gauntlet { challengers } => {
                let challengers = challengers.len() as u64;
                let among_challengers = challengers * challengers.saturating_sub(1) / 2;
                let against_others = challengers * players.saturating_sub(challengers);
                Some((among_challengers + against_others) * games)
            }
            Schedule::Swiss { rounds } => Some(players / 2 * games * u64::from(*rounds)),
            Schedule::Knockout { .. } => Some(players.saturating_sub(1) * games),
            Schedule::Ladder { rounds } => {
                // Odd and even rounds pair different neighbours.
                let rounds = u64::from((*rounds)?);
                let (odd, even) = (players / 2, players.saturating_sub(1) / 2);
                Some((rounds.div_ceil(2) * odd + rounds / 2 * even) * games)
            }
        }
    }
}
