//! Readers that go away, and what is full: the program ends without a panic.

#![cfg(target_os = "linux")] // for /dev/full and limits of memory

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::harness::{command, finish};

/// A command for each way of printing. `good.pdn` and `bad.pdn` are in the folder.
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

/// A folder with more games than fit into any buffer.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.pdn"), "1. 11-15 23-19 *\n".repeat(2000)).unwrap();
    fs::write(folder.path().join("bad.pdn"), "1. 11-15 11-15 *\n".repeat(2000)).unwrap();
    folder
}

/// The end of a pipe that nobody reads.
fn unread() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

#[test]
fn output_that_nobody_reads_is_no_failure() {
    let folder = folder();
    for arguments in COMMANDS {
        let mut command = command(arguments);
        let finished = finish(command.current_dir(folder.path()).stdout(unread()));
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_check_that_nobody_reads_still_tells_by_its_exit_code() {
    let folder = folder();
    for (file, code) in [("good.pdn", 0), ("bad.pdn", 3), ("missing.pdn", 1)] {
        for more in [&[][..], &["--json"]] {
            let mut command = command(&[&["pdn", "check", file], more].concat());
            let finished = finish(command.current_dir(folder.path()).stdout(unread()));
            assert_eq!(finished.code, Some(code), "{file} {more:?}");
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_may_leave() {
    let mut command = command(&["perft", "english", "--depth", "9"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "1 7\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn complaints_that_nobody_reads_leave_the_exit_code_as_it_is() {
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
        let finished = finish(command.current_dir(folder.path()).stderr(unread()));
        assert_eq!(finished.code, Some(code), "{arguments:?}");
    }
}

#[test]
fn output_that_does_not_fit_is_a_failure_told_once() {
    let folder = folder();
    // Of clap's own two, nothing is told.
    for arguments in &COMMANDS[..COMMANDS.len() - 2] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = command(arguments);
        let finished = finish(command.current_dir(folder.path()).stdout(full));
        assert_eq!(finished.code, Some(1), "{arguments:?}");
        let told = finished.stderr.matches("No space left on device").count();
        assert_eq!(told, 1, "{arguments:?}: {}", finished.stderr);
    }
}

/// Runs the program with no more than so many kilobytes of memory.
fn crownhead_within(kilobytes: u32, arguments: &[&str]) -> crate::harness::Finished {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"")]);
    shell.arg(env!("CARGO_BIN_EXE_crownhead")).args(arguments).env_remove("RUST_BACKTRACE");
    finish(&mut shell)
}

#[test]
fn a_table_larger_than_the_memory_is_refused_before_anything_is_counted() {
    let arguments = ["perft", "english", "--depth", "4", "--hash", "4096"];
    let finished = crownhead_within(2_000_000, &arguments);
    assert_eq!(finished.refused(1), "crownhead: not enough memory for a hash table of 4096 MB\n");
}

#[test]
fn fewer_threads_than_asked_for_count_the_same() {
    // A thousand threads' stacks do not fit.
    let arguments = ["perft", "english", "--depth", "8", "--threads", "1024"];
    let finished = crownhead_within(200_000, &arguments);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.ends_with("8 845931\n"), "{}", finished.stdout);
}
