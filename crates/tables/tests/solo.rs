//! The solo table against the rules, read afresh, and against everything that can happen to its
//! file. The table is built once for all tests.

#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on may stop

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};

use crownhead_rules::Side;
use crownhead_rules::chinese_checkers::CAMPS;
use crownhead_tables::{SoloTable, TableError};

/// Placements that need 0, 1, 2, … turns.
const HISTOGRAM: [u64; 16] = [
    1, 16, 181, 1827, 16544, 125387, 752488, 3389808, 10661155, 21071894, 23159802, 12541449,
    2985947, 262410, 5456, 3,
];

/// The table, and what its progress said.
static BUILT: LazyLock<(SoloTable, Vec<u64>)> = LazyLock::new(|| {
    let told = Mutex::new(Vec::new());
    let progress = |known, total| {
        assert_eq!(total, SoloTable::PLACEMENTS);
        told.lock().unwrap().push(known);
        ControlFlow::Continue(())
    };
    let table = SoloTable::generate(2, &progress).unwrap();
    (table, told.into_inner().unwrap())
});

fn table() -> &'static SoloTable {
    &BUILT.0
}

/// A folder with the table in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("solo.table")
    }

    /// The names of all files in it, hidden ones too.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// The bytes of the file of the table.
fn bytes() -> Vec<u8> {
    let folder = Folder::new();
    table().save(folder.path()).unwrap();
    fs::read(folder.path()).unwrap()
}

/// Why a file that is there was refused.
#[track_caller]
fn broken(path: &Path) -> String {
    match SoloTable::open(path) {
        Err(error @ TableError::Corrupt { .. }) => {
            let message = error.to_string();
            assert!(message.starts_with(&path.display().to_string()), "{message}");
            assert!(message.ends_with("`crownhead tables build chinese-checkers`"), "{message}");
            message
        }
        other => panic!("{other:?}"),
    }
}

// The rules once more, slowly, over pairs of row and column.

type Cell = (i32, i32);

fn cells(pieces: u64) -> BTreeSet<Cell> {
    (0..64).filter(|bit| pieces >> bit & 1 == 1).map(|bit| (bit / 8, bit % 8)).collect()
}

fn board(cells: &BTreeSet<Cell>) -> u64 {
    cells.iter().map(|(row, column)| 1 << (row * 8 + column)).sum()
}

/// Where one jump can lead: over one piece in the middle, all else between empty.
fn jumps(others: &BTreeSet<Cell>, (row, column): Cell) -> Vec<Cell> {
    let mut found = Vec::new();
    for (down, right) in directions() {
        for half in 1..=3 {
            let at = |gone: i32| (row + down * gone, column + right * gone);
            let as_it_must_be = |gone| others.contains(&at(gone)) == (gone == half);
            if is_on_board(at(2 * half)) && (1..=2 * half).all(as_it_must_be) {
                found.push(at(2 * half));
            }
        }
    }
    found
}

fn directions() -> impl Iterator<Item = Cell> {
    (-1..=1).flat_map(|down| (-1..=1).map(move |right| (down, right))).filter(|&way| way != (0, 0))
}

fn is_on_board((row, column): Cell) -> bool {
    (0..8).contains(&row) && (0..8).contains(&column)
}

/// The placements after each turn.
fn after_each_turn(pieces: u64) -> BTreeSet<u64> {
    let all = cells(pieces);
    let mut found = BTreeSet::new();
    for &from in &all {
        let mut others = all.clone();
        others.remove(&from);
        let mut ends: BTreeSet<Cell> = directions()
            .map(|(down, right)| (from.0 + down, from.1 + right))
            .filter(|&to| is_on_board(to) && !others.contains(&to))
            .collect();
        let mut to_visit = vec![from];
        let mut reached = BTreeSet::from([from]);
        while let Some(cell) = to_visit.pop() {
            let landings = jumps(&others, cell);
            to_visit.extend(landings.into_iter().filter(|&to| reached.insert(to)));
        }
        reached.remove(&from);
        ends.append(&mut reached);
        for to in ends {
            let mut moved = others.clone();
            moved.insert(to);
            found.insert(board(&moved));
        }
    }
    found
}

fn random_placement(random: &mut fastrand::Rng) -> u64 {
    let mut pieces: u64 = 0;
    while pieces.count_ones() < 6 {
        pieces |= 1 << random.u32(..64);
    }
    pieces
}

#[test]
fn so_many_placements_need_so_many_turns() {
    assert_eq!(table().histogram(), HISTOGRAM);
    assert_eq!(HISTOGRAM.iter().sum::<u64>(), SoloTable::PLACEMENTS);
    assert_eq!(HISTOGRAM.len(), usize::from(SoloTable::MAX_TURNS) + 1);
}

#[test]
fn the_start_needs_twelve_turns_and_the_target_none() {
    for side in [Side::First, Side::Second] {
        assert_eq!(table().turns(CAMPS[side.index()], side), Some(12));
        assert_eq!(table().turns(CAMPS[side.other().index()], side), Some(0));
    }
}

#[test]
fn boards_without_exactly_six_pieces_have_no_answer() {
    for pieces in [0, 1, CAMPS[0] & !1, CAMPS[0] | 1 << 40, u64::MAX] {
        assert_eq!(table().turns(pieces, Side::First), None, "{pieces:x}");
        assert_eq!(table().turns(pieces, Side::Second), None, "{pieces:x}");
    }
}

#[test]
fn a_placement_needs_one_turn_more_than_the_best_it_can_become() {
    let mut random = fastrand::Rng::with_seed(1);
    let check = |pieces, side: Side| {
        let turns = table().turns(pieces, side).unwrap();
        if pieces == CAMPS[side.other().index()] {
            assert_eq!(turns, 0);
            return;
        }
        let next = after_each_turn(pieces).into_iter();
        let best = next.map(|next| table().turns(next, side).unwrap()).min().unwrap();
        assert_eq!(turns, best + 1, "{pieces:x}");
    };
    for side in [Side::First, Side::Second] {
        for _ in 0..2000 {
            check(random_placement(&mut random), side);
        }
        // Random placements are spread out; those of games are not.
        for _ in 0..50 {
            let mut pieces = CAMPS[side.index()];
            while table().turns(pieces, side) != Some(0) {
                check(pieces, side);
                let next: Vec<u64> = after_each_turn(pieces).into_iter().collect();
                let turns = |next| table().turns(next, side).unwrap();
                let best = next.iter().map(|&next| turns(next)).min().unwrap();
                let good: Vec<u64> = next.into_iter().filter(|&next| turns(next) == best).collect();
                pieces = good[random.usize(..good.len())];
            }
        }
    }
}

#[test]
fn red_needs_as_many_turns_as_blue_on_the_turned_board() {
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..10_000 {
        let pieces = random_placement(&mut random);
        let turned = pieces.reverse_bits();
        assert_eq!(table().turns(pieces, Side::First), table().turns(turned, Side::Second));
    }
}

#[test]
fn progress_ends_with_all_placements() {
    let told = &BUILT.1;
    assert_eq!(told.iter().max(), Some(&SoloTable::PLACEMENTS));
    assert!(told.len() > 100, "told {} times", told.len());
}

#[test]
fn building_stops_when_progress_says_so() {
    for threads in [0, 1, 3] {
        let calls = AtomicU64::new(0);
        let progress = |_, _| match calls.fetch_add(1, Ordering::Relaxed) {
            0..100 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        let stopped = SoloTable::generate(threads, &progress).unwrap_err();
        assert!(matches!(stopped, TableError::Cancelled), "{stopped:?}");
        assert!(calls.into_inner() <= 100 + threads.max(1) as u64);
    }
}

#[test]
fn a_saved_table_opens_as_the_same_and_nothing_else_is_left() {
    let folder = Folder::new();
    table().save(folder.path()).unwrap();
    assert_eq!(folder.files(), ["solo.table"]);
    assert_eq!(fs::metadata(folder.path()).unwrap().len(), SoloTable::FILE_BYTES);
    let opened = SoloTable::open(folder.path()).unwrap();
    assert_eq!(opened.histogram(), HISTOGRAM);
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..10_000 {
        let pieces = random_placement(&mut random);
        assert_eq!(opened.turns(pieces, Side::First), table().turns(pieces, Side::First));
    }
    // What is open stays usable when the file is replaced or removed.
    opened.save(folder.path()).unwrap();
    fs::remove_file(folder.path()).unwrap();
    assert_eq!(opened.turns(CAMPS[0], Side::First), Some(12));
}

#[cfg(unix)]
#[test]
fn a_saved_table_is_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    table().save(folder.path()).unwrap();
    assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o222, 0);
}

#[test]
fn saving_makes_the_folders_that_are_missing() {
    let folder = Folder::new();
    let path = folder.0.path().join("a/b/solo.table");
    table().save(&path).unwrap();
    SoloTable::open(&path).unwrap();
}

#[test]
fn what_cannot_be_written_is_told_and_leaves_nothing_behind() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("file"), "").unwrap();
    let error = table().save(folder.0.path().join("file/solo.table")).unwrap_err();
    assert!(matches!(&error, TableError::Io { what: "made", .. }), "{error:?}");
    assert!(error.to_string().contains("file could not be made: "), "{error}");

    fs::create_dir_all(folder.path().join("inside")).unwrap();
    let error = table().save(folder.path()).unwrap_err();
    assert!(matches!(&error, TableError::Io { what: "written", .. }), "{error:?}");
    assert!(error.to_string().contains("solo.table could not be written: "), "{error}");
    let mut files = folder.files();
    files.sort();
    assert_eq!(files, ["file", "solo.table"]);
}

#[test]
fn savers_at_the_same_time_never_show_a_part_of_a_table() {
    let folder = Folder::new();
    table().save(folder.path()).unwrap();
    std::thread::scope(|scope| {
        let savers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| (0..3).for_each(|_| table().save(folder.path()).unwrap())))
            .collect();
        while !savers.iter().all(|saver| saver.is_finished()) {
            SoloTable::open(folder.path()).unwrap();
        }
    });
    assert_eq!(folder.files(), ["solo.table"]);
}

#[test]
fn a_missing_file_is_told_from_a_broken_one() {
    let folder = Folder::new();
    match SoloTable::open(folder.path()) {
        Err(TableError::Io { error, .. }) => {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let folder = Folder::new();
    let mut bytes = bytes();
    let end = bytes.len();
    let mut random = fastrand::Rng::with_seed(4);
    let header = [0, 13, 14, 15, 16, 19, 20, 23, 24, 40, 63];
    let edges = [64, end / 2, end - 5, end - 4, end - 1];
    let data = std::array::from_fn::<_, 8, _>(|_| random.usize(64..end - 4));
    for at in header.into_iter().chain(edges).chain(data) {
        let bit = 1 << random.u32(..8);
        bytes[at] ^= bit;
        fs::write(folder.path(), &bytes).unwrap();
        bytes[at] ^= bit;
        let message = broken(&folder.path());
        let expected = match at {
            0..16 => "it does not begin as one",
            16..20 => "its version is ",
            _ => "it is damaged: its checksum is ",
        };
        assert!(message.contains(expected), "byte {at}: {message}");
    }
    fs::write(folder.path(), &bytes).unwrap();
    SoloTable::open(folder.path()).unwrap();
}

#[test]
fn another_version_is_named() {
    let folder = Folder::new();
    let mut bytes = bytes();
    bytes[16..20].copy_from_slice(&0x0102_0304_u32.to_le_bytes());
    fs::write(folder.path(), &bytes).unwrap();
    let message = broken(&folder.path());
    assert!(message.contains("its version is 16909060, and this program reads 1"), "{message}");
}

#[test]
fn files_of_other_lengths_are_refused_and_both_lengths_told() {
    let folder = Folder::new();
    let mut bytes = bytes();
    for length in [0, 1, 15] {
        fs::write(folder.path(), &bytes[..length]).unwrap();
        assert!(broken(&folder.path()).contains("it does not begin as one"), "{length}");
    }
    let whole = bytes.len();
    bytes.push(0);
    for length in [16, 18, 20, 63, 64, 65, whole / 2, whole - 4, whole - 1, whole + 1] {
        fs::write(folder.path(), &bytes[..length]).unwrap();
        let message = broken(&folder.path());
        let expected = format!("it is {length} bytes long, and a whole one has {whole}");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::new();
    assert!(broken(folder.0.path()).contains("it is no regular file"));
    #[cfg(unix)]
    {
        // Opening it would wait for a writer.
        let pipe = folder.0.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(broken(&pipe).contains("it is no regular file"));
        }
    }
}

#[test]
fn a_file_that_shrinks_and_grows_while_it_is_opened_is_an_error_at_worst() {
    let folder = Folder::new();
    fs::write(folder.path(), bytes()).unwrap();
    let file = fs::File::options().write(true).open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        let changer = scope.spawn(|| {
            for _ in 0..200 {
                file.set_len(SoloTable::FILE_BYTES / 2).unwrap();
                file.set_len(SoloTable::FILE_BYTES).unwrap();
            }
            file.set_len(100).unwrap();
        });
        while !changer.is_finished() {
            // It may even be found whole, if it was all read before the first change.
            let _ = SoloTable::open(folder.path());
        }
    });
    assert!(broken(&folder.path()).contains("it is 100 bytes long"));
}
