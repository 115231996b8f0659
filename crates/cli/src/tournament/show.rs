//! `tournament status`, `standings` and `games`: what the journal holds.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use crownhead_files::AtomicFile;
use crownhead_play::TimeControl;
use crownhead_records::{GameRecord, write_game};
use crownhead_report::games as game_list;
use crownhead_report::ratings::{ratings_json, ratings_text};
use crownhead_report::standings::text::{
    MAX_CROSSTABLE_PLAYERS, columns, crosstable, notes, table,
};
use crownhead_report::standings::{export, json, text};
use crownhead_rules::{Side, did_you_mean};
use crownhead_statistics::ratings::{Estimated, RatedGame, RatingOptions, rate};
use crownhead_tournament::events::VERSION;
use crownhead_tournament::journal::{Game, GameDetails, Journal, Snapshot, State};
use crownhead_tournament::{GameSummary, IsolationRecord, time_left};
use serde_json::{Value, json};

use super::{Games, Show, Standings, games_text, journal_failure, open};
use crate::failure::Failure;
use crate::rate::rating_failure;

pub(super) fn read_snapshot(file: &Path) -> Result<(Journal, Snapshot), Failure> {
    let journal = open(file)?;
    let snapshot = journal.snapshot().map_err(journal_failure)?;
    Ok((journal, snapshot))
}

pub(super) fn parse_game(snapshot: &Snapshot) -> Result<crownhead_rules::Game, Failure> {
    let game = snapshot.settings.game.parse::<crownhead_rules::Game>();
    game.map_err(|error| Failure::BadInput(error.to_string()))
}

pub(super) fn unknown_player(name: &str, names: &[String]) -> Failure {
    let hint = did_you_mean(name, names.iter().map(String::as_str));
    Failure::Usage(format!("unknown player {name:?}{hint}; players: {}", names.join(", ")))
}

/// Returns `running`, `interrupted`, `finished` or `cancelled`.
pub(super) fn state_text(journal: &Journal, snapshot: &Snapshot) -> &'static str {
    match (journal.is_running(), snapshot.state) {
        (true, State::Open) => "running",
        (false, State::Open) => "interrupted",
        (_, state) => state.code(),
    }
}

/// Returns the state, the numbers of games and forfeits, and the time left, in one line.
pub(super) fn progress_text(snapshot: &Snapshot, state: &str) -> String {
    let finished = snapshot.finished().count();
    let forfeits = snapshot.finished().filter(|(_, summary)| summary.forfeit.is_some()).count();
    let mut text = match snapshot.planned() {
        Some(planned) => format!("{state}: {finished} of {}", games_text(planned as usize)),
        None => format!("{state}: {}", games_text(finished)),
    };
    if forfeits > 0 {
        text.push_str(&format!(", {forfeits} forfeited"));
    }
    let left = time_left(snapshot, state == "running").filter(|_| snapshot.state == State::Open);
    if let Some(left) = left {
        text.push_str(&format!(", about {} left", duration_text(left)));
    }
    text
}

pub(super) fn status(args: &Show) -> Result<(), Failure> {
    let (journal, snapshot) = read_snapshot(&args.file)?;
    let is_running = journal.is_running();
    let finished = snapshot.finished().count();
    let forfeits = snapshot.finished().filter(|(_, summary)| summary.forfeit.is_some()).count();
    let is_started = |game: &&Game| game.summary.is_none() && game.started.is_some();
    let started: Vec<&Game> = snapshot.games.iter().filter(is_started).collect();
    let planned = snapshot.planned();
    let state = state_text(&journal, &snapshot);
    let left = match snapshot.state {
        State::Open => time_left(&snapshot, state == "running"),
        State::Finished | State::Cancelled => None,
    };
    let names = snapshot.names();
    let players: Vec<_> =
        snapshot.ranked_players().into_iter().map(|player| &names[player]).collect();
    let round = snapshot.rounds.last();
    let mut out = std::io::stdout().lock();
    if args.json {
        let game = |game: &&Game| {
            let [first, second] = game.players.map(|player| &names[player]);
            json!({ "game": game.number, "round": game.round, "first": first, "second": second })
        };
        let object = json!({
            "version": VERSION,
            "name": snapshot.name,
            "state": state,
            "game": snapshot.settings.game,
            "schedule": snapshot.settings.schedule.code(),
            "players": players,
            "rounds": snapshot.rounds.len(),
            "round": round,
            "planned": planned,
            "scheduled": snapshot.games.len(),
            "finished": finished,
            "forfeits": forfeits,
            "playing": started.iter().map(game).collect::<Value>(),
            "isolation": snapshot.isolation.last().map(IsolationRecord::json),
            "seconds_left": left.map(|left| left.as_secs_f64()),
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    let Snapshot { name, settings, .. } = &snapshot;
    let schedule = settings.schedule.code();
    writeln!(out, "{name}: {}, {schedule}, {} players", settings.game, players.len())?;
    writeln!(out, "state     {state}")?;
    match planned {
        Some(planned) => writeln!(out, "games     {finished} of {planned} finished")?,
        None => writeln!(out, "games     {finished} finished")?,
    }
    if let Some(title) = round.filter(|_| !settings.schedule.is_fixed()) {
        writeln!(out, "round     {title}")?;
    }
    writeln!(out, "forfeits  {forfeits}")?;
    match isolation_counts(&snapshot).as_slice() {
        counts @ [_, _, ..] => {
            for (isolation, games) in counts {
                writeln!(out, "isolation {isolation}: {}", games_text(*games))?;
            }
        }
        _ => {
            if let Some(isolation) = snapshot.isolation.last() {
                writeln!(out, "isolation {isolation}")?;
            }
        }
    }
    for game in &started {
        let [first, second] = game.players.map(|player| &names[player]);
        let label = if is_running { "playing" } else { "aborted" };
        writeln!(out, "{label:<9} game {}: {first} - {second}", game.number)?;
    }
    if let Some(left) = left {
        writeln!(out, "time left about {}", duration_text(left))?;
    }
    if state == "interrupted" {
        let file = args.file.display();
        writeln!(out, "Resume with: crownhead tournament resume {file}")?;
    }
    Ok(())
}

/// Returns the number of finished games per isolation.
fn isolation_counts(snapshot: &Snapshot) -> Vec<(&IsolationRecord, usize)> {
    let mut counts: Vec<(&IsolationRecord, usize)> = Vec::new();
    for (game, _) in snapshot.finished() {
        let Some(isolation) = game_list::isolation_of(game, snapshot) else { continue };
        match counts.iter_mut().find(|(other, _)| *other == isolation) {
            Some((_, games)) => *games += 1,
            None => counts.push((isolation, 1)),
        }
    }
    counts
}

fn duration_text(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

pub(super) fn standings(args: &Standings) -> Result<(), Failure> {
    let (_, snapshot) = read_snapshot(&args.show.file)?;
    let results: Vec<RatedGame> =
        snapshot.finished().map(|(game, summary)| (game.players, summary.winner)).collect();
    let ratings = args.ratings.then(|| {
        rate(snapshot.players.len(), results.iter().copied(), RatingOptions::default())
            .map_err(|error| rating_failure(&error))
    });
    let ratings = ratings.transpose()?;
    let mut out = std::io::stdout().lock();
    if args.show.json {
        let standings = snapshot.standings();
        let mut object = json!({
            "version": VERSION,
            "name": snapshot.name,
            "game": snapshot.settings.game,
            "schedule": snapshot.settings.schedule.code(),
            "state": snapshot.state.code(),
            "finished": snapshot.finished().count(),
            "planned": snapshot.planned(),
            "by": if standings.by_progress { "progress" } else { "points" },
            "standings": json::rows(&standings, &snapshot.names()),
        });
        if let Some(ratings) = &ratings {
            object["ratings"] = ratings_json(ratings, &snapshot.names(), &results);
        }
        writeln!(out, "{object}")?;
        return Ok(());
    }
    if args.csv || args.markdown {
        let (standings, names) = (snapshot.standings(), snapshot.names());
        let mut rows = match args.csv {
            true => export::rows(&standings, &names),
            false => {
                let sides = parse_game(&snapshot)?.info().sides.map(|side| side.name);
                text::rows(&standings, &names, sides)
            }
        };
        if let Some(ratings) = &ratings {
            rows[0].extend(["elo", "elo_error"].map(String::from));
            for (cells, row) in rows[1..].iter_mut().zip(&standings.rows) {
                let Estimated { value, error } = ratings.players[row.player];
                cells.extend([value, error].map(|number| format!("{number:.1}")));
            }
        }
        let text = if args.csv { export::csv(&rows) } else { export::markdown(&rows, &[1]) };
        write!(out, "{text}")?;
        return Ok(());
    }
    write_standings(&mut out, &snapshot, args.crosstable)?;
    if let Some(ratings) = &ratings {
        write!(out, "\n{}", ratings_text(ratings, &snapshot.names(), &results))?;
    }
    Ok(())
}

/// Writes the standings, notes, and the crosstable if it is small or requested.
pub(super) fn write_standings(
    out: &mut impl Write,
    snapshot: &Snapshot,
    with_crosstable: bool,
) -> Result<(), Failure> {
    let standings = snapshot.standings();
    let names = snapshot.names();
    let sides = parse_game(snapshot)?.info().sides.map(|side| side.name);
    let finished = snapshot.finished().count();
    let games = match (snapshot.state, snapshot.planned()) {
        (State::Open | State::Cancelled, Some(planned)) => {
            format!("{finished} of {}", games_text(planned as usize))
        }
        _ => games_text(finished),
    };
    let cancelled = if snapshot.state == State::Cancelled { ", cancelled" } else { "" };
    let Snapshot { name, settings, .. } = snapshot;
    let schedule = settings.schedule.code();
    writeln!(out, "{name}: {}, {schedule}, {games}{cancelled}", settings.game)?;
    writeln!(out)?;
    write!(out, "{}", table(&standings, &names, sides))?;
    let notes = notes(&standings, &names);
    if !notes.is_empty() {
        write!(out, "\n{notes}")?;
    }
    if with_crosstable || standings.rows.len() <= MAX_CROSSTABLE_PLAYERS {
        write!(out, "\n{}", crosstable(&standings, &names))?;
    }
    Ok(())
}

pub(super) fn games(args: &Games) -> Result<(), Failure> {
    let (journal, snapshot) = read_snapshot(&args.show.file)?;
    let names = snapshot.names();
    if let Some(name) = args.player.as_ref().filter(|name| !names.contains(name)) {
        return Err(unknown_player(name, &names));
    }
    let is_selected = |game: &&Game| {
        let mut players = game.players.iter();
        let is_forfeit = game.summary.as_ref().is_some_and(|summary| summary.forfeit.is_some());
        args.number.is_none_or(|number| game.number == number)
            && args.round.is_none_or(|round| game.round == round)
            && args.player.as_ref().is_none_or(|name| players.any(|p| names[*p] == *name))
            && (!args.forfeits || is_forfeit)
    };
    let games: Vec<&Game> = snapshot.games.iter().filter(is_selected).collect();
    if let (Some(number), []) = (args.number, games.as_slice()) {
        return Err(Failure::Usage(no_such_game(number, &snapshot)));
    }
    if let Some(path) = &args.pdn {
        write_pdn(path, &journal, &snapshot, &games, false)?;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    if args.show.json {
        let with_moves = args.number.is_some();
        let object = |game: &&Game| {
            let details = with_moves.then(|| journal.game_details(game.number)).transpose();
            let details = details.map_err(journal_failure)?;
            Ok::<_, Failure>(game_list::json(game, &names, details.as_ref()))
        };
        let object = json!({
            "version": VERSION,
            "isolation": snapshot.isolation.iter().map(IsolationRecord::json).collect::<Value>(),
            "games": games.iter().map(object).collect::<Result<Value, Failure>>()?,
        });
        writeln!(out, "{object}")?;
    } else if let (Some(_), [game]) = (args.number, games.as_slice()) {
        let details = journal.game_details(game.number).map_err(journal_failure)?;
        out.write_all(game_list::text(game, &snapshot, &details).as_bytes())?;
    } else if args.csv {
        write!(out, "{}", export::csv(&game_list::rows(&games, &names)))?;
    } else if args.pdn.is_none() {
        let header = ["game", "round", "first", "second", "result", "plies", "reason"];
        let mut rows = vec![header.map(String::from).to_vec()];
        rows.extend(games.iter().map(|game| {
            let [first, second] = game.players.map(|player| names[player].clone());
            let (result, reason, plies) = match &game.summary {
                Some(summary) => {
                    (summary.result(), summary.reason.clone(), summary.plies.to_string())
                }
                None => ("*", game_list::state(game).into(), String::new()),
            };
            let [number, round] = [game.number.to_string(), game.round.to_string()];
            vec![number, round, first, second, result.into(), plies, reason]
        }));
        write!(out, "{}", columns(&rows, &[2, 3, 4, 6]))?;
    }
    out.flush()?;
    Ok(())
}

/// Explains why no game was selected.
fn no_such_game(number: i64, snapshot: &Snapshot) -> String {
    match snapshot.games.iter().map(|game| game.number).max() {
        None => "no game is scheduled yet".into(),
        _ if snapshot.games.iter().any(|game| game.number == number) => {
            format!("game {number} does not match the other options")
        }
        Some(last) if number <= last => format!("game {number} was removed from the schedule"),
        Some(last) => format!("no game {number}: the last one is game {last}"),
    }
}

/// Returns a finished game as a PDN record.
pub(super) fn record(
    game_kind: &crownhead_rules::Game,
    game: &Game,
    summary: &GameSummary,
    details: &GameDetails,
    snapshot: &Snapshot,
) -> GameRecord {
    let GameDetails { opening, moves, reports, description, .. } = details;
    let time = snapshot.result_settings.get("time");
    let time = time.and_then(|time| TimeControl::parse_tag(time).ok()).unwrap_or_default();
    let mut record =
        summary.record(game_kind, time, opening, moves, reports, description.as_deref());
    record.set_tag("Event", snapshot.name.clone());
    record.set_tag("Round", format!("{}.{}", game.round, game.number));
    for (side, player) in [Side::First, Side::Second].into_iter().zip(game.players) {
        record.set_player(side, snapshot.players[player].name.clone());
    }
    record
}

/// Writes the finished games as PDN; for the public, without the reasons of forfeits, which may
/// quote what a bot printed, and without times and evaluations, which make the file several times
/// as large.
pub(super) fn write_pdn(
    path: &Path,
    journal: &Journal,
    snapshot: &Snapshot,
    games: &[&Game],
    is_public: bool,
) -> Result<(), Failure> {
    let output = AtomicFile::create(path)?;
    let game_kind = parse_game(snapshot)?;
    let mut out = BufWriter::new(&output);
    for game in games {
        let Some(summary) = &game.summary else { continue };
        let mut details = journal.game_details(game.number).map_err(journal_failure)?;
        if is_public {
            details.reports.clear();
            if summary.forfeit.is_some() {
                details.description = None;
            }
        }
        let record = record(&game_kind, game, summary, &details, snapshot);
        write_game(&mut out, &record)?;
    }
    out.flush()?;
    drop(out);
    Ok(output.commit()?)
}
