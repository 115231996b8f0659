//! `crownhead tables` for the endgame table of English checkers, with up to three pieces.

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Command;
use std::sync::LazyLock;

#[cfg(target_os = "linux")]
use crownhead_test_support::skip;

use crate::harness::{Finished, command, finish};

const BUILD: [&str; 5] = ["tables", "build", "english", "--pieces", "3"];

/// A cache folder with the table, and the command that built it.
static BUILT: LazyLock<(PathBuf, Finished)> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("endgames/crownhead");
    let _ = fs::remove_dir_all(&folder);
    let finished = run(&folder, &BUILD);
    (folder, finished)
});

/// Runs the program with this cache folder.
fn run(folder: &Path, arguments: &[&str]) -> Finished {
    finish(command(arguments).env("CROWNHEAD_CACHE", folder))
}

fn built(arguments: &[&str]) -> Finished {
    run(&BUILT.0, arguments)
}

/// Names and bytes of the slices.
fn slices(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = folder.join("english-endgames");
    let entries = fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let slices = entries.filter(|path| path.extension().is_some_and(|end| end == "slice"));
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        (path.strip_prefix(&folder).unwrap().to_owned(), bytes)
    };
    let mut slices: Vec<_> = slices.map(read).collect();
    slices.sort();
    slices
}

#[test]
fn build_prints_counts_by_number_of_pieces() {
    let (folder, finished) = &*BUILT;
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let lines: Vec<_> = finished.stdout.lines().collect();
    let path = folder.join("english-endgames");
    assert!(lines[0].starts_with(&format!("{}: ", path.display())), "{lines:?}");
    assert_eq!(lines[1], "pieces wins losses draws longest-win bytes");
    assert!(lines[2].starts_with("2 716 402 2370 13 "), "{lines:?}");
    assert!(lines[3].starts_with("3 100250 87305 8477 62 "), "{lines:?}");
    assert_eq!(lines.len(), 4);

    let again = built(&BUILD);
    assert_eq!(again.stderr, "already built; rebuild it with --force\n");
    let object = built(&[&BUILD[..], &["--json"]].concat()).json();
    assert_eq!((&object["built"], &object["table"]), (&false.into(), &"endgames".into()));
    assert_eq!(object["pieces"][1]["wins"], 100_250);
    assert_eq!(object["pieces"][1]["longest"], 62);
}

#[test]
fn list_shows_the_number_of_pieces() {
    let listed = built(&["tables", "list"]);
    let lines: Vec<_> = listed.stdout.lines().skip_while(|l| !l.starts_with("english")).collect();
    assert!(lines[0].starts_with("english endgames: ok, up to 3 pieces, "), "{lines:?}");
    assert!(lines[1].contains("`crownhead tables build english` takes"), "{lines:?}");
    assert!(lines[2].contains("`crownhead tables build english --pieces 6` takes"), "{lines:?}");
    let object = built(&["tables", "list", "--json"]).json();
    let table = &object["tables"][1];
    assert_eq!((&table["pieces"], &table["state"]), (&3.into(), &"ok".into()));
    assert!(table["benefit"].as_str().unwrap().contains("exact"));
    assert_eq!(table["larger"]["pieces"], 6);
}

#[test]
fn verify_derives_all_values() {
    let verified = built(&["tables", "verify", "english"]);
    assert_eq!(verified.printed(), "english endgames: ok, 199520 positions verified\n");
    let object = built(&["tables", "verify", "english", "--json"]).json();
    assert_eq!(object["tables"][0]["positions"], 199_520);
    let empty = tempfile::tempdir().unwrap();
    let finished = run(empty.path(), &["tables", "verify", "english"]);
    let message = finished.refused(1);
    assert!(message.contains("`crownhead tables build english`"), "{message}");
    assert_eq!(run(empty.path(), &["tables", "verify"]).printed(), "");
}

#[test]
fn probe_lists_moves_by_their_exact_value() {
    let probe = ["tables", "probe", "english", "--position", "B:WK32:BK10,K15"];
    let text = built(&probe).printed().to_owned();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("Black wins in "), "{text}");
    assert_eq!(lines[0].strip_prefix("Black "), lines[1].split_once(' ').map(|(_, value)| value));
    assert_eq!(lines.len(), 7, "{text}");
    let object = built(&[&probe[..], &["--json"]].concat()).json();
    assert_eq!((&object["result"], &object["proved"]), (&"win".into(), &true.into()));
    assert_eq!(object["plies"], object["moves"][0]["plies"]);
    assert_eq!(object["moves"].as_array().unwrap().len(), 6);

    // A counter that ends the game first.
    let short = built(&["tables", "probe", "english:draw-plies=3", "--position", probe[4]]);
    assert!(short.printed().contains(" unless a draw counter ends the game first"), "{short:?}");
    let drawn = built(&["tables", "probe", "english", "--position", "B:WK32:BK1"]);
    assert!(drawn.printed().starts_with("Black draws\n"), "{drawn:?}");
}

#[test]
fn positions_outside_the_table_cannot_be_probed() {
    let probe = |position| built(&["tables", "probe", "english", "--position", position]);
    let finished = probe("B:W32,31,30:B1,2");
    let message = finished.refused(3);
    assert!(message.contains("no table contains this position"), "{message}");
    assert!(probe("B:W32:B").refused(3).contains("the game is over"));
    assert!(probe("nonsense").refused(3).contains("expected"));
    let other = ["tables", "probe", "capture-halma", "--position", "8/8/8/8/8/8/8/b6w b 0"];
    assert!(built(&other).refused(2).contains("capture-halma has no tables"));
}

#[test]
fn number_of_pieces_is_checked() {
    for pieces in ["1", "8", "two"] {
        built(&["tables", "build", "english", "--pieces", pieces]).refused(2);
    }
    let finished = built(&["tables", "build", "chinese-checkers", "--pieces", "3"]);
    let message = finished.refused(2);
    assert!(message.contains("does not depend on --pieces"), "{message}");
}

#[test]
fn analysis_shows_the_exact_result() {
    let analyse = |position| {
        ["analyse", "--game", "english", "--position", position, "--depth", "4", "--json"]
    };
    let probe = ["tables", "probe", "english", "--json", "--position", "B:WK32:BK10,K15"];
    let plies = built(&probe).json()["plies"].as_i64().unwrap();
    assert!(plies > 8, "{plies}");
    let object = built(&analyse("B:WK32:BK10,K15")).json();
    assert_eq!(
        (&object["table"]["result"], &object["table"]["plies"]),
        (&"win".into(), &plies.into())
    );
    assert_eq!(object["lines"][0]["eval"]["plies"], plies);
    let object = built(&analyse("B:W32,31,30:B1,2")).json();
    assert!(object["table"].is_null());

    let text = built(&analyse("B:WK32:BK10,K15")[..7]);
    assert!(text.stdout.starts_with(&format!("Table: Black wins in {plies} plies\n")), "{text:?}");
    let text = built(&analyse("B:WK32:BK1")[..7]);
    assert!(text.stdout.starts_with("Table: Black draws\n"), "{text:?}");
}

#[test]
fn analysis_names_a_missing_table_that_would_help() {
    let empty = tempfile::tempdir().unwrap();
    let analyse = |folder: &Path, position| {
        let arguments = ["analyse", "--game", "english", "--position", position, "--depth", "4"];
        run(folder, &arguments).stderr
    };
    let hint = "`crownhead tables build english`";
    let stderr = analyse(empty.path(), "B:WK32:BK10,K15");
    assert_eq!(stderr.matches(hint).count(), 1, "{stderr}");
    let larger = "`crownhead tables build english --pieces 6`";
    assert!(analyse(empty.path(), "B:W32,31,30:B1,2,3").contains(larger));
    assert!(!analyse(empty.path(), "B:W32,31,30,29:B1,2,3,4").contains("tables build"));
    let json = |position| {
        let arguments =
            ["analyse", "--game", "english", "--position", position, "--depth", "4", "--json"];
        run(empty.path(), &arguments).json()["missing_table"].clone()
    };
    assert!(json("B:WK32:BK10,K15").as_str().unwrap().contains(hint));
    assert!(json("B:W32,31,30,29:B1,2,3,4").is_null());
    // Once for all games of a file.
    let games = "[FEN \"B:WK32:BK10,K15\"]\n\n1. 10-14 32-28 *\n\n".repeat(2);
    let file = empty.path().join("games.pdn");
    std::fs::write(&file, games).unwrap();
    let stderr = run(empty.path(), &["analyse", file.to_str().unwrap(), "--depth", "4"]).stderr;
    assert_eq!(stderr.matches(hint).count(), 1, "{stderr}");
    assert!(!analyse(&BUILT.0, "B:WK32:BK10,K15").contains(hint));
    // The table does not hold without kings.
    for (game, is_expected) in [("english", true), ("english:kings=false", false)] {
        let position = "B:W30,31:B1,2";
        let arguments = ["analyse", "--game", game, "--position", position, "--depth", "4"];
        let stderr = run(empty.path(), &arguments).stderr;
        assert_eq!(stderr.contains("tables build"), is_expected, "{game}: {stderr}");
    }
    // The table with three pieces does not contain it; one with five does.
    assert!(analyse(&BUILT.0, "B:WK32,31:BK10,K15").contains(hint));
}

#[test]
fn play_names_a_missing_table_once_the_game_is_over() {
    let empty = tempfile::tempdir().unwrap();
    let play = |folder: &Path, position, first, second| {
        let arguments =
            ["play", "english", "--plain", "--position", position, "--seed", "1", "--first", first];
        let finished = run(folder, &[&arguments[..], &["--second", second]].concat());
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.stderr
    };
    let hint = "`crownhead tables build english`";
    let stderr = play(empty.path(), "B:WK32:BK10,K15", "alphabeta:4", "random");
    assert_eq!(stderr.matches(hint).count(), 1, "{stderr}");
    let stderr = play(&BUILT.0, "B:WK32:BK10,K15", "alphabeta:4", "random");
    assert!(!stderr.contains("tables build"), "{stderr}");
    // Tables do not help these players.
    for first in ["random", "level:1:tables=off"] {
        let stderr = play(empty.path(), "B:WK32:BK10,K15", first, "random");
        assert!(!stderr.contains("tables build"), "{first}: {stderr}");
    }
}

#[test]
fn broken_slice_is_named_and_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("english-endgames");
    fs::create_dir(&copy).unwrap();
    for (name, bytes) in slices(&BUILT.0) {
        fs::write(copy.join(name), bytes).unwrap();
    }
    let path = copy.join("0m2k-0m1k.slice");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    let analyse = ["analyse", "--game", "english", "--position", "B:WK32:BK10,K15", "--depth", "4"];
    for (bytes, what) in [(&whole[..5000], "5000 bytes"), (&flipped, "checksum mismatch in block")]
    {
        fs::write(&path, bytes).unwrap();
        let listed = run(folder.path(), &["tables", "list"]).stdout;
        assert!(listed.contains(&format!(": 0m2k-0m1k.slice: {what}")), "{listed}");
        let message = run(folder.path(), &["tables", "verify", "english"]).refused(1).to_owned();
        assert!(message.contains("0m2k-0m1k") && message.contains(what), "{message}");
        // One message at most, although the table is broken and would help.
        let stderr = run(folder.path(), &analyse).stderr;
        assert!(stderr.matches("tables build").count() <= 1, "{stderr}");
        let message = run(folder.path(), &BUILD).stderr;
        assert!(message.contains("0m2k-0m1k.slice: ") && message.contains("rebuilding"));
        assert_eq!(slices(folder.path()), slices(&BUILT.0));
    }
    fs::remove_dir_all(&copy).unwrap();
    fs::write(&copy, "").unwrap();
    let message = run(folder.path(), &BUILD).refused(1).to_owned();
    assert!(message.contains("is not a folder; remove it"), "{message}");
}

#[test]
fn adjudication_names_the_missing_table() {
    let empty = tempfile::tempdir().unwrap();
    let play = |folder: &Path, game| {
        let rules = ["--adjudicate", "tables=true", "-n", "2", "--json"];
        let arguments = [&["match", "random", "random", "--game", game][..], &rules].concat();
        let finished = run(folder, &arguments);
        assert_eq!(finished.json()["games"], 2);
        finished.stderr
    };
    let missing = play(empty.path(), "english");
    assert_eq!(missing.matches("`crownhead tables build english`").count(), 1, "{missing}");
    let none = play(empty.path(), "english:kings=false");
    assert!(none.contains("english:kings=false has no tables"), "{none}");
    assert_eq!(play(&BUILT.0, "english"), "");
}

#[cfg(unix)]
#[test]
fn killed_build_continues_to_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(&BUILD).env("CROWNHEAD_CACHE", folder.path()).spawn().unwrap();
    while slices(folder.path()).len() < 3 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let finished = run(folder.path(), &BUILD);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(slices(folder.path()), slices(&BUILT.0));
}

#[cfg(unix)]
#[test]
fn builds_at_the_same_time_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let spawn = || command(&BUILD).env("CROWNHEAD_CACHE", folder.path()).spawn().unwrap();
    let codes = [spawn(), spawn()].map(|mut child| child.wait().unwrap().code());
    // The second one is refused, unless the first one has finished before it starts.
    assert!(codes.contains(&Some(0)), "{codes:?}");
    assert_eq!(slices(folder.path()), slices(&BUILT.0));
}

/// Fills a small file system with a build, then lets the build continue with more space. Exits with
/// 77 if nothing can be mounted.
#[cfg(target_os = "linux")]
const FILL_DISK: &str = "
mount -t tmpfs -o size=40k tmpfs \"$CROWNHEAD_CACHE\" || exit 77
\"$@\" 2> stderr
echo $? > code
ls -A \"$CROWNHEAD_CACHE/english-endgames\" > names
mount -o remount,size=8m \"$CROWNHEAD_CACHE\"
\"$@\" > /dev/null 2>&1
cp -r \"$CROWNHEAD_CACHE/english-endgames\" .";

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_reported_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    fs::create_dir(&cache).unwrap();
    let mut unshare = Command::new("unshare");
    unshare.args(["-rm", "sh", "-c", FILL_DISK, "sh", env!("CARGO_BIN_EXE_crownhead")]).args(BUILD);
    let output = unshare.current_dir(folder.path()).env("CROWNHEAD_CACHE", &cache).output();
    let output = output.unwrap();
    if output.status.code() == Some(77) {
        let reason = String::from_utf8_lossy(&output.stderr);
        return skip("full_disk_is_reported_with_the_file", reason);
    }
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(text("code"), "1\n");
    let message = text("stderr");
    assert!(message.contains("cannot write ") && message.contains(".slice: No space"), "{message}");
    assert!(!text("names").contains(".part"), "{}", text("names"));
    assert!(text("names").contains(".slice"), "{}", text("names"));
    assert_eq!(slices(folder.path()), slices(&BUILT.0));
}
