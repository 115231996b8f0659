//! Who takes part: players that are named one by one, and folders full of submissions.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crownhead_bots::PlayerSpec;
use crownhead_rules::Game;
use toml::de::DeValue;

use super::MOST_PLAYERS;
use super::table::{Table, printable, suggestion};
use crate::Entrant;

/// Names that may be misspelt.
const BUILT_IN: [&str; 5] = ["random", "minimax", "alphabeta", "level", "best"];
/// Longer names make no table.
const LONGEST_NAME: usize = 60;

/// The entrants, and what the organiser should know.
pub(super) fn read(
    top: &mut Table<'_>,
    folder: &Path,
    game: Option<&Game>,
) -> (Vec<Entrant>, Vec<String>) {
    let mut entrants = Vec::new();
    let mut notes = Vec::new();
    let before = top.complaints.len();
    let places = named(top, folder, game, &mut entrants);
    for submissions in top.texts("submissions").unwrap_or_default() {
        if let Err(why) = submitted(folder, &submissions, game, &mut entrants, &mut notes) {
            top.complain("submissions", why);
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
            Some(at) => top.complain_at(at, what),
            None => top.complain("submissions", what),
        }
    }
    if entrants.len() > MOST_PLAYERS {
        let what =
            format!("a contest has at most {MOST_PLAYERS} players, and not {}", entrants.len());
        top.complain("players", what);
    }
    if entrants.len() < 2 && top.complaints.len() == before {
        let what = format!(
            "a contest needs two players or more, and has {}: name them in players = [\"level:3\", \
             \"./mybot\"], or have a folder of submissions = \"…\"",
            entrants.len()
        );
        let key = if top.value("players").is_some() { "players" } else { "submissions" };
        top.complain(key, what);
    }
    (entrants, notes)
}

/// The players of the list; where each stands in the file.
fn named(
    top: &mut Table<'_>,
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
                let mut table = top.inner(table, at);
                let (name, text) = (table.text("name"), table.text("player"));
                if table.value("player").is_none() {
                    let what =
                        "the key player is missing: a player by name, cmd:COMMAND or a folder";
                    table.complain_at(at, what.into());
                }
                table.refuse_others(&["name", "player"]);
                let place = table.value("player").map_or(at, |value| value.span().start);
                top.complaints.append(&mut table.complaints);
                let Some(text) = text else { continue };
                (name, text, place)
            }
            _ => {
                let what = "a player is a text, as in \"level:3\", or a table with name and player";
                top.complain_at(at, what.into());
                continue;
            }
        };
        match player(&text, folder, game) {
            Err(why) => top.complain_at(place, why),
            Ok(spec) => {
                let name = name.unwrap_or_else(|| spec.short_name());
                let name = printable(&name).trim().to_string();
                if name.is_empty() {
                    top.complain_at(place, "a player has a name".into());
                }
                if name.chars().count() > LONGEST_NAME {
                    let what = format!("a name has at most {LONGEST_NAME} characters");
                    top.complain_at(place, format!("{what}: give the player a name = \"…\""));
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
        let is_known = BUILT_IN.contains(&name.to_ascii_lowercase().as_str());
        let hint = if is_known { String::new() } else { suggestion(name, &BUILT_IN) };
        format!("{error}{hint}")
    })?;
    game.map_or(Ok(()), |game| player.supports(game))?;
    Ok(player)
}

/// Every folder in a folder that has a `bot.toml`. One whose `bot.toml` is wrong, or that speaks
/// a protocol of another game, takes part, and loses: a contest does not wait for it.
fn submitted(
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
        let shown: String = printable(&name).trim().chars().take(LONGEST_NAME).collect();
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
