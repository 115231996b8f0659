//! Journals that another program has written to.

use std::path::{Path, PathBuf};

use crownhead_tournament::config::parse;
use crownhead_tournament::journal::{Journal, JournalError};
use crownhead_tournament::schedule::{Round, ScheduledGame};

/// Creates a journal with one scheduled game.
fn journal(folder: &Path) -> PathBuf {
    let path = folder.join("class.journal");
    let text = "game = \"english\"\nplayers = [\"random\", \"level:1\"]\n";
    let tournament = parse(text, Path::new("."), "class").unwrap();
    let mut journal = Journal::create(&path, &tournament, text).unwrap();
    let round = Round { number: 1, title: "round 1".into(), ..Round::default() };
    journal.schedule(&[(round, vec![ScheduledGame { players: [0, 1], opening: 0 }])]).unwrap();
    path
}

fn execute(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn missing_player_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = journal(folder.path());
    assert_eq!(Journal::open_read_only(&path).unwrap().snapshot().unwrap().games.len(), 1);
    execute(&path, "PRAGMA foreign_keys = off; UPDATE games SET first = 99");
    let error = Journal::open_read_only(&path).unwrap().snapshot().unwrap_err().to_string();
    assert!(error.ends_with("it is corrupt: there is no player 99"), "{error}");
}

#[test]
fn settings_survive_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let players = "players = [\"random\", \"level:1\"]";
    for schedule in [
        "schedule = \"round-robin\"",
        "schedule = \"gauntlet\"\nchallengers = [\"level:1\"]",
        "schedule = \"swiss\"\nrounds = 3\n[points]\nwin = 3",
        "schedule = \"knockout\"\ntie-replays = 1\ntie-breaks = [\"sonneborn-berger\"]",
        "schedule = \"ladder\"",
        "schedule = \"ladder\"\nrounds = 9",
    ] {
        let path = folder.path().join("class.journal");
        let text = format!("game = \"contest:kings=true\"\n{players}\n{schedule}\n");
        let tournament = parse(&text, Path::new("."), "class").unwrap();
        drop(Journal::create(&path, &tournament, &text).unwrap());
        let snapshot = Journal::open_read_only(&path).unwrap().snapshot().unwrap();
        assert_eq!(snapshot.settings, tournament.settings(), "{schedule}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn other_version_is_refused_with_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = journal(folder.path());
    execute(&path, "PRAGMA user_version = 3");
    for result in [Journal::open(&path), Journal::open_read_only(&path)] {
        let error = result.err().unwrap();
        assert!(matches!(error, JournalError::Version { version: 3, .. }), "{error:?}");
        let message = error.to_string();
        let expected = "has version 3, but this crownhead uses version 6: start a new journal";
        assert!(message.contains(expected), "{message}");
    }
}
