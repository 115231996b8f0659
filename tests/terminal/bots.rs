//! Bots on the full screen: penalties and reports of their faults.

use std::path::Path;

use crate::tty::Tty;

/// The bot that plays random moves and misbehaves as its mode says.
fn hostile(mode: &str) -> String {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/bots/tests/fixtures/hostile.py");
    format!("cmd:python3 '{}' {mode}", script.display())
}

#[test]
fn forfeit_is_explained_and_undo_takes_it_back() {
    let data = tempfile::tempdir().unwrap();
    let (bot, record) = (hostile("illegal"), data.path().join("game.pdn"));
    let play = ["play", "english", "--second", &bot, "--record", record.to_str().unwrap()];
    let mut tty = Tty::start(data.path(), (80, 24), &play);
    for again in [true, false] {
        tty.wait_for("Black(b) to move.");
        tty.send("11-15\r");
        tty.wait_for("White forfeits the game: Black wins. Illegal-move, White, ply 1:");
        // The details do not fit on the screen.
        tty.send("t");
        tty.wait_for("received: \"move 32-1\"");
        tty.wait_for("Legal moves: 21-17,");
        tty.send("\r");
        tty.wait_until("no box", |text| !text.contains("Esc closes"));
        tty.send(if again { "u" } else { "q" });
    }
    assert_eq!(tty.wait_exit(), 4);
    tty.wait_restored();
    let text = tty.wait_for("White forfeits the game: Black wins.");
    assert!(text.contains("Position: W:"), "{text}");
    let record = std::fs::read_to_string(record).unwrap();
    assert!(record.contains("[Result \"1-0\"]") && record.contains("Termination \"illegal-move\""));
}

#[test]
fn fault_costs_the_turn_in_capture_halma() {
    let data = tempfile::tempdir().unwrap();
    let bot = hostile("illegal");
    let play = ["bot", "play", &bot, "--game", "capture-halma"];
    let mut tty = Tty::start(data.path(), (80, 24), &play);
    tty.wait_for("Black(b) to move.");
    tty.send("11-12\r");
    tty.wait_for("Black(b) to move. Illegal-move, White, ply 1:");
    tty.wait_for(">pass");
    tty.send("q");
    tty.wait_for("Leave this game? It will not be saved.");
    tty.send("y");
    assert_eq!(tty.wait_exit(), 0, "a skipped turn is not a failure");
    tty.wait_for("Penalty: the turn is skipped (policy skip).");
}

#[test]
fn slow_start_is_not_charged_and_can_be_quit() {
    let data = tempfile::tempdir().unwrap();
    let play = ["bot", "play", "sleep 600", "--bot-first", "--movetime", "1ms"];
    let mut tty = Tty::start(data.path(), (80, 24), &play);
    tty.wait_for("Black(b) is starting.");
    tty.send("qy");
    assert_eq!(tty.wait_exit(), 0);
    tty.wait_restored();
}
