//! The figures of a report.

mod advice;
mod bracket;
mod games;
mod log;
mod player;
mod standings;
mod statistics;

use std::collections::HashMap;

use crownhead_analysis::GameAnalysis;
use crownhead_play::TimeControl;
use crownhead_rules::{Game, replace_invisible};
use crownhead_statistics::ratings::{RatingOptions, Ratings, rate};
use crownhead_tournament::Schedule;
use crownhead_tournament::journal::{GameDetails, Snapshot};
use serde::Serialize;
use serde_json::Value;

pub(crate) use advice::seconds;
pub use bracket::{BracketPairing, BracketRound};
pub use games::{FaultEntry, GameEntry};
pub use log::GameLog;
pub use player::{
    Drop, FaultGroup, FaultOccurrence, OpponentScore, PlayerReport, Quality, SlowMove, TimeUse,
};
pub use standings::{CrosstableCell, RatingRow, RatingTable, StandingsRow, TieBreakInfo};
pub use statistics::{LengthBin, OpeningScore, Progress, ProgressLine, ResultCounts};

/// Version of the format.
pub const VERSION: u32 = 1;

/// Input of a report.
pub struct ReportInput<'a> {
    /// The tournament.
    pub snapshot: &'a Snapshot,
    /// Moves and faults of the finished games, by number.
    pub details: &'a HashMap<i64, GameDetails>,
    /// Analyses of games, by number.
    pub analyses: &'a HashMap<i64, GameAnalysis>,
    /// Logs of the bots, by number of the game and side.
    pub logs: &'a HashMap<(i64, usize), GameLog>,
}

/// A tournament report. Players are named by their index, which is constant for a journal.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Version of the format.
    pub version: u32,
    /// Name, game and settings.
    pub tournament: TournamentInfo,
    /// Facts about the game that the viewer needs.
    pub game: Value,
    /// Names of the players, by index.
    pub names: Vec<String>,
    /// Standings, by rank.
    pub standings: Vec<StandingsRow>,
    /// Whether players are ranked by progress instead of points.
    pub by_progress: bool,
    /// Tie-breaks, in order.
    pub tie_breaks: Vec<TieBreakInfo>,
    /// Decided ties, forfeits, faults and byes, one sentence each.
    pub notes: Vec<String>,
    /// Results of each player against each opponent, both in the order of the standings.
    pub crosstable: Vec<Vec<Option<CrosstableCell>>>,
    /// Ratings, if there are any.
    pub ratings: Option<RatingTable>,
    /// Points after each round.
    pub progress: Option<Progress>,
    /// Rounds of a knockout.
    pub bracket: Option<Vec<BracketRound>>,
    /// Results by colour.
    pub colours: ResultCounts,
    /// Results by opening, the most frequent first.
    pub openings: Vec<OpeningScore>,
    /// Game lengths.
    pub lengths: Vec<LengthBin>,
    /// Number of games by reason for their end, the most frequent first.
    pub endings: Vec<(String, usize)>,
    /// All faults on record.
    pub faults: Vec<FaultEntry>,
    /// Details of each player, by index; `None` for players that are not ranked.
    pub players: Vec<Option<PlayerReport>>,
    /// Finished games.
    pub games: Vec<GameEntry>,
}

/// Name, game and settings of a tournament.
#[derive(Debug, Serialize)]
pub struct TournamentInfo {
    /// Name.
    pub name: String,
    /// Id of the game, with options.
    pub game: String,
    /// Name of the game.
    pub game_name: String,
    /// Names of the sides.
    pub sides: [String; 2],
    /// Tournament format.
    pub schedule: String,
    /// `open`, `finished` or `cancelled`.
    pub state: String,
    /// Number of ranked players.
    pub players: usize,
    /// Number of rounds scheduled.
    pub rounds: usize,
    /// Number of finished games.
    pub finished: usize,
    /// Number of games in total, if known.
    pub planned: Option<u64>,
    /// Number of games lost by a fault.
    pub forfeits: usize,
    /// Time control.
    pub time: String,
    /// Penalty for a fault.
    pub policy: String,
    /// Start of the first game, in milliseconds since 1970.
    pub started: Option<i64>,
    /// End of the last game, in milliseconds since 1970.
    pub ended: Option<i64>,
    /// Number of analysed games.
    pub analysed: usize,
}

impl Report {
    /// Computes a report. The error is an invalid game in the journal.
    pub fn new(input: &ReportInput<'_>) -> Result<Report, String> {
        let snapshot = input.snapshot;
        let game: Game = snapshot.settings.game.parse().map_err(|error| format!("{error}"))?;
        let games = games::entries(input, &game);
        let standings = snapshot.standings();
        let names: Vec<_> =
            snapshot.players.iter().map(|player| replace_invisible(&player.name)).collect();
        let ratings = ratings(snapshot);
        let faults = games::faults(input, &game);
        let is_knockout = matches!(snapshot.settings.schedule, Schedule::Knockout { .. });
        let mut report = Report {
            version: VERSION,
            tournament: TournamentInfo::new(input, &game, games.len()),
            game: crownhead_play::describe_game(&game),
            notes: standings::notes(&standings, &names),
            names,
            standings: standings::rows(&standings),
            by_progress: standings.by_progress,
            tie_breaks: standings::tie_breaks(&standings),
            crosstable: standings::crosstable(&standings),
            ratings: ratings.as_ref().map(|ratings| RatingTable::new(ratings, &standings)),
            progress: (!is_knockout).then(|| statistics::progress(snapshot, &standings)).flatten(),
            bracket: is_knockout.then(|| bracket::rounds(snapshot, &standings)),
            colours: ResultCounts::count(&games),
            openings: statistics::openings(&games),
            lengths: statistics::lengths(&games),
            endings: statistics::endings(&games),
            faults,
            players: Vec::new(),
            games,
        };
        report.players = player::reports(&report, input, ratings.as_ref());
        Ok(report)
    }

    /// Returns the name of a player.
    pub fn name(&self, player: usize) -> &str {
        self.names.get(player).map_or("", String::as_str)
    }

    /// Returns the details of a player.
    pub fn player(&self, player: usize) -> Option<&PlayerReport> {
        self.players.get(player)?.as_ref()
    }

    /// Returns a game by its number.
    pub fn game(&self, number: i64) -> Option<&GameEntry> {
        let index = self.games.binary_search_by_key(&number, |game| game.number).ok()?;
        self.games.get(index)
    }
}

impl TournamentInfo {
    fn new(input: &ReportInput<'_>, game: &Game, finished: usize) -> TournamentInfo {
        let snapshot = input.snapshot;
        let setting = |key: &str| snapshot.result_settings.get(key).cloned().unwrap_or_default();
        let info = game.info();
        TournamentInfo {
            name: replace_invisible(&snapshot.name),
            game: snapshot.settings.game.clone(),
            game_name: info.name.into(),
            sides: info.sides.map(|side| side.name.into()),
            schedule: snapshot.settings.schedule.code().into(),
            state: snapshot.state.code().into(),
            players: snapshot.ranked_players().len(),
            rounds: snapshot.rounds.len(),
            finished,
            planned: snapshot.planned(),
            forfeits: snapshot.finished().filter(|(_, game)| game.forfeit.is_some()).count(),
            time: setting("time"),
            policy: setting("policy"),
            started: snapshot.games.iter().filter_map(|game| game.started).min(),
            ended: snapshot.finished().map(|(_, summary)| summary.finished).max(),
            analysed: input.analyses.len(),
        }
    }

    /// Returns the time per move in milliseconds, if the time control has one.
    fn move_time(&self) -> Option<u64> {
        match TimeControl::parse_tag(&self.time) {
            Ok(TimeControl::PerMove(time)) => Some(time.as_millis() as u64),
            _ => None,
        }
    }
}

fn ratings(snapshot: &Snapshot) -> Option<Ratings> {
    let results = snapshot.finished().map(|(game, summary)| (game.players, summary.winner));
    rate(snapshot.players.len(), results, RatingOptions::default()).ok()
}

/// Rounds to three decimals.
fn rounded(value: f64) -> f64 {
    round_to(value, 3)
}

/// Rounds to a number of decimals.
pub(crate) fn round_to(value: f64, decimals: i32) -> f64 {
    let factor = 10f64.powi(decimals);
    (value * factor).round() / factor
}
