//! Reads the files in `good` and `bad` and compares the games, written again, and the errors with
//! the `.txt` file beside each.
//!
//! `EXPECT=write cargo test --test files` updates the expected files; review the diff.

use std::fs;
use std::path::{Path, PathBuf};

use crownhead_records::{GameRecord, Reader, RecordError, format_game};

fn files(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pdn"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn read(bytes: &[u8]) -> Vec<Result<GameRecord, RecordError>> {
    Reader::new(bytes).collect()
}

fn format_items(items: &[Result<GameRecord, RecordError>]) -> String {
    let text = |item: &Result<GameRecord, RecordError>| match item {
        Ok(record) => format_game(record).unwrap(),
        Err(error) => format!("!! {:?}: {error}\n\n", error.kind),
    };
    items.iter().map(text).collect()
}

/// Compares with the expected text, and checks that games are unchanged after writing and reading.
fn check(path: &Path) -> Vec<Result<GameRecord, RecordError>> {
    let items = read(&fs::read(path).unwrap());
    let found = format_items(&items);
    let expected = path.with_extension("txt");
    if std::env::var_os("EXPECT").is_some_and(|value| value == "write") {
        fs::write(&expected, &found).unwrap();
    }
    let expected = fs::read_to_string(&expected).unwrap_or_default();
    assert!(found == expected, "{}:\n{found}\nexpected:\n{expected}", path.display());

    let games: Vec<_> = items.iter().flatten().cloned().collect();
    let text: String = games.iter().map(|game| format_game(game).unwrap()).collect();
    let again: Result<Vec<_>, _> = read(text.as_bytes()).into_iter().collect();
    assert_eq!(again.unwrap(), games, "{}", path.display());
    for line in text.lines().filter(|line| !line.starts_with('[')) {
        assert!(line.chars().count() < 80, "{}: {line}", path.display());
    }
    items
}

#[test]
fn good_files_have_no_errors() {
    for path in files("good") {
        for item in check(&path) {
            assert!(item.is_ok(), "{}: {item:?}", path.display());
        }
    }
}

#[test]
fn bad_files_keep_their_valid_games() {
    for path in files("bad") {
        let items = check(&path);
        assert!(items.iter().any(|item| item.is_err()), "{}", path.display());
        let numbers: Vec<_> = items
            .iter()
            .enumerate()
            .filter_map(|(i, item)| item.as_ref().err().map(|error| (i as u64 + 1, error.game)))
            .collect();
        assert!(numbers.iter().all(|(i, game)| i == game), "{}: {numbers:?}", path.display());
        // The last game of every bad file is valid.
        if path.file_stem().is_some_and(|stem| stem != "utf16") {
            let last = items.last().and_then(|item| item.as_ref().ok());
            let last = last.and_then(|record| record.tag("Event"));
            assert_eq!(last, Some("Last"), "{}", path.display());
        }
    }
}
