//! `crownhead play` and `bot play` against bots, in plain text: the penalties for their faults.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::bots::hostile;
use crate::harness::{Finished, command, converse, crownhead_reading};

#[test]
fn crash_forfeits_the_game_with_exit_code_4() {
    let bot = hostile("crash-at-once");
    let arguments = ["bot", "play", &bot, "--game", "english", "--bot-first", "--plain"];
    let finished = crownhead_reading(b"", &arguments);
    assert_eq!(finished.code, Some(4), "{finished:?}");
    for part in [
        "Black forfeits the game: White wins. Crash, Black, ply 0: the bot exited with code 3",
        "Position: ",
        "Legal moves: ",
    ] {
        assert!(finished.stdout.contains(part), "{finished:?}");
    }
    let missing = ["bot", "play", "cmd:./no", "--game", "capture-halma", "--bot-first", "--plain"];
    let finished = crownhead_reading(b"", &missing);
    assert_eq!(finished.code, Some(4), "{finished:?}");
    assert!(
        finished.stdout.contains(
            "forfeits the game: White wins. Crash, Black, ply 0: cmd:./no cannot be started"
        ),
        "{finished:?}"
    );
}

/// Plays against a hostile bot and returns the result and the recorded game.
fn play_recorded(mode: &str, options: &[&str], input: &str) -> (Finished, String) {
    let folder = tempfile::tempdir().unwrap();
    let bot = hostile(mode);
    let arguments = ["play", "--second", &bot, "--record", "game.pdn"];
    let finished = play_plain(folder.path(), &[&arguments[..], options].concat(), input);
    (finished, fs::read_to_string(folder.path().join("game.pdn")).unwrap())
}

/// Plays in plain text, with autosaved games in `folder`.
fn play_plain(folder: &Path, arguments: &[&str], input: &str) -> Finished {
    let mut command = command(arguments);
    command.arg("--plain").env("CROWNHEAD_DATA", folder).current_dir(folder);
    converse(command, input.as_bytes())
}

#[test]
fn game_with_a_skipped_turn_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let play = ["play", "capture-halma", "--second", &hostile("illegal")];
    let stopped = play_plain(folder.path(), &play, "11-12\n");
    assert!(stopped.printed().contains("Game saved."), "{stopped:?}");
    let resumed = play_plain(folder.path(), &["play", "--resume"], "12-13\n");
    assert_eq!(resumed.printed().matches("White(w) plays pass").count(), 1, "{resumed:?}");
    assert!(resumed.stdout.contains("Illegal-move, White, ply 3: "), "{resumed:?}");
}

#[test]
fn game_against_a_bot_can_be_resumed_only_in_the_same_folder() {
    let folder = tempfile::tempdir().unwrap();
    let play = ["play", "capture-halma", "--second", &hostile("fine")];
    play_plain(folder.path(), &play, "11-12\n").printed();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = command(&["play", "--resume", "--plain"]);
    command.env("CROWNHEAD_DATA", folder.path()).current_dir(elsewhere.path());
    let refused = converse(command, b"");
    let message = format!("its bot was started in {}", folder.path().display());
    assert!(refused.stderr.contains(&message), "{refused:?}");
    play_plain(folder.path(), &["play", "--resume"], "").printed();
}

#[test]
fn faults_have_the_same_penalties_as_in_a_match() {
    let (finished, record) = play_recorded("illegal", &["english"], "11-15\n");
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(4), ""), "{finished:?}");
    let forfeit = "White forfeits the game: Black wins. Illegal-move, White, ply 1: ";
    for part in [forfeit, "received: \"move 32-1\"", "Position: W:", "Legal moves: 21-17,"] {
        assert!(finished.stdout.contains(part), "{finished:?}");
    }
    for part in [
        "[Result \"1-0\"]",
        "1. 11-15 ",
        "[Termination \"illegal-move\"]",
        "[Reason \"illegal-move, White",
    ] {
        assert!(record.contains(part), "{record}");
    }
    // A skipped turn does not end the game.
    let (finished, record) = play_recorded("illegal", &["capture-halma"], "11-12\n");
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished:?}");
    for part in ["Penalty: the turn is skipped (policy skip). Position: ", "White(w) plays pass\n"]
    {
        assert!(finished.stdout.contains(part), "{finished:?}");
    }
    assert!(record.contains("1. 11-12 pass"), "{record}");
    // A crash does: the bot cannot play on.
    let (finished, _) = play_recorded("leaves-a-child", &["capture-halma"], "11-12\n12-13\n");
    assert_eq!(finished.code, Some(4), "{finished:?}");
    assert!(finished.stdout.contains("Crash, White, ply 3: the bot exited with code 7"));
}

#[test]
fn bot_has_a_time_limit() {
    let (finished, _) = play_recorded("hangs", &["english", "--movetime", "200ms"], "11-15\n");
    assert_eq!(finished.code, Some(4), "{finished:?}");
    let forfeit = "White forfeits the game: Black wins. Time, White, ply 1: the bot did not answer";
    assert!(finished.stdout.contains(forfeit), "{finished:?}");
    // The limit is announced to the bot, even if it is the default.
    let folder = tempfile::tempdir().unwrap();
    let script = "tee received | python3 \"$0\" fine";
    let bot = hostile("").replace("cmd:python3", &format!("cmd:sh -c '{script}'"));
    let play = ["bot", "play", &bot, "--movetime", "700ms", "--isolation", "off"];
    let finished = play_plain(folder.path(), &play, "11-15\nresign\n");
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let received = fs::read_to_string(folder.path().join("received")).unwrap();
    for part in [
        "\nnewgame game=english side=w movetime=700 ",
        " time=700\n",
        "\ngameover result=win reason=\"Black resigns: White wins.\" code=resigned\nquit\n",
    ] {
        assert!(received.contains(part), "{received}");
    }
    play_plain(folder.path(), &["play", "--second", &bot, "--isolation", "off"], "11-15\n");
    let received = fs::read_to_string(folder.path().join("received")).unwrap();
    assert!(received.contains(" movetime=5000 "), "{received}");
}

#[test]
fn resumed_game_honours_isolation_and_limits() {
    let folder = tempfile::tempdir().unwrap();
    let script = "tee received | python3 \"$0\" fine";
    let bot = hostile("").replace("cmd:python3", &format!("cmd:sh -c '{script}'"));
    let play = ["play", "english", "--second", &bot, "--isolation", "off"];
    play_plain(folder.path(), &play, "11-15\n").printed();
    fs::remove_file(folder.path().join("received")).unwrap();
    let resume = ["play", "--resume", "--isolation", "off"];
    let off = play_plain(folder.path(), &resume, "undo\n11-15\n");
    assert_eq!(off.isolation.as_deref(), Some("isolation: off"), "{off:?}");
    assert!(folder.path().join("received").exists(), "the bot can write to the folder");
    let resume = ["play", "--resume", "--limits", "memory=777MB"];
    let limited = play_plain(folder.path(), &resume, "quit\n");
    let isolation = limited.isolation.clone().unwrap_or_default();
    assert!(isolation.contains("memory=777MB"), "{limited:?}");
}

#[test]
fn help_says_that_bot_play_does_not_save_the_game() {
    let bot = hostile("fine");
    let finished = crownhead_reading(b"help\n", &["bot", "play", &bot, "--plain"]);
    assert!(finished.printed().contains("quit       leave without saving"), "{finished:?}");
}
