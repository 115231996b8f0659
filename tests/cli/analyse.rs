//! `crownhead analyse`.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::harness::{crownhead, crownhead_in, crownhead_reading};

/// Printed once for the games below: the end of the first one is in a table that is not built.
const MISSING_TABLE: &str = "the endgames table has exact results for such positions; build it \
    with `crownhead tables build english` (less than a minute)\n";

/// Black blocks White's man at once, or gives one away.
const GAMES: &str = "\
[Event \"First\"]
[Black \"Ann\"]
[White \"Bob\"]
[FEN \"B:W13:B5,6\"]
1. 6-9 13x6 *

[Event \"No such step\"]
1. 11-15 23-19 2. 8-12 *

[Event \"Third\"]
[Game \"capture-halma\"]
[FEN \"6b1/5b2/8/w7/2w5/8/8/8 b 0\"]
1. 26-27 1-0
";

const MESSAGE: &str = "8-12: illegal: 12 is occupied";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pdn"), GAMES).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn lines_are_printed_best_first() {
    let position = ["analyse", "--game", "contest", "--position", "B:W10:B1", "--depth", "6"];
    let finished = crownhead(&[&position[..], &["--lines", "2"]].concat());
    assert_eq!(finished.code, Some(0));
    let lines: Vec<_> = finished.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{finished:?}");
    assert!(lines[0].starts_with("1  Black wins in 3  1-5 "), "{}", lines[0]);
    assert_eq!(lines[1], "2    Red wins in 1  1-6 10x1");
    let speed = finished.stderr.lines().last().unwrap();
    assert!(speed.starts_with("depth "), "{finished:?}");
    // One line is the default.
    assert_eq!(crownhead(&position).stdout.lines().count(), 1);
}

#[test]
fn json_describes_a_position() {
    let arguments = ["analyse", "--game", "english", "--moves", "11-15 22-18", "--json"];
    let finished = crownhead(&[&arguments[..], &["--nodes", "1000"]].concat());
    let object = finished.json();
    assert_eq!(finished.printed(), finished.stdout);
    assert_eq!(object["version"], 1);
    assert_eq!(object["game"], "english");
    assert_eq!(object["side"], "b");
    assert_eq!(object["nodes"], 1000);
    assert_eq!(object["limits"]["nodes"], 1000);
    assert_eq!(object["lines"][0]["moves"][0], "15x22");
    assert!(object["end"].is_null());
    let eval = &object["lines"][0]["eval"];
    assert!(eval["points"].is_i64() && eval["winner"].is_null(), "{eval}");
}

#[test]
fn finished_game_has_an_end_and_no_lines() {
    let arguments = ["analyse", "--game", "english", "--position", "B:W13:B5,6", "--depth", "2"];
    let over = [&arguments[..], &["--moves", "5-9"]].concat();
    let finished = crownhead(&over);
    assert_eq!(finished.printed(), "Black wins: White has no move\n");
    let object = crownhead(&[&over[..], &["--json"]].concat()).json();
    assert_eq!(
        (&object["end"]["winner"], object["lines"].as_array().unwrap().len()),
        (&"b".into(), 0)
    );
}

#[test]
fn default_time_limit_is_reported() {
    let arguments = ["analyse", "--game", "english", "--position", "W:W21:B17"];
    let finished = crownhead(&arguments);
    assert_eq!(finished.stdout, "1  White wins in 1  21x14\n");
    assert!(
        finished.stderr.starts_with("searching 5 s; change it with --time, --depth or"),
        "{finished:?}"
    );
}

#[test]
fn invalid_positions_and_moves_are_invalid_input() {
    let refused = |more: &[&str]| {
        let finished =
            crownhead(&[&["analyse", "--game", "english", "--depth", "2"], more].concat());
        finished.refused(3).to_string()
    };
    assert_eq!(
        refused(&["--moves", "11-15 22-18 8-11"]),
        "crownhead: move 3, 8-11: illegal: 15x22 is mandatory\n"
    );
    assert!(refused(&["--position", "B:W50:B1"]).contains("character 4"));
}

#[test]
fn conflicting_arguments_are_refused() {
    let folder = folder();
    for arguments in [
        &["analyse"][..],
        &["analyse", "games.pdn", "--game", "english"],
        &["analyse", "games.pdn", "--position", "B:W13:B5,6"],
        &["analyse", "--game", "english", "--html", "x.html"],
        &["analyse", "--game", "english", "--games", "1"],
        &["analyse", "games.pdn", "--games", "0"],
        &["analyse", "games.pdn", "--games", "3-1"],
        &["analyse", "games.pdn", "--time", "5"],
        &["analyse", "games.pdn", "--time", "0s"],
        &["analyse", "games.pdn", "--depth", "0"],
        &["analyse", "games.pdn", "--json", "--pdn", "-"],
    ] {
        crownhead_in(folder.path(), arguments).refused(2);
    }
    assert_eq!(names(folder.path()), ["games.pdn"]);
}

#[test]
fn game_id_in_place_of_a_file_gets_a_hint() {
    let message = crownhead(&["analyse", "contest", "--depth", "2"]).refused(1).to_string();
    assert!(message.contains("--game contest") && message.contains("cannot open"), "{message}");
}

#[test]
fn games_are_analysed_and_errors_reported() {
    let folder = folder();
    let finished = crownhead_in(folder.path(), &["analyse", "games.pdn", "--depth", "6"]);
    assert_eq!(finished.code, Some(3));
    let messages = format!("games.pdn:8:19: game 2: {MESSAGE}\n{MISSING_TABLE}");
    assert_eq!(finished.stderr, messages);
    let (first, third) = finished.stdout.split_once("Game 3: ").unwrap();
    assert!(first.starts_with("Game 1: Ann (Black) - Bob (White)\n"), "{first}");
    assert!(first.contains("6-9 ??") && first.contains("5-9 (Black wins in 1)"), "{first}");
    assert!(first.contains("Turning point: 1. 6-9??."), "{first}");
    assert!(third.contains("Black wins 2-1") && third.contains("100.0 %"), "{third}");
}

#[test]
fn games_are_selected_by_number() {
    let folder = folder();
    let analyse = |numbers: &str| {
        let arguments = ["analyse", "games.pdn", "--depth", "2", "--json", "--games", numbers];
        crownhead_in(folder.path(), &arguments)
    };
    let numbers = |text: &str| {
        let object = analyse(text).json();
        let games = object["games"].as_array().unwrap().clone();
        games.iter().map(|game| game["number"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers("1"), [1]);
    assert_eq!(numbers("1,3"), [1, 3]);
    assert_eq!(numbers("3-"), [3]);
    assert_eq!(analyse("1,3").stderr, MISSING_TABLE, "the error is in another game");
    let with_error = analyse("2-3");
    assert_eq!(with_error.code, Some(3));
    assert_eq!(with_error.json()["errors"][0]["column"], 19);
    assert!(analyse("7").refused(3).contains("contains only games 1 to 3"));
}

#[test]
fn dash_reads_games_from_standard_input() {
    let finished = crownhead_reading(b"1. 11-15 *", &["analyse", "-", "--depth", "3", "--json"]);
    let object = finished.json();
    assert_eq!(object["file"], "standard input");
    assert_eq!(object["games"][0]["moves"][0]["move"], "11-15");
    let nothing = crownhead_reading(b"", &["analyse", "-", "--depth", "3"]);
    assert!(nothing.refused(3).contains("contains no games"));
}

#[test]
fn annotated_file_passes_pdn_check() {
    let folder = folder();
    let arguments = ["analyse", "games.pdn", "--games", "1,3", "--depth", "6"];
    let to_file = [&arguments[..], &["--pdn", "new.pdn", "--html", "new.html"]].concat();
    let finished = crownhead_in(folder.path(), &to_file);
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("", MISSING_TABLE));
    let written = fs::read_to_string(folder.path().join("new.pdn")).unwrap();
    assert!(written.contains("1. 6-9?? {[%eval"), "{written}");
    assert!(written.contains("(1. 5-9 {[%eval #1] Black wins in 1.})"), "{written}");
    let checked = crownhead_in(folder.path(), &["pdn", "check", "new.pdn"]);
    assert_eq!(checked.printed(), "new.pdn: 2 games read (3 plies), 0 errors\n");
    let page = fs::read_to_string(folder.path().join("new.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    let printed = crownhead_in(folder.path(), &[&arguments[..], &["--pdn", "-"]].concat());
    assert_eq!(printed.stdout, written);
}

#[test]
fn input_is_not_replaced_if_games_would_be_lost() {
    let folder = folder();
    for more in [&[][..], &["--games", "1"]] {
        let arguments = [&["analyse", "games.pdn", "--depth", "2", "--pdn", "games.pdn"], more];
        let finished = crownhead_in(folder.path(), &arguments.concat());
        assert!(finished.refused(3).contains("games.pdn is unchanged"), "{finished:?}");
        assert_eq!(fs::read_to_string(folder.path().join("games.pdn")).unwrap(), GAMES);
    }
    let whole = "1. 11-15 *\n";
    fs::write(folder.path().join("whole.pdn"), whole).unwrap();
    let arguments = ["analyse", "whole.pdn", "--depth", "2", "--pdn", "whole.pdn"];
    crownhead_in(folder.path(), &arguments).printed();
    let written = fs::read_to_string(folder.path().join("whole.pdn")).unwrap();
    assert!(written.contains("11-15 {[%eval"), "{written}");
    assert_eq!(names(folder.path()), ["games.pdn", "whole.pdn"]);
}

#[test]
fn unwritable_output_is_reported_with_its_name() {
    let folder = folder();
    for output in ["no/such/folder.html", "."] {
        // Before the search, which would never end.
        let arguments =
            ["analyse", "games.pdn", "--games", "1", "--time", "3600s", "--html", output];
        let message = crownhead_in(folder.path(), &arguments).refused(1).to_string();
        assert!(message.contains(&format!("cannot write {output}")), "{message}");
    }
    assert_eq!(names(folder.path()), ["games.pdn"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_analysis_exits_with_130_and_leaves_files_as_they_were() {
    use crate::harness::{command, interrupt};

    let folder = folder();
    fs::write(folder.path().join("old.html"), "old").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.current_dir(folder.path());
        let finished = interrupt(command);
        assert_eq!(finished.code, Some(130), "{finished:?}");
        assert_eq!(fs::read_to_string(folder.path().join("old.html")).unwrap(), "old");
        assert_eq!(names(folder.path()), ["games.pdn", "old.html"]);
        finished.stdout
    };
    let file = ["analyse", "games.pdn", "--games", "1", "--time", "3600s", "--html", "old.html"];
    assert_eq!(run(&file), "");
    // The best line so far, unless there was none yet.
    let output = run(&["analyse", "--game", "english", "--time", "3600s"]);
    assert!(
        output.is_empty() || output.starts_with("1  ") && output.lines().count() == 1,
        "{output}"
    );
}

#[test]
fn page_does_not_replace_the_games() {
    let folder = folder();
    let whole = "1. 11-15 *\n";
    fs::write(folder.path().join("whole.pdn"), whole).unwrap();
    let arguments = ["analyse", "whole.pdn", "--time", "3600s", "--html", "./whole.pdn"];
    let message = crownhead_in(folder.path(), &arguments).refused(2).to_string();
    assert!(message.contains("whole.pdn is unchanged"), "{message}");
    let arguments = ["analyse", "whole.pdn", "--time", "3600s", "--html", "x", "--pdn", "./x"];
    let message = crownhead_in(folder.path(), &arguments).refused(2).to_string();
    assert!(message.contains("--pdn and --html name the same file"), "{message}");
    assert_eq!(fs::read_to_string(folder.path().join("whole.pdn")).unwrap(), whole);
    assert_eq!(names(folder.path()), ["games.pdn", "whole.pdn"]);
}

#[test]
fn game_with_a_skipped_turn_is_analysed() {
    let game =
        "[Game \"capture-halma\"]\n[FEN \"6b1/5b2/8/w7/2w5/8/8/8 b 0\"]\n1. pass 53-52 0-1\n";
    let finished = crownhead_reading(game.as_bytes(), &["analyse", "-", "--depth", "4", "--json"]);
    finished.printed();
    assert_eq!(finished.json()["games"][0]["moves"][0]["move"], "pass");
}

#[test]
fn default_time_limit_is_not_reported_without_a_search() {
    let start = ["analyse", "--game", "english", "--position"];
    let finished = crownhead(&[&start[..], &["B:W50:B1"]].concat());
    assert!(!finished.refused(3).contains("searching"), "{finished:?}");
    let over = [&start[..], &["B:W13:B5,6", "--moves", "5-9"]].concat();
    assert_eq!(crownhead(&over).printed(), "Black wins: White has no move\n");
}

#[test]
fn missing_arguments_are_listed() {
    let finished = crownhead(&["analyse"]);
    let message = finished.refused(2);
    assert!(message.contains("a file") && message.contains("--game"), "{message}");
}
