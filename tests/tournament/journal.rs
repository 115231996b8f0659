//! The journal as a file among others: put away, linked to, looked at while and after a run.

use std::fs;
use std::io::BufRead;
use std::process::{Child, Stdio};

use serde_json::json;

use crate::harness::TestTournament;
use crate::run::crownhead_in;
use crate::signals::{end, interrupt, started};

/// A tournament that was killed after some games, all of which are in the write-ahead log.
fn killed() -> TestTournament {
    let tournament = TestTournament::of_eight("games = 20\nseed = 1");
    let (mut child, _out) = started(&tournament, "run", &[]);
    kill(&mut child);
    assert!(tournament.path().join("class.journal-wal").exists());
    fs::create_dir(tournament.path().join("old")).unwrap();
    tournament
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Makes another tournament of the file, and checks that nothing of the old one is in it.
fn run_another(tournament: &TestTournament) {
    tournament.change("games = 20\nseed = 1", "games = 2\nseed = 777");
    let run = tournament.tournament("run", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let fresh = TestTournament::of_eight("games = 2\nseed = 777");
    fresh.tournament("run", &[]);
    assert_eq!(tournament.pdn(), fresh.pdn());
    assert_eq!(tournament.standings(), fresh.standings());
    let names = fs::read_dir(tournament.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["class.journal", "class.toml", "games.pdn", "old"], "one file is all");
}

fn finished_of_old(tournament: &TestTournament) -> u64 {
    let status =
        crownhead_in(tournament.path(), &["tournament", "status", "old/class.journal", "--json"]);
    status.json()["finished"].as_u64().unwrap()
}

#[test]
fn a_journal_that_is_put_away_as_advised_takes_its_games_along() {
    let tournament = killed();
    let told = tournament.tournament("run", &[]);
    assert!(told.refused(1).contains("to play anew, put class.journal away"), "{told:?}");
    assert!(!tournament.path().join("class.journal-wal").exists(), "that one file is all");
    let before = tournament.finished().len() as u64;
    let journal = tournament.path().join("class.journal");
    fs::rename(journal, tournament.path().join("old/class.journal")).unwrap();
    run_another(&tournament);
    assert!(before >= 3);
    assert_eq!(finished_of_old(&tournament), before);
}

#[test]
fn what_a_journal_left_behind_is_never_taken_for_part_of_another() {
    let tournament = killed();
    let [journal, log] =
        ["class.journal", "class.journal-wal"].map(|name| tournament.path().join(name));
    fs::rename(journal, tournament.path().join("old/class.journal")).unwrap();
    let told = tournament.tournament("run", &[]);
    assert!(told.refused(1).contains("there is class.journal-wal without its journal"), "{told:?}");
    assert!(!tournament.path().join("class.journal").exists());
    fs::rename(log, tournament.path().join("old/class.journal-wal")).unwrap();
    let _ = fs::remove_file(tournament.path().join("class.journal-shm"));
    assert!(finished_of_old(&tournament) >= 3, "beside its journal it is of use");
    run_another(&tournament);
}

#[test]
fn no_way_to_a_journal_gets_round_a_run() {
    let tournament = TestTournament::of_eight("schedule = \"ladder\"");
    let (child, out) = started(&tournament, "run", &[]);
    // Somebody clears away what looks like a leftover.
    let _ = fs::remove_file(tournament.path().join("class.lock"));
    fs::create_dir(tournament.path().join("other")).unwrap();
    let [file, journal] = ["class.toml", "class.journal"].map(|name| tournament.path().join(name));
    fs::copy(&file, tournament.path().join("other/class.toml")).unwrap();
    std::os::unix::fs::symlink(&journal, tournament.path().join("other/class.journal")).unwrap();
    fs::create_dir(tournament.path().join("third")).unwrap();
    fs::copy(&file, tournament.path().join("third/class.toml")).unwrap();
    fs::hard_link(&journal, tournament.path().join("third/class.journal")).unwrap();
    for name in ["class.toml", "other/class.toml", "third/class.toml"] {
        let told = crownhead_in(tournament.path(), &["tournament", "resume", name]);
        assert!(told.refused(1).contains("is being run by another crownhead"), "{name}: {told:?}");
    }
    // What is in the log would be missing by its second name.
    let told = crownhead_in(tournament.path(), &["tournament", "status", "third/class.toml"]);
    assert!(told.refused(1).contains("has another name besides (a hard link)"), "{told:?}");
    fs::remove_file(tournament.path().join("third/class.journal")).unwrap();
    interrupt(&child);
    assert_eq!(end(child, out).1, Some(130));
}

#[test]
fn only_games_of_this_run_are_being_played() {
    // Games that would last for hours.
    let tournament = TestTournament::new(
        "game = \"english\"\nmovetime = \"600s\"\nconcurrency = 2\n\
         players = [\"best\", \"level:10\", \"level:9\", \"level:8\"]\n",
    );
    for (verb, boards) in [("run", 2), ("resume", 1)] {
        let mut command = tournament.command(verb, &["--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let (mut line, mut begun) = (String::new(), 0);
        while begun < boards {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0);
            begun += usize::from(line.contains("\"event\":\"started\""));
        }
        let status = tournament.tournament("status", &["--json"]).json();
        assert_eq!(status["state"], "running");
        assert_eq!(status["playing"].as_array().unwrap().len(), boards, "{verb}");
        kill(&mut child);
        tournament.change("concurrency = ", "concurrency = 1 #");
    }
}

#[test]
fn contest_files_of_other_endings_have_their_own_journals() {
    let tournament =
        TestTournament::new("game = \"english\"\nplayers = [\"random\", \"level:1\"]\n");
    for name in ["class.2026", "class.2027"] {
        fs::copy(tournament.path().join("class.toml"), tournament.path().join(name)).unwrap();
        let run = crownhead_in(tournament.path(), &["tournament", "run", name, "--json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let status =
            crownhead_in(tournament.path(), &["tournament", "status", name, "--json"]).json();
        assert_eq!(status["finished"], json!(2));
    }
}
