//! The journal as a file among others: put away, linked to, looked at while and after a run.

use std::fs;
use std::io::BufRead;
use std::process::{Child, Stdio};

use serde_json::json;

use crate::contest::Contest;
use crate::run::crownhead_in;
use crate::signals::{end, interrupt, started};

/// A contest that was killed after some games, all of which are in the write-ahead log.
fn killed() -> Contest {
    let contest = Contest::of_eight("games = 20\nseed = 1");
    let (mut child, _out) = started(&contest, "run", &[]);
    kill(&mut child);
    assert!(contest.path().join("class.journal-wal").exists());
    fs::create_dir(contest.path().join("old")).unwrap();
    contest
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Makes another contest of the file, and checks that nothing of the old one is in it.
fn run_another(contest: &Contest) {
    contest.change("games = 20\nseed = 1", "games = 2\nseed = 777");
    let run = contest.tournament("run", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let fresh = Contest::of_eight("games = 2\nseed = 777");
    fresh.tournament("run", &[]);
    assert_eq!(contest.pdn(), fresh.pdn());
    assert_eq!(contest.standings(), fresh.standings());
    let names = fs::read_dir(contest.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["class.journal", "class.toml", "games.pdn", "old"], "one file is all");
}

fn finished_of_old(contest: &Contest) -> u64 {
    let status =
        crownhead_in(contest.path(), &["tournament", "status", "old/class.journal", "--json"]);
    status.json()["finished"].as_u64().unwrap()
}

#[test]
fn a_journal_that_is_put_away_as_advised_takes_its_games_along() {
    let contest = killed();
    let told = contest.tournament("run", &[]);
    assert!(told.refused(1).contains("to play anew, put class.journal away"), "{told:?}");
    assert!(!contest.path().join("class.journal-wal").exists(), "that one file is all");
    let before = contest.finished().len() as u64;
    let journal = contest.path().join("class.journal");
    fs::rename(journal, contest.path().join("old/class.journal")).unwrap();
    run_another(&contest);
    assert!(before >= 3);
    assert_eq!(finished_of_old(&contest), before);
}

#[test]
fn what_a_journal_left_behind_is_never_taken_for_part_of_another() {
    let contest = killed();
    let [journal, log] =
        ["class.journal", "class.journal-wal"].map(|name| contest.path().join(name));
    fs::rename(journal, contest.path().join("old/class.journal")).unwrap();
    let told = contest.tournament("run", &[]);
    assert!(told.refused(1).contains("there is class.journal-wal without its journal"), "{told:?}");
    assert!(!contest.path().join("class.journal").exists());
    fs::rename(log, contest.path().join("old/class.journal-wal")).unwrap();
    let _ = fs::remove_file(contest.path().join("class.journal-shm"));
    assert!(finished_of_old(&contest) >= 3, "beside its journal it is of use");
    run_another(&contest);
}

#[test]
fn no_way_to_a_journal_gets_round_a_run() {
    let contest = Contest::of_eight("schedule = \"ladder\"");
    let (child, out) = started(&contest, "run", &[]);
    // Somebody clears away what looks like a leftover.
    let _ = fs::remove_file(contest.path().join("class.lock"));
    fs::create_dir(contest.path().join("other")).unwrap();
    let [file, journal] = ["class.toml", "class.journal"].map(|name| contest.path().join(name));
    fs::copy(&file, contest.path().join("other/class.toml")).unwrap();
    std::os::unix::fs::symlink(&journal, contest.path().join("other/class.journal")).unwrap();
    fs::create_dir(contest.path().join("third")).unwrap();
    fs::copy(&file, contest.path().join("third/class.toml")).unwrap();
    fs::hard_link(&journal, contest.path().join("third/class.journal")).unwrap();
    for name in ["class.toml", "other/class.toml", "third/class.toml"] {
        let told = crownhead_in(contest.path(), &["tournament", "resume", name]);
        assert!(told.refused(1).contains("is being run by another crownhead"), "{name}: {told:?}");
    }
    // What is in the log would be missing by its second name.
    let told = crownhead_in(contest.path(), &["tournament", "status", "third/class.toml"]);
    assert!(told.refused(1).contains("has another name besides (a hard link)"), "{told:?}");
    fs::remove_file(contest.path().join("third/class.journal")).unwrap();
    interrupt(&child);
    assert_eq!(end(child, out).1, Some(130));
}

#[test]
fn only_games_of_this_run_are_being_played() {
    // Games that would last for hours.
    let contest = Contest::new(
        "game = \"english\"\nmovetime = \"600s\"\nconcurrency = 2\n\
         players = [\"best\", \"level:10\", \"level:9\", \"level:8\"]\n",
    );
    for (verb, boards) in [("run", 2), ("resume", 1)] {
        let mut command = contest.command(verb, &["--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let (mut line, mut begun) = (String::new(), 0);
        while begun < boards {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0);
            begun += usize::from(line.contains("\"event\":\"started\""));
        }
        let status = contest.tournament("status", &["--json"]).json();
        assert_eq!(status["state"], "running");
        assert_eq!(status["playing"].as_array().unwrap().len(), boards, "{verb}");
        kill(&mut child);
        contest.change("concurrency = ", "concurrency = 1 #");
    }
}

#[test]
fn contest_files_of_other_endings_have_their_own_journals() {
    let contest = Contest::new("game = \"english\"\nplayers = [\"random\", \"level:1\"]\n");
    for name in ["class.2026", "class.2027"] {
        fs::copy(contest.path().join("class.toml"), contest.path().join(name)).unwrap();
        let run = crownhead_in(contest.path(), &["tournament", "run", name, "--json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let status = crownhead_in(contest.path(), &["tournament", "status", name, "--json"]).json();
        assert_eq!(status["finished"], json!(2));
    }
}
