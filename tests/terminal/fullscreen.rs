//! The menu, sizes, colours and the other screens in a real terminal.

use crate::tty::Tty;

#[test]
fn the_menu_leads_to_a_game() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = Tty::start(data.path(), (80, 24), &[]);
    let shown = tty.wait_for("Which game? [1]");
    assert!(shown.contains("1 Chinese checkers"), "{shown}");
    tty.send("2\r");
    tty.wait_for("2 human v.s. computer");
    tty.send("2\r");
    tty.wait_for("Which side do you play?");
    tty.send("2\r");
    tty.wait_for("Against whom?");
    tty.send("level:1\r");
    tty.wait_for("How many seconds");
    tty.send("1\r");
    // The computer has the first move.
    tty.wait_for("  1.>");
    tty.wait_for("White(w) to move.");
    tty.send("q");
    tty.wait_for("Leave this game?");
    tty.send("y");
    assert_eq!(tty.end(), 0);
    tty.is_restored();
}

#[test]
fn the_menu_leads_to_a_game_by_lines_where_there_is_no_screen() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = Tty::start_with(data.path(), (80, 60), &[], &[("TERM", "dumb")]);
    tty.wait_for("Which game? [1]");
    tty.send("1\n");
    tty.wait_for("Which mode? [2]");
    tty.send("1\n");
    tty.wait_for("Blue(#) to move: ");
    tty.send("2233\n");
    tty.wait_for("Red(O) to move: ");
    tty.send("quit\n");
    assert_eq!(tty.end(), 0);
    tty.wait_for("Game saved.");
}

#[test]
fn resizing_never_breaks_the_screen() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = Tty::start(data.path(), (80, 24), &["play", "contest", "--second", "human"]);
    tty.wait_for("Black(b) to move.");
    for (size, wanted) in [
        ((60, 15), "The screen is 60x15;"),
        ((1, 1), "…"),
        ((200, 60), "Black(b) to move."),
        ((70, 22), "Black(b) to move."),
        ((80, 24), "Black(b) to move."),
    ] {
        tty.resize(size);
        // What was there before may fit too; the keys are on the last line of a new picture.
        tty.wait_until(wanted, |shown| {
            let last = shown.lines().nth(usize::from(size.1) - 1).unwrap_or_default();
            shown.contains(wanted) && (size.1 < 22 || last.contains("q quit"))
        });
    }
    tty.send("qy");
    assert_eq!(tty.end(), 0);
}

/// Whether any cell of the screen has a colour or an attribute.
fn is_coloured(tty: &Tty) -> bool {
    tty.look(|screen| {
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
fn colours_are_left_out_where_they_are_not_wanted() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "human"];
    for (variables, colours) in [(&[][..], true), (&[("NO_COLOR", "1")], false)] {
        let mut tty = Tty::start_with(data.path(), (80, 24), &play, variables);
        tty.wait_for("q quit");
        assert_eq!(is_coloured(&tty), colours);
        tty.send("qy");
        assert_eq!(tty.end(), 0);
    }
}

#[test]
fn a_terminal_that_can_do_no_more_gets_lines() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "human"];
    let mut tty = Tty::start_with(data.path(), (80, 40), &play, &[("TERM", "dumb")]);
    tty.wait_for("Black(b) to move: ");
    tty.send("11-15\n");
    tty.wait_for("White(w) to move: ");
    tty.send("quit\n");
    assert_eq!(tty.end(), 0);
    tty.wait_for("Game saved.");
}

#[test]
fn recorded_games_and_exercises() {
    let data = tempfile::tempdir().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/records/tests/good/annotations.pdn");
    let mut tty = Tty::start(data.path(), (80, 24), &["view", file]);
    tty.wait_for("game 1");
    tty.send("\x1b[C");
    tty.wait_for(">11-15!");
    tty.send("n");
    tty.wait_for("game 2");
    tty.send("q");
    assert_eq!(tty.end(), 0);
    tty.is_restored();

    let mut tty = Tty::start(data.path(), (80, 24), &["learn", "capture-halma"]);
    tty.wait_for("1 of 11: A step");
    // The piece on 43, and the cell to the right of it.
    tty.click(3 + 5 * 2 + 2, 2 + 2 * 3);
    tty.click(3 + 5 * 3 + 2, 2 + 2 * 3);
    tty.wait_for("That is a step.");
    tty.send("\r");
    tty.wait_for("2 of 11");
    tty.send("q");
    assert_eq!(tty.end(), 0);
    tty.wait_for("1 of 11 exercises done.");
}

#[test]
fn the_screen_lives_while_the_computer_thinks() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "best:threads=2", "--time", "19s"];
    let mut tty = Tty::start(data.path(), (80, 24), &play);
    tty.wait_for("Black(b) to move.");
    tty.send("11-15\r");
    tty.wait_for("is thinking");
    let pictures = tty.pictures();
    tty.wait_for("White thinking:");
    tty.send("f");
    tty.wait_until("another side of the board", |shown| shown.contains("1    2    3    4"));
    assert!(tty.pictures() > pictures);
    tty.send("qy");
    assert_eq!(tty.end(), 0);
}
