//! Turns of logged games, asked again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crownhead_bots::BotProgram;
use crownhead_bots::replay::{LoggedTurn, ReplayResult};
use crownhead_play::StopFlag;
use crownhead_sandbox::Isolation;
use tempfile::TempDir;

use crate::harness::{match_config, play, start_at};

/// A position with more legal moves than fit into 16 KiB.
const MANY_MOVES: &str = "8/8/2w1b1b1/1b1w1w1b/2w1w1w1/1w1w1b1w/1bb1b1b1/8 b 10";

/// A bot that answers a turn with a piece of Python; `line` is the turn, `first` the first move.
fn bot(answer: &str) -> String {
    let script = format!(
        "import sys\nfor line in sys.stdin:\n word = line.split()[0]\n if word == 'quit': break\n \
         if word in ('crownhead', 'newgame'): print('ready now=1', flush=True)\n \
         if word == 'turn':\n  first = line.split(' moves=')[1].split(',')[0].split()[0]\n  \
         {answer}"
    );
    format!("cmd:python3 -c \"{script}\"")
}

/// Plays Capture Halma from a position and returns the log of the bot's first game.
fn logged_game(position: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let player = bot("print('move', first, flush=True)");
    let mut config = match_config("capture-halma", [&player, "random"], Duration::from_secs(3600));
    start_at(&mut config, position);
    config.log = Some(folder.path().into());
    play(&config);
    let paths = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let first = paths.min().unwrap();
    (folder, first)
}

fn ask(turn: &LoggedTurn, answer: &str) -> ReplayResult {
    let mut program = BotProgram::from_text(&bot(answer), Path::new(".")).unwrap().unwrap();
    program.isolation = Isolation::Off;
    // Too long to wait for: "ready now=1" must count as ready.
    let time = Duration::from_secs(3600);
    turn.ask(&program, time, time, &StopFlag::new()).unwrap()
}

#[test]
fn very_long_turn_line_is_sent_again_unchanged() {
    let (_folder, log) = logged_game(MANY_MOVES);
    let turn = LoggedTurn::find(&log, Some(0)).unwrap();
    assert!(turn.turn.len() > 20_000, "{} bytes", turn.turn.len());
    let folder = tempfile::tempdir().unwrap();
    let received = folder.path().join("received");
    let answer = format!(
        "open('{}', 'w').write(line); print('move', first, flush=True)",
        received.display()
    );
    let result = ask(&turn, &answer);
    assert_eq!(result.fault, None);
    assert_eq!(std::fs::read_to_string(received).unwrap(), format!("{}\n", turn.turn));
    // Older logs may have truncated lines.
    let truncated = format!("{}…", &turn.turn[..1000]);
    let text = std::fs::read_to_string(&log).unwrap().replace(&turn.turn, &truncated);
    std::fs::write(&log, text).unwrap();
    let message = LoggedTurn::find(&log, Some(turn.ply)).unwrap_err();
    assert!(message.ends_with("the turn line in the log is truncated"), "{message}");
}

#[test]
fn answer_is_judged_as_in_a_game() {
    let (_folder, log) = logged_game("b7/8/b7/8/8/7w/8/7w b 392");
    let turn = LoggedTurn::find(&log, Some(0)).unwrap();
    let result = ask(&turn, "print('move ', first, flush=True)");
    let first = turn.moves().split(',').next().unwrap();
    assert_eq!((result.played.as_deref(), result.fault), (Some(first), None));
    let result = ask(&turn, "print('move 11-99', flush=True)");
    let fault = result.fault.unwrap();
    assert!(fault.starts_with("illegal-move: ") && fault.contains("11-99"), "{fault}");
    assert_eq!(result.lines, ["move 11-99"]);
}
