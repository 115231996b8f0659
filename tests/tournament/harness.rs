//! A tournament in a temporary folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{Finished, command, crownhead_in};

/// Eight built-in players of different strength, limited by nodes or plies instead of time.
pub(crate) const EIGHT_PLAYERS: &str = r#"[
    "level:1", "level:2", "level:3", "random", "minimax:1", "alphabeta:2",
    { name = "one hundred", player = "best:nodes=100,hash=1" },
    { name = "three hundred", player = "best:nodes=300,hash=1" },
]"#;

/// A folder with the tournament file `class.toml`.
pub(crate) struct TestTournament {
    folder: TempDir,
}

impl TestTournament {
    /// Creates a tournament with this file.
    pub(crate) fn new(text: &str) -> TestTournament {
        let folder = tempfile::tempdir().unwrap();
        let tournament = TestTournament { folder };
        tournament.write("class.toml", text);
        tournament
    }

    /// Creates a tournament of [`EIGHT_PLAYERS`] with additional lines.
    pub(crate) fn of_eight(lines: &str) -> TestTournament {
        TestTournament::new(&format!("game = \"english\"\nplayers = {EIGHT_PLAYERS}\n{lines}\n"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Returns the contents of the tournament file.
    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.path().join("class.toml")).unwrap()
    }

    /// Replaces a part of the tournament file.
    pub(crate) fn edit(&self, from: &str, to: &str) {
        let text = self.text();
        assert!(text.contains(from), "{text}");
        self.write("class.toml", &text.replace(from, to));
    }

    /// Returns the command `crownhead tournament VERB class.toml …`.
    pub(crate) fn command(&self, verb: &str, args: &[&str]) -> Command {
        let mut command = command(&[&["tournament", verb, "class.toml"], args].concat());
        command.current_dir(self.path());
        command
    }

    /// Runs `crownhead tournament VERB class.toml …` to its end.
    pub(crate) fn crownhead(&self, verb: &str, args: &[&str]) -> Finished {
        crownhead_in(self.path(), &[&["tournament", verb, "class.toml"], args].concat())
    }

    /// Returns the JSON objects of the games, by number.
    pub(crate) fn games(&self) -> BTreeMap<u64, Value> {
        let object = self.crownhead("games", &["--json"]).json();
        let games = object["games"].as_array().unwrap().iter();
        games.map(|game| (game["game"].as_u64().unwrap(), game.clone())).collect()
    }

    /// Returns the numbers of the finished games.
    pub(crate) fn finished(&self) -> Vec<u64> {
        let games = self.games().into_iter();
        games.filter(|(_, game)| game["state"] == "finished").map(|(number, _)| number).collect()
    }

    /// Returns the rows of the standings.
    pub(crate) fn standings(&self) -> Value {
        self.crownhead("standings", &["--json"]).json()["standings"].take()
    }

    pub(crate) fn status(&self) -> Value {
        self.crownhead("status", &["--json"]).json()
    }

    /// Returns the finished games as PDN, without their dates: a test may run at midnight.
    pub(crate) fn pdn(&self) -> String {
        self.crownhead("games", &["--pdn", "games.pdn"]);
        without_dates(&fs::read_to_string(self.path().join("games.pdn")).unwrap())
    }

    pub(crate) fn state(&self) -> String {
        self.status()["state"].as_str().unwrap().to_string()
    }
}

/// Removes the tag `Date` from games.
pub(crate) fn without_dates(pdn: &str) -> String {
    pdn.lines().filter(|line| !line.starts_with("[Date ")).flat_map(|line| [line, "\n"]).collect()
}

/// Parses the events printed by a run; an incomplete last line is ignored.
pub(crate) fn events(text: &str) -> Vec<Value> {
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}
