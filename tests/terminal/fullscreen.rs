//! The menu, sizes, colours and the other screens.

use std::fs;
use std::process::Command;

use crate::tty::Tty;

#[test]
fn home_starts_a_game_and_comes_back() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = Tty::start(data.path(), (80, 24), &[]);
    // The footer is drawn last.
    let text = tty.wait_for("q quit");
    assert!(text.contains("▸ Play") && text.contains("English checkers"), "{text}");
    assert!(text.contains("level 5"), "{text}");
    // Down to the side, which becomes White; then up to Play.
    tty.send(&"\x1b[B".repeat(7));
    tty.wait_for("▸ You play");
    tty.send("\x1b[C");
    tty.wait_for("◂ White ▸");
    tty.send(&format!("{}\r", "\x1b[A".repeat(7)));
    // The computer moves first.
    tty.wait_for("  1.>");
    tty.wait_for("White(w) to move.");
    tty.send("q");
    tty.wait_for("Leave this game?");
    tty.send("y");
    tty.wait_for("▸ Play");
    tty.send("q");
    assert_eq!(tty.wait_exit(), 0);
    tty.wait_restored();
}

#[test]
fn menu_starts_a_game_in_plain_text_on_a_dumb_terminal() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = Tty::start_with(data.path(), (80, 60), &[], &[("TERM", "dumb")]);
    tty.wait_for("Which game? [1]");
    tty.send("1\n");
    tty.wait_for("Which mode? [2]");
    tty.send("1\n");
    tty.wait_for("Black(b) to move: ");
    tty.send("11-15\n");
    tty.wait_for("White(w) to move: ");
    tty.send("quit\n");
    assert_eq!(tty.wait_exit(), 0);
    tty.wait_for("Game saved.");
}

#[test]
fn screen_survives_resizing() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = Tty::start(data.path(), (80, 24), &["play", "contest", "--second", "human"]);
    tty.wait_for("Black(b) to move.");
    for (size, expected) in [
        ((60, 15), "The screen is 60x15;"),
        ((1, 1), "…"),
        ((200, 60), "Black(b) to move."),
        ((70, 22), "Black(b) to move."),
        ((80, 24), "Black(b) to move."),
    ] {
        tty.resize(size);
        // The old screen may contain the text too; the last line of a new one shows the keys.
        tty.wait_until(expected, |text| {
            let last = text.lines().nth(usize::from(size.1) - 1).unwrap_or_default();
            text.contains(expected) && (size.1 < 22 || last.contains("q quit"))
        });
    }
    tty.send("qy");
    assert_eq!(tty.wait_exit(), 0);
}

/// Returns whether any cell of the screen has a colour or an attribute.
fn is_coloured(tty: &Tty) -> bool {
    tty.inspect(|screen| {
        let (rows, columns) = screen.size();
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        cells.filter_map(|(row, column)| screen.cell(row, column)).any(|cell| {
            cell.bgcolor() != vt100::Color::Default
                || cell.fgcolor() != vt100::Color::Default
                || cell.bold()
                || cell.inverse()
        })
    })
}

#[test]
fn no_color_disables_colours() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "human"];
    for (variables, expected) in [(&[][..], true), (&[("NO_COLOR", "1")], false)] {
        let mut tty = Tty::start_with(data.path(), (80, 24), &play, variables);
        tty.wait_for("q quit");
        assert_eq!(is_coloured(&tty), expected);
        tty.send("qy");
        assert_eq!(tty.wait_exit(), 0);
    }
}

#[test]
fn dumb_terminal_gets_plain_text() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "human"];
    let mut tty = Tty::start_with(data.path(), (80, 40), &play, &[("TERM", "dumb")]);
    tty.wait_for("Black(b) to move: ");
    tty.send("11-15\n");
    tty.wait_for("White(w) to move: ");
    tty.send("quit\n");
    assert_eq!(tty.wait_exit(), 0);
    tty.wait_for("Game saved.");
}

#[test]
fn view_shows_the_exact_result_of_a_table() {
    let data = tempfile::tempdir().unwrap();
    let cache = data.path().join("cache");
    let mut build = Command::new(env!("CARGO_BIN_EXE_crownhead"));
    build.args(["tables", "build", "english", "--pieces", "3"]).env("CROWNHEAD_CACHE", &cache);
    assert!(build.output().unwrap().status.success());
    let file = data.path().join("ending.pdn");
    fs::write(&file, "[FEN \"B:WK32:BK10,K15\"]\n1. 15-18 32-28 *\n").unwrap();
    let arguments = ["view", file.to_str().unwrap()];
    let variables = [("CROWNHEAD_CACHE", cache.to_str().unwrap())];
    let mut tty = Tty::start_with(data.path(), (80, 24), &arguments, &variables);
    tty.wait_for("game 1");
    tty.send("a");
    tty.wait_for("Table: Black wins in ");
    tty.send("q");
    assert_eq!(tty.wait_exit(), 0);
    // Without the table.
    let variables = [("CROWNHEAD_CACHE", data.path().to_str().unwrap())];
    let mut tty = Tty::start_with(data.path(), (80, 24), &arguments, &variables);
    tty.wait_for("game 1");
    tty.send("aq");
    assert_eq!(tty.wait_exit(), 0);
    tty.wait_for("`crownhead tables build english`");
}

#[test]
fn view_and_learn_use_the_full_screen() {
    let data = tempfile::tempdir().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/records/tests/good/annotations.pdn");
    let mut tty = Tty::start(data.path(), (80, 24), &["view", file]);
    tty.wait_for("game 1");
    tty.send("\x1b[C");
    tty.wait_for(">11-15!");
    tty.send("n");
    tty.wait_for("game 2");
    tty.send("q");
    assert_eq!(tty.wait_exit(), 0);
    tty.wait_restored();

    let mut tty = Tty::start(data.path(), (80, 24), &["learn", "capture-halma"]);
    tty.wait_for("1 of 11: A step");
    // The piece on 43, and the cell to the right of it.
    tty.click(3 + 5 * 2 + 2, 2 + 2 * 3);
    tty.click(3 + 5 * 3 + 2, 2 + 2 * 3);
    tty.wait_for("That is a step.");
    tty.send("\r");
    tty.wait_for("2 of 11");
    tty.send("q");
    assert_eq!(tty.wait_exit(), 0);
    tty.wait_for("1 of 11 exercises done.");
}

#[test]
fn screen_is_redrawn_while_the_computer_thinks() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "best:threads=2,book=off", "--time", "19s"];
    let mut tty = Tty::start(data.path(), (80, 24), &play);
    tty.wait_for("Black(b) to move.");
    tty.send("11-15\r");
    tty.wait_for("is thinking");
    let frames = tty.frames();
    tty.wait_for("White thinking:");
    tty.send("f");
    tty.wait_until("the flipped board", |text| text.contains("1    2    3    4"));
    assert!(tty.frames() > frames);
    tty.send("qy");
    assert_eq!(tty.wait_exit(), 0);
}
