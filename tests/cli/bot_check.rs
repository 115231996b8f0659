//! `crownhead bot check`.

#![cfg(unix)]

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::bots::{hostile, program, project, result};
use crate::harness::{crownhead, crownhead_in, finish};

#[test]
fn every_starter_kit_passes_its_check_and_beats_random() {
    let folder = tempfile::tempdir().unwrap();
    for language in ["python", "c", "cpp", "rust", "java", "javascript"] {
        let created = crownhead_in(folder.path(), &["bot", "new", language, language]);
        assert!(created.printed().contains("crownhead bot check"), "{created:?}");
        let again = crownhead_in(folder.path(), &["bot", "new", language, language]);
        assert!(again.refused(1).contains("the folder is not empty"), "{again:?}");
        let check = ["bot", "check", language, "--game", "capture-halma", "--json"];
        let findings = result(&crownhead_in(folder.path(), &check));
        assert_eq!(findings["failures"], 0, "{language}: {findings}");
        assert_eq!(findings["warnings"], 0, "{language}: {findings}");
        for game in ["english", "contest", "chinese-checkers", "capture-halma"] {
            let bot = format!("./{language}");
            let arguments = ["match", &bot, "random", "--game", game, "-n", "20", "--json"];
            let games = result(&crownhead_in(folder.path(), &arguments));
            assert_eq!(games["faults"], json!([0, 0]), "{language}: {games}");
            // Most games of contest checkers are drawn.
            let min_score = if game == "contest" { 0.6 } else { 0.8 };
            assert!(games["score"].as_f64() > Some(min_score), "{language}, {game}: {games}");
        }
    }
}

#[test]
fn bot_of_the_documentation_works() {
    let text = fs::read_to_string(project("docs/protocol.md")).unwrap();
    let code = text.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(code.lines().count() <= 12);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bot.py"), code).unwrap();
    for game in ["english", "contest", "chinese-checkers", "capture-halma"] {
        let check = ["bot", "check", "python3 bot.py", "--game", game, "--json"];
        let findings = result(&crownhead_in(folder.path(), &check));
        assert_eq!(
            (&findings["failures"], &findings["warnings"]),
            (&json!(0), &json!(0)),
            "{findings}"
        );
    }
}

#[test]
fn check_compares_slow_moves_with_the_clock_of_their_own_game() {
    // Slow only in its first turn of the game with one second on the clock.
    let bot = r#"
import sys, time
slow = False
for line in sys.stdin:
    word = line.split()[0]
    if word == "newgame":
        slow = " movetime=" not in line
    if word == "turn":
        time.sleep(0.3 if slow else 0)
        slow = False
        print("move", line.split(" moves=")[1].split()[0].split(",")[0], flush=True)
    elif word in ("crownhead", "newgame"):
        print("ready", flush=True)
"#;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bot.py"), bot).unwrap();
    let check = ["bot", "check", "python3 bot.py", "--game", "english", "--movetime", "500ms"];
    let finished = crownhead_in(folder.path(), &[&check[..], &["--json"]].concat()).json();
    let findings = finished["findings"].as_array().unwrap();
    let last = findings.iter().find(|finding| finding["check"] == "the last second").unwrap();
    assert_eq!(last["severity"], "ok", "{last}");
}

#[test]
fn check_gives_advice() {
    for (mode, severity, check, advice) in [
        ("illegal", "failure", "game against random", "one of the moves in moves="),
        ("hangs", "failure", "game against random", "Flush standard output"),
        ("bare", "failure", "game against random", "starts with the word move"),
        ("crash-on-fifth-move", "failure", "game against random", "crownhead bot replay"),
        (
            "says-nothing",
            "warning",
            "handshake",
            "Answer the lines crownhead and newgame with ready",
        ),
        ("ignores-quit", "ok", "quit", ""),
        ("never-ends", "warning", "quit", "Exit on the line quit"),
    ] {
        let bot = hostile(mode);
        let finished = crownhead(&[
            "bot",
            "check",
            &bot,
            "--game",
            "english",
            "--movetime",
            "300ms",
            "--startup-timeout",
            "2s",
            "--json",
        ]);
        let object = finished.json();
        assert_eq!(
            finished.code,
            Some(if severity == "failure" { 4 } else { 0 }),
            "{mode}: {object}"
        );
        let findings = object["findings"].as_array().unwrap();
        let is_found = findings.iter().any(|finding| {
            let text = finding["advice"].as_str().unwrap_or_default();
            finding["severity"] == severity && finding["check"] == check && text.contains(advice)
        });
        assert!(is_found, "{mode}: {object}");
    }
    let finished = crownhead(&["bot", "check", &hostile("escapes"), "--game", "english"]);
    assert!(!finished.stdout.contains(['\x1b', '\x07']), "{finished:?}");
    assert!(finished.stdout.lines().all(|line| line.len() < 1000), "{finished:?}");
    let missing = crownhead(&["bot", "check", "cmd:./no-such-bot", "--game", "english"]);
    assert_eq!(missing.code, Some(4));
    assert!(
        missing.stdout.starts_with("failure  start: cmd:./no-such-bot cannot be started"),
        "{missing:?}"
    );
    for (name, word) in [("./no-folder", "./no-folder"), ("no-bot at all", "no-bot")] {
        let message = format!("no folder {name:?} and no command {word:?} found");
        let missing = crownhead(&["bot", "check", name, "--game", "english"]);
        assert!(missing.refused(2).contains(&message), "{missing:?}");
    }
    let unknown = crownhead(&["bot", "new", "cobol", "x"]);
    let message = unknown.refused(2);
    assert!(message.contains("available: python, c, cpp, rust, java, javascript"), "{message}");
}

#[test]
fn crash_found_by_check_can_be_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import sys\nfor line in sys.stdin:\n w = line.split()[0]\n \
                  if w == 'quit': break\n if w == 'turn':\n  \
                  moves = line.split(' moves=')[1].split()[0].split(',')\n  \
                  assert moves != ['pass'], 'what now'\n  print('move', moves[0], flush=True)\n \
                  elif w != 'gameover': print('ready', flush=True)\n";
    fs::write(folder.path().join("bot.py"), script).unwrap();
    let check = ["bot", "check", "python3 bot.py", "--game", "chinese-checkers", "--log", "logs"];
    let finished = crownhead_in(folder.path(), &check);
    assert_eq!(finished.code, Some(4), "{finished:?}");
    assert!(finished.stdout.contains("`crownhead bot check … --log DIR`"), "{finished:?}");
    let logs = fs::read_dir(folder.path().join("logs")).unwrap().flatten();
    let mut names = logs.map(|log| log.file_name().into_string().unwrap());
    let log = format!("logs/{}", names.find(|name| name.contains("forced-pass")).unwrap());
    let replayed = crownhead_in(folder.path(), &["bot", "replay", &log, "--at", "0"]);
    assert_eq!(replayed.code, Some(4), "{replayed:?}");
    assert!(replayed.stdout.contains("moves     pass\n"), "{replayed:?}");
    assert!(replayed.stdout.contains(" * crash: the bot exited with code 1"), "{replayed:?}");
    assert!(replayed.stderr.contains("AssertionError: what now"), "{replayed:?}");
}

#[test]
fn lack_of_file_descriptors_is_not_the_fault_of_a_bot() {
    let script = format!(
        "ulimit -n 64; '{}' match \"$0\" random --game english -n 40 --concurrency 20 \
         --isolation off",
        program()
    );
    let mut shell = Command::new("sh");
    let finished = finish(shell.args(["-c", &script, &hostile("fine")]));
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("Too many open files"), "{finished:?}");
}

#[test]
fn check_of_a_program_that_is_not_a_bot_ends_soon() {
    let arguments = ["bot", "check", "sleep 1000", "--game", "english", "--json"];
    let finished = crownhead(&[&arguments[..], &["--startup-timeout", "200ms"]].concat());
    let object = finished.json();
    assert_eq!((finished.code, &object["failures"]), (Some(4), &json!(1)), "{object}");
}

#[test]
fn bot_with_restart_gets_no_warning_for_exiting() {
    let folder = tempfile::tempdir().unwrap();
    crownhead_in(folder.path(), &["bot", "new", "python", "bot"]).printed();
    let file = folder.path().join("bot/bot.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text + "restart = true\n").unwrap();
    let check = ["bot", "check", "bot", "--game", "english", "--json"];
    let findings = result(&crownhead_in(folder.path(), &check));
    assert_eq!(findings["warnings"], 0, "{findings}");
}
