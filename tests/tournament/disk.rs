//! Full and read-only disks, on a small tmpfs. Mounting needs a user namespace or root; without
//! either, the tests are skipped with a message.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::cli::Finished;
use crate::harness::{EIGHT_PLAYERS, TestTournament, events, without_dates};

/// Fills the disk during a tournament, frees space, and resumes.
const FILL_DISK: &str = r#"
set -u
mkdir small
mount -t tmpfs -o size=SIZE tmpfs small || exit 77
cp class.toml small
cd small
"$CROWNHEAD" tournament run class.toml --json > ../events1 2> ../stderr1
echo $? > ../code1
"$CROWNHEAD" tournament resume class.toml > /dev/null 2> ../stderr2
echo $? > ../code2
mount -o remount,size=32m .
"$CROWNHEAD" tournament resume class.toml --json > ../events3 2> ../stderr3
echo $? > ../code3
"$CROWNHEAD" tournament games class.toml --pdn ../games.pdn
"$CROWNHEAD" tournament standings class.toml --json > ../standings
"#;

/// Runs a script in a private mount namespace.
fn unshare(tournament: &TestTournament, script: &str) -> Finished {
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script]).current_dir(tournament.path());
    command.env("CROWNHEAD", env!("CARGO_BIN_EXE_crownhead"));
    Finished::new(command.output().unwrap())
}

fn skip(finished: &Finished) {
    eprintln!("skipped: cannot mount a file system here ({})", finished.stderr.trim());
}

/// Runs a script on a small file system that holds the tournament, and returns its output; `None`
/// if nothing can be mounted.
fn on_small_disk(tournament: &TestTournament, script: &str) -> Option<String> {
    let head =
        "mkdir small && mount -t tmpfs -o size=4m tmpfs small && cp class.toml small && cd small";
    let finished = unshare(tournament, &format!("{head} || exit 77\nexec > ../out 2>&1\n{script}"));
    if finished.code == Some(77) {
        skip(&finished);
        return None;
    }
    Some(fs::read_to_string(tournament.path().join("out")).unwrap())
}

#[test]
fn journal_on_a_read_only_disk_can_be_read() {
    let tournament =
        TestTournament::new("game = \"english\"\nplayers = [\"random\", \"level:1\"]\n");
    let script = "$CROWNHEAD tournament run class.toml > table 2> /dev/null
        mount -o remount,ro .
        $CROWNHEAD tournament standings class.toml | cmp - table && echo same
        $CROWNHEAD tournament games class.toml 2> /dev/null | wc -l
        $CROWNHEAD tournament resume class.toml";
    let Some(output) = on_small_disk(&tournament, script) else { return };
    assert!(output.starts_with("same\n3\n"), "{output}");
    assert!(output.contains("cannot use journal class.journal: Read-only"), "{output}");
}

#[test]
fn tournament_file_is_written_completely_or_not_at_all() {
    let tournament = TestTournament::new("");
    let script = "dd if=/dev/zero of=filler bs=1k 2> /dev/null
        $CROWNHEAD tournament new full.toml
        ls full.toml 2> /dev/null
        rm filler
        $CROWNHEAD tournament new full.toml";
    let Some(output) = on_small_disk(&tournament, script) else { return };
    assert!(output.contains("cannot write full.toml: No space left"), "{output}");
    assert!(output.ends_with("then run:\n  crownhead tournament run full.toml\n"), "{output}");
    assert_eq!(output.matches("full.toml\n").count(), 1, "{output}");
}

#[test]
fn full_disk_is_reported_and_no_game_is_lost_or_replayed() {
    let text =
        format!("game = \"english\"\nplayers = {EIGHT_PLAYERS}\ngames = 4\nconcurrency = 2\n");
    let undisturbed = TestTournament::new(&text);
    assert_eq!(undisturbed.crownhead("run", &[]).code, Some(0));
    let mut filled = 0;
    for size in ["120k", "200k", "280k"] {
        let tournament = TestTournament::new(&text);
        let finished = unshare(&tournament, &FILL_DISK.replace("SIZE", size));
        let read =
            |name: &str| fs::read_to_string(tournament.path().join(name)).unwrap_or_default();
        if read("code1").is_empty() {
            skip(&finished);
            return;
        }
        assert_eq!(read("code1").trim(), "1", "{size}: {}", read("stderr1"));
        assert!(read("stderr1").contains("disk full"), "{size}: {}", read("stderr1"));
        if !read("events1").contains("\"finished\",\"version\"") {
            // Not even the schedule fits, or no game was finished: there is nothing to compare.
            continue;
        }
        filled += 1;
        assert_eq!(read("code2").trim(), "1", "still full: {}", read("stderr2"));
        assert_eq!(read("code3").trim(), "0", "{size}: {}", read("stderr3"));
        let standings: serde_json::Value = serde_json::from_str(&read("standings")).unwrap();
        assert_eq!(standings["standings"], undisturbed.standings(), "{size}");
        assert_eq!(without_dates(&read("games.pdn")), undisturbed.pdn(), "{size}");
        let mut reported = BTreeSet::new();
        for event in events(&(read("events1") + &read("events3"))) {
            if event["event"] == "finished" {
                let is_new = reported.insert(event["game"].as_u64().unwrap());
                assert!(is_new, "reported twice: {event}");
            }
        }
    }
    assert!(filled > 0, "no size filled up in the middle of the tournament");
}
