//! `crownhead tables`. The table is built once; tests that change it work on copies.

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

/// A folder with the table, and the commands that built it. The file was broken at first: a build
/// takes seconds, so one build tests that too.
struct Built {
    folder: PathBuf,
    listed: Finished,
    listed_in_json: Finished,
    finished: Finished,
}

static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tables/crownhead");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(FILE), "CROWNHEAD SOLO\0\0\x01\0\0\0").unwrap();
    let listed = tables(&folder, &["tables", "list"]);
    let listed_in_json = tables(&folder, &["tables", "list", "--json"]);
    let finished = tables(&folder, &BUILD);
    Built { folder, listed, listed_in_json, finished }
});

/// Runs the program with this cache folder.
fn tables(folder: &Path, arguments: &[&str]) -> Finished {
    finish(command(arguments).env("CROWNHEAD_CACHE", folder))
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Output for an existing table.
fn expected_output(folder: &Path) -> String {
    let rows =
        HISTOGRAM.iter().zip(0..).map(|(placements, turns)| format!("{turns} {placements}\n"));
    let path = folder.join(FILE);
    format!("{}: {BYTES} bytes\nturns placements\n{}", path.display(), rows.collect::<String>())
}

#[test]
fn build_prints_path_and_histogram() {
    let Built { folder, finished, .. } = &*BUILT;
    assert_eq!(
        (finished.code, &finished.stdout),
        (Some(0), &expected_output(folder)),
        "{finished:?}"
    );
    // No progress bar in a pipe: only the broken table, what is built, and the time.
    assert_eq!(finished.stderr.lines().count(), 3, "{}", finished.stderr);
    assert!(finished.stderr.contains("\nbuilding "), "{}", finished.stderr);
    let last = finished.stderr.lines().last().unwrap();
    assert!(last.starts_with("built in ") && last.ends_with(" s"), "{last}");
    assert_eq!(files(folder), [FILE]);
    assert_eq!(fs::metadata(folder.join(FILE)).unwrap().len(), BYTES);
}

#[test]
fn broken_table_is_listed_and_rebuilt() {
    let Built { folder, listed, listed_in_json, finished } = &*BUILT;
    let reason = format!("20 bytes, expected {BYTES}");
    assert_eq!(listed.code, Some(0));
    assert!(
        listed.stdout.contains(": broken, 20 bytes, ") && listed.stdout.contains(&reason),
        "{listed:?}"
    );
    let table = &listed_in_json.json()["tables"][0];
    assert_eq!((&table["state"], &table["reason"]), (&"broken".into(), &reason.as_str().into()));
    let message = format!("{}: {reason}; rebuilding it\n", folder.join(FILE).display());
    assert!(finished.stderr.starts_with(&message), "{}", finished.stderr);
}

#[test]
fn existing_table_is_not_rebuilt() {
    let folder = &BUILT.folder;
    let before = fs::metadata(folder.join(FILE)).unwrap().modified().unwrap();
    let finished = tables(folder, &BUILD);
    assert_eq!((finished.code, &finished.stdout), (Some(0), &expected_output(folder)));
    assert_eq!(finished.stderr, "already built; rebuild it with --force\n");

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
fn list_shows_existing_and_absent_tables() {
    let folder = &BUILT.folder;
    let finished = tables(folder, &["tables", "list"]);
    let path = folder.join(FILE);
    let line = format!("chinese-checkers solo: ok, {BYTES} bytes, {}\n", path.display());
    assert!(finished.code == Some(0) && finished.stdout.starts_with(&line), "{finished:?}");

    let empty = tempfile::tempdir().unwrap();
    let finished = tables(empty.path(), &["tables", "list"]);
    let path = empty.path().join(FILE);
    let line = format!("chinese-checkers solo: absent, {BYTES} bytes, {}\n", path.display());
    assert!(finished.code == Some(0) && finished.stdout.starts_with(&line), "{finished:?}");
    assert!(finished.stdout.contains("`crownhead tables build chinese-checkers` takes"));
    assert!(files(empty.path()).is_empty());

    let finished = tables(empty.path(), &["tables", "list", "--json"]);
    finished.printed();
    let object = finished.json();
    let table = &object["tables"][0];
    assert_eq!(object["tables"].as_array().unwrap().len(), 3);
    assert_eq!((&table["game"], &table["table"]), (&"chinese-checkers".into(), &"solo".into()));
    assert_eq!((&table["state"], &table["bytes"]), (&"absent".into(), &BYTES.into()));
    assert_eq!(table["path"], path.to_str().unwrap());
    assert!(table["reason"].is_null());
}

#[test]
fn tables_are_in_the_users_cache_folder_by_default() {
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
        let in_home = list(&[("HOME", home)]);
        assert_eq!(path(&in_home), Some(home.join(".cache/crownhead").join(FILE)));
    }
}

#[cfg(unix)]
#[test]
fn missing_cache_folder_is_reported() {
    let run = |arguments: &[&str]| {
        let mut command = command(arguments);
        // A relative HOME is ignored. Without HOME, the user database would provide one.
        command.env_remove("CROWNHEAD_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", "nowhere");
        finish(&mut command)
    };
    let message = "no cache folder: set CROWNHEAD_CACHE";
    assert_eq!(run(&BUILD).refused(1), format!("crownhead: {message}\n"));
    let table = run(&["tables", "list", "--json"]).json()["tables"][0].clone();
    assert_eq!((&table["state"], &table["reason"]), (&"absent".into(), &message.into()));
    assert!(table["path"].is_null());
}

#[test]
fn unwritable_folder_is_reported_before_the_build() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let finished = tables(&file.join("inside"), &[&BUILD[..], &["--force"]].concat());
    let message = finished.refused(1);
    assert!(message.contains("cannot write to ") && message.contains("file"), "{message}");
    assert_eq!(files(folder.path()), ["file"]);
}

#[test]
fn folder_in_place_of_the_table_is_reported_before_the_build() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(FILE)).unwrap();
    let finished = tables(folder.path(), &[&BUILD[..], &["--force"]].concat());
    assert!(finished.refused(1).contains(&format!("{FILE} is a folder")), "{finished:?}");
}

#[cfg(unix)]
#[test]
fn interrupted_build_leaves_nothing_behind() {
    use std::os::unix::process::ExitStatusExt;
    let interrupt = |folder: &Path| {
        let mut command = command(&[&BUILD[..], &["--force"]].concat());
        let mut child = command.env("CROWNHEAD_CACHE", folder).spawn().unwrap();
        let id = child.id().to_string();
        // The first signal may come before the handler is set, and be ignored if the test runner
        // ignores it.
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
    // The existing table is still there.
    let built = &BUILT.folder;
    interrupt(built);
    assert_eq!(files(built), [FILE]);
    assert!(tables(built, &["tables", "list"]).stdout.contains(" solo: ok, "));
}

#[test]
fn games_without_tables_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    for game in ["contest:kings=true", "english:kings=false", "capture-halma"] {
        let finished = tables(folder.path(), &["tables", "build", game]);
        let message = finished.refused(2);
        let games = "chinese-checkers, english, contest";
        let expected = format!("crownhead: {game} has no tables; games with tables: {games}\n");
        assert_eq!(message, expected);
    }
    assert!(
        tables(folder.path(), &["tables", "build", "go"])
            .refused(2)
            .contains("unknown game \"go\"")
    );
    assert!(files(folder.path()).is_empty());
}

#[test]
fn thread_count_is_checked() {
    for number in ["0", "257", "two"] {
        let finished = crate::harness::crownhead(&[&BUILD[..], &["--threads", number]].concat());
        finished.refused(2);
    }
}
