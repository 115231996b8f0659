//! `crownhead tune`.

use crate::harness::{crownhead, crownhead_in};

#[test]
fn header_has_the_command_that_reproduces_the_weights() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["tune", "contest", "--games", "40", "--nodes", "20", "--epochs", "2", "-o"];
    let first = crownhead_in(folder.path(), &[&arguments[..], &["first weights"]].concat());
    assert_eq!(first.code, Some(0), "{first:?}");
    let start = ["--weights", "first weights"];
    crownhead_in(folder.path(), &[&arguments[..], &["second"], &start].concat());
    let text = std::fs::read_to_string(folder.path().join("second")).unwrap();
    assert!(
        text.contains("# crownhead tune contest --weights \"first weights\" --games 40 "),
        "{text}"
    );
}

#[test]
fn unwritable_output_is_reported_before_the_games() {
    let finished = crownhead(&["tune", "contest", "--games", "10000000", "-o", "no/such/file"]);
    assert!(finished.refused(1).contains("cannot write no/such/file"), "{finished:?}");
}

#[test]
fn too_few_positions_are_reported() {
    let finished =
        crownhead(&["tune", "contest", "--games", "1", "--nodes", "20", "--epochs", "1"]);
    assert!(finished.refused(1).contains("too few"), "{finished:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_training() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let start = ["tune", "contest", "--games", "40", "--nodes", "20", "--epochs", "100000"];
    let mut command = crate::harness::command(&start);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let is_training = |line: Result<String, _>| line.unwrap().starts_with("epoch 10:");
    assert!(lines.any(is_training), "training did not start");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert!(lines.all(|line| !line.unwrap().starts_with("epoch 100000:")));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
}
