//! Journals that something else has written to.

#![allow(clippy::unwrap_used)] // a test that cannot go on may stop

use std::path::Path;

use crownhead_tournament::config::parse;
use crownhead_tournament::journal::Journal;
use crownhead_tournament::schedule::{Round, ScheduledGame};

#[test]
fn a_player_who_is_not_there_is_told_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("class.journal");
    let text = "game = \"english\"\nplayers = [\"random\", \"level:1\"]\n";
    let tournament = parse(text, Path::new("."), "class").unwrap();
    let mut journal = Journal::create(&path, &tournament, text).unwrap();
    let round = Round { number: 1, title: "round 1".into(), ..Round::default() };
    journal.schedule(&[(round, vec![ScheduledGame { players: [0, 1], opening: 0 }])]).unwrap();
    drop(journal);
    assert_eq!(Journal::open_read_only(&path).unwrap().snapshot().unwrap().games.len(), 1);
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("PRAGMA foreign_keys = off; UPDATE games SET first = 99").unwrap();
    drop(raw);
    let told = Journal::open_read_only(&path).unwrap().snapshot().unwrap_err().to_string();
    assert!(told.ends_with("its contents are damaged: there is no player 99"), "{told}");
}
