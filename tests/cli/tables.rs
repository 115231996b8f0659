//! `crownhead tables`. The table is built once; the tests that change it work on copies.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::harness::{Finished, command, finish};

const HISTOGRAM: [u64; 16] = [
    1, 16, 181, 1827, 16544, 125387, 752488, 3389808, 10661155, 21071894, 23159802, 12541449,
    2985947, 262410, 5456, 3,
];
const BYTES: u64 = 37_487_252;
const FILE: &str = "chinese-checkers-solo.table";
const BUILD: [&str; 3] = ["tables", "build", "chinese-checkers"];

/// A folder with the table, and how it came there. It is made on the way, and what is in the
/// table's place at first is broken: building a table takes seconds, so one build shows it all.
struct Built {
    folder: PathBuf,
    listed: Finished,
    listed_in_json: Finished,
    finished: Finished,
}

static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tables/of/crownhead");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(FILE), "CROWNHEAD SOLO\0\0\x01\0\0\0").unwrap();
    let listed = tables(&folder, &["tables", "list"]);
    let listed_in_json = tables(&folder, &["tables", "list", "--json"]);
    let finished = tables(&folder, &BUILD);
    Built { folder, listed, listed_in_json, finished }
});

/// Runs the program with this folder for tables.
fn tables(folder: &Path, arguments: &[&str]) -> Finished {
    finish(command(arguments).env("CROWNHEAD_CACHE", folder))
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What is printed of a table that is there.
fn shown(folder: &Path) -> String {
    let rows =
        HISTOGRAM.iter().zip(0..).map(|(placements, turns)| format!("{turns} {placements}\n"));
    let path = folder.join(FILE);
    format!("{}: {BYTES} bytes\nturns placements\n{}", path.display(), rows.collect::<String>())
}

#[test]
fn building_prints_the_place_and_how_many_placements_need_how_many_turns() {
    let Built { folder, finished, .. } = &*BUILT;
    assert_eq!((finished.code, &finished.stdout), (Some(0), &shown(folder)), "{finished:?}");
    // Into a pipe no bar is drawn: there is what became of the broken table, and the time.
    assert_eq!(finished.stderr.lines().count(), 2, "{}", finished.stderr);
    let last = finished.stderr.lines().last().unwrap();
    assert!(last.starts_with("built in ") && last.ends_with(" s"), "{last}");
    assert_eq!(files(folder), [FILE]);
    assert_eq!(fs::metadata(folder.join(FILE)).unwrap().len(), BYTES);
}

#[test]
fn a_broken_table_is_listed_as_broken_and_built_anew() {
    let Built { folder, listed, listed_in_json, finished } = &*BUILT;
    let why = format!("it is 20 bytes long, and a whole one has {BYTES}");
    assert_eq!(listed.code, Some(0));
    assert!(
        listed.stdout.contains(": broken, 20 bytes, ") && listed.stdout.contains(&why),
        "{listed:?}"
    );
    let table = &listed_in_json.json()["tables"][0];
    assert_eq!((&table["state"], &table["why"]), (&"broken".into(), &why.as_str().into()));
    let told = format!("{}: {why}; it is built anew\n", folder.join(FILE).display());
    assert!(finished.stderr.starts_with(&told), "{}", finished.stderr);
}

#[test]
fn a_table_that_is_there_is_not_built_again() {
    let folder = &BUILT.folder;
    let before = fs::metadata(folder.join(FILE)).unwrap().modified().unwrap();
    let finished = tables(folder, &BUILD);
    assert_eq!((finished.code, &finished.stdout), (Some(0), &shown(folder)));
    assert_eq!(finished.stderr, "it was there already; --force builds it anew\n");

    let finished = tables(folder, &[&BUILD[..], &["--json"]].concat());
    finished.printed();
    let object = finished.json();
    assert_eq!((&object["game"], &object["table"]), (&"chinese-checkers".into(), &"solo".into()));
    assert_eq!(object["path"], folder.join(FILE).to_str().unwrap());
    assert_eq!((&object["bytes"], &object["placements"]), (&BYTES.into(), &74_974_368.into()));
    assert_eq!(object["built"], false);
    assert!(object["seconds"].is_null());
    assert_eq!(object["histogram"], serde_json::json!(HISTOGRAM));
    assert_eq!(fs::metadata(folder.join(FILE)).unwrap().modified().unwrap(), before);
}

#[test]
fn the_list_tells_tables_that_are_there_from_those_that_are_not() {
    let folder = &BUILT.folder;
    let finished = tables(folder, &["tables", "list"]);
    let path = folder.join(FILE);
    let line = format!("chinese-checkers solo: ok, {BYTES} bytes, {}\n", path.display());
    assert_eq!(finished.printed(), line);

    let empty = tempfile::tempdir().unwrap();
    let finished = tables(empty.path(), &["tables", "list"]);
    let path = empty.path().join(FILE);
    let line = format!("chinese-checkers solo: absent, {BYTES} bytes, {}\n", path.display());
    assert_eq!((finished.code, finished.stdout), (Some(0), line));
    assert!(finished.stderr.contains("`crownhead tables build chinese-checkers`"));
    assert!(files(empty.path()).is_empty());

    let finished = tables(empty.path(), &["tables", "list", "--json"]);
    finished.printed();
    let object = finished.json();
    let table = &object["tables"][0];
    assert_eq!(object["tables"].as_array().unwrap().len(), 1);
    assert_eq!((&table["game"], &table["table"]), (&"chinese-checkers".into(), &"solo".into()));
    assert_eq!((&table["state"], &table["bytes"]), (&"absent".into(), &BYTES.into()));
    assert_eq!(table["path"], path.to_str().unwrap());
    assert!(table["why"].is_null());
}

#[test]
fn without_a_variable_of_our_own_the_users_cache_is_used() {
    let home = tempfile::tempdir().unwrap();
    let list = |names: &[(&str, &Path)]| {
        let mut command = command(&["tables", "list", "--json"]);
        command.env_remove("CROWNHEAD_CACHE").env_remove("XDG_CACHE_HOME");
        command.envs(names.iter().copied());
        finish(&mut command).json()["tables"][0].clone()
    };
    let home = home.path();
    let cache = home.join("elsewhere");
    let path = |table: &serde_json::Value| table["path"].as_str().map(PathBuf::from);
    let both = list(&[("HOME", home), ("XDG_CACHE_HOME", &cache)]);
    assert_eq!(path(&both), Some(cache.join("crownhead").join(FILE)));
    if cfg!(target_os = "linux") {
        let of_home = list(&[("HOME", home)]);
        assert_eq!(path(&of_home), Some(home.join(".cache/crownhead").join(FILE)));
    }
}

#[cfg(unix)]
#[test]
fn without_any_folder_for_tables_the_way_out_is_told() {
    let run = |arguments: &[&str]| {
        let mut command = command(arguments);
        // Without the variable the system would be asked for the user's home.
        command.env_remove("CROWNHEAD_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", "nowhere");
        finish(&mut command)
    };
    let told = "there is no folder for tables: set CROWNHEAD_CACHE to one";
    assert_eq!(run(&BUILD).refused(1), format!("crownhead: {told}\n"));
    let table = run(&["tables", "list", "--json"]).json()["tables"][0].clone();
    assert_eq!((&table["state"], &table["why"]), (&"absent".into(), &told.into()));
    assert!(table["path"].is_null());
}

#[test]
fn a_folder_that_cannot_be_made_is_told_before_anything_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let finished = tables(&file.join("inside"), &[&BUILD[..], &["--force"]].concat());
    let told = finished.refused(1);
    assert!(told.contains("file") && told.contains(" cannot be written to: "), "{told}");
    assert_eq!(files(folder.path()), ["file"]);
}

#[test]
fn a_folder_in_the_place_of_the_table_is_told_before_anything_is_built() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(FILE)).unwrap();
    let finished = tables(folder.path(), &[&BUILD[..], &["--force"]].concat());
    assert!(finished.refused(1).contains(&format!("{FILE} is a folder")), "{finished:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_build_leaves_nothing_behind() {
    use std::os::unix::process::ExitStatusExt;
    let interrupt = |folder: &Path| {
        let mut command = command(&[&BUILD[..], &["--force"]].concat());
        let mut child = command.env("CROWNHEAD_CACHE", folder).spawn().unwrap();
        let id = child.id().to_string();
        // The first may come before the program is ready to handle it, and is lost where whoever started
        // the tests ignores it.
        let status = loop {
            let sent = std::process::Command::new("kill").args(["-INT", &id]).status();
            assert!(sent.unwrap().success());
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
        };
        assert!(status.code() == Some(130) || status.signal() == Some(2), "{status:?}");
    };
    let empty = tempfile::tempdir().unwrap();
    interrupt(empty.path());
    assert!(files(empty.path()).is_empty());
    // A table that was to be replaced is still there.
    let built = &BUILT.folder;
    interrupt(built);
    assert_eq!(files(built), [FILE]);
    tables(built, &["tables", "list"]).printed();
}

#[test]
fn games_without_tables_are_refused_as_bad_usage() {
    let folder = tempfile::tempdir().unwrap();
    for game in ["english", "contest:kings=true", "capture-halma"] {
        let finished = tables(folder.path(), &["tables", "build", game]);
        let told = finished.refused(2);
        let id = game.split(':').next().unwrap();
        assert_eq!(told, format!("crownhead: {id} has no tables to build; chinese-checkers has\n"));
    }
    assert!(
        tables(folder.path(), &["tables", "build", "go"]).refused(2).contains("no game \"go\"")
    );
    assert!(files(folder.path()).is_empty());
}

#[test]
fn the_number_of_threads_has_a_range() {
    for number in ["0", "257", "two"] {
        let finished = crate::harness::crownhead(&[&BUILD[..], &["--threads", number]].concat());
        finished.refused(2);
    }
}
