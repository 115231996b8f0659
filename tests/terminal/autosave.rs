//! Games that are broken off: nothing is lost, and the terminal is as it was.

use std::path::Path;

use crate::tty::Tty;

const PLAY: [&str; 8] =
    ["play", "english", "--first", "human", "--second", "human", "--time", "10+0"];

/// The text of the one game that is kept.
fn kept(data: &Path) -> String {
    let files = std::fs::read_dir(data.join("crownhead/unfinished")).unwrap();
    let paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    std::fs::read_to_string(&paths[0]).unwrap()
}

fn clocks(text: &str) -> [u64; 2] {
    let line = text.lines().find(|line| line.starts_with("[Clocks ")).unwrap();
    let mut numbers = line.split(['"', ' ']).filter_map(|word| word.parse().ok());
    [numbers.next().unwrap(), numbers.next().unwrap()]
}

fn begin(data: &Path) -> Tty {
    play_on(Tty::start(data, (80, 24), &PLAY))
}

fn play_on(mut tty: Tty) -> Tty {
    tty.wait_for("Black(b) to move.");
    tty.send("11-15\r");
    tty.wait_for("White(w) to move.");
    tty.send("23-19\r");
    tty.wait_for("Black(b) to move.");
    // The clock is seen to run.
    tty.wait_for("9:58");
    tty
}

#[test]
fn a_request_to_end_restores_the_terminal_and_keeps_the_game_with_its_clocks() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = begin(data.path());
    tty.signal("TERM");
    assert_eq!(tty.end(), 130);
    tty.is_restored();
    tty.wait_for("Game saved. Resume it with: crownhead play --resume");
    let text = kept(data.path());
    assert!(text.contains("1. 11-15 23-19"), "{text}");
    let [black, white] = clocks(&text);
    assert!(black < 599_000 && black < white && white < 600_000, "{text}");

    let mut tty = Tty::start(data.path(), (80, 24), &["play", "--resume"]);
    let shown = tty.wait_for(">23-19");
    assert!(shown.contains("9:5"), "{shown}");
    tty.send("8-11\r");
    tty.wait_for(">8-11");
    tty.send("qy");
    assert_eq!(tty.end(), 0);
    tty.is_restored();
    let text = kept(data.path());
    assert!(text.contains("2. 8-11") && clocks(&text)[0] <= black, "{text}");
}

/// A terminal inside the terminal, which is ended as one that crashes: the program loses it for good.
/// How the program ended then.
#[cfg(target_os = "linux")]
fn lose_the_terminal(folder: &Path, arguments: &str, play: impl FnOnce(Tty) -> Tty) -> String {
    let program = env!("CARGO_BIN_EXE_crownhead");
    // The shell outlives the terminal, to tell.
    let line = format!("trap : HUP; cd {}; {program} {arguments}; echo $? > end", folder.display());
    let mut command = portable_pty::CommandBuilder::new("script");
    command.args(["--quiet", "--flush", "--command", &line, "/dev/null"]);
    let tty = play(Tty::run(command, folder, (80, 40), &[]));
    tty.signal("KILL");
    let begun = std::time::Instant::now();
    loop {
        let end = std::fs::read_to_string(folder.join("end")).unwrap_or_default();
        if end.ends_with('\n') {
            return end.trim().into();
        }
        assert!(begun.elapsed().as_secs() < 60, "the program goes on without a terminal");
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_lost_terminal_ends_the_program_in_order_and_loses_nothing() {
    for plain in ["", "--plain"] {
        let data = tempfile::tempdir().unwrap();
        let arguments = format!("{} --record game.pdn {plain}", PLAY.join(" "));
        let end = lose_the_terminal(data.path(), &arguments, |tty| match plain {
            "" => play_on(tty),
            _ => play_by_lines(tty),
        });
        assert!(["1", "130"].contains(&end.as_str()), "{plain}: ended with {end}");
        let text = kept(data.path());
        assert!(text.contains("1. 11-15 23-19"), "{text}");
        let record = std::fs::read_to_string(data.path().join("game.pdn")).unwrap();
        assert!(record.contains("1. 11-15 23-19"), "{record}");
        // Nothing half written is left either.
        let names = std::fs::read_dir(data.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["crownhead", "end", "game.pdn"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn other_screens_end_in_order_without_their_terminal_too() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/records/tests/good/annotations.pdn");
    for (arguments, wanted) in
        [(format!("view {file}"), "game 1"), ("learn english".into(), "1 of")]
    {
        let data = tempfile::tempdir().unwrap();
        let end = lose_the_terminal(data.path(), &arguments, |tty| {
            tty.wait_for(wanted);
            tty
        });
        assert!(["1", "130"].contains(&end.as_str()), "{arguments}: ended with {end}");
    }
}

#[cfg(target_os = "linux")]
fn play_by_lines(mut tty: Tty) -> Tty {
    tty.wait_for("Black(b) to move: ");
    tty.send("11-15\n");
    tty.wait_for("White(w) to move: ");
    tty.send("23-19\n");
    tty.wait_until("the second turn of Black", |shown| {
        shown.matches("Black(b) to move: ").count() == 2
    });
    tty
}

#[test]
fn a_hangup_restores_the_terminal_and_keeps_the_game() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = begin(data.path());
    tty.signal("HUP");
    assert_eq!(tty.end(), 130);
    tty.is_restored();
    assert!(kept(data.path()).contains("1. 11-15 23-19"));
}

#[test]
fn a_game_by_lines_ends_when_it_is_told_to_and_is_kept() {
    let data = tempfile::tempdir().unwrap();
    let mut arguments = PLAY.to_vec();
    arguments.push("--plain");
    let mut tty = Tty::start(data.path(), (80, 60), &arguments);
    tty.wait_for("Black(b) to move: ");
    tty.send("11-15\n");
    tty.wait_for("White(w) to move: ");
    tty.signal("TERM");
    assert_eq!(tty.end(), 130);
    tty.wait_for("Game saved.");
    assert!(kept(data.path()).contains("1. 11-15"));
}

#[test]
fn a_request_to_end_is_heard_while_the_computer_thinks() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "minimax:30"];
    for plain in [false, true] {
        let more: &[&str] = if plain { &["--plain"] } else { &[] };
        let mut tty = Tty::start(data.path(), (80, 60), &[&play, more].concat());
        tty.wait_for("Black(b) to move");
        tty.send("11-15\r");
        if plain {
            // The board after the move: then it is the computer's turn.
            tty.wait_until("the second board", |shown| shown.matches("1 2 3 4").count() == 2);
        } else {
            tty.wait_for("is thinking");
        }
        tty.signal("TERM");
        assert_eq!(tty.end(), 130);
        tty.is_restored();
    }
}

#[test]
fn a_request_to_end_while_an_offer_is_considered_is_no_draw() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "random", "--plain"];
    let mut tty = Tty::start(data.path(), (80, 60), &play);
    tty.wait_for("Black(b) to move: ");
    tty.send("11-15\n");
    tty.wait_until("the second turn of Black", |shown| {
        shown.matches("Black(b) to move: ").count() == 2
    });
    tty.send("draw\n");
    tty.wait_for("to move: draw");
    tty.signal("TERM");
    assert_eq!(tty.end(), 130);
    tty.wait_for("Game saved.");
    assert!(kept(data.path()).contains("1. 11-15"));
}

#[test]
fn the_question_whether_to_leave_promises_only_what_is_true() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "random"];
    let nowhere = [("CROWNHEAD_DATA", "/dev/null/nowhere")];
    for (variables, promise, end) in [
        (&[][..], "It is saved and can be resumed.", "Game saved. "),
        (&nowhere, "It cannot be saved.", "The game cannot be saved: "),
    ] {
        let mut tty = Tty::start_with(data.path(), (80, 24), &play, variables);
        tty.wait_for("Black(b) to move.");
        tty.send("q");
        let asked = tty.wait_for("Leave this game?");
        assert!(!asked.contains("kept"), "{asked}");
        tty.send("n");
        tty.wait_until("no question", |shown| !shown.contains("Leave this game?"));
        tty.send("11-15\r");
        // The computer has answered, and what is wrong is still said.
        let shown = tty.wait_until("Black's turn", |shown| {
            shown.contains("11-15") && shown.contains("Black(b) to move.")
        });
        assert_eq!(shown.contains("The game cannot be saved: "), !variables.is_empty(), "{shown}");
        tty.send("q");
        tty.wait_for(promise);
        tty.send("y");
        assert_eq!(tty.end(), 0);
        tty.wait_for(end);
    }
}

#[test]
fn there_may_be_nothing_to_take_up() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = Tty::start(data.path(), (80, 24), &["play", "--resume"]);
    tty.wait_for("there is no unfinished game to resume");
    assert_eq!(tty.end(), 3);
}
