//! Closed pipes, full disks and too little memory: the program exits without a panic.

#![cfg(target_os = "linux")] // for /dev/full and ulimit -v

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::harness::{command, finish};

/// Commands with all kinds of output. `good.pdn` and `bad.pdn` are in the folder.
const COMMANDS: [&[&str]; 19] = [
    &["games"],
    &["games", "--json"],
    &["moves", "english"],
    &["moves", "capture-halma", "--json"],
    &["perft", "english", "--depth", "4"],
    &["perft", "english", "--depth", "4", "--divide"],
    &["perft", "english", "--depth", "4", "--json"],
    &["pdn", "check", "good.pdn"],
    &["pdn", "check", "good.pdn", "--json"],
    &["pdn", "convert", "good.pdn"],
    &["analyse", "--game", "english", "--depth", "3"],
    &["analyse", "--game", "english", "--depth", "3", "--json"],
    &["analyse", "good.pdn", "--games", "1", "--depth", "3"],
    &["analyse", "good.pdn", "--games", "1", "--depth", "3", "--json"],
    &["analyse", "good.pdn", "--games", "1", "--depth", "3", "--html", "-"],
    &["completions", "zsh"],
    &["man"],
    &["--version"],
    &["--help"],
];

/// Creates a folder with more games than fit into a pipe.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.pdn"), "1. 11-15 23-19 *\n".repeat(2000)).unwrap();
    fs::write(folder.path().join("bad.pdn"), "1. 11-15 11-15 *\n".repeat(2000)).unwrap();
    folder
}

/// Returns the writing end of a pipe whose reader is closed.
fn closed_pipe() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

#[test]
fn closed_output_is_not_a_failure() {
    let folder = folder();
    for arguments in COMMANDS {
        let mut command = command(arguments);
        let finished = finish(command.current_dir(folder.path()).stdout(closed_pipe()));
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn check_with_closed_output_still_sets_the_exit_code() {
    let folder = folder();
    for (file, code) in [("good.pdn", 0), ("bad.pdn", 3), ("missing.pdn", 1)] {
        for more in [&[][..], &["--json"]] {
            let mut command = command(&[&["pdn", "check", file], more].concat());
            let finished = finish(command.current_dir(folder.path()).stdout(closed_pipe()));
            assert_eq!(finished.code, Some(code), "{file} {more:?}");
        }
    }
}

#[test]
fn reader_can_close_the_output_early() {
    let mut command = command(&["perft", "english", "--depth", "9"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "1 7\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn closed_standard_error_does_not_change_the_exit_code() {
    let folder = folder();
    for (arguments, code) in [
        (&["pdn", "check", "bad.pdn"][..], 3),
        (&["pdn", "convert", "bad.pdn"], 3),
        (&["pdn", "check", "missing.pdn"], 1),
        (&["moves", "english", "--position", "nonsense"], 3),
        (&["moves", "chess"], 2),
        (&["perft", "chinese-checkers", "--depth", "1", "--paths"], 2),
        (&["perft", "english", "--depth", "2"], 0),
        (&[], 2),
    ] {
        let mut command = command(arguments);
        let finished = finish(command.current_dir(folder.path()).stderr(closed_pipe()));
        assert_eq!(finished.code, Some(code), "{arguments:?}");
    }
}

#[test]
fn full_disk_is_reported_once() {
    let folder = folder();
    // Except --version and --help, whose errors clap ignores.
    for arguments in &COMMANDS[..COMMANDS.len() - 2] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = command(arguments);
        let finished = finish(command.current_dir(folder.path()).stdout(full));
        assert_eq!(finished.code, Some(1), "{arguments:?}");
        let count = finished.stderr.matches("No space left on device").count();
        assert_eq!(count, 1, "{arguments:?}: {}", finished.stderr);
    }
}

/// Runs the program with a limit on its memory.
fn crownhead_with_memory(kilobytes: u32, arguments: &[&str]) -> crate::harness::Finished {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"")]);
    shell.arg(env!("CARGO_BIN_EXE_crownhead")).args(arguments).env_remove("RUST_BACKTRACE");
    finish(&mut shell)
}

#[test]
fn hash_table_larger_than_memory_is_refused() {
    let arguments = ["perft", "english", "--depth", "4", "--hash", "4096"];
    let finished = crownhead_with_memory(2_000_000, &arguments);
    assert_eq!(finished.refused(1), "crownhead: not enough memory for a hash table of 4096 MB\n");
}

#[test]
fn perft_works_with_fewer_threads_than_requested() {
    // The stacks of a thousand threads do not fit.
    let arguments = ["perft", "english", "--depth", "8", "--threads", "1024"];
    let finished = crownhead_with_memory(200_000, &arguments);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.ends_with("8 845931\n"), "{}", finished.stdout);
}
