//! The tournament file: TOML, checked as a whole. Every complaint has its line and column, and says what
//! would be right. `docs/tournaments.md` describes the keys, [`TEMPLATE`] is a file to begin with.

mod players;
mod toml_table;

use std::fmt;
use std::path::Path;

use crate::matches::apply_default_limits;
use crownhead_bots::PlayerSpec;
use crownhead_play::{
    FaultPolicy, GameSettings, Openings, ParseTimeError, TimeControl, parse_duration,
};
use crownhead_rules::Game;
use crownhead_sandbox::{Isolation, Limits};
use toml::de::{DeTable, DeValue};

use crate::standings::TieBreak;
use crate::{Colours, Points, Schedule, Tournament};
use toml_table::{TomlTable, join_words, suggestion};

/// A tournament file with comments, to be changed.
pub const TEMPLATE: &str = include_str!("template.toml");

/// The keys of the file, in the order in which people write them.
const KEYS: [&str; 25] = [
    "name",
    "game",
    "schedule",
    "games",
    "rounds",
    "replays",
    "challengers",
    "colours",
    "movetime",
    "time",
    "nodes",
    "grace",
    "startup",
    "policy",
    "isolation",
    "openings",
    "seed",
    "tie-breaks",
    "concurrency",
    "one-at-a-time",
    "log",
    "submissions",
    "points",
    "limits",
    "players",
];
const SCHEDULES: [&str; 5] = ["round-robin", "gauntlet", "swiss", "knockout", "ladder"];
/// A longer file is something else.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// More games of a pair are another tournament.
const MAX_GAMES_PER_PAIRING: u64 = 10_000;
/// What a machine can keep in mind, and a person look through.
const MAX_PLAYERS: usize = 5_000;
const MAX_GAMES: u64 = 10_000_000;

/// Something wrong in a tournament file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Diagnostic {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// Why a tournament file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConfigError {
    /// It cannot be read.
    Unreadable(String),
    /// What is in it; with the name of the file.
    Invalid(String, Vec<Diagnostic>),
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Unreadable(why) => f.write_str(why),
            ConfigError::Invalid(file, complaints) => {
                for (Diagnostic { line, column, message: what }, number) in
                    complaints.iter().zip(0..)
                {
                    let gap = if number > 0 { "\n" } else { "" };
                    write!(f, "{gap}{file}, line {line}, column {column}: {what}")?;
                }
                Ok(())
            }
        }
    }
}

/// Reads a tournament file: the tournament, and the text.
pub fn read_file(path: &Path) -> Result<(Tournament, String), ConfigError> {
    let cannot = |why: String| {
        ConfigError::Unreadable(format!("cannot read the contest file {}: {why}", path.display()))
    };
    let known = path.metadata().map_err(|error| cannot(error.to_string()))?;
    if !known.is_file() {
        return Err(cannot("it is no file".into()));
    }
    if known.len() > MAX_FILE_BYTES {
        let what =
            format!("a contest file has at most {MAX_FILE_BYTES} bytes, and this {}", known.len());
        let what = Diagnostic { line: 1, column: 1, message: what };
        return Err(ConfigError::Invalid(path.display().to_string(), vec![what]));
    }
    let bytes = std::fs::read(path).map_err(|error| cannot(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let what = format!("the byte {:#04x} is no UTF-8: save it as UTF-8", error.as_bytes()[at]);
        let text = String::from_utf8_lossy(&error.as_bytes()[..at]);
        ConfigError::Invalid(
            path.display().to_string(),
            vec![toml_table::diagnostic(&text, at, what)],
        )
    })?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    match parse(&text, folder, &name.unwrap_or_else(|| "contest".into())) {
        Ok(tournament) => Ok((tournament, text)),
        Err(complaints) => Err(ConfigError::Invalid(path.display().to_string(), complaints)),
    }
}

/// Reads the text of a tournament file. Paths in it are meant from `folder`; a tournament without a name has
/// that of the file.
pub fn parse(text: &str, folder: &Path, file_name: &str) -> Result<Tournament, Vec<Diagnostic>> {
    let parsed = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        vec![toml_table::diagnostic(text, at, error.message().to_string())]
    })?;
    let mut top = TomlTable::new(text, parsed.get_ref(), 0);
    let tournament = build(&mut top, folder, file_name);
    top.reject_unknown_keys(&KEYS);
    let mut complaints = top.diagnostics;
    match tournament {
        Some(tournament) if complaints.is_empty() => Ok(tournament),
        _ => {
            complaints.sort();
            complaints.dedup();
            Err(complaints)
        }
    }
}

/// The tournament, or nothing where a complaint has been made.
fn build(top: &mut TomlTable<'_>, folder: &Path, file_name: &str) -> Option<Tournament> {
    let name = top.source("name").unwrap_or_else(|| file_name.to_string());
    let ids: Vec<_> = Game::all().iter().map(|game| game.info().id).collect();
    let game = match top.source("game") {
        Some(text) => {
            let hint = match text.split(':').next() {
                Some(id) if !ids.contains(&id.trim()) => suggestion(id.trim(), &ids),
                _ => String::new(),
            };
            let read = text.parse::<Game>().map_err(|error| format!("{error}{hint}"));
            top.ok_or_error("game", read)
        }
        None => {
            top.error_at(0, format!("the key game is missing: one of {}", join_words(&ids)));
            None
        }
    };
    let (entrants, notes) = players::parse_players(top, folder, game.as_ref());
    let schedule = schedule(top, &entrants);
    let usual_games = if matches!(schedule, Some(Schedule::Swiss { .. })) { 1 } else { 2 };
    let games = top.integer("games", 1..=MAX_GAMES_PER_PAIRING).unwrap_or(usual_games) as u32;
    let colours = colours(top, schedule.as_ref());
    let tie_breaks = tie_breaks(top);
    let points = points(top);
    let seed = top.integer("seed", 0..=i64::MAX as u64).unwrap_or(1);
    let concurrency = top.integer("concurrency", 1..=1024).unwrap_or(1) as usize;
    let is_gauntlet = matches!(schedule, Some(Schedule::Gauntlet { .. }));
    let one_at_a_time = top.boolean("one-at-a-time").unwrap_or(!is_gauntlet);
    let log = top.source("log").map(|log| folder.join(log));
    let openings_text = top.source("openings").unwrap_or_else(|| "start".into());
    let time = time(top);
    let nodes = top.integer("nodes", 1..=u64::MAX);
    let grace = duration(top, "grace");
    let startup = duration(top, "startup");
    let policy = top
        .source("policy")
        .and_then(|text| top.ok_or_error("policy", text.parse::<FaultPolicy>()));
    let isolation = isolation(top);
    let limits = limits(top);
    let game = game?;
    let openings = Openings::parse_spec(&openings_text, &game, folder).map_err(|error| {
        let word = openings_text.split(':').next().unwrap_or_default();
        let known = ["start", "random", "ballots"];
        let hint = if known.contains(&word) { String::new() } else { suggestion(word, &known) };
        format!("{error}{hint}")
    });
    let openings = top.ok_or_error("openings", openings);
    let policy = policy.unwrap_or_else(|| FaultPolicy::default_for(&game));
    if !policy.supports(&game) {
        let what =
            format!("in {game} no turn can be skipped: the policy is forfeit or random-move");
        top.error("policy", what);
    }
    let mut entrants = entrants;
    let mut specs: Vec<PlayerSpec> =
        entrants.iter().filter_map(|entrant| entrant.player.clone().ok()).collect();
    let time = apply_default_limits(&mut specs, time, nodes);
    let players = entrants.iter_mut().filter_map(|entrant| entrant.player.as_mut().ok());
    for (player, spec) in players.zip(specs) {
        *player = spec;
        if let Some(program) = player.program_mut() {
            (program.isolation, program.limits) = (isolation, limits);
        }
    }
    let usual = GameSettings::default_for(&game);
    let terms = GameSettings {
        time_control: time,
        grace: grace.unwrap_or(usual.grace),
        startup_timeout: startup.unwrap_or(usual.startup_timeout),
        fault_policy: policy,
    };
    let tournament = Tournament {
        name,
        game,
        entrants,
        schedule: schedule?,
        games,
        colours,
        game_settings: terms,
        isolation,
        limits,
        openings: openings?,
        openings_text,
        seed,
        points,
        tie_breaks,
        concurrency,
        exclusive_players: one_at_a_time,
        log,
        warnings: notes,
    };
    let most = tournament.planned_games();
    if let Some(planned) = most.filter(|planned| *planned > MAX_GAMES) {
        let what =
            format!("a contest has at most {MAX_GAMES} games, and this would have {planned}");
        top.error(if top.value("games").is_some() { "games" } else { "players" }, what);
    }
    Some(tournament)
}

fn schedule(top: &mut TomlTable<'_>, entrants: &[crate::Entrant]) -> Option<Schedule> {
    let code = top.source("schedule").unwrap_or_else(|| "round-robin".into());
    if !SCHEDULES.contains(&code.as_str()) {
        let what = format!(
            "there is no schedule {code:?}: the schedules are {}{}",
            join_words(&SCHEDULES),
            suggestion(&code, &SCHEDULES)
        );
        top.error("schedule", what);
        return None;
    }
    let rounds = top.integer("rounds", 1..=1_000_000).map(|rounds| rounds as u32);
    let replays = top.integer("replays", 0..=100).map(|replays| replays as u32);
    let challengers = top.strings("challengers");
    let mut only = |key: &str, is_given: bool, of: &[&str], instead: &str| {
        if is_given && !of.contains(&code.as_str()) {
            let of = of.join(" and ");
            top.error(key, format!("{key} belongs to {of}, not to {code}{instead}"));
        }
    };
    only("rounds", rounds.is_some(), &["swiss", "ladder"], ": how often a pair meets is games = 2");
    only("replays", replays.is_some(), &["knockout"], "");
    only("challengers", challengers.is_some(), &["gauntlet"], "");
    Some(match code.as_str() {
        "gauntlet" => {
            let names: Vec<&str> = entrants.iter().map(|entrant| entrant.name.as_str()).collect();
            let challengers = challengers
                .unwrap_or_else(|| names.iter().take(1).map(|n| n.to_string()).collect());
            if challengers.is_empty() {
                top.error("challengers", "a gauntlet has a challenger or more".into());
            }
            for (name, number) in challengers.iter().zip(0..) {
                if challengers[..number].contains(name) {
                    top.error("challengers", format!("{name} is named twice"));
                } else if !names.contains(&name.as_str()) {
                    let hint = suggestion(name, &names);
                    let what = format!("there is no player {name:?}{hint}");
                    top.error("challengers", what);
                }
            }
            Schedule::Gauntlet { challengers }
        }
        "swiss" => {
            let enough = entrants.len().max(2).next_power_of_two().ilog2();
            Schedule::Swiss { rounds: rounds.unwrap_or(enough) }
        }
        "knockout" => Schedule::Knockout { tie_replays: replays.unwrap_or(2) },
        "ladder" => Schedule::Ladder { rounds },
        _ => Schedule::RoundRobin,
    })
}

fn colours(top: &mut TomlTable<'_>, schedule: Option<&Schedule>) -> Colours {
    let usual = match schedule {
        Some(Schedule::Swiss { .. }) => Colours::Balanced,
        _ => Colours::Random,
    };
    match top.source("colours").as_deref() {
        None => usual,
        Some("random") => Colours::Random,
        Some("balanced") => Colours::Balanced,
        Some(other) => {
            let hint = suggestion(other, &["random", "balanced"]);
            let what = format!("colours are random or balanced, not {other:?}{hint}");
            top.error("colours", what);
            usual
        }
    }
}

fn tie_breaks(top: &mut TomlTable<'_>) -> Vec<TieBreak> {
    let Some(codes) = top.strings("tie-breaks") else { return TieBreak::DEFAULT.to_vec() };
    let known = TieBreak::ALL.map(TieBreak::code);
    let mut tie_breaks = Vec::new();
    for code in codes {
        match TieBreak::ALL.into_iter().find(|tie_break| tie_break.code() == code) {
            Some(tie_break) if tie_breaks.contains(&tie_break) => {
                top.error("tie-breaks", format!("{code} is named twice"));
            }
            Some(tie_break) => tie_breaks.push(tie_break),
            None => {
                let hint = suggestion(&code, &known);
                let what = format!(
                    "there is no tie-break {code:?}: the tie-breaks are {}{hint}",
                    join_words(&known)
                );
                top.error("tie-breaks", what);
            }
        }
    }
    tie_breaks
}

fn points(top: &mut TomlTable<'_>) -> Points {
    let usual = Points::default();
    let Some(mut table) = top.table("points") else { return usual };
    let mut number = |key| table.integer(key, 0..=1_000_000).map(|number| number as i64);
    let (win, draw, loss) = (number("win"), number("draw"), number("loss"));
    let bye = number("bye");
    table.reject_unknown_keys(&["win", "draw", "loss", "bye"]);
    let win = win.unwrap_or(usual.win);
    let points = Points {
        win,
        draw: draw.unwrap_or(usual.draw),
        loss: loss.unwrap_or(usual.loss),
        bye: bye.unwrap_or(win),
    };
    top.diagnostics.append(&mut table.diagnostics);
    if points.win < points.draw || points.draw < points.loss {
        let what = "a win brings no less than a draw, and a draw no less than a loss";
        top.error("points", what.into());
    }
    points
}

fn isolation(top: &mut TomlTable<'_>) -> Isolation {
    let Some(text) = top.source("isolation") else { return Isolation::default() };
    text.parse().unwrap_or_else(|why| {
        let hint = suggestion(&text, &["default", "require", "off"]);
        top.error("isolation", format!("{why}{hint}"));
        Isolation::default()
    })
}

fn limits(top: &mut TomlTable<'_>) -> Limits {
    let mut limits = Limits::default();
    let Some(mut table) = top.table("limits") else { return limits };
    for key in Limits::KEYS {
        let Some(value) = table.value(key) else { continue };
        let set = match value.get_ref() {
            DeValue::String(text) => limits.set(key, text),
            DeValue::Integer(number) => limits.set(key, number.as_str()),
            _ => Err(format!("{key} is a number or a text in quotes")),
        };
        table.ok_or_error(key, set);
    }
    table.reject_unknown_keys(&Limits::KEYS);
    top.diagnostics.append(&mut table.diagnostics);
    limits
}

fn time(top: &mut TomlTable<'_>) -> TimeControl {
    let movetime = duration(top, "movetime");
    let time =
        top.source("time").and_then(|text| top.ok_or_error("time", text.parse::<TimeControl>()));
    match (movetime, time) {
        (Some(_), Some(_)) => {
            top.error("time", "either movetime or time: both cannot hold".into());
            TimeControl::Unlimited
        }
        (Some(time), None) => TimeControl::PerMove(time),
        (None, time) => time.unwrap_or_default(),
    }
}

fn duration(top: &mut TomlTable<'_>, key: &str) -> Option<std::time::Duration> {
    let text = top.source(key)?;
    let is_zero = key == "grace" && matches!(text.trim(), "0ms" | "0s");
    let time: Result<_, ParseTimeError> =
        if is_zero { Ok(std::time::Duration::ZERO) } else { parse_duration(&text) };
    top.ok_or_error(key, time)
}
