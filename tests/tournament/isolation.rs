//! Tournaments behind the walls around programs, and with programs of every protocol.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{TestTournament, events};

/// A bot of the tests of others.
fn bot(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/bots/tests/fixtures").join(name)
}

/// Puts a copy of such a bot in a folder of the tournament.
fn copy(tournament: &TestTournament, name: &str, folder: &str) {
    let text = std::fs::read_to_string(bot(name)).unwrap();
    tournament.write(&format!("{folder}/{name}"), &text);
}

/// The games without a player: who played, and what came of it.
fn games_without(tournament: &TestTournament, name: &str) -> BTreeSet<String> {
    let games = tournament.games().into_values();
    let others = games.filter(|game| game["first"] != name && game["second"] != name);
    let keys = ["first", "second", "result", "reason", "plies", "faults"];
    others.map(|game| keys.map(|key| game[key].to_string()).join(" ")).collect()
}

#[test]
fn a_hostile_bot_forfeits_and_disturbs_nobody() {
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let others = format!(
        "{{ name = \"one\", player = \"cmd:{engine} engine random\" }}, \
         {{ name = \"two\", player = \"cmd:{engine} engine alphabeta:1\" }}, \"random\""
    );
    // Much time: the watch finds them on a busy machine, too, before their turns are over.
    let tail =
        "movetime = \"60s\"\nconcurrency = 2\n[limits]\nprocesses = 40\nmemory = \"300MB\"\n";
    let calm = TestTournament::new(&format!("game = \"english\"\nplayers = [{others}]\n{tail}"));
    assert_eq!(calm.tournament("run", &[]).code, Some(0));
    let tournament = TestTournament::new(&format!(
        "game = \"english\"\nplayers = [{others}]\nsubmissions = \"bots\"\n{tail}"
    ));
    for (name, mode) in [("bomb", "fork-bomb"), ("glutton", "allocates")] {
        let command = format!("command = \"python3 hostile.py {mode}\"");
        tournament.write(&format!("bots/{name}/bot.toml"), &command);
        copy(&tournament, "hostile.py", &format!("bots/{name}"));
    }
    let run = tournament.tournament("run", &[]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.isolation.as_ref().is_some_and(|told| told.contains("processes=40")), "{run:?}");
    let is_hostile = |name: &Value| name == "bomb" || name == "glutton";
    for game in tournament.games().into_values() {
        let hostile = [&game["first"], &game["second"]].map(is_hostile);
        if hostile == [false, false] {
            continue;
        }
        assert_eq!(game["reason"], "limits", "{game}");
        assert_eq!(game["walls"], 1, "{game}");
        assert!(is_hostile(&game["forfeit"]), "{game}");
    }
    let calm = games_without(&calm, "");
    assert_eq!(calm.len(), 6);
    let games = games_without(&tournament, "bomb");
    assert!(calm.is_subset(&games), "{calm:#?} {games:#?}");
}

#[test]
fn the_walls_are_told_and_written_down() {
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let tournament = TestTournament::new(&format!(
        "game = \"english\"\nplayers = [\"random\", \"minimax:1\", \
         {{ name = \"bot\", player = \"cmd:{engine} engine random\" }}]\n\
         isolation = \"off\"\ngames = 2\n"
    ));
    let run = tournament.tournament("run", &["--json"]);
    assert_eq!((run.code, run.isolation.as_deref()), (Some(0), Some("isolation: off")), "{run:?}");
    let off = json!({ "asked": "off", "active": [], "missing": [], "limits": null });
    assert_eq!(events(&run.stdout)[0]["isolation"], off);
    tournament.change("isolation = \"off\"", "isolation = \"default\"");
    let told = tournament.tournament("resume", &[]);
    assert!(told.refused(2).contains("isolation was off, and is default"), "{told:?}");
    tournament.change("games = 2", "games = 4");
    let resumed = tournament.tournament("resume", &["--keep"]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let object = tournament.tournament("games", &["--json"]).json();
    assert_eq!((&object["walls"][0], object["walls"].as_array().unwrap().len()), (&off, 2));
    let mut found = [0, 0, 0];
    for game in tournament.games().into_values() {
        found[game["walls"].as_u64().map_or(0, |number| number as usize)] += 1;
    }
    assert_eq!(found, [4, 4, 4], "games of built-in players have none");
    let status = tournament.tournament("status", &["--json"]).json();
    assert_eq!(status["isolation"]["asked"], "default");
    assert_eq!(status["isolation"]["limits"]["memory"], "2GB");
    let status = tournament.tournament("status", &[]).stdout;
    assert!(status.contains("isolation off: 4 games\n"), "{status}");
}

#[test]
fn nothing_starts_without_walls_that_are_required() {
    let tournament = TestTournament::new(
        "game = \"english\"\nplayers = [\"cmd:touch started\", \"random\"]\nisolation = \"require\"\n",
    );
    // As root of a user namespace one may forbid further ones, and a wall is missing.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let mut command = Command::new("unshare");
    command.args(["-Ur", "sh", "-c", script, "sh", engine, "tournament", "run", "class.toml"]);
    let output = command.current_dir(tournament.path()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("isolation is required, but namespaces is missing"), "{told}");
    assert!(!tournament.path().join("class.journal").exists());
}

#[test]
fn functions_and_their_headers_are_watched() {
    let tournament = TestTournament::new(
        "game = \"chinese-checkers\"\nplayers = [\"c-function:alone/student.c\", \"random\"]\n\
         submissions = \"bots\"\n",
    );
    for folder in ["alone", "bots/ada"] {
        copy(&tournament, "student.c", folder);
        copy(&tournament, "student.h", folder);
    }
    tournament.write("bots/ada/bot.toml", "protocol = \"c-function\"\nsource = \"student.c\"");
    tournament.write("bots/halma/bot.toml", "protocol = \"tcp-int32\"\ncommand = \"./engine\"");
    let run = tournament.tournament("run", &[]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.stderr.contains("note: halma takes part, but cannot play"), "{run:?}");
    for row in tournament.standings().as_array().unwrap() {
        let is_forfeited = row["forfeits"] != json!({});
        assert_eq!(is_forfeited, row["player"] == "halma", "{row}");
    }
    assert_eq!(tournament.tournament("resume", &[]).code, Some(4), "nothing has changed");
    let header = std::fs::read_to_string(bot("student.h")).unwrap() + "\n";
    tournament.write("alone/student.h", &header);
    let told = tournament.tournament("resume", &[]);
    let told = told.refused(2);
    assert!(told.contains("changed: student.c: student.h has changed"), "{told}");
    assert!(!told.contains("changed: ada"), "{told}");
    tournament.write("bots/ada/more.h", &header);
    let told = tournament.tournament("resume", &[]);
    assert!(told.refused(2).contains("changed: ada: more.h is new"), "{told:?}");
}

#[test]
fn contestants_of_the_assignments_take_part() {
    for (game, file, toml) in [
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
        tournament.write("bots/ada/bot.toml", toml);
        copy(&tournament, file, "bots/ada");
        let run = tournament.tournament("run", &[]);
        assert_eq!(run.code, Some(0), "{game}: {run:?}");
        for row in tournament.standings().as_array().unwrap() {
            assert_eq!((&row["games"], &row["faults"]), (&json!(4), &json!(0)), "{game}: {row}");
        }
    }
}
