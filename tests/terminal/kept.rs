//! Games that are broken off: nothing is lost, and the terminal is as it was.

use std::path::Path;

use crate::tty::Tty;

const PLAY: [&str; 8] =
    ["play", "english", "--first", "human", "--second", "human", "--time", "600+0"];

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
    tty.wait_for("The game is kept: crownhead play --resume takes it up again.");
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
#[cfg(target_os = "linux")]
#[test]
fn a_lost_terminal_ends_the_program_and_keeps_the_game_with_the_time_of_the_turn() {
    let data = tempfile::tempdir().unwrap();
    let id = data.path().join("id");
    let program = env!("CARGO_BIN_EXE_crownhead");
    let line = format!("echo $$ > {}; exec {program} {}", id.display(), PLAY.join(" "));
    let mut command = portable_pty::CommandBuilder::new("script");
    command.args(["--quiet", "--flush", "--command", &line, "/dev/null"]);
    let tty = play_on(Tty::run(command, data.path(), (80, 24), &[]));
    let id = std::fs::read_to_string(id).unwrap();
    tty.signal("KILL");
    let process = Path::new("/proc").join(id.trim());
    let begun = std::time::Instant::now();
    while process.exists() {
        assert!(begun.elapsed().as_secs() < 60, "the program goes on without a terminal");
        std::thread::yield_now();
    }
    let text = kept(data.path());
    assert!(text.contains("1. 11-15 23-19"), "{text}");
    assert!(clocks(&text)[0] < 599_000, "{text}");
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
    tty.wait_for("The game is kept");
    assert!(kept(data.path()).contains("1. 11-15"));
}

#[test]
fn a_request_to_end_is_heard_while_the_computer_thinks() {
    let data = tempfile::tempdir().unwrap();
    let play = ["play", "english", "--second", "minimax:30"];
    for (arguments, thinking) in [(&play[..], "is thinking"), (&["--plain"], "White(w)")] {
        let arguments: Vec<_> = match arguments {
            ["--plain"] => play.iter().chain(arguments).copied().collect(),
            _ => arguments.to_vec(),
        };
        let mut tty = Tty::start(data.path(), (80, 60), &arguments);
        tty.wait_for("Black(b) to move");
        tty.send("11-15\r");
        if thinking == "is thinking" {
            tty.wait_for(thinking);
        }
        tty.signal("TERM");
        assert_eq!(tty.end(), 130);
        tty.is_restored();
    }
}

#[test]
fn there_may_be_nothing_to_take_up() {
    let data = tempfile::tempdir().unwrap();
    let mut tty = Tty::start(data.path(), (80, 24), &["play", "--resume"]);
    tty.wait_for("there is no unfinished game to take up again");
    assert_eq!(tty.end(), 3);
}
