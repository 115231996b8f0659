//! Bugs of the command line that were fixed, named after what happened.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::harness::{crownhead, crownhead_in};

/// Returns the last count of `perft`, and the sum of the divided counts.
fn total_and_sum(arguments: &str) -> (u64, u64) {
    let arguments: Vec<_> = arguments.split(' ').chain(["--divide"]).collect();
    let text = crownhead(&arguments).stdout;
    let number = |line: &str| -> u64 { line.rsplit(' ').next().unwrap().parse().unwrap() };
    let (divided, counts): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with(' '));
    (number(counts.last().unwrap()), divided.into_iter().map(number).sum())
}

#[test]
fn perft_divide_did_not_add_up() {
    for arguments in [
        "perft english --depth 6",
        "perft english --depth 6 --paths",
        "perft english:rules=wcdf --position B:WK4:BK29 --depth 9",
        "perft english:rules=wcdf --position B:WK1,K5:BK32 --depth 10",
        "perft english:rules=wcdf --position B:WK4:BK29 --depth 9 --paths",
        "perft english --position B:W6,7,14,15:BK2 --depth 1 --paths",
        "perft english --position B:W6,7,14,15,K22,23:BK2 --depth 3 --paths",
        "perft contest --depth 11 --position B:W20:B1",
        "perft chinese-checkers --depth 3",
        "perft capture-halma --depth 3 --threads 2 --hash 1",
    ] {
        let (total, sum) = total_and_sum(arguments);
        assert_eq!(total, sum, "{arguments}");
    }
}

#[test]
fn perft_counts_overflowed_silently() {
    let position = "B:WK1:BK32";
    let arguments = ["perft", "english:draw-plies=10000", "--position", position, "--depth", "60"];
    let finished = crownhead(&[&arguments[..], &["--hash", "8"]].concat());
    let text = &finished.stdout;
    let counts: Vec<u64> =
        text.lines().map(|line| line.split(' ').nth(1).unwrap().parse().unwrap()).collect();
    assert!(counts.is_sorted(), "{text}");
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("2^64 leaves or more"));
}

#[test]
fn convert_onto_the_input_lost_games_with_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.pdn");
    let text = "1. 11-15 *\n\n[Event \"bad\"]\n1. 9-9 *\n";
    fs::write(&path, text).unwrap();
    let convert = ["pdn", "convert", "games.pdn", "-o", "games.pdn"];
    let finished = crownhead_in(folder.path(), &convert);
    assert_eq!(finished.code, Some(3));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(finished.stderr.contains("games.pdn is unchanged"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn unreadable_file_hid_the_following_ones() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.pdn"), "1. 9-9 *\n").unwrap();
    let finished = crownhead_in(folder.path(), &["pdn", "check", "none.pdn", "bad.pdn"]);
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("bad.pdn:1:4:"));
    let finished = crownhead_in(folder.path(), &["pdn", "check", "--json", "none.pdn", "bad.pdn"]);
    let object: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    assert!(object["files"][0]["failure"].is_string());
    assert_eq!(object["files"][1]["errors"], 1);
}

#[test]
fn closed_output_changed_the_exit_code() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_crownhead"))
        .args(["pdn", "check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take()); // closed before anything is written
    child.stdin.take().unwrap().write_all(b"1. 9-9 *\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
}
