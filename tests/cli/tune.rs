//! `crownhead tune`, and players with search parameters.

use std::path::Path;

use crate::harness::{Finished, crownhead, crownhead_in};

const TUNE: [&str; 10] = [
    "tune",
    "english",
    "--params",
    "lmp-base,lmr-base",
    "--nodes",
    "150",
    "--pairs",
    "4",
    "-o",
    "tuned",
];

fn tune(folder: &Path, more: &[&str]) -> Finished {
    let finished = crownhead_in(folder, &[&TUNE[..], more].concat());
    assert_eq!(finished.code, Some(0), "{finished:?}");
    finished
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn threads_do_not_change_the_result_and_the_file_says_how_it_was_made() {
    let [one, two] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let first = tune(one.path(), &["--iterations", "4"]);
    let second = tune(two.path(), &["--iterations", "4", "--threads", "2"]);
    assert_eq!(first.stdout, second.stdout);
    for name in ["tuned", "tuned.state"] {
        assert_eq!(read(one.path(), name), read(two.path(), name));
    }
    let text = read(one.path(), "tuned");
    assert!(text.contains("\n# crownhead tune english --params lmp-base,lmr-base "), "{text}");
    assert!(text.contains("\nlmp-base = "), "{text}");
    let state = read(one.path(), "tuned.state");
    assert!(!state.ends_with("iteration 4\n400\n50\n"), "no value has moved: {state}");
    let rows: Vec<_> = first.stdout.lines().collect();
    assert!(rows[0].starts_with("parameter ") && rows[1].starts_with("lmp-base "), "{rows:?}");
}

#[test]
fn killed_run_is_resumed_to_the_same_result() {
    use std::process::Stdio;

    let [whole, parts] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let more = ["--iterations", "30"];
    tune(whole.path(), &more);
    let mut command = crate::harness::command(&[&TUNE[..], &more].concat());
    command.current_dir(parts.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let state = || std::fs::read_to_string(parts.path().join("tuned.state")).unwrap_or_default();
    while !state().contains("\niteration 3\n") && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(state(), read(whole.path(), "tuned.state"), "it ended before it was killed");
    let resumed = tune(parts.path(), &more);
    assert!(resumed.stderr.starts_with("Resuming after "), "{resumed:?}");
    for name in ["tuned", "tuned.state"] {
        assert_eq!(read(parts.path(), name), read(whole.path(), name));
    }
    // A finished run plays no more games.
    let again = tune(parts.path(), &more);
    assert!(!again.stderr.contains("Tuning"), "{again:?}");
}

#[test]
fn state_of_another_run_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    tune(folder.path(), &["--iterations", "1"]);
    let state = read(folder.path(), "tuned.state");
    let finished = crownhead_in(folder.path(), &[&TUNE[..], &["--seed", "2"]].concat());
    assert!(finished.refused(3).contains("tuned.state belongs to another run"), "{finished:?}");
    assert_eq!(read(folder.path(), "tuned.state"), state);
    for damaged in [state.replace("iteration 1", "iteration 9"), format!("{state}1\n")] {
        std::fs::write(folder.path().join("tuned.state"), &damaged).unwrap();
        let finished = crownhead_in(folder.path(), &[&TUNE[..], &["--iterations", "1"]].concat());
        assert!(finished.refused(3).contains("tuned.state is damaged"), "{finished:?}");
    }
}

#[test]
fn invalid_arguments_are_reported_before_the_games() {
    let unwritable = crownhead(&["tune", "english", "-o", "no/such/file"]);
    assert!(unwritable.refused(1).contains("no/such/file"), "{unwritable:?}");
    for (params, message) in [
        ("rfp-margn", "unknown search parameter \"rfp-margn\" (did you mean rfp-margin?)"),
        ("speed", "search parameters: rfp-margin, rfp-improving, rfp-depth, "),
        ("rfp-depth,rfp-depth", "rfp-depth is given twice"),
    ] {
        let finished = crownhead(&["tune", "english", "--params", params]);
        assert!(finished.refused(2).contains(message), "{finished:?}");
    }
}

#[test]
fn player_with_a_parameter_file_plays_with_its_values() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tuned.txt"), "# x\nrfp-depth = 0\niir-depth = 20 # 5\n")
        .unwrap();
    let games = ["--game", "english", "-n", "2", "--nodes", "20", "--json"];
    let players = ["match", "best:params=tuned.txt,hash=1", "best"];
    let finished = crownhead_in(folder.path(), &[&players[..], &games].concat());
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let expected = "\"best:hash=1,nodes=20,rfp-depth=0,iir-depth=20\"";
    assert!(finished.stdout.contains(expected), "{finished:?}");
    for (text, message) in [
        ("", "tuned.txt, no parameters: expected lines such as rfp-margin = 90"),
        ("rfp-margin 90\n", "tuned.txt, line 1: expected name = value, not \"rfp-margin 90\""),
        ("\nrfp-margin = 1e2\n", "tuned.txt, line 2: expected name = value"),
        ("rfp-margin = 9\n", "line 1: rfp-margin takes a whole number from 10 to 300, not 9"),
        ("lmr-divisor = 0\n", "line 1: lmr-divisor takes a whole number from 80 to 800, not 0"),
        ("lmr-base = 99999999999\n", "line 1: lmr-base takes a whole number from"),
        ("speed = 1\n", "line 1: unknown search parameter \"speed\""),
        ("iir-depth = 5\niir-depth = 5\n", "line 2: iir-depth is given twice"),
    ] {
        std::fs::write(folder.path().join("tuned.txt"), text).unwrap();
        let finished = crownhead_in(folder.path(), &[&players[..], &games].concat());
        assert!(finished.refused(3).contains(message), "{finished:?}");
    }
    std::fs::write(folder.path().join("tuned.txt"), b"rfp-margin = \xff").unwrap();
    let finished = crownhead_in(folder.path(), &[&players[..], &games].concat());
    assert!(finished.refused(3).contains("\"tuned.txt\""), "{finished:?}");
    std::fs::remove_file(folder.path().join("tuned.txt")).unwrap();
    let finished = crownhead_in(folder.path(), &[&players[..], &games].concat());
    assert!(finished.refused(3).contains("cannot read the search parameters"), "{finished:?}");
}
