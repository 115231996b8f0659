//! A disk that is full: a small file system in memory, which needs a user's own mounts (or root). Where
//! the system does not allow that, the test says so and does nothing.

use std::fs;
use std::process::Command;

use crate::harness::{EIGHT, TestTournament};
use crate::run::Finished;

/// Fills the disk during a tournament, makes room, and goes on.
const SCRIPT: &str = r#"
set -u
mkdir small
mount -t tmpfs -o size=SIZE tmpfs small || exit 77
cp class.toml small
cd small
"$CROWNHEAD" tournament run class.toml --json > ../first 2> ../told
echo $? > ../code
"$CROWNHEAD" tournament resume class.toml > /dev/null 2> ../told2
echo $? > ../code2
mount -o remount,size=32m .
"$CROWNHEAD" tournament resume class.toml --json > ../second 2> ../told3
echo $? > ../code3
"$CROWNHEAD" tournament games class.toml --pdn ../games.pdn
"$CROWNHEAD" tournament standings class.toml --json > ../standings
"#;

/// Runs a script with a small file system `small`, and a tournament in it; what it wrote to `out`. None
/// where nothing can be mounted.
fn on_small_disk(tournament: &TestTournament, script: &str) -> Option<String> {
    let head =
        "mkdir small && mount -t tmpfs -o size=4m tmpfs small && cp class.toml small && cd small";
    let mut unshare = Command::new("unshare");
    unshare.args(["-rm", "sh", "-c", &format!("{head} || exit 77\nexec > ../out 2>&1\n{script}")]);
    unshare.current_dir(tournament.path()).env("CROWNHEAD", env!("CARGO_BIN_EXE_crownhead"));
    let ended = Finished::new(unshare.output().unwrap());
    if ended.code == Some(77) {
        eprintln!("skipped: no file system can be mounted here ({})", ended.stderr.trim());
        return None;
    }
    Some(fs::read_to_string(tournament.path().join("out")).unwrap())
}

#[test]
fn a_journal_on_a_disk_that_cannot_be_written_is_read() {
    let tournament =
        TestTournament::new("game = \"english\"\nplayers = [\"random\", \"level:1\"]\n");
    let script = "$CROWNHEAD tournament run class.toml > table 2> /dev/null
        mount -o remount,ro .
        $CROWNHEAD tournament standings class.toml | cmp - table && echo same
        $CROWNHEAD tournament games class.toml 2> /dev/null | wc -l
        $CROWNHEAD tournament resume class.toml";
    let Some(told) = on_small_disk(&tournament, script) else { return };
    assert!(told.starts_with("same\n3\n"), "{told}");
    assert!(told.contains("the journal class.journal cannot be used: Read-only"), "{told}");
}

#[test]
fn a_contest_file_is_written_whole_or_not_at_all() {
    let tournament = TestTournament::new("");
    let script = "dd if=/dev/zero of=filler bs=1k 2> /dev/null
        $CROWNHEAD tournament new full.toml
        ls full.toml 2> /dev/null
        rm filler
        $CROWNHEAD tournament new full.toml";
    let Some(told) = on_small_disk(&tournament, script) else { return };
    assert!(told.contains("full.toml could not be written: No space left"), "{told}");
    assert!(told.ends_with("change it, then\n  crownhead tournament run full.toml\n"), "{told}");
    assert_eq!(told.matches("full.toml\n").count(), 1, "{told}");
}

#[test]
fn a_full_disk_is_told_and_nothing_is_lost_or_played_twice() {
    let text = format!("game = \"english\"\nplayers = {EIGHT}\ngames = 4\nconcurrency = 2\n");
    let quiet = TestTournament::new(&text);
    assert_eq!(quiet.tournament("run", &[]).code, Some(0));
    let mut filled = 0;
    for size in ["120k", "200k", "280k"] {
        let tournament = TestTournament::new(&text);
        let mut unshare = Command::new("unshare");
        let script = SCRIPT.replace("SIZE", size);
        unshare.args(["-rm", "sh", "-c", &script]).current_dir(tournament.path());
        unshare.env("CROWNHEAD", env!("CARGO_BIN_EXE_crownhead"));
        let ended = Finished::new(unshare.output().unwrap());
        let read =
            |name: &str| fs::read_to_string(tournament.path().join(name)).unwrap_or_default();
        if read("code").is_empty() {
            eprintln!("skipped: no file system can be mounted here ({})", ended.stderr.trim());
            return;
        }
        assert_eq!(read("code").trim(), "1", "{size}: {}", read("told"));
        assert!(read("told").contains("the disk is full"), "{size}: {}", read("told"));
        if !read("first").contains("\"finished\",\"version\"") {
            // Not even the schedule fits: there is nothing to go on with, or no game yet.
            continue;
        }
        filled += 1;
        assert_eq!(read("code2").trim(), "1", "still full: {}", read("told2"));
        assert_eq!(read("code3").trim(), "0", "{size}: {}", read("told3"));
        let standings: serde_json::Value = serde_json::from_str(&read("standings")).unwrap();
        assert_eq!(standings["standings"], quiet.standings(), "{size}");
        assert_eq!(read("games.pdn"), quiet.pdn(), "{size}");
        let mut told = std::collections::BTreeSet::new();
        for event in crate::harness::events(&(read("first") + &read("second"))) {
            if event["event"] == "finished" {
                assert!(told.insert(event["game"].as_u64().unwrap()), "told twice: {event}");
            }
        }
    }
    assert!(filled > 0, "no size filled up in the middle of the contest");
}
