//! Files of the table: interrupted builds, damaged files, builds at the same time.

use std::fs;
use std::path::Path;

use super::*;
use crate::shared::{check_flipped_bits, check_second_build, check_truncated, slices};

/// A copy of the slices with up to three pieces of the built table.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for slice in Slice::all(2).into_iter().chain(Slice::all(3)) {
        let name = format!("{slice}.slice");
        fs::write(folder.path().join(&name), fs::read(BUILT.0.path().join(&name)).unwrap())
            .unwrap();
    }
    folder
}

#[track_caller]
fn open_error(folder: &Path) -> String {
    EndgameTable::open(folder).unwrap_err().to_string()
}

#[test]
fn interrupted_build_continues_to_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let stop = |known, total| match known > total / 2 {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let error = build(folder.path(), 3, &stop).unwrap_err();
    assert!(matches!(error, TableError::Cancelled), "{error:?}");
    let finished = slices(folder.path()).len();
    assert!((1..16).contains(&finished), "{finished}");
    // A killed build also leaves the file that it was writing.
    fs::write(folder.path().join(".crownhead-abc.part"), "unfinished").unwrap();
    let table = build(folder.path(), 3, &silent).unwrap();
    assert_eq!(table.pieces(), 3);
    assert!(!folder.path().join(".crownhead-abc.part").exists());
    assert_eq!(slices(folder.path()), slices(copy().path()));
}

#[test]
fn number_of_threads_and_memory_do_not_change_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder_path = folder.path();
    let (pieces, distance_pieces, threads, memory, force) = (3, 5, 1, 2_000_000, false);
    let limited = Build { folder: folder_path, pieces, distance_pieces, threads, memory, force };
    limited.run(&silent).unwrap();
    assert_eq!(slices(folder.path()), slices(copy().path()));
    let error = Build { memory: 100_000, force: true, ..limited }.run(&silent).unwrap_err();
    assert!(error.to_string().contains("--memory"), "{error}");
}

#[test]
fn complete_slices_are_not_built_again() {
    let folder = copy();
    let time = |name: &str| fs::metadata(folder.path().join(name)).unwrap().modified().unwrap();
    let before = time("0m1k-0m1k.slice");
    fs::remove_file(folder.path().join("0m2k-1m0k.slice")).unwrap();
    assert_eq!(EndgameTable::open(folder.path()).unwrap().pieces(), 2);
    build(folder.path(), 3, &silent).unwrap();
    assert_eq!(time("0m1k-0m1k.slice"), before);
    assert_eq!(slices(folder.path()), slices(copy().path()));
}

#[test]
fn table_is_extended_by_more_pieces() {
    let folder = copy();
    let path = folder.path().join("0m2k-0m1k.slice");
    let built = fs::metadata(&path).unwrap().modified().unwrap();
    let extended = build(folder.path(), 4, &silent).unwrap();
    assert_eq!(counts(&extended), COUNTS[..3]);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), built);
    assert_eq!(slices(folder.path()), slices(BUILT.0.path()));
}

#[test]
fn damaged_slice_with_more_pieces_is_rebuilt_too() {
    let folder = copy();
    build(folder.path(), 4, &silent).unwrap();
    let path = folder.path().join("0m2k-0m2k.slice");
    fs::write(&path, &fs::read(&path).unwrap()[..100]).unwrap();
    assert_eq!(build(folder.path(), 3, &silent).unwrap().pieces(), 4);
    assert_eq!(slices(folder.path()), slices(BUILT.0.path()));
}

#[test]
fn build_that_needs_more_memory_than_allowed_builds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (pieces, distance_pieces, threads, memory, force) = (4, 5, 1, 1_000_000, false);
    let limited = Build { folder: folder.path(), pieces, distance_pieces, threads, memory, force };
    let message = limited.run(&silent).unwrap_err().to_string();
    let needed = message.split(' ').find_map(|word| word.parse::<u64>().ok()).unwrap();
    assert!(slices(folder.path()).is_empty(), "{message}");
    Build { memory: needed * 1_000_000, ..limited }.run(&silent).unwrap();
}

#[test]
fn missing_slice_is_named_by_verify() {
    let folder = copy();
    fs::remove_file(folder.path().join("0m2k-0m1k.slice")).unwrap();
    let table = EndgameTable::open(folder.path()).unwrap();
    let message = table.verify(&Verification::new(1), &silent).unwrap_err().to_string();
    let expected = "the slice 0m2k-0m1k is missing; build it with `crownhead tables build english`";
    assert_eq!(message, expected);
}

#[test]
fn slice_is_built_with_what_it_depends_on() {
    let folder = tempfile::tempdir().unwrap();
    let (pieces, distance_pieces, threads, memory, force) = (4, 5, 2, 1 << 30, false);
    let build = Build { folder: folder.path(), pieces, distance_pieces, threads, memory, force };
    let slice: Slice = "0m1k-1m1k".parse().unwrap();
    let table = build.run_slice(slice, &silent).unwrap();
    let expected = ["0m1k-0m1k", "0m1k-0m2k", "0m1k-1m0k", "0m1k-1m1k", "0m2k-0m1k", "1m0k-0m1k"];
    let mut found: Vec<String> = table.slices().map(|slice| slice.to_string()).collect();
    found.sort();
    assert_eq!(found, [&expected[..], &["1m1k-0m1k"]].concat());
    assert_eq!(table.pieces(), 0);
    let verification = Verification { complete_pieces: 3, ..Verification::new(2) };
    assert_eq!(table.verify(&verification, &silent).unwrap().slices, 7);
    // Its positions have values, others have none.
    let board = |text| parse("english", text).mover_board();
    assert!(table.value(board("B:W30,K31:BK1")).is_some());
    assert_eq!(table.value(board("B:W30,31:BK1")), None);
    // The rest follows, and all files are the same as those of a build of everything.
    build_with_distances(folder.path(), 3, 5, &silent).unwrap();
    assert_eq!(slices(folder.path()), slices(copy().path()));
}

#[test]
fn slices_are_named_by_men_and_kings() {
    for slice in (2..=7).flat_map(Slice::all) {
        assert_eq!(slice.to_string().parse(), Ok(slice));
    }
    for text in ["", "1m1k", "0m0k-1m0k", "4m0k-4m0k", "1m-1m", "1m1k-1m1k-", "1m1k-1m999k"] {
        let error = text.parse::<Slice>().unwrap_err().to_string();
        assert!(error.contains("0m3k-0m4k"), "{text}: {error}");
    }
}

#[test]
fn second_build_of_a_folder_is_refused() {
    check_second_build(|folder, progress| build(folder, 2, progress));
}

#[test]
fn truncated_slices_are_refused_and_built_again() {
    let folder = copy();
    let path = folder.path().join("1m1k-0m1k.slice");
    let bytes = fs::read(&path).unwrap();
    check_truncated(&path, "english", || open_error(folder.path()));
    build(folder.path(), 3, &silent).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn every_flipped_bit_is_detected() {
    let folder = copy();
    let path = folder.path().join("0m1k-0m2k.slice");
    check_flipped_bits(&path, || EndgameTable::open(folder.path())?.check());
}

#[test]
fn damaged_blocks_have_no_values_and_are_built_again() {
    let folder = copy();
    let path = folder.path().join("0m1k-0m1k.slice");
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let first_block = 64 + 2 * 8 + 4;
    bytes[first_block] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let table = EndgameTable::open(folder.path()).unwrap();
    let board = MoverBoard { own: bit(1), opponent: bit(32), kings: bit(1) | bit(32) };
    assert_eq!(table.value(board), None);
    assert!(table.verify(&Verification::new(1), &silent).is_err());
    build(folder.path(), 3, &silent).unwrap();
    assert_eq!(slices(folder.path()), slices(copy().path()));
}

#[test]
fn foreign_files_are_refused() {
    let folder = copy();
    let path = |name: &str| folder.path().join(name);
    // A slice under the name of another one.
    fs::copy(path("0m1k-0m2k.slice"), path("0m2k-0m1k.slice")).unwrap();
    assert!(open_error(folder.path()).contains("the file contains the slice 0m1k-0m2k"));
    fs::write(path("0m2k-0m1k.slice"), "P6 64 64 255 …").unwrap();
    assert!(open_error(folder.path()).contains("invalid header"));
    fs::remove_file(path("0m2k-0m1k.slice")).unwrap();
    fs::create_dir(path("0m2k-0m1k.slice")).unwrap();
    assert!(open_error(folder.path()).contains("not a regular file"));
    let file = path("0m1k-0m1k.slice");
    assert!(open_error(&file).contains("not a folder"));
    match EndgameTable::open(path("missing")) {
        Err(TableError::Io { error, .. }) => {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_version_is_reported() {
    let folder = copy();
    let path = folder.path().join("0m1k-0m1k.slice");
    let mut bytes = fs::read(&path).unwrap();
    bytes[16] = 9;
    fs::write(&path, &bytes).unwrap();
    assert!(open_error(folder.path()).contains("version 9, expected 1"));
}

#[test]
fn wrong_values_are_found_by_verification() {
    // The table of the other side to move has values of the same kind, in the wrong places.
    let folder = copy();
    let path = |name: &str| folder.path().join(name);
    let mut bytes = fs::read(path("0m2k-0m1k.slice")).unwrap();
    let other = fs::read(path("1m1k-1m0k.slice")).unwrap();
    assert_eq!(EndgameTable::from_bytes(vec![other]).unwrap().pieces(), 0);
    bytes[20..24].copy_from_slice(&[0, 1, 0, 2]);
    let list = 64 + 2 * (32 * 31 * 30 / 2_u32).div_ceil(4096) as usize * 8;
    let checksum = crc32fast::hash(&bytes[..list]).to_le_bytes();
    bytes[list..list + 4].copy_from_slice(&checksum);
    fs::write(path("0m1k-0m2k.slice"), &bytes).unwrap();
    let table = EndgameTable::open(folder.path()).unwrap();
    table.check().unwrap();
    let error = table.verify(&Verification::new(2), &silent).unwrap_err();
    assert!(matches!(error, TableError::Wrong { .. }), "{error:?}");
}

#[test]
fn table_in_memory_is_the_same_as_in_files() {
    let folder = copy();
    let files = slices(folder.path()).into_iter().map(|(_, bytes)| bytes).collect();
    let in_memory = EndgameTable::from_bytes(files).unwrap();
    let opened = EndgameTable::open(folder.path()).unwrap();
    assert_eq!(in_memory.summary(), opened.summary());
    assert_eq!(in_memory.pieces(), 3);
}
