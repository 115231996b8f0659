//! The tournament file: TOML, checked as a whole. All errors are reported at once, each with line,
//! column and what would be valid. `docs/tournaments.md` describes the keys.

mod players;
mod toml_table;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::{
    Adjudication, FaultPolicy, GameSettings, Openings, TimeControl, parse_duration,
};
use crownhead_rules::Game;
use crownhead_sandbox::{Isolation, Limits};
use toml::de::{DeTable, DeValue};

use crate::matches::apply_default_limits;
use crate::standings::TieBreak;
use crate::{Colours, Entrant, Points, Schedule, Tournament};
use toml_table::{TomlTable, diagnostic, suggestion};

/// A commented tournament file to start from.
pub const TEMPLATE: &str = include_str!("template.toml");

/// Keys of the file, in their customary order.
const KEYS: [&str; 28] = [
    "name",
    "game",
    "schedule",
    "games",
    "rounds",
    "tie-replays",
    "challengers",
    "colours",
    "movetime",
    "time",
    "nodes",
    "grace",
    "startup-timeout",
    "policy",
    "isolation",
    "ponder",
    "openings",
    "seed",
    "tie-breaks",
    "concurrency",
    "one-at-a-time",
    "log",
    "submissions",
    "points",
    "limits",
    "runtime",
    "adjudication",
    "players",
];
const SCHEDULES: [&str; 5] = ["round-robin", "gauntlet", "swiss", "knockout", "ladder"];
/// Maximum size of a tournament file.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum number of games per pairing.
const MAX_GAMES_PER_PAIRING: u64 = 10_000;
/// Maximum number of players: a larger tournament would not fit in memory.
const MAX_PLAYERS: usize = 5_000;
/// Maximum number of games.
const MAX_GAMES: u64 = 10_000_000;

/// An error in a tournament file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Diagnostic {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// Description of the error, and of what would be valid.
    pub message: String,
}

/// Why a tournament file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConfigError {
    /// The file cannot be read.
    Unreadable(String),
    /// The file has errors.
    Invalid {
        /// Name of the file.
        file: String,
        /// Its errors.
        diagnostics: Vec<Diagnostic>,
    },
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Unreadable(message) => f.write_str(message),
            ConfigError::Invalid { file, diagnostics } => {
                for (index, Diagnostic { line, column, message }) in diagnostics.iter().enumerate()
                {
                    let separator = if index > 0 { "\n" } else { "" };
                    write!(f, "{separator}{file}, line {line}, column {column}: {message}")?;
                }
                Ok(())
            }
        }
    }
}

/// Reads a tournament file and returns the tournament and the contents of the file.
pub fn read_file(path: &Path) -> Result<(Tournament, String), ConfigError> {
    let unreadable = |reason: String| {
        ConfigError::Unreadable(format!("cannot read tournament file {}: {reason}", path.display()))
    };
    let invalid = |diagnostics| {
        let file = path.display().to_string();
        ConfigError::Invalid { file, diagnostics }
    };
    let metadata = path.metadata().map_err(|error| unreadable(error.to_string()))?;
    if !metadata.is_file() {
        return Err(unreadable("not a regular file".into()));
    }
    if metadata.len() > MAX_FILE_BYTES {
        let size = metadata.len();
        let message = format!("a tournament file has at most {MAX_FILE_BYTES} bytes, not {size}");
        return Err(invalid(vec![Diagnostic { line: 1, column: 1, message }]));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[offset];
        let message = format!("invalid UTF-8: byte {byte:#04x}; save the file as UTF-8");
        let text = String::from_utf8_lossy(&error.as_bytes()[..offset]);
        invalid(vec![diagnostic(&text, offset, message)])
    })?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    match parse(&text, folder, &name.unwrap_or_else(|| "tournament".into())) {
        Ok(tournament) => Ok((tournament, text)),
        Err(diagnostics) => Err(invalid(diagnostics)),
    }
}

/// Parses a tournament file. Relative paths start at `folder`; a tournament without a name is
/// called `default_name`.
pub fn parse(text: &str, folder: &Path, default_name: &str) -> Result<Tournament, Vec<Diagnostic>> {
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        vec![diagnostic(text, offset, error.message().to_string())]
    })?;
    let mut top = TomlTable::new(text, table.get_ref(), 0);
    let tournament = build(&mut top, folder, default_name);
    top.reject_unknown_keys(&KEYS);
    let mut diagnostics = top.diagnostics;
    match tournament {
        Some(tournament) if diagnostics.is_empty() => Ok(tournament),
        _ => {
            diagnostics.sort();
            diagnostics.dedup();
            Err(diagnostics)
        }
    }
}

/// Builds the tournament; `None` if an error was reported.
fn build(top: &mut TomlTable<'_>, folder: &Path, default_name: &str) -> Option<Tournament> {
    let name = top.string("name").unwrap_or_else(|| default_name.to_string());
    let game = game(top);
    let (mut entrants, warnings) = players::parse_players(top, folder, game.as_ref());
    let schedule = schedule(top, &entrants);
    let default_games = if matches!(schedule, Some(Schedule::Swiss { .. })) { 1 } else { 2 };
    let games = top.integer("games", 1..=MAX_GAMES_PER_PAIRING).unwrap_or(default_games) as u32;
    let colours = colours(top, schedule.as_ref());
    let tie_breaks = tie_breaks(top);
    let points = points(top);
    let seed = top.integer("seed", 0..=i64::MAX as u64).unwrap_or(1);
    let concurrency = top.integer("concurrency", 1..=1024).unwrap_or(1) as usize;
    let is_gauntlet = matches!(schedule, Some(Schedule::Gauntlet { .. }));
    let exclusive_players = top.boolean("one-at-a-time").unwrap_or(!is_gauntlet);
    let log = top.string("log").map(|log| folder.join(log));
    let time_control = time_control(top);
    let nodes = top.integer("nodes", 1..=u64::MAX);
    let grace = duration(top, "grace");
    let startup_timeout = duration(top, "startup-timeout");
    let fault_policy = top.string("policy");
    let fault_policy =
        fault_policy.and_then(|text| top.ok_or_error("policy", text.parse::<FaultPolicy>()));
    let isolation = isolation(top);
    let limits = limits(top);
    let runtime_paths = runtime_paths(top, folder);
    let adjudication = adjudication(top);
    let ponder = top.boolean("ponder").unwrap_or(false);
    let openings_text = top.string("openings").unwrap_or_else(|| "start".into());
    let game = game?;
    let openings = openings(top, &openings_text, &game, folder);
    let defaults = GameSettings::default_for(&game);
    let fault_policy = fault_policy.unwrap_or(defaults.fault_policy);
    if !fault_policy.supports(&game) {
        top.error(
            "policy",
            format!("turns cannot be skipped in {game}: use forfeit or random-move"),
        );
    }
    let mut specs: Vec<PlayerSpec> =
        entrants.iter().filter_map(|entrant| entrant.player.clone().ok()).collect();
    let time_control = apply_default_limits(&mut specs, time_control, nodes);
    let players = entrants.iter_mut().filter_map(|entrant| entrant.player.as_mut().ok());
    for (player, spec) in players.zip(specs) {
        *player = spec;
        if let Some(program) = player.program_mut() {
            (program.isolation, program.limits) = (isolation, limits);
            program.runtime_paths.clone_from(&runtime_paths);
            program.ponder = ponder;
        }
    }
    let tournament = Tournament {
        name,
        game,
        entrants,
        schedule: schedule?,
        games,
        colours,
        game_settings: GameSettings {
            time_control,
            grace: grace.unwrap_or(defaults.grace),
            startup_timeout: startup_timeout.unwrap_or(defaults.startup_timeout),
            fault_policy,
            adjudication,
        },
        isolation,
        limits,
        openings: openings?,
        openings_text,
        seed,
        points,
        tie_breaks,
        concurrency,
        exclusive_players,
        log,
        warnings,
    };
    if let Some(planned) = tournament.planned_games().filter(|planned| *planned > MAX_GAMES) {
        let message =
            format!("a tournament has at most {MAX_GAMES} games, but this would have {planned}");
        top.error(if top.value("games").is_some() { "games" } else { "players" }, message);
    }
    Some(tournament)
}

fn game(top: &mut TomlTable<'_>) -> Option<Game> {
    let ids: Vec<_> = Game::all().iter().map(|game| game.info().id).collect();
    let Some(text) = top.string("game") else {
        if top.value("game").is_none() {
            top.error_at(0, format!("missing key \"game\"; available games: {}", ids.join(", ")));
        }
        return None;
    };
    let game = text.parse::<Game>().map_err(|error| error.to_string());
    top.ok_or_error("game", game)
}

fn openings(top: &mut TomlTable<'_>, text: &str, game: &Game, folder: &Path) -> Option<Openings> {
    let openings = Openings::parse_spec(text, game, |name| std::fs::read(folder.join(name)))
        .map_err(|error| {
            let word = text.split(':').next().unwrap_or_default();
            let words = ["start", "random", "ballots"];
            let hint = if words.contains(&word) { String::new() } else { suggestion(word, &words) };
            format!("{error}{hint}")
        });
    top.ok_or_error("openings", openings)
}

fn schedule(top: &mut TomlTable<'_>, entrants: &[Entrant]) -> Option<Schedule> {
    let code = top.string("schedule").unwrap_or_else(|| "round-robin".into());
    if !SCHEDULES.contains(&code.as_str()) {
        let message = format!(
            "unknown schedule {code:?}; available schedules: {}{}",
            SCHEDULES.join(", "),
            suggestion(&code, &SCHEDULES)
        );
        top.error("schedule", message);
        return None;
    }
    let rounds = top.integer("rounds", 1..=1_000_000).map(|rounds| rounds as u32);
    let tie_replays = top.integer("tie-replays", 0..=100).map(|replays| replays as u32);
    let challengers = top.strings("challengers");
    let mut only_for = |key: &str, is_set: bool, schedules: &[&str], hint: &str| {
        if is_set && !schedules.contains(&code.as_str()) {
            let schedules = schedules.join(" and ");
            top.error(key, format!("{key} is for {schedules}, not for {code}{hint}"));
        }
    };
    let hint = "; to play each pairing more often, set games";
    only_for("rounds", rounds.is_some(), &["swiss", "ladder"], hint);
    only_for("tie-replays", tie_replays.is_some(), &["knockout"], "");
    only_for("challengers", challengers.is_some(), &["gauntlet"], "");
    Some(match code.as_str() {
        "gauntlet" => {
            let names: Vec<&str> = entrants.iter().map(|entrant| entrant.name.as_str()).collect();
            let first_player = || names.iter().take(1).map(|name| name.to_string()).collect();
            let challengers = challengers.unwrap_or_else(first_player);
            if challengers.is_empty() {
                top.error("challengers", "a gauntlet needs at least one challenger");
            }
            for (index, name) in challengers.iter().enumerate() {
                if challengers[..index].contains(name) {
                    top.error("challengers", format!("{name} is listed twice"));
                } else if !names.contains(&name.as_str()) {
                    let hint = suggestion(name, &names);
                    top.error("challengers", format!("unknown player {name:?}{hint}"));
                }
            }
            Schedule::Gauntlet { challengers }
        }
        "swiss" => {
            let log2_players = entrants.len().max(2).next_power_of_two().ilog2();
            Schedule::Swiss { rounds: rounds.unwrap_or(log2_players) }
        }
        "knockout" => Schedule::Knockout { tie_replays: tie_replays.unwrap_or(2) },
        "ladder" => Schedule::Ladder { rounds },
        _ => Schedule::RoundRobin,
    })
}

fn colours(top: &mut TomlTable<'_>, schedule: Option<&Schedule>) -> Colours {
    let default = match schedule {
        Some(Schedule::Swiss { .. }) => Colours::Balanced,
        _ => Colours::Random,
    };
    match top.string("colours").as_deref() {
        None => default,
        Some("random") => Colours::Random,
        Some("balanced") => Colours::Balanced,
        Some(text) => {
            let hint = suggestion(text, &["random", "balanced"]);
            top.error("colours", format!("colours must be random or balanced, not {text:?}{hint}"));
            default
        }
    }
}

fn tie_breaks(top: &mut TomlTable<'_>) -> Vec<TieBreak> {
    let Some(codes) = top.strings("tie-breaks") else { return TieBreak::DEFAULT.to_vec() };
    let all_codes = TieBreak::ALL.map(TieBreak::code);
    let mut tie_breaks = Vec::new();
    for code in codes {
        match TieBreak::ALL.into_iter().find(|tie_break| tie_break.code() == code) {
            Some(tie_break) if tie_breaks.contains(&tie_break) => {
                top.error("tie-breaks", format!("{code} is listed twice"));
            }
            Some(tie_break) => tie_breaks.push(tie_break),
            None => {
                let hint = suggestion(&code, &all_codes);
                let available = all_codes.join(", ");
                let message = format!("unknown tie-break {code:?}; available: {available}{hint}");
                top.error("tie-breaks", message);
            }
        }
    }
    tie_breaks
}

fn points(top: &mut TomlTable<'_>) -> Points {
    let defaults = Points::default();
    let Some(mut table) = top.table("points") else { return defaults };
    let mut number = |key| table.integer(key, 0..=1_000_000).map(|number| number as i64);
    let (win, draw, loss) = (number("win"), number("draw"), number("loss"));
    let bye = number("bye");
    table.reject_unknown_keys(&["win", "draw", "loss", "bye"]);
    let win = win.unwrap_or(defaults.win);
    let points = Points {
        win,
        draw: draw.unwrap_or(defaults.draw),
        loss: loss.unwrap_or(defaults.loss),
        bye: bye.unwrap_or(win),
    };
    top.diagnostics.append(&mut table.diagnostics);
    if points.win < points.draw || points.draw < points.loss {
        top.error("points", "a win must not be worth less than a draw, nor a draw than a loss");
    }
    points
}

fn isolation(top: &mut TomlTable<'_>) -> Isolation {
    let Some(text) = top.string("isolation") else { return Isolation::default() };
    text.parse().unwrap_or_else(|error| {
        let hint = suggestion(&text, &["default", "require", "off"]);
        top.error("isolation", format!("{error}{hint}"));
        Isolation::default()
    })
}

/// Paths outside of their folders that bots may read.
fn runtime_paths(top: &mut TomlTable<'_>, folder: &Path) -> Vec<PathBuf> {
    let Some(mut table) = top.table("runtime") else { return Vec::new() };
    let paths = table.strings("read").unwrap_or_default();
    let paths: Vec<_> = paths.iter().map(|path| folder.join(path)).collect();
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        table.error("read", format!("{} does not exist", missing.display()));
    }
    table.reject_unknown_keys(&["read"]);
    top.diagnostics.append(&mut table.diagnostics);
    paths
}

fn limits(top: &mut TomlTable<'_>) -> Limits {
    let mut limits = Limits::default();
    settings_table(top, "limits", &Limits::KEYS, |key, value| limits.set(key, value));
    limits
}

fn adjudication(top: &mut TomlTable<'_>) -> Adjudication {
    let mut adjudication = Adjudication::default();
    let set = |key: &str, value: &str| adjudication.set(key, value);
    if settings_table(top, "adjudication", &Adjudication::KEYS, set) {
        top.ok_or_error("adjudication", adjudication.check());
    }
    adjudication
}

/// Passes the settings of a table to `set`, as text. Returns whether the table exists and is valid.
fn settings_table(
    top: &mut TomlTable<'_>,
    name: &str,
    keys: &[&str],
    mut set: impl FnMut(&str, &str) -> Result<(), String>,
) -> bool {
    let Some(mut table) = top.table(name) else { return false };
    for key in keys {
        let Some(value) = table.value(key) else { continue };
        let result = match value.get_ref() {
            DeValue::String(text) => set(key, text),
            DeValue::Integer(number) => set(key, number.as_str()),
            DeValue::Boolean(value) => set(key, if *value { "true" } else { "false" }),
            _ => Err(format!("{key} must be a number or a string")),
        };
        table.ok_or_error(key, result);
    }
    table.reject_unknown_keys(keys);
    let is_valid = table.diagnostics.is_empty();
    top.diagnostics.append(&mut table.diagnostics);
    is_valid
}

fn time_control(top: &mut TomlTable<'_>) -> TimeControl {
    let movetime = duration(top, "movetime");
    let time = top.string("time");
    let time = time.and_then(|text| top.ok_or_error("time", text.parse::<TimeControl>()));
    match (movetime, time) {
        (Some(_), Some(_)) => {
            top.error("time", "movetime and time exclude each other");
            TimeControl::Unlimited
        }
        (Some(time), None) => TimeControl::PerMove(time),
        (None, time) => time.unwrap_or_default(),
    }
}

fn duration(top: &mut TomlTable<'_>, key: &str) -> Option<Duration> {
    let text = top.string(key)?;
    let is_zero = key == "grace" && matches!(text.trim(), "0ms" | "0s");
    let duration = if is_zero { Ok(Duration::ZERO) } else { parse_duration(&text) };
    top.ok_or_error(key, duration)
}
