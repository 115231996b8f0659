//! Who takes part: players that are named one by one, and folders full of submissions.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crownhead_bots::PlayerSpec;
use crownhead_rules::Game;
use toml::de::DeValue;

use super::MAX_PLAYERS;
use super::toml_table::{TomlTable, printable, suggestion};
use crate::Entrant;

/// Names that may be misspelt.
const BUILTIN_NAMES: [&str; 5] = ["random", "minimax", "alphabeta", "level", "best"];
/// Longer names make no table.
const MAX_NAME_CHARS: usize = 60;

/// The entrants, and what the organiser should know.
pub(super) fn parse_players(
    top: &mut TomlTable<'_>,
    folder: &Path,
    game: Option<&Game>,
) -> (Vec<Entrant>, Vec<String>) {
    let mut entrants = Vec::new();
    let mut notes = Vec::new();
    let before = top.diagnostics.len();
    let places = parse_list(top, folder, game, &mut entrants);
    for submissions in top.strings("submissions").unwrap_or_default() {
        if let Err(why) = add_submissions(folder, &submissions, game, &mut entrants, &mut notes) {
            top.error("submissions", why);
        }
    }
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut wrong = Vec::new();
    for (entrant, number) in entrants.iter().zip(0..) {
        let place = places.get(number).copied();
        if let Some(earlier) = known.insert(&entrant.name, number) {
            let first = &entrants[earlier].text;
            let what = format!(
                "two players are called {:?} ({first} and {}): give one of them another name = \"…\"",
                entrant.name, entrant.text
            );
            wrong.push((place, what));
        }
    }
    for (place, what) in wrong {
        match place {
            Some(at) => top.error_at(at, what),
            None => top.error("submissions", what),
        }
    }
    if entrants.len() > MAX_PLAYERS {
        let what =
            format!("a contest has at most {MAX_PLAYERS} players, and not {}", entrants.len());
        top.error("players", what);
    }
    if entrants.len() < 2 && top.diagnostics.len() == before {
        let what = format!(
            "a tournament needs two players or more, and has {}: name them in players = [\"level:3\", \
             \"./mybot\"], or have a folder of submissions = \"…\"",
            entrants.len()
        );
        let key = if top.value("players").is_some() { "players" } else { "submissions" };
        top.error(key, what);
    }
    (entrants, notes)
}

/// The players of the list; where each stands in the file.
fn parse_list(
    top: &mut TomlTable<'_>,
    folder: &Path,
    game: Option<&Game>,
    entrants: &mut Vec<Entrant>,
) -> Vec<usize> {
    let mut places = Vec::new();
    let Some(list) = top.array("players") else { return places };
    for item in list {
        let at = item.span().start;
        let (name, text, place) = match item.get_ref() {
            DeValue::String(text) => (None, text.to_string(), at),
            DeValue::Table(table) => {
                let mut table = top.nested(table, at);
                let (name, text) = (table.source("name"), table.source("player"));
                if table.value("player").is_none() {
                    let what =
                        "the key player is missing: a player by name, cmd:COMMAND or a folder";
                    table.error_at(at, what.into());
                }
                table.reject_unknown_keys(&["name", "player"]);
                let place = table.value("player").map_or(at, |value| value.span().start);
                top.diagnostics.append(&mut table.diagnostics);
                let Some(text) = text else { continue };
                (name, text, place)
            }
            _ => {
                let what = "a player is a text, as in \"level:3\", or a table with name and player";
                top.error_at(at, what.into());
                continue;
            }
        };
        match player(&text, folder, game) {
            Err(why) => top.error_at(place, why),
            Ok(spec) => {
                let name = name.unwrap_or_else(|| spec.short_name());
                let name = printable(&name).trim().to_string();
                if name.is_empty() {
                    top.error_at(place, "a player has a name".into());
                }
                if name.chars().count() > MAX_NAME_CHARS {
                    let what = format!("a name has at most {MAX_NAME_CHARS} characters");
                    top.error_at(place, format!("{what}: give the player a name = \"…\""));
                }
                entrants.push(Entrant { name, text, player: Ok(spec) });
                places.push(place);
            }
        }
    }
    places
}

/// A player who can play the game, if that is known.
fn player(text: &str, folder: &Path, game: Option<&Game>) -> Result<PlayerSpec, String> {
    let player = PlayerSpec::parse_relative_to(text, folder).map_err(|error| {
        let name = text.split(':').next().unwrap_or_default().trim();
        let is_known = BUILTIN_NAMES.contains(&name.to_ascii_lowercase().as_str());
        let hint = if is_known { String::new() } else { suggestion(name, &BUILTIN_NAMES) };
        format!("{error}{hint}")
    })?;
    game.map_or(Ok(()), |game| player.supports(game))?;
    Ok(player)
}

/// Every folder in a folder that has a `bot.toml`. One whose `bot.toml` is wrong, or that speaks
/// a protocol of another game, takes part, and loses: a tournament does not wait for it.
fn add_submissions(
    base: &Path,
    text: &str,
    game: Option<&Game>,
    entrants: &mut Vec<Entrant>,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let folder = base.join(text);
    let entries = fs::read_dir(&folder)
        .map_err(|error| format!("the folder of submissions {}: {error}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries.flatten() {
        match entry.file_name().into_string() {
            Ok(name) => names.push(name),
            // A player is written down by name, and found by it.
            Err(_) if entry.path().join("bot.toml").exists() => notes.push(format!(
                "{} does not take part: its name is not UTF-8; give it another",
                entry.path().display()
            )),
            Err(_) => {}
        }
    }
    names.sort();
    let before = entrants.len();
    for name in names {
        let path = folder.join(&name);
        if !path.is_dir() || name.starts_with('.') {
            continue;
        }
        if !path.join("bot.toml").exists() {
            notes.push(format!("{} has no bot.toml and does not take part", path.display()));
            continue;
        }
        let text = format!("{}/{name}", text.trim_end_matches('/'));
        let player = player(&text, base, game);
        if let Err(why) = &player {
            notes.push(format!("{name} takes part, but cannot play: {why}"));
        }
        let shown: String = printable(&name).trim().chars().take(MAX_NAME_CHARS).collect();
        if shown != name {
            notes.push(format!("{} is called {shown:?}", path.display()));
        }
        entrants.push(Entrant { name: shown, text, player });
    }
    match entrants.len() > before {
        true => Ok(()),
        false => Err(format!(
            "there is no submission in {}: each is a folder with a bot.toml",
            folder.display()
        )),
    }
}
