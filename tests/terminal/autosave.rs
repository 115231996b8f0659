//! Interrupted games: they are saved, and the terminal is restored.

use std::path::Path;

use crate::tty::Tty;

const PLAY: [&str; 8] =
    ["play", "english", "--first", "human", "--second", "human", "--time", "10+0"];

/// Returns the text of the only saved game.
fn saved_game(data: &Path) -> String {
    let files = std::fs::read_dir(data.join("crownhead/unfinished")).unwrap();
    let paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    std::fs::read_to_string(&paths[0]).unwrap()
}

/// Returns the moves of a game.
fn moves(text: &str) -> String {
    let record = crownhead_records::Reader::new(text.as_bytes()).next().unwrap().unwrap();
    record.line.plies.iter().map(|ply| ply.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn clocks(text: &str) -> [u64; 2] {
    let line = text.lines().find(|line| line.starts_with("[Clocks ")).unwrap();
    let mut numbers = line.split(['"', ' ']).filter_map(|word| word.parse().ok());
    [numbers.next().unwrap(), numbers.next().unwrap()]
}

fn start(data: &Path) -> Tty {
    play_two_moves(Tty::start(data, (80, 24), &PLAY))
}

fn play_two_moves(mut tty: Tty) -> Tty {
    tty.wait_for("Black(b) to move.");
    tty.send("11-15\r");
    tty.wait_for("White(w) to move.");
    tty.send("23-19\r");
    tty.wait_for("Black(b) to move.");
    // The clock runs.
    tty.wait_for("9:58");
    tty
}

#[test]
fn sigterm_restores_the_terminal_and_saves_the_game_with_its_clocks() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = start(data.path());
    tty.signal("TERM");
    assert_eq!(tty.wait_exit(), 130);
    tty.wait_restored();
    tty.wait_for("Game saved. Resume it with: crownhead play --resume");
    let text = saved_game(data.path());
    assert_eq!(moves(&text), "11-15 23-19");
    let [black, white] = clocks(&text);
    assert!(black < 599_000 && black < white && white < 600_000, "{text}");

    let mut tty = Tty::start(data.path(), (80, 24), &["play", "--resume"]);
    let text = tty.wait_for(">23-19");
    assert!(text.contains("9:5"), "{text}");
    tty.send("8-11\r");
    tty.wait_for(">8-11");
    tty.send("qy");
    assert_eq!(tty.wait_exit(), 0);
    tty.wait_restored();
    let text = saved_game(data.path());
    assert!(text.contains("2. 8-11") && clocks(&text)[0] <= black, "{text}");
}

/// Runs the program in a nested terminal and kills that terminal. Returns the exit code of the
/// program.
#[cfg(target_os = "linux")]
fn lose_terminal(folder: &Path, arguments: &str, play: impl FnOnce(Tty) -> Tty) -> String {
    let program = env!("CARGO_BIN_EXE_crownhead");
    // The shell outlives the terminal, to write the exit code.
    let line =
        format!("trap : HUP; cd {}; {program} {arguments}; echo $? > code", folder.display());
    let mut command = portable_pty::CommandBuilder::new("script");
    command.args(["--quiet", "--flush", "--command", &line, "/dev/null"]);
    let tty = play(Tty::run(command, folder, (80, 40), &[]));
    tty.signal("KILL");
    let start = std::time::Instant::now();
    loop {
        let code = std::fs::read_to_string(folder.join("code")).unwrap_or_default();
        if code.ends_with('\n') {
            return code.trim().into();
        }
        assert!(start.elapsed().as_secs() < 60, "the program runs on without a terminal");
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn lost_terminal_loses_no_move() {
    for plain in ["", "--plain"] {
        let data = tempfile::tempdir().unwrap();
        let arguments = format!("{} --record game.pdn {plain}", PLAY.join(" "));
        let code = lose_terminal(data.path(), &arguments, |tty| match plain {
            "" => play_two_moves(tty),
            _ => play_two_moves_in_plain_text(tty),
        });
        assert!(["1", "130"].contains(&code.as_str()), "{plain}: exit code {code}");
        let text = saved_game(data.path());
        assert_eq!(moves(&text), "11-15 23-19");
        let record = std::fs::read_to_string(data.path().join("game.pdn")).unwrap();
        assert_eq!(moves(&record), "11-15 23-19");
        // No temporary file is left.
        let names = std::fs::read_dir(data.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["code", "crownhead", "game.pdn"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn other_screens_exit_when_the_terminal_is_lost() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/records/tests/good/annotations.pdn");
    for (arguments, expected) in
        [(format!("view {file}"), "game 1"), ("learn english".into(), "1 of")]
    {
        let data = tempfile::tempdir().unwrap();
        let code = lose_terminal(data.path(), &arguments, |tty| {
            tty.wait_for(expected);
            tty
        });
        assert!(["1", "130"].contains(&code.as_str()), "{arguments}: exit code {code}");
    }
}

#[cfg(target_os = "linux")]
fn play_two_moves_in_plain_text(mut tty: Tty) -> Tty {
    tty.wait_for("Black(b) to move: ");
    tty.send("11-15\n");
    tty.wait_for("White(w) to move: ");
    tty.send("23-19\n");
    tty.wait_until("the second turn of Black", |text| {
        text.matches("Black(b) to move: ").count() == 2
    });
    tty
}

#[test]
fn sighup_restores_the_terminal_and_saves_the_game() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = start(data.path());
    tty.signal("HUP");
    assert_eq!(tty.wait_exit(), 130);
    tty.wait_restored();
    assert_eq!(moves(&saved_game(data.path())), "11-15 23-19");
}

#[test]
fn sigterm_saves_the_game_in_plain_text() {
    let data = tempfile::tempdir().unwrap();
    let mut arguments = PLAY.to_vec();
    arguments.push("--plain");
    let mut tty = Tty::start(data.path(), (80, 60), &arguments);
    tty.wait_for("Black(b) to move: ");
    tty.send("11-15\n");
    tty.wait_for("White(w) to move: ");
    tty.signal("TERM");
    assert_eq!(tty.wait_exit(), 130);
    tty.wait_for("Game saved.");
    assert!(saved_game(data.path()).contains("1. 11-15"));
}

#[test]
fn sigterm_stops_a_thinking_computer() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "minimax:30"];
    for plain in [false, true] {
        let more: &[&str] = if plain { &["--plain"] } else { &[] };
        let mut tty = Tty::start(data.path(), (80, 60), &[&play, more].concat());
        tty.wait_for("Black(b) to move");
        tty.send("11-15\r");
        if plain {
            // The board after the move: it is the computer's turn.
            tty.wait_until("the second board", |text| text.matches("1 2 3 4").count() == 2);
        } else {
            tty.wait_for("is thinking");
        }
        tty.signal("TERM");
        assert_eq!(tty.wait_exit(), 130);
        tty.wait_restored();
    }
}

#[test]
fn sigterm_during_a_draw_offer_is_not_an_acceptance() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "random", "--plain"];
    let mut tty = Tty::start(data.path(), (80, 60), &play);
    tty.wait_for("Black(b) to move: ");
    tty.send("11-15\n");
    tty.wait_until("the second turn of Black", |text| {
        text.matches("Black(b) to move: ").count() == 2
    });
    tty.send("draw\n");
    tty.wait_for("to move: draw");
    tty.signal("TERM");
    assert_eq!(tty.wait_exit(), 130);
    tty.wait_for("Game saved.");
    assert!(saved_game(data.path()).contains("1. 11-15"));
}

#[test]
fn quit_question_says_whether_the_game_is_saved() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "random"];
    let nowhere = [("CROWNHEAD_DATA", "/dev/null/nowhere")];
    for (variables, question, message) in [
        (&[][..], "It is saved and can be resumed.", "Game saved. "),
        (&nowhere, "It cannot be saved.", "The game cannot be saved: "),
    ] {
        let mut tty = Tty::start_with(data.path(), (80, 24), &play, variables);
        tty.wait_for("Black(b) to move.");
        tty.send("q");
        let text = tty.wait_for("Leave this game?");
        assert!(!text.contains("kept"), "{text}");
        tty.send("n");
        tty.wait_until("no question", |text| !text.contains("Leave this game?"));
        tty.send("11-15\r");
        // The error is still shown after the computer's move.
        let text = tty.wait_until("Black's turn", |text| {
            text.contains("11-15") && text.contains("Black(b) to move.")
        });
        assert_eq!(text.contains("The game cannot be saved: "), !variables.is_empty(), "{text}");
        tty.send("q");
        tty.wait_for(question);
        tty.send("y");
        assert_eq!(tty.wait_exit(), 0);
        tty.wait_for(message);
    }
}

#[test]
fn resume_without_a_saved_game_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = Tty::start(data.path(), (80, 24), &["play", "--resume"]);
    tty.wait_for("there is no unfinished game to resume");
    assert_eq!(tty.wait_exit(), 3);
}
