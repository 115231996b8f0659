//! The contest file: TOML, checked as a whole. Every complaint has its line and column, and says what
//! would be right. `docs/tournaments.md` describes the keys, [`TEMPLATE`] is a file to begin with.

mod players;
mod table;

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
use crate::{Colours, Contest, Points, Schedule};
use table::{Table, listed, suggestion};

/// A contest file with comments, to be changed.
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
const LONGEST: u64 = 4 * 1024 * 1024;
/// More games of a pair are another contest.
const MOST_GAMES: u64 = 10_000;
/// What a machine can keep in mind, and a person look through.
const MOST_PLAYERS: usize = 5_000;
const MOST_IN_ALL: u64 = 10_000_000;

/// Something wrong in a contest file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Complaint {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// Why a contest file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileError {
    /// It cannot be read.
    Unreadable(String),
    /// What is in it; with the name of the file.
    Wrong(String, Vec<Complaint>),
}

impl std::error::Error for FileError {}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Unreadable(why) => f.write_str(why),
            FileError::Wrong(file, complaints) => {
                for (Complaint { line, column, what }, number) in complaints.iter().zip(0..) {
                    let gap = if number > 0 { "\n" } else { "" };
                    write!(f, "{gap}{file}, line {line}, column {column}: {what}")?;
                }
                Ok(())
            }
        }
    }
}

/// Reads a contest file: the contest, and the text.
pub fn read_file(path: &Path) -> Result<(Contest, String), FileError> {
    let cannot = |why: String| {
        FileError::Unreadable(format!("cannot read the contest file {}: {why}", path.display()))
    };
    let known = path.metadata().map_err(|error| cannot(error.to_string()))?;
    if !known.is_file() {
        return Err(cannot("it is no file".into()));
    }
    if known.len() > LONGEST {
        let what = format!("a contest file has at most {LONGEST} bytes, and this {}", known.len());
        let what = Complaint { line: 1, column: 1, what };
        return Err(FileError::Wrong(path.display().to_string(), vec![what]));
    }
    let bytes = std::fs::read(path).map_err(|error| cannot(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let what = format!("the byte {:#04x} is no UTF-8: save it as UTF-8", error.as_bytes()[at]);
        let text = String::from_utf8_lossy(&error.as_bytes()[..at]);
        FileError::Wrong(path.display().to_string(), vec![table::complaint(&text, at, what)])
    })?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    match read(&text, folder, &name.unwrap_or_else(|| "contest".into())) {
        Ok(contest) => Ok((contest, text)),
        Err(complaints) => Err(FileError::Wrong(path.display().to_string(), complaints)),
    }
}

/// Reads the text of a contest file. Paths in it are meant from `folder`; a contest without a name has
/// that of the file.
pub fn read(text: &str, folder: &Path, file_name: &str) -> Result<Contest, Vec<Complaint>> {
    let parsed = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        vec![table::complaint(text, at, error.message().to_string())]
    })?;
    let mut top = Table::new(text, parsed.get_ref(), 0);
    let contest = build(&mut top, folder, file_name);
    top.refuse_others(&KEYS);
    let mut complaints = top.complaints;
    match contest {
        Some(contest) if complaints.is_empty() => Ok(contest),
        _ => {
            complaints.sort();
            complaints.dedup();
            Err(complaints)
        }
    }
}

/// The contest, or nothing where a complaint has been made.
fn build(top: &mut Table<'_>, folder: &Path, file_name: &str) -> Option<Contest> {
    let name = top.text("name").unwrap_or_else(|| file_name.to_string());
    let ids: Vec<_> = Game::all().iter().map(|game| game.info().id).collect();
    let game = match top.text("game") {
        Some(text) => {
            let hint = match text.split(':').next() {
                Some(id) if !ids.contains(&id.trim()) => suggestion(id.trim(), &ids),
                _ => String::new(),
            };
            let read = text.parse::<Game>().map_err(|error| format!("{error}{hint}"));
            top.parsed("game", read)
        }
        None => {
            top.complain_at(0, format!("the key game is missing: one of {}", listed(&ids)));
            None
        }
    };
    let (entrants, notes) = players::read(top, folder, game.as_ref());
    let schedule = schedule(top, &entrants);
    let usual_games = if matches!(schedule, Some(Schedule::Swiss { .. })) { 1 } else { 2 };
    let games = top.number("games", 1..=MOST_GAMES).unwrap_or(usual_games) as u32;
    let colours = colours(top, schedule.as_ref());
    let tie_breaks = tie_breaks(top);
    let points = points(top);
    let seed = top.number("seed", 0..=i64::MAX as u64).unwrap_or(1);
    let concurrency = top.number("concurrency", 1..=1024).unwrap_or(1) as usize;
    let is_gauntlet = matches!(schedule, Some(Schedule::Gauntlet { .. }));
    let one_at_a_time = top.flag("one-at-a-time").unwrap_or(!is_gauntlet);
    let log = top.text("log").map(|log| folder.join(log));
    let openings_text = top.text("openings").unwrap_or_else(|| "start".into());
    let time = time(top);
    let nodes = top.number("nodes", 1..=u64::MAX);
    let grace = duration(top, "grace");
    let startup = duration(top, "startup");
    let policy =
        top.text("policy").and_then(|text| top.parsed("policy", text.parse::<FaultPolicy>()));
    let isolation = isolation(top);
    let limits = limits(top);
    let game = game?;
    let read_file = |name: &str| std::fs::read(folder.join(name));
    let openings = Openings::parse_spec(&openings_text, &game, read_file).map_err(|error| {
        let word = openings_text.split(':').next().unwrap_or_default();
        let known = ["start", "random", "ballots"];
        let hint = if known.contains(&word) { String::new() } else { suggestion(word, &known) };
        format!("{error}{hint}")
    });
    let openings = top.parsed("openings", openings);
    let policy = policy.unwrap_or_else(|| FaultPolicy::default_for(&game));
    if !policy.supports(&game) {
        let what =
            format!("in {game} no turn can be skipped: the policy is forfeit or random-move");
        top.complain("policy", what);
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
    let contest = Contest {
        name,
        game,
        entrants,
        schedule: schedule?,
        games,
        colours,
        terms,
        isolation,
        limits,
        openings: openings?,
        openings_text,
        seed,
        points,
        tie_breaks,
        concurrency,
        one_at_a_time,
        log,
        notes,
    };
    let most = contest.planned_games();
    if let Some(planned) = most.filter(|planned| *planned > MOST_IN_ALL) {
        let what =
            format!("a contest has at most {MOST_IN_ALL} games, and this would have {planned}");
        top.complain(if top.value("games").is_some() { "games" } else { "players" }, what);
    }
    Some(contest)
}

fn schedule(top: &mut Table<'_>, entrants: &[crate::Entrant]) -> Option<Schedule> {
    let code = top.text("schedule").unwrap_or_else(|| "round-robin".into());
    if !SCHEDULES.contains(&code.as_str()) {
        let what = format!(
            "there is no schedule {code:?}: the schedules are {}{}",
            listed(&SCHEDULES),
            suggestion(&code, &SCHEDULES)
        );
        top.complain("schedule", what);
        return None;
    }
    let rounds = top.number("rounds", 1..=1_000_000).map(|rounds| rounds as u32);
    let replays = top.number("replays", 0..=100).map(|replays| replays as u32);
    let challengers = top.texts("challengers");
    let mut only = |key: &str, is_given: bool, of: &[&str], instead: &str| {
        if is_given && !of.contains(&code.as_str()) {
            let of = of.join(" and ");
            top.complain(key, format!("{key} belongs to {of}, not to {code}{instead}"));
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
                top.complain("challengers", "a gauntlet has a challenger or more".into());
            }
            for (name, number) in challengers.iter().zip(0..) {
                if challengers[..number].contains(name) {
                    top.complain("challengers", format!("{name} is named twice"));
                } else if !names.contains(&name.as_str()) {
                    let hint = suggestion(name, &names);
                    let what = format!("there is no player {name:?}{hint}");
                    top.complain("challengers", what);
                }
            }
            Schedule::Gauntlet { challengers }
        }
        "swiss" => {
            let enough = entrants.len().max(2).next_power_of_two().ilog2();
            Schedule::Swiss { rounds: rounds.unwrap_or(enough) }
        }
        "knockout" => Schedule::Knockout { replays: replays.unwrap_or(2) },
        "ladder" => Schedule::Ladder { rounds },
        _ => Schedule::RoundRobin,
    })
}

fn colours(top: &mut Table<'_>, schedule: Option<&Schedule>) -> Colours {
    let usual = match schedule {
        Some(Schedule::Swiss { .. }) => Colours::Balanced,
        _ => Colours::Random,
    };
    match top.text("colours").as_deref() {
        None => usual,
        Some("random") => Colours::Random,
        Some("balanced") => Colours::Balanced,
        Some(other) => {
            let hint = suggestion(other, &["random", "balanced"]);
            let what = format!("colours are random or balanced, not {other:?}{hint}");
            top.complain("colours", what);
            usual
        }
    }
}

fn tie_breaks(top: &mut Table<'_>) -> Vec<TieBreak> {
    let Some(codes) = top.texts("tie-breaks") else { return TieBreak::USUAL.to_vec() };
    let known = TieBreak::ALL.map(TieBreak::code);
    let mut tie_breaks = Vec::new();
    for code in codes {
        match TieBreak::ALL.into_iter().find(|tie_break| tie_break.code() == code) {
            Some(tie_break) if tie_breaks.contains(&tie_break) => {
                top.complain("tie-breaks", format!("{code} is named twice"));
            }
            Some(tie_break) => tie_breaks.push(tie_break),
            None => {
                let hint = suggestion(&code, &known);
                let what = format!(
                    "there is no tie-break {code:?}: the tie-breaks are {}{hint}",
                    listed(&known)
                );
                top.complain("tie-breaks", what);
            }
        }
    }
    tie_breaks
}

fn points(top: &mut Table<'_>) -> Points {
    let usual = Points::default();
    let Some(mut table) = top.table("points") else { return usual };
    let mut number = |key| table.number(key, 0..=1_000_000).map(|number| number as i64);
    let (win, draw, loss) = (number("win"), number("draw"), number("loss"));
    let bye = number("bye");
    table.refuse_others(&["win", "draw", "loss", "bye"]);
    let win = win.unwrap_or(usual.win);
    let points = Points {
        win,
        draw: draw.unwrap_or(usual.draw),
        loss: loss.unwrap_or(usual.loss),
        bye: bye.unwrap_or(win),
    };
    top.complaints.append(&mut table.complaints);
    if points.win < points.draw || points.draw < points.loss {
        let what = "a win brings no less than a draw, and a draw no less than a loss";
        top.complain("points", what.into());
    }
    points
}

fn isolation(top: &mut Table<'_>) -> Isolation {
    let Some(text) = top.text("isolation") else { return Isolation::default() };
    text.parse().unwrap_or_else(|why| {
        let hint = suggestion(&text, &["default", "require", "off"]);
        top.complain("isolation", format!("{why}{hint}"));
        Isolation::default()
    })
}

fn limits(top: &mut Table<'_>) -> Limits {
    let mut limits = Limits::default();
    let Some(mut table) = top.table("limits") else { return limits };
    for key in Limits::KEYS {
        let Some(value) = table.value(key) else { continue };
        let set = match value.get_ref() {
            DeValue::String(text) => limits.set(key, text),
            DeValue::Integer(number) => limits.set(key, number.as_str()),
            _ => Err(format!("{key} is a number or a text in quotes")),
        };
        table.parsed(key, set);
    }
    table.refuse_others(&Limits::KEYS);
    top.complaints.append(&mut table.complaints);
    limits
}

fn time(top: &mut Table<'_>) -> TimeControl {
    let movetime = duration(top, "movetime");
    let time = top.text("time").and_then(|text| top.parsed("time", text.parse::<TimeControl>()));
    match (movetime, time) {
        (Some(_), Some(_)) => {
            top.complain("time", "either movetime or time: both cannot hold".into());
            TimeControl::Unlimited
        }
        (Some(time), None) => TimeControl::PerMove(time),
        (None, time) => time.unwrap_or_default(),
    }
}

fn duration(top: &mut Table<'_>, key: &str) -> Option<std::time::Duration> {
    let text = top.text(key)?;
    let is_zero = key == "grace" && matches!(text.trim(), "0ms" | "0s");
    let time: Result<_, ParseTimeError> =
        if is_zero { Ok(std::time::Duration::ZERO) } else { parse_duration(&text) };
    top.parsed(key, time)
}
