//! The journal as a file: moved, linked, read during and after a run.

use std::fs;
use std::io::BufRead;
use std::process::{Child, Command, Stdio};

use crownhead_test_support::skip;
use serde_json::json;

use crate::cli::crownhead_in;
use crate::harness::TestTournament;
use crate::signals::{interrupt, start, wait};

/// Creates a tournament that was killed after some games, which are still in the write-ahead log.
fn killed() -> TestTournament {
    let tournament = TestTournament::of_eight("games = 20\nseed = 1");
    let (mut child, _out) = start(&tournament, "run", &[]);
    kill(&mut child);
    assert!(tournament.path().join("class.journal-wal").exists());
    fs::create_dir(tournament.path().join("old")).unwrap();
    tournament
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Runs another tournament from the same file name, and checks that nothing of the old one is left
/// in it.
fn run_another(tournament: &TestTournament) {
    tournament.edit("games = 20\nseed = 1", "games = 2\nseed = 777");
    let run = tournament.crownhead("run", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let fresh = TestTournament::of_eight("games = 2\nseed = 777");
    fresh.crownhead("run", &[]);
    assert_eq!(tournament.pdn(), fresh.pdn());
    assert_eq!(tournament.standings(), fresh.standings());
    let names = fs::read_dir(tournament.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["class.journal", "class.toml", "games.pdn", "old"], "one file is left");
}

fn finished_in_old_journal(tournament: &TestTournament) -> u64 {
    let args = ["tournament", "status", "old/class.journal", "--json"];
    crownhead_in(tournament.path(), &args).json()["finished"].as_u64().unwrap()
}

#[test]
fn journal_moved_away_as_advised_is_complete() {
    let tournament = killed();
    let run = tournament.crownhead("run", &[]);
    assert!(run.refused(1).contains("start a new journal: move class.journal away"), "{run:?}");
    assert!(!tournament.path().join("class.journal-wal").exists(), "the log is merged");
    let finished = tournament.finished().len() as u64;
    let journal = tournament.path().join("class.journal");
    fs::rename(journal, tournament.path().join("old/class.journal")).unwrap();
    run_another(&tournament);
    assert!(finished >= 3);
    assert_eq!(finished_in_old_journal(&tournament), finished);
}

#[test]
fn stray_log_is_never_applied_to_a_new_journal() {
    let tournament = killed();
    let [journal, log] =
        ["class.journal", "class.journal-wal"].map(|name| tournament.path().join(name));
    fs::rename(journal, tournament.path().join("old/class.journal")).unwrap();
    let run = tournament.crownhead("run", &[]);
    assert!(run.refused(1).contains("found class.journal-wal without its journal"), "{run:?}");
    assert!(!tournament.path().join("class.journal").exists());
    fs::rename(log, tournament.path().join("old/class.journal-wal")).unwrap();
    let _ = fs::remove_file(tournament.path().join("class.journal-shm"));
    assert!(finished_in_old_journal(&tournament) >= 3, "beside its journal the log is used");
    run_another(&tournament);
}

#[test]
fn running_tournament_is_locked_by_every_path() {
    let tournament = TestTournament::of_eight("schedule = \"ladder\"");
    let (child, out) = start(&tournament, "run", &[]);
    // Deleting what looks like a lock file changes nothing.
    let _ = fs::remove_file(tournament.path().join("class.lock"));
    let path = |name: &str| tournament.path().join(name);
    fs::create_dir(path("symlink")).unwrap();
    fs::copy(path("class.toml"), path("symlink/class.toml")).unwrap();
    std::os::unix::fs::symlink(path("class.journal"), path("symlink/class.journal")).unwrap();
    fs::create_dir(path("hardlink")).unwrap();
    fs::copy(path("class.toml"), path("hardlink/class.toml")).unwrap();
    fs::hard_link(path("class.journal"), path("hardlink/class.journal")).unwrap();
    for name in ["class.toml", "symlink/class.toml", "hardlink/class.toml"] {
        let resume = crownhead_in(tournament.path(), &["tournament", "resume", name]);
        assert!(resume.refused(1).contains("the tournament is already running"), "{resume:?}");
    }
    // By its second name the journal would be without its log.
    let status = crownhead_in(tournament.path(), &["tournament", "status", "hardlink/class.toml"]);
    assert!(status.refused(1).contains("has a second name (a hard link)"), "{status:?}");
    fs::remove_file(path("hardlink/class.journal")).unwrap();
    interrupt(&child);
    assert_eq!(wait(child, out).1, Some(130));
}

#[test]
fn status_lists_only_games_of_the_current_run() {
    // Games that would take hours.
    let tournament = TestTournament::new(
        "game = \"english\"\nmovetime = \"600s\"\nconcurrency = 2\n\
         players = [\"best\", \"level:10\", \"level:9\", \"level:8\"]\n",
    );
    for (verb, concurrency) in [("run", 2), ("resume", 1)] {
        let mut command = tournament.command(verb, &["--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let (mut line, mut started) = (String::new(), 0);
        while started < concurrency {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0);
            started += usize::from(line.contains("\"event\":\"started\""));
        }
        let status = tournament.status();
        assert_eq!(status["state"], "running");
        assert_eq!(status["playing"].as_array().unwrap().len(), concurrency, "{verb}");
        kill(&mut child);
        tournament.edit("concurrency = ", "concurrency = 1 #");
    }
}

#[test]
fn files_with_different_extensions_have_different_journals() {
    let tournament =
        TestTournament::new("game = \"english\"\nplayers = [\"random\", \"level:1\"]\n");
    for name in ["class.2026", "class.2027"] {
        fs::copy(tournament.path().join("class.toml"), tournament.path().join(name)).unwrap();
        let run = crownhead_in(tournament.path(), &["tournament", "run", name, "--json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let args = ["tournament", "status", name, "--json"];
        let status = crownhead_in(tournament.path(), &args).json();
        assert_eq!(status["finished"], json!(2));
    }
}

#[test]
fn damaged_journal_is_refused_with_a_way_to_recover() {
    let tournament = TestTournament::of_eight("games = 4\nseed = 1");
    assert_eq!(tournament.crownhead("run", &[]).code, Some(0));
    let journal = tournament.path().join("class.journal");
    let mut bytes = fs::read(&journal).unwrap();
    // Pages in the middle, which hold games.
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0xa5);
    fs::write(&journal, bytes).unwrap();
    for verb in ["resume", "status", "standings"] {
        let refused = tournament.crownhead(verb, &[]);
        let message = refused.refused(3);
        assert!(message.contains("class.journal is damaged: "), "{message}");
        assert!(message.contains("sqlite3 'class.journal' .dump"), "{message}");
    }
    // The command in the message recovers the games.
    let message = tournament.crownhead("status", &[]).stderr;
    let script = message.split('`').nth(1).unwrap();
    let has_sqlite = Command::new("sqlite3").arg("--version").output().is_ok();
    if !has_sqlite {
        return skip("damaged_journal_is_refused_with_a_way_to_recover", "no sqlite3");
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(tournament.path()).output().unwrap();
    fs::rename(tournament.path().join("recovered.journal"), &journal).unwrap();
    let _ = fs::remove_file(tournament.path().join("class.journal-wal"));
    let resumed = tournament.crownhead("resume", &[]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.starts_with("class: english, "), "{resumed:?}");
}

#[test]
fn deleted_journal_is_noticed_and_saved() {
    let tournament = TestTournament::of_eight("schedule = \"ladder\"\nconcurrency = 2");
    let (child, out) = start(&tournament, "run", &[]);
    for name in ["class.journal", "class.journal-wal", "class.journal-shm"] {
        let _ = fs::remove_file(tournament.path().join(name));
    }
    let (last, code) = wait(child, out);
    assert_eq!(code, Some(1), "{last}");
    assert!(
        last.contains("class.journal was deleted or replaced while the tournament ran"),
        "{last}"
    );
    assert!(last.contains("everything it held was saved to class.journal"), "{last}");
    assert!(tournament.finished().len() >= 3, "no reported game is lost");
}

#[test]
fn estimate_ignores_a_game_during_which_the_clock_was_set() {
    let tournament = TestTournament::of_eight("games = 20\nseed = 1");
    let (mut child, _out) = start(&tournament, "run", &[]);
    kill(&mut child);
    let before = tournament.status()["seconds_left"].as_f64().unwrap();
    let journal = rusqlite::Connection::open(tournament.path().join("class.journal")).unwrap();
    // The clock was set forward by ten years.
    let sql = "UPDATE games SET finished = finished + 315360000000 WHERE number =
               (SELECT min(number) FROM games WHERE finished IS NOT NULL)";
    assert_eq!(journal.execute(sql, []).unwrap(), 1);
    drop(journal);
    let after = tournament.status()["seconds_left"].as_f64().unwrap();
    assert!(after < 20.0 * before + 60.0, "{before} s before, {after} s after");
}
