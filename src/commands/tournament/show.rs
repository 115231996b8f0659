//! What a journal knows: how far the tournament is, the table, the games.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use crownhead_files::AtomicFile;
use crownhead_records::{GameRecord, GameResult, Ply, write_game};
use crownhead_rules::Side;
use crownhead_tournament::IsolationRecord;
use crownhead_tournament::events::result;
use crownhead_tournament::journal::{Game, Journal, Snapshot, State};
use crownhead_tournament::standings::json;
use crownhead_tournament::standings::text::{
    MAX_CROSSTABLE_PLAYERS, columns, crosstable, notes, table,
};
use serde_json::{Value, json};

use super::{Games, Show, Standings, games_text, journal_failure, open};
use crate::commands::Failure;

fn snapshot(file: &Path) -> Result<(Journal, Snapshot), Failure> {
    let journal = open(file)?;
    let snapshot = journal.snapshot().map_err(journal_failure)?;
    Ok((journal, snapshot))
}

fn game_of(snapshot: &Snapshot) -> Result<crownhead_rules::Game, Failure> {
    let game = snapshot.settings.game.parse::<crownhead_rules::Game>();
    game.map_err(|error| Failure::BadInput(error.to_string()))
}

/// So many of the last games say how long one takes.
const RECENT: usize = 200;

/// How long the games that are missing will take, if that is known.
fn time_left(snapshot: &Snapshot) -> Option<Duration> {
    let mut ended: Vec<_> = snapshot
        .finished()
        .map(|(game, end)| (end.at, end.at - game.started.unwrap_or(end.at)))
        .collect();
    ended.sort_unstable();
    let recent = &ended[ended.len().saturating_sub(RECENT)..];
    let total: i64 = recent.iter().map(|(_, took)| took).sum();
    let each = (!recent.is_empty()).then(|| total / recent.len() as i64)?;
    let left = snapshot.planned()?.saturating_sub(ended.len() as u64);
    let millis = each.unsigned_abs() * left / snapshot.settings.concurrency as u64;
    Some(Duration::from_millis(millis))
}

pub(super) fn status(arguments: &Show) -> Result<(), Failure> {
    let (journal, snapshot) = snapshot(&arguments.file)?;
    let is_running = journal.is_run_elsewhere();
    let finished = snapshot.finished().count();
    let forfeits = snapshot.finished().filter(|(_, end)| end.forfeit.is_some()).count();
    let is_open = |game: &&Game| game.end.is_none() && game.started.is_some();
    let started: Vec<&Game> = snapshot.games.iter().filter(is_open).collect();
    let planned = snapshot.planned();
    let left = match snapshot.state {
        State::Open => time_left(&snapshot),
        State::Finished | State::Cancelled => None,
    };
    let state = match (is_running, snapshot.state) {
        (true, State::Open) => "running",
        (false, State::Open) => "interrupted",
        (_, state) => state.code(),
    };
    let names = snapshot.names();
    let round = snapshot.rounds.last();
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let game = |game: &&Game| {
            let [first, second] = game.players.map(|player| &names[player]);
            json!({ "game": game.number, "round": game.round, "first": first, "second": second })
        };
        let object = json!({
            "version": crownhead_tournament::events::VERSION,
            "name": snapshot.name,
            "state": state,
            "game": snapshot.settings.game,
            "schedule": snapshot.settings.schedule.code(),
            "players": snapshot.ranked_players().into_iter().map(|player| &names[player]).collect::<Vec<_>>(),
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
    writeln!(
        out,
        "{name}: {}, {}, {} players",
        settings.game,
        settings.schedule.code(),
        snapshot.ranked_players().len()
    )?;
    writeln!(out, "state     {state}")?;
    match planned {
        Some(planned) => writeln!(out, "games     {finished} of {planned} finished")?,
        None => writeln!(out, "games     {finished} finished")?,
    }
    if let Some(title) = round.filter(|_| !settings.schedule.is_fixed()) {
        writeln!(out, "round     {title}")?;
    }
    writeln!(out, "forfeits  {forfeits}")?;
    match walls_used(&snapshot).as_slice() {
        // Where games had different walls, how many had which.
        used @ [_, _, ..] => {
            for (walls, games) in used {
                writeln!(out, "isolation {walls}: {}", games_text(*games))?;
            }
        }
        _ => {
            if let Some(walls) = snapshot.isolation.last() {
                writeln!(out, "isolation {walls}")?;
            }
        }
    }
    for game in &started {
        let [first, second] = game.players.map(|player| &names[player]);
        let word = if is_running { "playing" } else { "broken off" };
        writeln!(out, "{word:<9} game {}: {first} - {second}", game.number)?;
    }
    if let Some(left) = left {
        writeln!(out, "time left about {}", duration_text(left))?;
    }
    if state == "interrupted" {
        let file = arguments.file.display();
        writeln!(
            out,
            "`crownhead tournament resume {file}` goes on with the games that are missing"
        )?;
    }
    Ok(())
}

/// The walls that finished games had, with the number of these games.
fn walls_used(snapshot: &Snapshot) -> Vec<(&IsolationRecord, usize)> {
    let mut used: Vec<(&IsolationRecord, usize)> = Vec::new();
    for (_, end) in snapshot.finished() {
        let place = end.walls.and_then(|number| usize::try_from(number - 1).ok());
        let Some(walls) = place.and_then(|place| snapshot.isolation.get(place)) else { continue };
        match used.iter_mut().find(|(other, _)| *other == walls) {
            Some((_, games)) => *games += 1,
            None => used.push((walls, 1)),
        }
    }
    used
}

fn duration_text(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

pub(super) fn standings(arguments: &Standings) -> Result<(), Failure> {
    let (_, snapshot) = snapshot(&arguments.show.file)?;
    let mut out = std::io::stdout().lock();
    if arguments.show.json {
        let standings = snapshot.standings();
        let object = json!({
            "version": crownhead_tournament::events::VERSION,
            "name": snapshot.name,
            "game": snapshot.settings.game,
            "schedule": snapshot.settings.schedule.code(),
            "state": snapshot.state.code(),
            "finished": snapshot.finished().count(),
            "planned": snapshot.planned(),
            "by": if standings.by_progress { "progress" } else { "points" },
            "standings": json::rows(&standings, &snapshot.names()),
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    write_standings(&mut out, &snapshot, arguments.crosstable)
}

/// Writes the table, what is remarkable about it, and the crosstable if it is small or wanted.
pub(super) fn write_standings(
    out: &mut impl Write,
    snapshot: &Snapshot,
    is_crossed: bool,
) -> Result<(), Failure> {
    let standings = snapshot.standings();
    let names = snapshot.names();
    let sides = game_of(snapshot)?.info().sides.map(|side| side.name);
    let finished = snapshot.finished().count();
    let games = match (snapshot.state, snapshot.planned()) {
        (State::Open | State::Cancelled, Some(planned)) => {
            format!("{finished} of {}", games_text(planned as usize))
        }
        _ => games_text(finished),
    };
    let cancelled = if snapshot.state == State::Cancelled { ", cancelled" } else { "" };
    let Snapshot { name, settings, .. } = snapshot;
    let kind = settings.schedule.code();
    writeln!(out, "{name}: {}, {kind}, {games}{cancelled}", settings.game)?;
    writeln!(out)?;
    write!(out, "{}", table(&standings, &names, sides))?;
    let notes = notes(&standings, &names);
    if !notes.is_empty() {
        write!(out, "\n{notes}")?;
    }
    if is_crossed || standings.rows.len() <= MAX_CROSSTABLE_PLAYERS {
        write!(out, "\n{}", crosstable(&standings, &names))?;
    }
    Ok(())
}

pub(super) fn games(arguments: &Games) -> Result<(), Failure> {
    let (journal, snapshot) = snapshot(&arguments.show.file)?;
    let names = snapshot.names();
    if let Some(name) = &arguments.player
        && !names.contains(name)
    {
        let names = names.join(", ");
        return Err(Failure::Usage(format!("there is no player {name:?}: they are {names}")));
    }
    let is_wanted = |game: &&Game| {
        let mut players = game.players.iter();
        arguments.number.is_none_or(|number| game.number == number)
            && arguments.round.is_none_or(|round| game.round == round)
            && arguments.player.as_ref().is_none_or(|name| players.any(|p| names[*p] == *name))
            && (!arguments.forfeits || game.end.as_ref().is_some_and(|end| end.forfeit.is_some()))
    };
    let games: Vec<&Game> = snapshot.games.iter().filter(is_wanted).collect();
    if let (Some(number), []) = (arguments.number, games.as_slice()) {
        let message = match snapshot.games.iter().map(|game| game.number).max() {
            None => "no game is scheduled yet".into(),
            _ if snapshot.games.iter().any(|game| game.number == number) => {
                format!("game {number} is none of those asked for")
            }
            Some(last) if number <= last => format!("game {number} does not count any more"),
            Some(last) => format!("there is no game {number}: the last is game {last}"),
        };
        return Err(Failure::Usage(message));
    }
    if let Some(path) = &arguments.pdn {
        write_pdn(path, &journal, &snapshot, &games)?;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    if arguments.show.json {
        let mut objects = Vec::with_capacity(games.len());
        for game in games {
            objects.push(object(&journal, game, &names, arguments.number.is_some())?);
        }
        let object = json!({
            "version": crownhead_tournament::events::VERSION,
            "walls": snapshot.isolation.iter().map(IsolationRecord::json).collect::<Value>(),
            "games": objects,
        });
        writeln!(out, "{object}")?;
    } else if let (Some(_), [game]) = (arguments.number, games.as_slice()) {
        one_game(&mut out, &journal, game, &snapshot)?;
    } else if arguments.pdn.is_none() {
        let row = |game: &&Game| {
            let [first, second] = game.players.map(|player| names[player].clone());
            let (result, reason, plies) = match &game.end {
                Some(end) => (result(end.winner), end.reason.clone(), end.plies.to_string()),
                None if game.started.is_some() => ("*", "started".into(), String::new()),
                None => ("*", "scheduled".into(), String::new()),
            };
            let number = game.number.to_string();
            vec![number, game.round.to_string(), first, second, result.into(), plies, reason]
        };
        let heads = ["game", "round", "first", "second", "result", "plies", "reason"];
        let mut rows = vec![heads.map(String::from).to_vec()];
        rows.extend(games.iter().map(row));
        write!(out, "{}", columns(&rows, &[2, 3, 4, 6]))?;
    }
    out.flush()?;
    Ok(())
}

fn object(
    journal: &Journal,
    game: &Game,
    names: &[String],
    is_whole: bool,
) -> Result<Value, Failure> {
    let [first, second] = game.players.map(|player| &names[player]);
    let end = game.end.as_ref();
    let state = match (end, game.started) {
        (Some(_), _) => "finished",
        (None, Some(_)) => "started",
        (None, None) => "scheduled",
    };
    let mut object = json!({
        "game": game.number,
        "round": game.round,
        "first": first,
        "second": second,
        "state": state,
        "result": end.map(|end| result(end.winner)),
        "reason": end.map(|end| &end.reason),
        "forfeit": end.and_then(|end| end.forfeit).map(|side| &names[game.players[side]]),
        "score": end.and_then(|end| end.score),
        "faults": end.map(|end| end.faults),
        "plies": end.map(|end| end.plies),
        "walls": end.and_then(|end| end.walls),
        "opening": game.opening,
        "started": game.started,
        "finished": end.map(|end| end.at),
    });
    if is_whole {
        let moves = journal.moves(game.number).map_err(journal_failure)?;
        let fault = |(side, ply, code, sentence): &(usize, u32, String, String)| {
            let player = &names[game.players[*side]];
            json!({ "player": player, "ply": ply, "code": code, "sentence": sentence })
        };
        object["start"] = json!(moves.start);
        object["opening_moves"] = json!(moves.opening);
        object["moves"] = json!(moves.moves);
        object["milliseconds"] = json!(moves.milliseconds);
        object["ending"] = json!(moves.ending);
        object["incidents"] = moves.faults.iter().map(fault).collect();
    }
    Ok(object)
}

fn one_game(
    out: &mut impl Write,
    journal: &Journal,
    game: &Game,
    snapshot: &Snapshot,
) -> Result<(), Failure> {
    let names = snapshot.names();
    let moves = journal.moves(game.number).map_err(journal_failure)?;
    let [first, second] = game.players.map(|player| &names[player]);
    writeln!(out, "game {}, round {}: {first} - {second}", game.number, game.round)?;
    match &game.end {
        Some(end) => writeln!(out, "result    {}, {}", result(end.winner), end.reason)?,
        None => writeln!(out, "result    none yet")?,
    }
    if let Some(ending) = &moves.ending {
        writeln!(out, "ending    {ending}")?;
    }
    if let Some(start) = &moves.start {
        writeln!(out, "start     {start}")?;
    }
    if !moves.opening.is_empty() {
        writeln!(out, "opening   {}", moves.opening.join(" "))?;
    }
    writeln!(out, "moves     {}", moves.moves.join(" "))?;
    if let Some(most) = moves.milliseconds.iter().max() {
        let all: u64 = moves.milliseconds.iter().sum();
        let [all, most] = [all, *most].map(|time| Duration::from_millis(time).as_secs_f64());
        writeln!(out, "times     {all:.3} s in all, {most:.3} s for the longest move")?;
    }
    let walls = game.end.as_ref().and_then(|end| usize::try_from(end.walls? - 1).ok());
    if let Some(walls) = walls.and_then(|place| snapshot.isolation.get(place)) {
        writeln!(out, "isolation {walls}")?;
    }
    for (_, _, _, sentence) in &moves.faults {
        writeln!(out, "fault     {sentence}")?;
    }
    Ok(())
}

/// Writes finished games as records.
fn write_pdn(
    path: &Path,
    journal: &Journal,
    snapshot: &Snapshot,
    games: &[&Game],
) -> Result<(), Failure> {
    let output = AtomicFile::create(path)?;
    let kind = game_of(snapshot)?;
    let names = snapshot.names();
    let mut out = BufWriter::new(output.file());
    for game in games {
        let Some(end) = &game.end else { continue };
        let moves = journal.moves(game.number).map_err(journal_failure)?;
        let mut record = GameRecord::new(kind.clone());
        record.set_tag("Event", snapshot.name.clone());
        record.set_tag("Round", format!("{}.{}", game.round, game.number));
        record.set_player(Side::First, names[game.players[0]].clone());
        record.set_player(Side::Second, names[game.players[1]].clone());
        record.set_tag("Termination", end.reason.clone());
        if let Some(ending) = moves.ending.filter(|_| end.forfeit.is_some()) {
            record.set_tag("Reason", ending);
        }
        record.start = moves.start;
        record.line.plies = moves.opening.iter().chain(&moves.moves).map(Ply::new).collect();
        record.result = match end.winner {
            Some(0) => GameResult::FirstWins,
            Some(_) => GameResult::SecondWins,
            None => GameResult::Draw,
        };
        write_game(&mut out, &record).context("cannot write a game")?;
    }
    out.flush().context("cannot write a game")?;
    drop(out);
    Ok(output.commit()?)
}
