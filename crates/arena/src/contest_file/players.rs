//! Who takes part: players that are named one by one, and folders full of submissions.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crownhead_play::PlayerSpec;
use toml::de::DeValue;

use super::table::Table;
use crate::Entrant;

/// Longer names make no table.
const LONGEST_NAME: usize = 60;

/// The entrants, and what the organiser should know.
pub(super) fn read(top: &mut Table<'_>, folder: &Path) -> (Vec<Entrant>, Vec<String>) {
    let mut entrants = Vec::new();
    let mut notes = Vec::new();
    let places = named(top, folder, &mut entrants);
    for submissions in top.texts("submissions").unwrap_or_default() {
        if let Err(why) = submitted(folder, &submissions, &mut entrants, &mut notes) {
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
    if entrants.len() < 2 && top.complaints.is_empty() {
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
fn named(top: &mut Table<'_>, folder: &Path, entrants: &mut Vec<Entrant>) -> Vec<usize> {
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
        match PlayerSpec::read_in(&text, folder) {
            Err(error) => top.complain_at(place, error.to_string()),
            Ok(spec) => {
                let name = name.unwrap_or_else(|| spec.short_name());
                let name = clean(&name);
                if name.is_empty() {
                    top.complain_at(place, "a player has a name".into());
                }
                entrants.push(Entrant { name, text, player: Ok(spec) });
                places.push(place);
            }
        }
    }
    places
}

fn clean(name: &str) -> String {
    let name = name.replace(char::is_control, " ");
    name.trim().chars().take(LONGEST_NAME).collect()
}

/// Every folder in a folder that has a `bot.toml`. One whose `bot.toml` is wrong takes part, and loses:
/// a contest does not wait for it.
fn submitted(
    base: &Path,
    text: &str,
    entrants: &mut Vec<Entrant>,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let folder = base.join(text);
    let entries = fs::read_dir(&folder)
        .map_err(|error| format!("the folder of submissions {}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
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
        let player = PlayerSpec::read_in(&text, base).map_err(|error| error.to_string());
        if let Err(why) = &player {
            notes.push(format!("{name} takes part and loses every game by forfeit: {why}"));
        }
        entrants.push(Entrant { name: clean(&name), text, player });
    }
    match entrants.len() > before {
        true => Ok(()),
        false => Err(format!(
            "there is no submission in {}: each is a folder with a bot.toml",
            folder.display()
        )),
    }
}
