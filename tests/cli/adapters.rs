//! Programs that were written for something else than the bot protocol: at the command line.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{command, crownhead_in, finish};

fn bots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/bots/tests/fixtures")
}

/// The kits for the original assignments, and their games.
const KITS: [(&str, &str); 3] = [
    ("c-function", "chinese-checkers"),
    ("cpp-function", "contest"),
    ("tcp-int32", "capture-halma"),
];

#[test]
fn every_kit_for_an_assignment_passes_its_check_and_beats_random() {
    let folder = tempfile::tempdir().unwrap();
    for (kit, game) in KITS {
        let told = crownhead_in(folder.path(), &["bot", "new", kit, kit]);
        let next = format!("crownhead bot check ./{kit} --game {game}");
        assert!(told.printed().contains(&next), "{told:?}");
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
        // Most games of contest checkers are drawn, by whomever.
        let least = if game == "contest" { 0.6 } else { 0.9 };
        assert!(games["score"].as_f64() > Some(least), "{kit}: {games}");
    }
}

#[test]
fn nothing_is_left_of_a_function_that_was_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    fs::write(folder.path().join("bad.c"), "int ai_player(int p, const int *b) { return oops; }")
        .unwrap();
    let good = format!("c-function:{}", bots().join("student.c").display());
    for (bot, code) in [(good.as_str(), 0), ("c-function:bad.c", 4)] {
        let arguments = ["match", bot, "random", "--game", "chinese-checkers", "-n", "2", "--json"];
        let mut command = command(&arguments);
        let finished = finish(command.current_dir(folder.path()).env("TMPDIR", &scratch));
        assert_eq!(finished.code, Some(code), "{finished:?}");
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "{bot}");
        let object = finished.json();
        if code == 4 {
            let told = object["failure"].as_str().unwrap();
            // The author's file and line, as the compiler tells it.
            assert!(told.contains("bad.c:1:") && told.contains("oops"), "{told}");
        }
    }
    // Nor if it is interrupted.
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
fn a_moment_of_a_game_is_asked_again_in_the_bots_own_language() {
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
        let again = crownhead_in(folder.path(), &replay).json();
        // As the referee writes it: there may be several ways to the same end.
        let moves = again["turn"].as_str().unwrap();
        let text = again["now"]["move"].as_str().unwrap();
        assert!(moves.contains(text), "{kit}: {again}");
        assert_eq!(again["now"]["fault"], Value::Null, "{kit}: {again}");
    }
}

#[test]
fn wrong_uses_are_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.c"), "").unwrap();
    for (arguments, code, why) in [
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
        assert!(finished.refused(code).contains(why), "{finished:?}");
    }
    for (text, why) in [
        ("protocol = \"telnet\"", "line 1, column 1: there is no protocol \"telnet\": there are "),
        ("protocol = \"c-function\"", "the line source = \"…\" is missing"),
        ("protocol = \"c-function\"\nsource = \"no.c\"", "no.c: No such file"),
        (
            "protocol = \"c-function\"\nsource = \"x.c\"\ncommand = \"x\"",
            "neither command nor build",
        ),
        ("protocol = \"tcp-int32\"", "the line command = \"…\" is missing"),
        ("command = \"x\"\nsource = \"x.c\"", "others have a command"),
        ("command = \"x\"\nparameters = { a = \"1\" }", "there is no key \"parameters\""),
    ] {
        fs::write(folder.path().join("bot.toml"), text).unwrap();
        let finished = crownhead_in(folder.path(), &["match", "./", "random", "--game", "english"]);
        assert!(finished.refused(3).contains(why), "{text}: {finished:?}");
    }
}
