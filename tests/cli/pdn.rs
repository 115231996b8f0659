//! `crownhead pdn check` and `crownhead pdn convert`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::harness::{crownhead, crownhead_in, crownhead_reading};

const GOOD: &str = "\
[Event \"First\"]
[Result \"1-0\"]
1. 11-15 23-19 2. 8-11 1-0

[Event \"Second\"]
[Game \"capture-halma\"]
1. 11-12 *
";

/// The second game of three has an error in line 5, column 19.
const BAD: &str = "\
[Event \"First\"]
1. 11-15 23-19 1-0

[Event \"No such step\"]
1. 11-15 23-19 2. 8-12 22-18
3. 1-5 0-1

[Event \"Last\"]
1. 9-13 *
";

const MESSAGE: &str = "8-12: illegal: 12 is occupied";

/// The good games of [`BAD`].
const CONVERTED: [&str; 2] = [
    "\
[Event \"First\"]
[Site \"?\"]
[Date \"????.??.??\"]
[Round \"?\"]
[White \"?\"]
[Black \"?\"]
[Result \"1-0\"]
[GameType \"21\"]

1. 11-15 23-19 *
",
    "\
[Event \"Last\"]
[Site \"?\"]
[Date \"????.??.??\"]
[Round \"?\"]
[White \"?\"]
[Black \"?\"]
[Result \"*\"]
[GameType \"21\"]

1. 9-13 *
",
];

/// Creates a folder with `good.pdn` and `bad.pdn`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.pdn"), GOOD).unwrap();
    fs::write(folder.path().join("bad.pdn"), BAD).unwrap();
    folder
}

/// Returns the file names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the test files of the `records` crate.
fn reader_files(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/records/tests").join(kind);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "pdn")).collect();
    assert!(!files.is_empty());
    files
}

#[test]
fn check_prints_one_line_per_file() {
    let folder = folder();
    let finished = crownhead_in(folder.path(), &["pdn", "check", "good.pdn"]);
    assert_eq!(finished.printed(), "good.pdn: 2 games read (4 plies), 0 errors\n");

    fs::write(folder.path().join("one.pdn"), "1. 11-15 *").unwrap();
    fs::write(folder.path().join("none.pdn"), "").unwrap();
    let finished = crownhead_in(folder.path(), &["pdn", "check", "one.pdn", "none.pdn"]);
    assert_eq!(
        finished.printed(),
        "one.pdn: 1 game read (1 ply), 0 errors\nnone.pdn: 0 games read (0 plies), 0 errors\n"
    );
}

#[test]
fn errors_are_reported_with_file_line_and_column() {
    let finished = crownhead_in(folder().path(), &["pdn", "check", "good.pdn", "bad.pdn"]);
    assert_eq!(finished.code, Some(3));
    assert_eq!(
        finished.stdout,
        "good.pdn: 2 games read (4 plies), 0 errors\nbad.pdn: 2 games read (3 plies), 1 error\n"
    );
    assert_eq!(finished.stderr, format!("bad.pdn:5:19: game 2: {MESSAGE}\n"));
}

#[test]
fn json_lists_errors_and_keeps_the_exit_code() {
    let folder = folder();
    let finished = crownhead_in(folder.path(), &["pdn", "check", "--json", "good.pdn", "bad.pdn"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(3), ""));
    let error = json!({ "game": 2, "line": 5, "column": 19, "message": MESSAGE });
    assert_eq!(
        finished.json(),
        json!({
            "files": [
                { "file": "good.pdn", "games": 2, "plies": 4, "errors": 0, "listed": [] },
                { "file": "bad.pdn", "games": 2, "plies": 3, "errors": 1, "listed": [error] },
            ]
        })
    );

    let finished = crownhead_in(folder.path(), &["pdn", "check", "--json", "good.pdn"]);
    finished.printed();
    assert_eq!(finished.json()["files"][0]["errors"], 0);
}

#[test]
fn json_lists_a_thousand_errors_and_counts_all() {
    let input = "1. 9-14 9-14 *\n".repeat(1500);
    let object = crownhead_reading(input.as_bytes(), &["pdn", "check", "--json", "-"]).json();
    let file = &object["files"][0];
    assert_eq!((&file["games"], &file["errors"]), (&json!(0), &json!(1500)));
    assert_eq!(file["listed"].as_array().unwrap().len(), 1000);
}

#[test]
fn dash_is_standard_input() {
    let finished = crownhead_reading(GOOD.as_bytes(), &["pdn", "check", "-"]);
    assert_eq!(finished.printed(), "standard input: 2 games read (4 plies), 0 errors\n");
    let finished = crownhead_reading(BAD.as_bytes(), &["pdn", "check", "-"]);
    assert_eq!(finished.code, Some(3));
    assert_eq!(finished.stderr, format!("standard input:5:19: game 2: {MESSAGE}\n"));
    let converted = crownhead_reading(GOOD.as_bytes(), &["pdn", "convert", "-"]);
    let from_file = crownhead_in(folder().path(), &["pdn", "convert", "good.pdn"]);
    assert_eq!(converted.printed(), from_file.printed());
}

#[test]
fn missing_file_is_reported_with_its_name() {
    for command in ["check", "convert"] {
        let finished = crownhead_in(folder().path(), &["pdn", command, "missing.pdn"]);
        let message = finished.refused(1);
        assert!(message.starts_with("crownhead: cannot open missing.pdn: "), "{message}");
    }
    let finished = crownhead_in(folder().path(), &["pdn", "check", "."]);
    assert!(finished.refused(1).starts_with("crownhead: .: "));
}

#[test]
fn unreadable_file_does_not_stop_the_check_of_others() {
    let folder = folder();
    let finished = crownhead_in(folder.path(), &["pdn", "check", "missing.pdn", "good.pdn"]);
    assert_eq!(finished.code, Some(1));
    assert_eq!(finished.stdout, "good.pdn: 2 games read (4 plies), 0 errors\n");
    assert!(finished.stderr.starts_with("crownhead: cannot open missing.pdn: "));

    let arguments = ["pdn", "check", "missing.pdn", "bad.pdn", "--json"];
    let finished = crownhead_in(folder.path(), &arguments);
    assert_eq!(finished.code, Some(1));
    let object = finished.json();
    let [missing, bad] = object["files"].as_array().unwrap().as_slice() else {
        unreachable!("two files: {object}");
    };
    let failure = missing["failure"].as_str().unwrap();
    assert!(failure.starts_with("cannot open missing.pdn: "), "{missing}");
    assert_eq!((&bad["games"], &bad["errors"]), (&json!(2), &json!(1)));
}

#[test]
fn file_argument_is_required() {
    assert!(crownhead(&["pdn", "check"]).refused(2).contains("<FILE>..."));
    assert!(crownhead(&["pdn", "convert"]).refused(2).contains("<FILE>..."));
    assert!(crownhead(&["pdn"]).refused(2).contains("Usage: crownhead pdn <COMMAND>"));
}

#[test]
fn games_are_converted_to_strict_pdn() {
    let finished = crownhead_in(folder().path(), &["pdn", "convert", "good.pdn"]);
    let text = finished.printed();
    let expected = CONVERTED[0].replace("23-19 *", "23-19 2. 8-11 *");
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.contains("[Event \"Second\"]"), "{text}");
    assert!(text.contains("[Game \"capture-halma\"]\n\n1. 11-12 *\n"), "{text}");
}

#[test]
fn games_are_separated_by_one_empty_line() {
    let folder = folder();
    fs::write(folder.path().join("more.pdn"), "1. 11-15 *\n1. 9-13 *\n").unwrap();
    let finished = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn", "more.pdn"]);
    let text = finished.printed();
    assert_eq!(text.matches("[Event ").count(), 4);
    assert!(!text.contains("\n\n\n"), "{text}");
    assert_eq!(text.matches("*\n\n[Event ").count(), 3, "{text}");
}

#[test]
fn conversion_is_idempotent() {
    let mut inputs: Vec<_> = reader_files("good");
    inputs.extend(reader_files("bad"));
    for path in inputs {
        let first = crownhead(&["pdn".as_ref(), "convert".as_ref(), path.as_os_str()]);
        let second = crownhead_reading(first.stdout.as_bytes(), &["pdn", "convert", "-"]);
        assert_eq!(second.printed(), first.stdout, "{}", path.display());
        let checked = crownhead_reading(first.stdout.as_bytes(), &["pdn", "check", "-"]);
        assert!(checked.printed().ends_with(", 0 errors\n"), "{}", path.display());
    }
}

#[test]
fn test_files_have_the_expected_exit_codes() {
    for (kind, code) in [("good", 0), ("bad", 3)] {
        for path in reader_files(kind) {
            let finished = crownhead(&["pdn".as_ref(), "check".as_ref(), path.as_os_str()]);
            assert_eq!(finished.code, Some(code), "{finished:?}");
        }
    }
}

#[test]
fn games_with_errors_are_reported_and_skipped() {
    let finished = crownhead_in(folder().path(), &["pdn", "convert", "bad.pdn"]);
    assert_eq!(finished.code, Some(3));
    let games: Vec<_> = finished.stdout.split_inclusive("*\n").map(str::trim_start).collect();
    assert_eq!(games[..2], CONVERTED);
    let lines: Vec<_> = finished.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], format!("bad.pdn:5:19: game 2: {MESSAGE}"));
    assert!(lines[1].starts_with("crownhead: skipped 1 game"), "{lines:?}");
}

#[test]
fn output_option_writes_a_file() {
    let folder = folder();
    let converted = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn"]).stdout;
    for option in ["-o", "--output"] {
        let arguments = ["pdn", "convert", "good.pdn", option, "new.pdn"];
        assert_eq!(crownhead_in(folder.path(), &arguments).printed(), "");
        assert_eq!(fs::read_to_string(folder.path().join("new.pdn")).unwrap(), converted);
        fs::remove_file(folder.path().join("new.pdn")).unwrap();
    }
    // The output may be the input.
    let arguments = ["pdn", "convert", "good.pdn", "-o", "good.pdn"];
    assert_eq!(crownhead_in(folder.path(), &arguments).printed(), "");
    assert_eq!(fs::read_to_string(folder.path().join("good.pdn")).unwrap(), converted);
    assert_eq!(names(folder.path()), ["bad.pdn", "good.pdn"]);
}

#[test]
fn output_dash_is_standard_output() {
    let folder = folder();
    let converted = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn"]).stdout;
    let finished = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn", "-o", "-"]);
    assert_eq!(finished.printed(), converted);
    assert_eq!(names(folder.path()), ["bad.pdn", "good.pdn"]);
}

#[test]
fn skipped_games_do_not_prevent_the_output() {
    let folder = folder();
    let finished = crownhead_in(folder.path(), &["pdn", "convert", "bad.pdn", "-o", "new.pdn"]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(3), ""));
    assert!(finished.stderr.contains("skipped 1 game"), "{}", finished.stderr);
    let written = fs::read_to_string(folder.path().join("new.pdn")).unwrap();
    assert!(written.starts_with(CONVERTED[0]) && written.contains(CONVERTED[1]), "{written}");
}

#[test]
fn input_with_errors_is_not_replaced() {
    let folder = folder();
    for output in ["bad.pdn", "./bad.pdn"] {
        let arguments = ["pdn", "convert", "good.pdn", "bad.pdn", "-o", output];
        let finished = crownhead_in(folder.path(), &arguments);
        assert_eq!(finished.code, Some(3));
        assert!(finished.stderr.ends_with(&format!("{output} is unchanged\n")), "{finished:?}");
        assert_eq!(fs::read_to_string(folder.path().join("bad.pdn")).unwrap(), BAD);
        assert_eq!(names(folder.path()), ["bad.pdn", "good.pdn"]);
    }
}

#[test]
fn failure_leaves_the_old_file_unchanged() {
    let folder = folder();
    let old = "an older file";
    fs::write(folder.path().join("old.pdn"), old).unwrap();
    let arguments = ["pdn", "convert", "good.pdn", "missing.pdn", "-o", "old.pdn"];
    let finished = crownhead_in(folder.path(), &arguments);
    assert!(finished.refused(1).contains("cannot open missing.pdn"));
    assert_eq!(fs::read_to_string(folder.path().join("old.pdn")).unwrap(), old);
    assert_eq!(names(folder.path()), ["bad.pdn", "good.pdn", "old.pdn"]);
}

#[test]
fn unwritable_output_is_reported_and_leaves_no_file() {
    let folder = folder();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for output in ["folder", "no/such/folder.pdn"] {
        let finished = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn", "-o", output]);
        let message = finished.refused(1);
        assert!(message.starts_with(&format!("crownhead: cannot write {output}: ")), "{message}");
    }
    assert_eq!(names(folder.path()), ["bad.pdn", "folder", "good.pdn"]);
}

#[test]
fn other_files_in_the_folder_are_not_changed() {
    let folder = folder();
    fs::write(folder.path().join("new.pdn.part"), "unrelated").unwrap();
    let arguments = ["pdn", "convert", "good.pdn", "-o", "new.pdn"];
    assert_eq!(crownhead_in(folder.path(), &arguments).printed(), "");
    let other_file = fs::read_to_string(folder.path().join("new.pdn.part")).ok();
    assert_eq!(other_file.as_deref(), Some("unrelated"));
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File, OpenOptions};
    use std::io::Read;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::process::Command;

    use super::{GOOD, folder, names};
    use crate::harness::{command, crownhead_in, finish};

    #[test]
    fn output_follows_a_symbolic_link() {
        let folder = folder();
        fs::write(folder.path().join("real.pdn"), "old").unwrap();
        symlink("real.pdn", folder.path().join("link.pdn")).unwrap();
        let arguments = ["pdn", "convert", "good.pdn", "-o", "link.pdn"];
        crownhead_in(folder.path(), &arguments).printed();
        assert!(folder.path().join("link.pdn").is_symlink(), "the link is kept");
        let written = fs::read_to_string(folder.path().join("real.pdn")).unwrap();
        assert!(written.contains("11-15"), "{written}");
    }

    #[test]
    fn output_to_a_named_pipe_does_not_replace_it() {
        let folder = folder();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // Opened for reading and writing, so that neither end blocks.
        let mut reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let arguments = ["pdn", "convert", "good.pdn", "-o", "pipe"];
        let finished = crownhead_in(folder.path(), &arguments);
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo(), "the pipe is kept");
        finished.printed();

        let converted = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn"]).stdout;
        let mut written = vec![0; converted.len()];
        reader.read_exact(&mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), converted);
    }

    #[test]
    fn replaced_file_keeps_its_permissions() {
        let folder = folder();
        let path = folder.path().join("old.pdn");
        fs::write(&path, "old").unwrap();
        for mode in [0o600, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let arguments = ["pdn", "convert", "good.pdn", "-o", "old.pdn"];
            crownhead_in(folder.path(), &arguments).printed();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
    }

    #[test]
    fn open_reader_keeps_the_old_contents() {
        let folder = folder();
        let path = folder.path().join("old.pdn");
        fs::write(&path, "old").unwrap();
        let mut before = File::open(&path).unwrap();
        let arguments = ["pdn", "convert", "good.pdn", "-o", "old.pdn"];
        crownhead_in(folder.path(), &arguments).printed();
        let mut text = String::new();
        before.read_to_string(&mut text).unwrap();
        assert_eq!(text, "old");
        assert_eq!(names(folder.path()), ["bad.pdn", "good.pdn", "old.pdn"]);
    }

    #[test]
    fn file_name_need_not_be_utf8() {
        let folder = tempfile::tempdir().unwrap();
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.pdn");
        fs::write(folder.path().join(name), GOOD).unwrap();
        for more in [&[][..], &["--json"]] {
            let mut check = command(&["pdn", "check"]);
            let finished = finish(check.arg(name).args(more).current_dir(folder.path()));
            assert!(finished.printed().contains("caf\u{fffd}.pdn"), "{finished:?}");
        }
    }
}
