//! Ctrl-C, a second run at the same time, and cancelling a tournament.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::harness::TestTournament;

/// A ladder that goes on until it is stopped.
fn endless() -> TestTournament {
    TestTournament::of_eight("schedule = \"ladder\"\nconcurrency = 2")
}

/// A run that has finished some games.
pub(crate) fn started(
    tournament: &TestTournament,
    verb: &str,
    more: &[&str],
) -> (Child, BufReader<ChildStdout>) {
    let mut command = tournament.command(verb, &[&["--json"], more].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut seen = 0;
    let mut line = String::new();
    while seen < 3 && out.read_line(&mut line).unwrap() > 0 {
        seen += usize::from(line.contains("\"finished\",\"version\""));
        line.clear();
    }
    assert_eq!(seen, 3, "{:?}", child.wait());
    (child, out)
}

pub(crate) fn interrupt(child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

/// Reads to the end: the last line, and the exit code.
pub(crate) fn end(mut child: Child, out: BufReader<ChildStdout>) -> (String, Option<i32>) {
    let last = out.lines().map(Result::unwrap).last().unwrap_or_default();
    (last, child.wait().unwrap().code())
}

#[test]
fn one_interrupt_finishes_the_running_games_and_a_resume_goes_on() {
    let tournament = endless();
    for verb in ["run", "resume", "resume"] {
        let (child, out) = started(&tournament, verb, &[]);
        interrupt(&child);
        let (last, code) = end(child, out);
        assert_eq!(code, Some(130));
        assert!(last.contains("\"how\":\"interrupted\""), "{last}");
        assert_eq!(tournament.state(), "interrupted");
        let status = tournament.tournament("status", &["--json"]).json();
        assert_eq!(status["playing"].as_array().unwrap().len(), 0, "nothing was broken off");
    }
}

#[test]
fn two_interrupts_break_the_running_games_off() {
    // A game that would last for hours.
    let text = "game = \"english\"\nmovetime = \"600s\"\nplayers = [\"best\", \"level:10\"]\n";
    let tournament = TestTournament::new(text);
    let mut command = tournament.command("run", &["--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"started\"") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0);
    }
    interrupt(&child);
    // It says that it has heard the first.
    let mut told = BufReader::new(child.stderr.take().unwrap());
    line.clear();
    told.read_line(&mut line).unwrap();
    assert!(line.contains("Ctrl-C again breaks them off"), "{line}");
    interrupt(&child);
    let (last, code) = end(child, out);
    assert_eq!(code, Some(130), "{last}");
    let games = tournament.games();
    assert!(games.values().all(|game| game["state"] != "finished"), "{games:?}");
}

#[test]
fn a_second_run_is_refused_and_looking_is_not() {
    let tournament = endless();
    let (child, out) = started(&tournament, "run", &[]);
    for verb in ["run", "resume"] {
        let told = tournament.tournament(verb, &[]);
        assert!(told.refused(1).contains("is being run by another crownhead"), "{told:?}");
    }
    assert_eq!(tournament.state(), "running");
    let told = tournament.tournament("status", &[]);
    assert!(told.printed().contains("state     running"), "{told:?}");
    assert!(tournament.standings().as_array().unwrap().len() == 8);
    interrupt(&child);
    assert_eq!(end(child, out).1, Some(130));
}

#[test]
fn a_cancelled_contest_stops_and_stays_stopped() {
    let tournament = endless();
    let (child, out) = started(&tournament, "run", &[]);
    assert!(tournament.tournament("cancel", &[]).printed().starts_with("cancelled"));
    let (last, code) = end(child, out);
    assert_eq!(code, Some(1));
    assert!(last.contains("\"how\":\"cancelled\""), "{last}");
    assert_eq!(tournament.state(), "cancelled");
    let head = tournament.tournament("standings", &[]);
    assert!(head.printed().lines().next().unwrap().ends_with("games, cancelled"), "{head:?}");
    let before = tournament.finished();
    assert!(tournament.tournament("resume", &[]).refused(1).contains("was cancelled; --reopen"));
    assert_eq!(tournament.finished(), before, "what was played is kept");
    let (child, out) = started(&tournament, "resume", &["--reopen"]);
    interrupt(&child);
    assert_eq!(end(child, out).1, Some(130));
    assert!(tournament.finished().len() > before.len());
}
