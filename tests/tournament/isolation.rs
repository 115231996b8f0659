//! Tournaments with isolated bots, and with bots of every protocol.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{TestTournament, events};

/// Returns the path of a bot from the tests of the `bots` crate.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/bots/tests/fixtures").join(name)
}

/// Copies such a bot to a folder of the tournament.
fn copy_fixture(tournament: &TestTournament, name: &str, folder: &str) {
    let text = std::fs::read_to_string(fixture(name)).unwrap();
    tournament.write(&format!("{folder}/{name}"), &text);
}

/// Returns players and results of all games without one player.
fn games_without(tournament: &TestTournament, name: &str) -> BTreeSet<String> {
    let games = tournament.games().into_values();
    let others = games.filter(|game| game["first"] != name && game["second"] != name);
    let keys = ["first", "second", "result", "reason", "plies", "faults"];
    others.map(|game| keys.map(|key| game[key].to_string()).join(" ")).collect()
}

#[test]
fn hostile_bot_forfeits_and_does_not_disturb_others() {
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let others = format!(
        "{{ name = \"one\", player = \"cmd:{engine} engine random\" }}, \
         {{ name = \"two\", player = \"cmd:{engine} engine alphabeta:1\" }}, \"random\""
    );
    // Enough time for the monitor to find them during their turns, even on a busy machine.
    let tail =
        "movetime = \"60s\"\nconcurrency = 2\n[limits]\nprocesses = 40\nmemory = \"300MB\"\n";
    let without = TestTournament::new(&format!("game = \"english\"\nplayers = [{others}]\n{tail}"));
    assert_eq!(without.crownhead("run", &[]).code, Some(0));
    let tournament = TestTournament::new(&format!(
        "game = \"english\"\nplayers = [{others}]\nsubmissions = \"bots\"\n{tail}"
    ));
    for (name, mode) in [("bomb", "fork-bomb"), ("glutton", "allocates")] {
        let command = format!("command = \"python3 hostile.py {mode}\"");
        tournament.write(&format!("bots/{name}/bot.toml"), &command);
        copy_fixture(&tournament, "hostile.py", &format!("bots/{name}"));
    }
    let run = tournament.crownhead("run", &[]);
    assert_eq!(run.code, Some(4), "{run:?}");
    let isolation = run.isolation.as_deref().unwrap();
    assert!(isolation.contains("processes=40"), "{isolation}");
    let is_hostile = |name: &Value| name == "bomb" || name == "glutton";
    for game in tournament.games().into_values() {
        if !is_hostile(&game["first"]) && !is_hostile(&game["second"]) {
            continue;
        }
        assert_eq!(game["reason"], "limits", "{game}");
        assert_eq!(game["isolation"], 1, "{game}");
        assert!(is_hostile(&game["forfeit"]), "{game}");
    }
    let expected = games_without(&without, "");
    assert_eq!(expected.len(), 6);
    let games = games_without(&tournament, "bomb");
    assert!(expected.is_subset(&games), "{expected:#?} {games:#?}");
}

#[test]
fn isolation_is_reported_and_recorded() {
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let tournament = TestTournament::new(&format!(
        "game = \"english\"\nplayers = [\"random\", \"minimax:1\", \
         {{ name = \"bot\", player = \"cmd:{engine} engine random\" }}]\n\
         isolation = \"off\"\ngames = 2\n"
    ));
    let run = tournament.crownhead("run", &["--json"]);
    assert_eq!((run.code, run.isolation.as_deref()), (Some(0), Some("isolation: off")), "{run:?}");
    let off = json!({ "requested": "off", "active": [], "missing": [], "limits": null });
    assert_eq!(events(&run.stdout)[0]["isolation"], off);
    tournament.edit("isolation = \"off\"", "isolation = \"default\"");
    let resume = tournament.crownhead("resume", &[]);
    assert!(resume.refused(2).contains("isolation was off, is now default"), "{resume:?}");
    tournament.edit("games = 2", "games = 4");
    let resume = tournament.crownhead("resume", &["--keep"]);
    assert_eq!(resume.code, Some(0), "{resume:?}");
    let object = tournament.crownhead("games", &["--json"]).json();
    let records = object["isolation"].as_array().unwrap();
    assert_eq!((&records[0], records.len()), (&off, 2));
    let mut counts = [0, 0, 0];
    for game in tournament.games().into_values() {
        counts[game["isolation"].as_u64().map_or(0, |number| number as usize)] += 1;
    }
    assert_eq!(counts, [4, 4, 4], "games of built-in players have none");
    let status = tournament.status();
    assert_eq!(status["isolation"]["requested"], "default");
    assert_eq!(status["isolation"]["limits"]["memory"], "2GB");
    let status = tournament.crownhead("status", &[]).stdout;
    assert!(status.contains("isolation off: 4 games\n"), "{status}");
}

#[test]
fn nothing_starts_without_required_isolation() {
    let tournament = TestTournament::new(
        "game = \"english\"\nplayers = [\"cmd:touch started\", \"random\"]\n\
         isolation = \"require\"\n",
    );
    // The root of a user namespace can forbid further ones, so one mechanism is missing.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let mut command = Command::new("unshare");
    command.args(["-Ur", "sh", "-c", script, "sh", engine, "tournament", "run", "class.toml"]);
    let output = command.current_dir(tournament.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let message = "isolation is required but incomplete: namespaces unavailable";
    assert!(stderr.contains(message), "{stderr}");
    assert!(!tournament.path().join("class.journal").exists());
}

#[test]
fn changed_sources_and_headers_are_detected() {
    let tournament = TestTournament::new(
        "game = \"chinese-checkers\"\nplayers = [\"c-function:alone/student.c\", \"random\"]\n\
         submissions = \"bots\"\n",
    );
    for folder in ["alone", "bots/ada"] {
        copy_fixture(&tournament, "student.c", folder);
        copy_fixture(&tournament, "student.h", folder);
    }
    tournament.write("bots/ada/bot.toml", "protocol = \"c-function\"\nsource = \"student.c\"");
    tournament.write("bots/halma/bot.toml", "protocol = \"tcp-int32\"\ncommand = \"./engine\"");
    let run = tournament.crownhead("run", &[]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.stderr.contains("warning: halma takes part but cannot play"), "{run:?}");
    for row in tournament.standings().as_array().unwrap() {
        let has_forfeits = row["forfeits"] != json!({});
        assert_eq!(has_forfeits, row["player"] == "halma", "{row}");
    }
    assert_eq!(tournament.crownhead("resume", &[]).code, Some(4), "nothing has changed");
    let header = std::fs::read_to_string(fixture("student.h")).unwrap() + "\n";
    tournament.write("alone/student.h", &header);
    let resume = tournament.crownhead("resume", &[]);
    let message = resume.refused(2);
    assert!(message.contains("changed: student.c: student.h has changed"), "{message}");
    assert!(!message.contains("changed: ada"), "{message}");
    tournament.write("bots/ada/more.h", &header);
    let resume = tournament.crownhead("resume", &[]);
    assert!(resume.refused(2).contains("changed: ada: more.h is new"), "{resume:?}");
}

#[test]
fn bots_of_the_assignments_take_part() {
    for (game, file, manifest) in [
        ("contest", "contestant.cpp", "protocol = \"cpp-function\"\nsource = \"contestant.cpp\""),
        (
            "capture-halma",
            "halma_client.py",
            "protocol = \"tcp-int32\"\ncommand = \"python3 halma_client.py board good\"",
        ),
    ] {
        let tournament = TestTournament::new(&format!(
            "game = \"{game}\"\nplayers = [\"random\", \"level:1\"]\nsubmissions = \"bots\"\n"
        ));
        tournament.write("bots/ada/bot.toml", manifest);
        copy_fixture(&tournament, file, "bots/ada");
        let run = tournament.crownhead("run", &[]);
        assert_eq!(run.code, Some(0), "{game}: {run:?}");
        for row in tournament.standings().as_array().unwrap() {
            assert_eq!((&row["games"], &row["faults"]), (&json!(4), &json!(0)), "{game}: {row}");
        }
    }
}
