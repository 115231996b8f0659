//! Programs of others on the whole screen: what their faults cost, and what is said of them.

use std::path::Path;

use crate::tty::Tty;

/// The bot of the tests that plays by lot and misbehaves in the way asked for.
fn hostile(mode: &str) -> String {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/bots/tests/fixtures/hostile.py");
    format!("cmd:python3 '{}' {mode}", script.display())
}

#[test]
fn a_program_that_forfeits_is_told_why_and_undo_leads_back_before_it() {
    let data = tempfile::tempdir().unwrap();
    let (bot, record) = (hostile("illegal"), data.path().join("game.pdn"));
    let play = ["play", "english", "--second", &bot, "--record", record.to_str().unwrap()];
    let mut tty = Tty::start(data.path(), (80, 24), &play);
    for again in [true, false] {
        tty.wait_for("Black(b) to move.");
        tty.send("11-15\r");
        tty.wait_for("White forfeits the game: Black wins. Illegal-move, White, ply 1:");
        // There is no room for all of it.
        tty.send("t");
        tty.wait_for("received: \"move 32-1\"");
        tty.wait_for("Legal moves: 21-17,");
        tty.send("\r");
        tty.wait_until("no box", |shown| !shown.contains("Esc closes"));
        tty.send(if again { "u" } else { "q" });
    }
    assert_eq!(tty.end(), 4);
    tty.is_restored();
    let told = tty.wait_for("White forfeits the game: Black wins.");
    assert!(told.contains("Position: W:"), "{told}");
    let record = std::fs::read_to_string(record).unwrap();
    assert!(record.contains("[Result \"1-0\"]") && record.contains("Termination \"illegal-move\""));
}

#[test]
fn in_capture_halma_a_fault_costs_the_turn() {
    let data = tempfile::tempdir().unwrap();
    let bot = hostile("illegal");
    let play = ["bot", "play", &bot, "--game", "capture-halma"];
    let mut tty = Tty::start(data.path(), (80, 24), &play);
    tty.wait_for("Black(b) to move.");
    tty.send("11-12\r");
    tty.wait_for("Black(b) to move. Illegal-move, White, ply 1:");
    tty.wait_for(">pass");
    // Nothing is promised that is not so.
    tty.send("q");
    tty.wait_for("Leave this game? It will not be saved.");
    tty.send("y");
    assert_eq!(tty.end(), 0, "a turn that is skipped breaks nobody");
    tty.wait_for("By the policy skip, the turn is skipped.");
}

#[test]
fn a_program_that_takes_its_time_to_start_is_not_charged_and_can_be_left() {
    let data = tempfile::tempdir().unwrap();
    let play = ["bot", "play", "sleep 600", "--bot-first", "--movetime", "1ms"];
    let mut tty = Tty::start(data.path(), (80, 24), &play);
    tty.wait_for("Black(b) is starting.");
    tty.send("qy");
    assert_eq!(tty.end(), 0);
    tty.is_restored();
}
