//! A tournament in a folder of its own, and what can be asked about it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{Finished, command, crownhead_in};

/// Eight built-in players of different strength who count nodes or plies, not time.
pub(crate) const EIGHT: &str = r#"[
    "level:1", "level:2", "level:3", "random", "minimax:1", "alphabeta:2",
    { name = "one hundred", player = "best:nodes=100,hash=1" },
    { name = "three hundred", player = "best:nodes=300,hash=1" },
]"#;

/// A folder with a tournament in it.
pub(crate) struct TestTournament {
    folder: TempDir,
}

impl TestTournament {
    /// A tournament with this file.
    pub(crate) fn new(text: &str) -> TestTournament {
        let folder = tempfile::tempdir().unwrap();
        let tournament = TestTournament { folder };
        tournament.write("class.toml", text);
        tournament
    }

    /// The tournament of [`EIGHT`] with these further lines.
    pub(crate) fn of_eight(more: &str) -> TestTournament {
        TestTournament::new(&format!("game = \"english\"\nplayers = {EIGHT}\n{more}\n"))
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

    /// Changes a text in the tournament file.
    pub(crate) fn change(&self, from: &str, to: &str) {
        let path = self.path().join("class.toml");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }

    /// `crownhead tournament VERB class.toml …`, not started.
    pub(crate) fn command(&self, verb: &str, more: &[&str]) -> Command {
        let mut command = command(&[&["tournament", verb, "class.toml"], more].concat());
        command.current_dir(self.path());
        command
    }

    /// The same, run to its end.
    pub(crate) fn tournament(&self, verb: &str, more: &[&str]) -> Finished {
        crownhead_in(self.path(), &[&["tournament", verb, "class.toml"], more].concat())
    }

    /// The games by number.
    pub(crate) fn games(&self) -> BTreeMap<u64, Value> {
        let object = self.tournament("games", &["--json"]).json();
        let games = object["games"].as_array().unwrap().iter();
        games.map(|game| (game["game"].as_u64().unwrap(), game.clone())).collect()
    }

    /// The numbers of finished games.
    pub(crate) fn finished(&self) -> Vec<u64> {
        let games = self.games().into_iter();
        games.filter(|(_, game)| game["state"] == "finished").map(|(number, _)| number).collect()
    }

    /// The rows of the table.
    pub(crate) fn standings(&self) -> Value {
        self.tournament("standings", &["--json"]).json()["standings"].take()
    }

    /// All finished games, as a file holds them.
    pub(crate) fn pdn(&self) -> String {
        self.tournament("games", &["--pdn", "games.pdn"]);
        fs::read_to_string(self.path().join("games.pdn")).unwrap()
    }

    /// What has become of it.
    pub(crate) fn state(&self) -> String {
        self.tournament("status", &["--json"]).json()["state"].as_str().unwrap().to_string()
    }
}

/// The events that a run printed, whole lines only.
pub(crate) fn events(text: &str) -> Vec<Value> {
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}
