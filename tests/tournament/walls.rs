//! Contests behind the walls around programs, and with programs of every protocol.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::contest::{Contest, events};

/// A bot of the tests of others.
fn bot(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/bots/tests/fixtures").join(name)
}

/// Puts a copy of such a bot in a folder of the contest.
fn copy(contest: &Contest, name: &str, folder: &str) {
    let text = std::fs::read_to_string(bot(name)).unwrap();
    contest.write(&format!("{folder}/{name}"), &text);
}

/// The games without a player: who played, and what came of it.
fn games_without(contest: &Contest, name: &str) -> BTreeSet<String> {
    let games = contest.games().into_values();
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
    let calm = Contest::new(&format!("game = \"english\"\nplayers = [{others}]\n{tail}"));
    assert_eq!(calm.tournament("run", &[]).code, Some(0));
    let contest = Contest::new(&format!(
        "game = \"english\"\nplayers = [{others}]\nsubmissions = \"bots\"\n{tail}"
    ));
    for (name, mode) in [("bomb", "fork-bomb"), ("glutton", "allocates")] {
        let command = format!("command = \"python3 hostile.py {mode}\"");
        contest.write(&format!("bots/{name}/bot.toml"), &command);
        copy(&contest, "hostile.py", &format!("bots/{name}"));
    }
    let run = contest.tournament("run", &[]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.isolation.as_ref().is_some_and(|told| told.contains("processes=40")), "{run:?}");
    let is_hostile = |name: &Value| name == "bomb" || name == "glutton";
    for game in contest.games().into_values() {
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
    let games = games_without(&contest, "bomb");
    assert!(calm.is_subset(&games), "{calm:#?} {games:#?}");
}

#[test]
fn the_walls_are_told_and_written_down() {
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let contest = Contest::new(&format!(
        "game = \"english\"\nplayers = [\"random\", \"minimax:1\", \
         {{ name = \"bot\", player = \"cmd:{engine} engine random\" }}]\n\
         isolation = \"off\"\ngames = 2\n"
    ));
    let run = contest.tournament("run", &["--json"]);
    assert_eq!((run.code, run.isolation.as_deref()), (Some(0), Some("isolation: off")), "{run:?}");
    let off = json!({ "asked": "off", "active": [], "missing": [], "limits": null });
    assert_eq!(events(&run.stdout)[0]["isolation"], off);
    contest.change("isolation = \"off\"", "isolation = \"default\"");
    let told = contest.tournament("resume", &[]);
    assert!(told.refused(2).contains("isolation was off, and is default"), "{told:?}");
    contest.change("games = 2", "games = 4");
    let resumed = contest.tournament("resume", &["--keep"]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let object = contest.tournament("games", &["--json"]).json();
    assert_eq!((&object["walls"][0], object["walls"].as_array().unwrap().len()), (&off, 2));
    let mut found = [0, 0, 0];
    for game in contest.games().into_values() {
        found[game["walls"].as_u64().map_or(0, |number| number as usize)] += 1;
    }
    assert_eq!(found, [4, 4, 4], "games of built-in players have none");
    let status = contest.tournament("status", &["--json"]).json();
    assert_eq!(status["isolation"]["asked"], "default");
    assert_eq!(status["isolation"]["limits"]["memory"], "2GB");
    let status = contest.tournament("status", &[]).stdout;
    assert!(status.contains("isolation off: 4 games\n"), "{status}");
}

#[test]
fn nothing_starts_without_walls_that_are_required() {
    let contest = Contest::new(
        "game = \"english\"\nplayers = [\"cmd:touch started\", \"random\"]\nisolation = \"require\"\n",
    );
    // As root of a user namespace one may forbid further ones, and a wall is missing.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let engine = env!("CARGO_BIN_EXE_crownhead");
    let mut command = Command::new("unshare");
    command.args(["-Ur", "sh", "-c", script, "sh", engine, "tournament", "run", "class.toml"]);
    let output = command.current_dir(contest.path()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("isolation is required but incomplete: namespaces unavailable"),
        "{told}"
    );
    assert!(!contest.path().join("class.journal").exists());
}

#[test]
fn functions_and_their_headers_are_watched() {
    let contest = Contest::new(
        "game = \"chinese-checkers\"\nplayers = [\"c-function:alone/student.c\", \"random\"]\n\
         submissions = \"bots\"\n",
    );
    for folder in ["alone", "bots/ada"] {
        copy(&contest, "student.c", folder);
        copy(&contest, "student.h", folder);
    }
    contest.write("bots/ada/bot.toml", "protocol = \"c-function\"\nsource = \"student.c\"");
    contest.write("bots/halma/bot.toml", "protocol = \"tcp-int32\"\ncommand = \"./engine\"");
    let run = contest.tournament("run", &[]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.stderr.contains("note: halma takes part, but cannot play"), "{run:?}");
    for row in contest.standings().as_array().unwrap() {
        let is_forfeited = row["forfeits"] != json!({});
        assert_eq!(is_forfeited, row["player"] == "halma", "{row}");
    }
    assert_eq!(contest.tournament("resume", &[]).code, Some(4), "nothing has changed");
    let header = std::fs::read_to_string(bot("student.h")).unwrap() + "\n";
    contest.write("alone/student.h", &header);
    let told = contest.tournament("resume", &[]);
    let told = told.refused(2);
    assert!(told.contains("changed: student.c: student.h has changed"), "{told}");
    assert!(!told.contains("changed: ada"), "{told}");
    contest.write("bots/ada/more.h", &header);
    let told = contest.tournament("resume", &[]);
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
        let contest = Contest::new(&format!(
            "game = \"{game}\"\nplayers = [\"random\", \"level:1\"]\nsubmissions = \"bots\"\n"
        ));
        contest.write("bots/ada/bot.toml", toml);
        copy(&contest, file, "bots/ada");
        let run = contest.tournament("run", &[]);
        assert_eq!(run.code, Some(0), "{game}: {run:?}");
        for row in contest.standings().as_array().unwrap() {
            assert_eq!((&row["games"], &row["faults"]), (&json!(4), &json!(0)), "{game}: {row}");
        }
    }
}
