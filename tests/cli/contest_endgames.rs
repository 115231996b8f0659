//! `crownhead tables` and analysis with the endgame table of contest checkers, with up to four men.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::harness::{Finished, command, finish};

const BUILD: [&str; 5] = ["tables", "build", "contest", "--pieces", "4"];

/// A cache folder with the table, and the command that built it.
static BUILT: LazyLock<(PathBuf, Finished)> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contest-endgames/crownhead");
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

/// Black must stop the man of Red, and can.
const WON: &str = "B:W17,18:B9,10";

#[test]
fn build_prints_counts_by_number_of_men() {
    let (folder, finished) = &*BUILT;
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let lines: Vec<_> = finished.stdout.lines().collect();
    let path = folder.join("contest-endgames");
    assert!(lines[0].starts_with(&format!("{}: ", path.display())), "{lines:?}");
    assert_eq!(lines[1], "pieces wins losses draws longest-win bytes");
    assert!(lines[2].starts_with("2 426 465 101 - "), "{lines:?}");
    assert!(lines[4].starts_with("4 214709 198765 89966 - "), "{lines:?}");
    let listed = built(&["tables", "list"]);
    let stdout = &listed.stdout;
    assert!(stdout.contains("\ncontest endgames: ok, up to 4 pieces, "), "{stdout}");
    let object = built(&[&BUILD[..], &["--json"]].concat()).json();
    assert_eq!((&object["built"], &object["pieces"][2]["draws"]), (&false.into(), &89_966.into()));
}

#[test]
fn verify_derives_all_values() {
    let verified = built(&["tables", "verify", "contest"]);
    assert_eq!(verified.printed(), "contest endgames: ok, 534192 positions verified\n");
}

#[test]
fn probe_lists_moves_by_their_exact_value() {
    let probe = |game, position: &str| {
        built(&["tables", "probe", game, "--position", position]).printed().to_owned()
    };
    let text = probe("contest", WON);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "Black wins", "{text}");
    assert!(lines[1].ends_with(" wins"), "{text}");
    let arguments = ["tables", "probe", "contest", "--position", WON, "--json"];
    let object = built(&arguments).json();
    assert_eq!((&object["result"], &object["proved"]), (&"win".into(), &true.into()));
    assert!(object["plies"].is_null(), "{object}");
    assert_eq!(object["moves"].as_array().unwrap().len(), lines.len() - 1);
    assert!(probe("contest", "W:W32:B1").starts_with("Red "), "{text}");
    let other = ["tables", "probe", "contest:draw-plies=12", "--position", WON];
    assert!(built(&other).refused(2).contains("contest:draw-plies=12 has no tables"));
    let large = ["tables", "probe", "contest", "--position", "B:W30,31,32:B1,2"];
    assert!(built(&large).refused(3).contains("no table contains this position"));
}

#[test]
fn analysis_shows_the_exact_result_or_names_the_missing_table() {
    let analyse = |folder: &Path, game, position| {
        run(folder, &["analyse", "--game", game, "--position", position, "--depth", "4"])
    };
    let text = analyse(&BUILT.0, "contest", WON);
    assert!(text.stdout.starts_with("Table: Black wins\n"), "{text:?}");
    let empty = tempfile::tempdir().unwrap();
    let hint = "`crownhead tables build contest`";
    let stderr = analyse(empty.path(), "contest", WON).stderr;
    assert_eq!(stderr.matches(hint).count(), 1, "{stderr}");
    let (eight, nine) = ("B:W29,30,31,32:B1,2,3,4", "B:W28,29,30,31,32:B1,2,3,4");
    assert!(analyse(empty.path(), "contest", eight).stderr.contains(hint));
    assert!(!analyse(empty.path(), "contest", nine).stderr.contains(hint));
    for other in ["contest:kings=true", "contest:draw-plies=9"] {
        assert!(!analyse(empty.path(), other, WON).stderr.contains("tables build"), "{other}");
    }
}

#[cfg(unix)]
#[test]
fn killed_build_continues_to_the_same_files() {
    let slices = |folder: &Path| {
        let entries = fs::read_dir(folder.join("contest-endgames")).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        let slices = paths.filter(|path| path.extension().is_some_and(|end| end == "slice"));
        let mut slices: Vec<_> = slices
            .map(|path| (path.file_name().unwrap().to_owned(), fs::read(&path).unwrap()))
            .collect();
        slices.sort();
        slices
    };
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(&BUILD).env("CROWNHEAD_CACHE", folder.path()).spawn().unwrap();
    while slices(folder.path()).len() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let finished = run(folder.path(), &BUILD);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(slices(folder.path()) == slices(&BUILT.0));
}
