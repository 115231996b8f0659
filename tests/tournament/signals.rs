//! Ctrl-C, a second run at the same time, and cancelling.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::harness::TestTournament;

/// Creates a ladder, which runs until it is stopped.
fn endless() -> TestTournament {
    TestTournament::of_eight("schedule = \"ladder\"\nconcurrency = 2")
}

/// Starts a run and waits for its first games to finish.
pub(crate) fn start(
    tournament: &TestTournament,
    verb: &str,
    args: &[&str],
) -> (Child, BufReader<ChildStdout>) {
    let mut command = tournament.command(verb, &[&["--json"], args].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut finished = 0;
    let mut line = String::new();
    while finished < 3 && out.read_line(&mut line).unwrap() > 0 {
        finished += usize::from(line.contains("\"finished\",\"version\""));
        line.clear();
    }
    assert_eq!(finished, 3, "{:?}", child.wait());
    (child, out)
}

pub(crate) fn interrupt(child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

/// Waits for the end of a run; returns its last line of output and its exit code.
pub(crate) fn wait(mut child: Child, out: BufReader<ChildStdout>) -> (String, Option<i32>) {
    let last = out.lines().map(Result::unwrap).last().unwrap_or_default();
    (last, child.wait().unwrap().code())
}

#[test]
fn first_interrupt_finishes_running_games_and_resume_continues() {
    let tournament = endless();
    for verb in ["run", "resume", "resume"] {
        let (child, out) = start(&tournament, verb, &[]);
        interrupt(&child);
        let (last, code) = wait(child, out);
        assert_eq!(code, Some(130));
        assert!(last.contains("\"how\":\"interrupted\""), "{last}");
        let status = tournament.status();
        assert_eq!(status["state"], "interrupted");
        assert_eq!(status["playing"].as_array().unwrap().len(), 0, "no game was aborted");
    }
}

#[test]
fn second_interrupt_aborts_running_games() {
    // A game that would take hours.
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
    // Wait until the first one is acknowledged.
    let mut err = BufReader::new(child.stderr.take().unwrap());
    line.clear();
    err.read_line(&mut line).unwrap();
    assert!(line.contains("press Ctrl-C again to abort them"), "{line}");
    interrupt(&child);
    let (last, code) = wait(child, out);
    assert_eq!(code, Some(130), "{last}");
    let games = tournament.games();
    assert!(games.values().all(|game| game["state"] != "finished"), "{games:?}");
}

#[test]
fn second_run_is_refused_but_reading_is_not() {
    let tournament = endless();
    let (child, out) = start(&tournament, "run", &[]);
    for verb in ["run", "resume"] {
        let second = tournament.crownhead(verb, &[]);
        assert!(second.refused(1).contains("the tournament is already running"), "{second:?}");
    }
    assert_eq!(tournament.state(), "running");
    let status = tournament.crownhead("status", &[]);
    assert!(status.printed().contains("state     running"), "{status:?}");
    assert!(tournament.standings().as_array().unwrap().len() == 8);
    interrupt(&child);
    assert_eq!(wait(child, out).1, Some(130));
}

#[test]
fn cancelled_tournament_stops_and_resumes_only_with_reopen() {
    let tournament = endless();
    let (child, out) = start(&tournament, "run", &[]);
    assert!(tournament.crownhead("cancel", &[]).printed().starts_with("Cancelled"));
    let (last, code) = wait(child, out);
    assert_eq!(code, Some(1));
    assert!(last.contains("\"how\":\"cancelled\""), "{last}");
    assert_eq!(tournament.state(), "cancelled");
    let standings = tournament.crownhead("standings", &[]);
    let heading = standings.printed().lines().next().unwrap();
    assert!(heading.ends_with("games, cancelled"), "{heading}");
    let finished = tournament.finished();
    let resume = tournament.crownhead("resume", &[]);
    assert!(resume.refused(1).contains("was cancelled; resume it with --reopen"), "{resume:?}");
    assert_eq!(tournament.finished(), finished, "finished games are kept");
    let (child, out) = start(&tournament, "resume", &["--reopen"]);
    interrupt(&child);
    assert_eq!(wait(child, out).1, Some(130));
    assert!(tournament.finished().len() > finished.len());
}
