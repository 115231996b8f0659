//! Games by hand against outside programs, by lines: what their faults cost there.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::bots::hostile;
use crate::harness::{Finished, command, converse, crownhead_reading};

#[test]
fn a_game_by_hand_against_a_bot_that_breaks_ends_with_exit_code_4() {
    let bot = hostile("crash-at-once");
    let arguments = ["bot", "play", &bot, "--game", "english", "--bot-first", "--plain"];
    let finished = crownhead_reading(b"", &arguments);
    assert_eq!(finished.code, Some(4), "{finished:?}");
    for part in [
        "Black forfeits the game: White wins. Crash, Black, ply 0: the bot ended with exit code 3",
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

/// Plays by lines against a bot of the tests: what was printed, and the recorded game.
fn by_hand(mode: &str, more: &[&str], input: &str) -> (Finished, String) {
    let folder = tempfile::tempdir().unwrap();
    let bot = hostile(mode);
    let arguments = ["play", "--second", &bot, "--record", "game.pdn"];
    let finished = by_lines(folder.path(), &[&arguments[..], more].concat(), input);
    (finished, fs::read_to_string(folder.path().join("game.pdn")).unwrap())
}

/// Plays by lines; nothing of it stays in anybody's home.
fn by_lines(folder: &Path, arguments: &[&str], input: &str) -> Finished {
    let mut command = command(arguments);
    command.arg("--plain").env("CROWNHEAD_DATA", folder).current_dir(folder);
    converse(command, input.as_bytes())
}

#[test]
fn a_game_with_a_skipped_turn_is_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let play = ["play", "capture-halma", "--second", &hostile("illegal")];
    let left = by_lines(folder.path(), &play, "11-12\n");
    assert!(left.printed().contains("The game is kept"), "{left:?}");
    let again = by_lines(folder.path(), &["play", "--resume"], "12-13\n");
    assert_eq!(again.printed().matches("White(w) plays pass").count(), 1, "{again:?}");
    assert!(again.stdout.contains("Illegal-move, White, ply 3: "), "{again:?}");
}

#[test]
fn a_game_with_a_program_is_taken_up_again_where_that_is_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let play = ["play", "capture-halma", "--second", &hostile("fine")];
    by_lines(folder.path(), &play, "11-12\n").printed();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = command(&["play", "--resume", "--plain"]);
    command.env("CROWNHEAD_DATA", folder.path()).current_dir(elsewhere.path());
    let refused = converse(command, b"");
    let told = format!("its program was started in {}", folder.path().display());
    assert!(refused.stderr.contains(&told), "{refused:?}");
    by_lines(folder.path(), &["play", "--resume"], "").printed();
}

#[test]
fn a_game_by_hand_is_judged_as_a_match_is() {
    let (finished, record) = by_hand("illegal", &["english"], "11-15\n");
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(4), ""), "{finished:?}");
    let told = "White forfeits the game: Black wins. Illegal-move, White, ply 1: ";
    for part in [told, "received: \"move 32-1\"", "Position: W:", "Legal moves: 21-17,"] {
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
    // A turn that is skipped breaks nobody, and the game can be taken up again after it.
    let (finished, record) = by_hand("illegal", &["capture-halma"], "11-12\n");
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished:?}");
    for part in ["By the policy skip, the turn is skipped. Position: ", "White(w) plays pass\n"] {
        assert!(finished.stdout.contains(part), "{finished:?}");
    }
    assert!(record.contains("1. 11-12 pass"), "{record}");
    // Whoever has crashed goes on doing so.
    let (finished, _) = by_hand("leaves-a-child", &["capture-halma"], "11-12\n12-13\n");
    assert_eq!(finished.code, Some(4), "{finished:?}");
    assert!(finished.stdout.contains("Crash, White, ply 3: the bot ended with exit code 7"));
}

#[test]
fn a_program_at_the_board_has_a_limit_of_time() {
    let (finished, _) = by_hand("hangs", &["english", "--movetime", "200ms"], "11-15\n");
    assert_eq!(finished.code, Some(4), "{finished:?}");
    let told = "White forfeits the game: Black wins. Time, White, ply 1: the bot did not answer";
    assert!(finished.stdout.contains(told), "{finished:?}");
    // The limit that nobody asked for is told to the bot.
    let folder = tempfile::tempdir().unwrap();
    let script = "tee heard | python3 \"$0\" fine";
    let bot = hostile("").replace("cmd:python3", &format!("cmd:sh -c '{script}'"));
    let play = ["bot", "play", &bot, "--movetime", "700ms", "--isolation", "off"];
    let finished = by_lines(folder.path(), &play, "11-15\nresign\n");
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let heard = fs::read_to_string(folder.path().join("heard")).unwrap();
    for part in [
        "\nnewgame game=english side=w movetime=700 ",
        " time=700\n",
        "\ngameover result=win reason=\"Black resigns: White wins.\" code=resigned\nquit\n",
    ] {
        assert!(heard.contains(part), "{heard}");
    }
    by_lines(folder.path(), &["play", "--second", &bot, "--isolation", "off"], "11-15\n");
    let heard = fs::read_to_string(folder.path().join("heard")).unwrap();
    assert!(heard.contains(" movetime=5000 "), "{heard}");
}

#[test]
fn a_game_by_hand_promises_only_what_is_kept() {
    let bot = hostile("fine");
    let finished = crownhead_reading(b"help\n", &["bot", "play", &bot, "--plain"]);
    assert!(finished.printed().contains("quit       leave; the game is not kept"), "{finished:?}");
}
