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

const COMPLAINT: &str = "8-12: illegal: 12 is occupied";

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

/// A folder with `good.pdn` and `bad.pdn`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.pdn"), GOOD).unwrap();
    fs::write(folder.path().join("bad.pdn"), BAD).unwrap();
    folder
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The files with which the reader itself is tested.
fn reader_files(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/records/tests").join(kind);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "pdn")).collect();
    assert!(!files.is_empty());
    files
}

#[test]
fn a_good_file_is_checked_with_one_line_about_it() {
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
fn an_error_is_reported_with_file_line_and_column() {
    let finished = crownhead_in(folder().path(), &["pdn", "check", "good.pdn", "bad.pdn"]);
    assert_eq!(finished.code, Some(3));
    assert_eq!(
        finished.stdout,
        "good.pdn: 2 games read (4 plies), 0 errors\nbad.pdn: 2 games read (3 plies), 1 error\n"
    );
    assert_eq!(finished.stderr, format!("bad.pdn:5:19: game 2: {COMPLAINT}\n"));
}

#[test]
fn json_has_the_errors_and_the_exit_code_stays_the_same() {
    let folder = folder();
    let finished = crownhead_in(folder.path(), &["pdn", "check", "--json", "good.pdn", "bad.pdn"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(3), ""));
    let error = json!({ "game": 2, "line": 5, "column": 19, "message": COMPLAINT });
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
fn json_lists_the_first_thousand_errors_and_counts_them_all() {
    let input = "1. 9-14 9-14 *\n".repeat(1500);
    let object = crownhead_reading(input.as_bytes(), &["pdn", "check", "--json", "-"]).json();
    let file = &object["files"][0];
    assert_eq!((&file["games"], &file["errors"]), (&json!(0), &json!(1500)));
    assert_eq!(file["listed"].as_array().unwrap().len(), 1000);
}

#[test]
fn a_dash_is_standard_input() {
    let finished = crownhead_reading(GOOD.as_bytes(), &["pdn", "check", "-"]);
    assert_eq!(finished.printed(), "standard input: 2 games read (4 plies), 0 errors\n");
    let finished = crownhead_reading(BAD.as_bytes(), &["pdn", "check", "-"]);
    assert_eq!(finished.code, Some(3));
    assert_eq!(finished.stderr, format!("standard input:5:19: game 2: {COMPLAINT}\n"));
    let converted = crownhead_reading(GOOD.as_bytes(), &["pdn", "convert", "-"]);
    let from_file = crownhead_in(folder().path(), &["pdn", "convert", "good.pdn"]);
    assert_eq!(converted.printed(), from_file.printed());
}

#[test]
fn a_file_that_is_not_there_is_a_failure_that_names_it() {
    for command in ["check", "convert"] {
        let finished = crownhead_in(folder().path(), &["pdn", command, "missing.pdn"]);
        let told = finished.refused(1);
        assert!(told.starts_with("crownhead: cannot open missing.pdn: "), "{told}");
    }
    let finished = crownhead_in(folder().path(), &["pdn", "check", "."]);
    assert!(finished.refused(1).starts_with("crownhead: .: "));
}

#[test]
fn the_other_files_are_checked_all_the_same() {
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
fn a_file_must_be_named() {
    assert!(crownhead(&["pdn", "check"]).refused(2).contains("<FILE>..."));
    assert!(crownhead(&["pdn", "convert"]).refused(2).contains("<FILE>..."));
    assert!(crownhead(&["pdn"]).refused(2).contains("Usage: crownhead pdn <COMMAND>"));
}

#[test]
fn games_are_converted_to_strict_pdn_with_all_that_is_known() {
    let finished = crownhead_in(folder().path(), &["pdn", "convert", "good.pdn"]);
    let text = finished.printed();
    let expected = CONVERTED[0].replace("23-19 *", "23-19 2. 8-11 *");
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.contains("[Event \"Second\"]"), "{text}");
    assert!(text.contains("[Game \"capture-halma\"]\n\n1. 11-12 *\n"), "{text}");
}

#[test]
fn one_empty_line_stands_between_two_games() {
    let folder = folder();
    fs::write(folder.path().join("more.pdn"), "1. 11-15 *\n1. 9-13 *\n").unwrap();
    let finished = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn", "more.pdn"]);
    let text = finished.printed();
    assert_eq!(text.matches("[Event ").count(), 4);
    assert!(!text.contains("\n\n\n"), "{text}");
    assert_eq!(text.matches("*\n\n[Event ").count(), 3, "{text}");
}

#[test]
fn what_was_converted_is_converted_to_the_same_bytes() {
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
fn files_of_every_origin_are_good_or_bad_as_a_whole() {
    for (kind, code) in [("good", 0), ("bad", 3)] {
        for path in reader_files(kind) {
            let finished = crownhead(&["pdn".as_ref(), "check".as_ref(), path.as_os_str()]);
            assert_eq!(finished.code, Some(code), "{finished:?}");
        }
    }
}

#[test]
fn games_with_errors_are_reported_and_left_out() {
    let finished = crownhead_in(folder().path(), &["pdn", "convert", "bad.pdn"]);
    assert_eq!(finished.code, Some(3));
    let games: Vec<_> = finished.stdout.split_inclusive("*\n").map(str::trim_start).collect();
    assert_eq!(games[..2], CONVERTED);
    let told: Vec<_> = finished.stderr.lines().collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], format!("bad.pdn:5:19: game 2: {COMPLAINT}"));
    assert!(told[1].starts_with("crownhead: skipped 1 game"), "{told:?}");
}

#[test]
fn output_goes_to_a_file_instead() {
    let folder = folder();
    let shown = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn"]).stdout;
    for option in ["-o", "--output"] {
        let arguments = ["pdn", "convert", "good.pdn", option, "new.pdn"];
        assert_eq!(crownhead_in(folder.path(), &arguments).printed(), "");
        assert_eq!(fs::read_to_string(folder.path().join("new.pdn")).unwrap(), shown);
        fs::remove_file(folder.path().join("new.pdn")).unwrap();
    }
    // Over the file that is read.
    let arguments = ["pdn", "convert", "good.pdn", "-o", "good.pdn"];
    assert_eq!(crownhead_in(folder.path(), &arguments).printed(), "");
    assert_eq!(fs::read_to_string(folder.path().join("good.pdn")).unwrap(), shown);
    assert_eq!(names(folder.path()), ["bad.pdn", "good.pdn"]);
}

#[test]
fn output_to_a_dash_is_standard_output() {
    let folder = folder();
    let shown = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn"]).stdout;
    let finished = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn", "-o", "-"]);
    assert_eq!(finished.printed(), shown);
    assert_eq!(names(folder.path()), ["bad.pdn", "good.pdn"]);
}

#[test]
fn games_that_were_left_out_do_not_keep_the_others_from_the_file() {
    let folder = folder();
    let finished = crownhead_in(folder.path(), &["pdn", "convert", "bad.pdn", "-o", "new.pdn"]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(3), ""));
    assert!(finished.stderr.contains("skipped 1 game"), "{}", finished.stderr);
    let written = fs::read_to_string(folder.path().join("new.pdn")).unwrap();
    assert!(written.starts_with(CONVERTED[0]) && written.contains(CONVERTED[1]), "{written}");
}

#[test]
fn a_file_with_errors_is_not_replaced_by_what_could_be_read_of_it() {
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
fn a_failure_leaves_the_old_file_as_it_was_and_nothing_beside_it() {
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
fn output_that_cannot_be_written_is_a_failure_that_names_it_and_leaves_nothing() {
    let folder = folder();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for output in ["folder", "no/such/folder.pdn"] {
        let finished = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn", "-o", output]);
        let told = finished.refused(1);
        assert!(told.starts_with(&format!("crownhead: {output} could not be written: ")), "{told}");
    }
    assert_eq!(names(folder.path()), ["bad.pdn", "folder", "good.pdn"]);
}

#[test]
fn files_beside_the_output_are_not_touched() {
    let folder = folder();
    fs::write(folder.path().join("new.pdn.part"), "somebody's").unwrap();
    let arguments = ["pdn", "convert", "good.pdn", "-o", "new.pdn"];
    assert_eq!(crownhead_in(folder.path(), &arguments).printed(), "");
    let beside = fs::read_to_string(folder.path().join("new.pdn.part")).ok();
    assert_eq!(beside.as_deref(), Some("somebody's"));
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
    fn output_through_a_link_goes_to_the_file_it_names() {
        let folder = folder();
        fs::write(folder.path().join("real.pdn"), "old").unwrap();
        symlink("real.pdn", folder.path().join("link.pdn")).unwrap();
        let arguments = ["pdn", "convert", "good.pdn", "-o", "link.pdn"];
        crownhead_in(folder.path(), &arguments).printed();
        assert!(folder.path().join("link.pdn").is_symlink(), "the link is still one");
        let written = fs::read_to_string(folder.path().join("real.pdn")).unwrap();
        assert!(written.contains("11-15"), "{written}");
    }

    #[test]
    fn output_to_what_is_no_plain_file_is_written_to_it_and_does_not_replace_it() {
        let folder = folder();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // Held open for both, so that neither side waits for the other.
        let mut reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let arguments = ["pdn", "convert", "good.pdn", "-o", "pipe"];
        let finished = crownhead_in(folder.path(), &arguments);
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo(), "the pipe is still one");
        finished.printed();

        let shown = crownhead_in(folder.path(), &["pdn", "convert", "good.pdn"]).stdout;
        let mut written = vec![0; shown.len()];
        reader.read_exact(&mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), shown);
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_permissions() {
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
    fn a_reader_of_the_old_file_keeps_it_whole_while_it_is_replaced() {
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
    fn a_file_name_need_not_be_utf_8() {
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
