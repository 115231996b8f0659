//! Bots of the original assignments on the command line.

#![cfg(unix)]

use std::fs;

use serde_json::{Value, json};

use crate::bots::project;
use crate::harness::{command, crownhead_in, finish};

/// The starter kits for the original assignments, and their games.
const KITS: [(&str, &str); 3] = [
    ("c-function", "chinese-checkers"),
    ("cpp-function", "contest"),
    ("tcp-int32", "capture-halma"),
];

#[test]
fn every_assignment_kit_passes_its_check_and_beats_random() {
    let folder = tempfile::tempdir().unwrap();
    for (kit, game) in KITS {
        let created = crownhead_in(folder.path(), &["bot", "new", kit, kit]);
        let next = format!("crownhead bot check ./{kit} --game {game}");
        assert!(created.printed().contains(&next), "{created:?}");
        let check = ["bot", "check", kit, "--game", game, "--json"];
        let findings = crownhead_in(folder.path(), &check).json();
        assert_eq!(
            (&findings["failures"], &findings["warnings"]),
            (&json!(0), &json!(0)),
            "{kit}: {findings}"
        );
        let bot = format!("./{kit}");
        let arguments = ["match", &bot, "random", "--game", game, "-n", "20", "--json"];
        let games = crownhead_in(folder.path(), &arguments).json();
        assert_eq!(games["faults"], json!([0, 0]), "{kit}: {games}");
        // Most games of contest checkers are drawn.
        let min_score = if game == "contest" { 0.6 } else { 0.9 };
        assert!(games["score"].as_f64() > Some(min_score), "{kit}: {games}");
    }
}

#[test]
fn compiled_function_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    fs::write(folder.path().join("bad.c"), "int ai_player(int p, const int *b) { return oops; }")
        .unwrap();
    let good = format!("c-function:{}", project("crates/bots/tests/fixtures/student.c").display());
    for (bot, code) in [(good.as_str(), 0), ("c-function:bad.c", 4)] {
        let arguments = ["match", bot, "random", "--game", "chinese-checkers", "-n", "2", "--json"];
        let mut command = command(&arguments);
        let finished = finish(command.current_dir(folder.path()).env("TMPDIR", &scratch));
        assert_eq!(finished.code, Some(code), "{finished:?}");
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "{bot}");
        let object = finished.json();
        if code == 4 {
            let failure = object["failure"].as_str().unwrap();
            // The compiler names the author's file and line.
            assert!(failure.contains("bad.c:1:") && failure.contains("oops"), "{failure}");
        }
    }
    // An interrupted match leaves none either.
    #[cfg(target_os = "linux")]
    {
        let arguments = ["match", &good, &good, "--game", "chinese-checkers", "-n", "100000"];
        let mut command = command(&arguments);
        command.env("TMPDIR", &scratch);
        let finished = crate::harness::interrupt(command);
        assert_eq!(finished.code, Some(130), "{finished:?}");
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    }
}

#[test]
fn replay_works_for_every_assignment_kit() {
    let folder = tempfile::tempdir().unwrap();
    for (kit, game) in KITS {
        crownhead_in(folder.path(), &["bot", "new", kit, kit]).printed();
        let bot = format!("./{kit}");
        let arguments =
            ["match", &bot, "random", "--game", game, "-n", "2", "--log", "logs", "--json"];
        assert_eq!(crownhead_in(folder.path(), &arguments).code, Some(0));
        let side = if game == "chinese-checkers" { "blue" } else { "black" };
        let log = format!("logs/00001-{side}-{kit}.log");
        let replay = ["bot", "replay", &log, "--at", "8", "--json"];
        let replayed = crownhead_in(folder.path(), &replay).json();
        let moves = replayed["turn"].as_str().unwrap();
        let text = replayed["now"]["move"].as_str().unwrap();
        assert!(moves.contains(text), "{kit}: {replayed}");
        assert_eq!(replayed["now"]["fault"], Value::Null, "{kit}: {replayed}");
    }
}

#[test]
fn invalid_uses_are_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.c"), "").unwrap();
    for (arguments, code, message) in [
        (&["match", "tcp-int32:./no", "random", "--game", "contest"][..], 2, "capture-halma only"),
        (&["match", "c-function:x.c", "random", "--game", "english"], 2, "chinese-checkers only"),
        (&["match", "c-function:no.c", "random", "--game", "english"], 2, "no.c: No such file"),
        (&["match", "tcp-int32:", "random", "--game", "capture-halma"], 2, "the command is empty"),
        (&["bot", "check", "tcp-int32:./no", "--game", "english"], 2, "capture-halma only"),
        (&["bot", "play", "tcp-int32:./no", "--game", "contest"], 2, "capture-halma only"),
        (&["play", "english", "--second", "cpp-function:x.c"], 2, "contest only"),
        (&["match", "tcp-int32:./no", "random", "--game", "capture-halma"], 4, "cannot be started"),
        (&["match", "tpc-int32:no", "random", "--game", "capture-halma"], 2, "tcp-int32:COMMAND"),
    ] {
        let finished = crownhead_in(folder.path(), arguments);
        assert!(finished.refused(code).contains(message), "{finished:?}");
    }
    for (text, message) in [
        ("protocol = \"telnet\"", "line 1, column 1: unknown protocol \"telnet\"; available "),
        ("protocol = \"c-function\"", "missing source = \"…\""),
        ("protocol = \"c-function\"\nsource = \"no.c\"", "no.c: No such file"),
        (
            "protocol = \"c-function\"\nsource = \"x.c\"\ncommand = \"x\"",
            "command and build are not for the protocol c-function",
        ),
        ("protocol = \"tcp-int32\"", "missing command = \"…\""),
        ("command = \"x\"\nsource = \"x.c\"", "source is only for the protocols"),
        ("command = \"x\"\nparameters = { a = \"1\" }", "unknown key \"parameters\""),
    ] {
        fs::write(folder.path().join("bot.toml"), text).unwrap();
        let finished = crownhead_in(folder.path(), &["match", "./", "random", "--game", "english"]);
        assert!(finished.refused(3).contains(message), "{text}: {finished:?}");
    }
}
