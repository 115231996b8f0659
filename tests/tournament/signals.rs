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

/// Creates a tournament with a bot that stops the referee in the second move of its first game.
fn with_bot_that_stops_us(mode: &str) -> TestTournament {
    let bot = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("crates/bots/tests/fixtures/hostile.py");
    TestTournament::new(&format!(
        "game = \"english\"\nmovetime = \"1s\"\nisolation = \"off\"\nplayers = [\"random\", \
         {{ name = \"bot\", player = \"cmd:python3 '{}' {mode} stopped\" }}]\n",
        bot.display()
    ))
}

#[test]
fn stopped_referee_does_not_charge_the_bot_for_its_absence() {
    let tournament = with_bot_that_stops_us("stops-the-referee");
    let run = tournament.crownhead("run", &["--json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let absences = |number: &u64| {
        let games = tournament.crownhead("games", &[&number.to_string(), "--json"]).json();
        games["games"][0]["absences"].as_array().unwrap().clone()
    };
    let absences: Vec<_> = tournament.games().keys().flat_map(absences).collect();
    let longest = absences.iter().filter_map(|absence| absence["milliseconds"].as_u64()).max();
    assert!(longest > Some(1500), "{absences:?}");
}

#[test]
fn game_in_which_a_bot_was_late_while_the_referee_was_away_is_replayed_once() {
    let tournament = with_bot_that_stops_us("stops-the-referee-and-is-late");
    let run = tournament.crownhead("run", &["--json"]);
    assert_eq!(run.code, Some(0), "nobody forfeits: {run:?}");
    let replayed = run.stdout.matches("\"replayed\":true").count();
    assert_eq!(replayed, 1, "{run:?}");
    let journal = rusqlite::Connection::open(tournament.path().join("class.journal")).unwrap();
    let query = "SELECT reason, voided_because FROM voided";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (reason, because): (String, String) = journal.query_row(query, [], row).unwrap();
    assert_eq!(reason, "time");
    assert!(because.contains("crownhead was stopped or starved for "), "{because}");
}
