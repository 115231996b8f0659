//! Players of a tournament file: the list of players, and folders of submissions.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crownhead_bots::PlayerSpec;
use crownhead_rules::{Game, replace_invisible};
use toml::de::DeValue;

use super::MAX_PLAYERS;
use super::toml_table::TomlTable;
use crate::Entrant;

/// Maximum length of a name: longer ones do not fit in the standings.
const MAX_NAME_CHARS: usize = 60;

/// Returns the entrants, and warnings for the organiser.
pub(super) fn parse_players(
    top: &mut TomlTable<'_>,
    folder: &Path,
    game: Option<&Game>,
) -> (Vec<Entrant>, Vec<String>) {
    let mut entrants = Vec::new();
    let mut warnings = Vec::new();
    let errors_before = top.diagnostics.len();
    let offsets = parse_list(top, folder, game, &mut entrants);
    for submissions in top.strings("submissions").unwrap_or_default() {
        let added = add_submissions(folder, &submissions, game, &mut entrants, &mut warnings);
        top.ok_or_error("submissions", added);
    }
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (index, entrant) in entrants.iter().enumerate() {
        let Some(earlier) = by_name.insert(&entrant.name, index) else { continue };
        let message = format!(
            "duplicate player name {:?} ({} and {}): set another name = \"…\"",
            entrant.name, entrants[earlier].text, entrant.text
        );
        match offsets.get(index) {
            Some(&offset) => top.error_at(offset, message),
            None => top.error("submissions", message),
        }
    }
    if entrants.len() > MAX_PLAYERS {
        let count = entrants.len();
        let message =
            format!("a tournament has at most {MAX_PLAYERS} players, but this has {count}");
        top.error("players", message);
    }
    if entrants.len() < 2 && top.diagnostics.len() == errors_before {
        let message = format!(
            "a tournament needs at least two players, but this has {}: list them in \
             players = [\"level:3\", \"./mybot\"], or name a folder in submissions = \"…\"",
            entrants.len()
        );
        let key = if top.value("players").is_some() { "players" } else { "submissions" };
        top.error(key, message);
    }
    (entrants, warnings)
}

/// Parses the list of players and returns the offset of each in the file.
fn parse_list(
    top: &mut TomlTable<'_>,
    folder: &Path,
    game: Option<&Game>,
    entrants: &mut Vec<Entrant>,
) -> Vec<usize> {
    let mut offsets = Vec::new();
    let Some(list) = top.array("players") else { return offsets };
    for item in list {
        let start = item.span().start;
        let (name, text, offset) = match item.get_ref() {
            DeValue::String(text) => (None, text.to_string(), start),
            DeValue::Table(table) => {
                let mut table = top.nested(table, start);
                let (name, text) = (table.string("name"), table.string("player"));
                if table.value("player").is_none() {
                    table.error_at(start, "missing key \"player\"");
                }
                table.reject_unknown_keys(&["name", "player"]);
                let offset = table.value("player").map_or(start, |value| value.span().start);
                top.diagnostics.append(&mut table.diagnostics);
                let Some(text) = text else { continue };
                (name, text, offset)
            }
            _ => {
                let message = "a player must be a string, such as \"level:3\", or a table with \
                               name and player";
                top.error_at(start, message);
                continue;
            }
        };
        match parse_player(&text, folder, game) {
            Err(message) => top.error_at(offset, message),
            Ok(spec) => {
                let name = name.unwrap_or_else(|| spec.short_name());
                let name = replace_invisible(&name).trim().to_string();
                if name.is_empty() {
                    top.error_at(offset, "the player's name is empty");
                }
                if name.chars().count() > MAX_NAME_CHARS {
                    let message = format!(
                        "the player's name has more than {MAX_NAME_CHARS} characters: set a \
                         shorter name = \"…\""
                    );
                    top.error_at(offset, message);
                }
                entrants.push(Entrant { name, text, player: Ok(spec) });
                offsets.push(offset);
            }
        }
    }
    offsets
}

/// Parses a player and checks that it can play the game, if that is known.
fn parse_player(text: &str, folder: &Path, game: Option<&Game>) -> Result<PlayerSpec, String> {
    let player = PlayerSpec::parse_relative_to(text, folder).map_err(|error| error.to_string())?;
    game.map_or(Ok(()), |game| player.supports(game))?;
    Ok(player)
}

/// Adds every subfolder with a `bot.toml`. A submission whose `bot.toml` is invalid, or that cannot
/// play the game, takes part and makes a fault in each turn: one bot must not stop a tournament.
fn add_submissions(
    base: &Path,
    text: &str,
    game: Option<&Game>,
    entrants: &mut Vec<Entrant>,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    let folder = base.join(text);
    let entries = fs::read_dir(&folder)
        .map_err(|error| format!("cannot read submissions folder {}: {error}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries.flatten() {
        match entry.file_name().into_string() {
            Ok(name) => names.push(name),
            // The journal stores players by name.
            Err(_) if entry.path().join("bot.toml").exists() => warnings.push(format!(
                "{} is skipped: its name is not UTF-8; rename it",
                entry.path().display()
            )),
            Err(_) => {}
        }
    }
    names.sort();
    let count = entrants.len();
    for name in names {
        let path = folder.join(&name);
        if !path.is_dir() || name.starts_with('.') {
            continue;
        }
        if !path.join("bot.toml").exists() {
            warnings.push(format!("{} is skipped: it has no bot.toml", path.display()));
            continue;
        }
        let text = format!("{}/{name}", text.trim_end_matches('/'));
        let player = parse_player(&text, base, game);
        if let Err(reason) = &player {
            warnings.push(format!("{name} takes part but cannot play: {reason}"));
        }
        let visible: String =
            replace_invisible(&name).trim().chars().take(MAX_NAME_CHARS).collect();
        if visible != name {
            warnings.push(format!("{} is listed as {visible:?}", path.display()));
        }
        entrants.push(Entrant { name: visible, text, player });
    }
    match entrants.len() > count {
        true => Ok(()),
        false => Err(format!(
            "no submissions in {}: each one is a folder with a bot.toml",
            folder.display()
        )),
    }
}
