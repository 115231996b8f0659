//! The solo table: its entries against a naive implementation of the rules, and its file against
//! damage. The table is generated once for all tests.

#![allow(clippy::unwrap_used, clippy::panic)] // a failing test may panic

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};

use crownhead_rules::chinese_checkers::CAMPS;
use crownhead_rules::{ChineseCheckers, Notation, Probe, Side, TableValue};
use crownhead_tables::{SoloTable, TableError};

/// Number of placements by distance.
const HISTOGRAM: [u64; 16] = [
    1, 16, 181, 1827, 16544, 125387, 752488, 3389808, 10661155, 21071894, 23159802, 12541449,
    2985947, 262410, 5456, 3,
];

/// The table, and the reported progress.
static GENERATED: LazyLock<(SoloTable, Vec<u64>)> = LazyLock::new(|| {
    let reports = Mutex::new(Vec::new());
    let progress = |known, total| {
        assert_eq!(total, SoloTable::PLACEMENTS);
        reports.lock().unwrap().push(known);
        ControlFlow::Continue(())
    };
    let table = SoloTable::generate(2, &progress).unwrap();
    (table, reports.into_inner().unwrap())
});

fn table() -> &'static SoloTable {
    &GENERATED.0
}

/// A temporary folder for the table.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("solo.table")
    }

    /// Names of all files, including hidden ones.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// The bytes of the table's file.
fn bytes() -> Vec<u8> {
    let folder = Folder::new();
    table().save(folder.path()).unwrap();
    fs::read(folder.path()).unwrap()
}

/// The error of opening an invalid file.
#[track_caller]
fn open_error(path: &Path) -> String {
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

// A naive implementation of the rules on pairs of row and column.

type Cell = (i32, i32);

fn cells(pieces: u64) -> BTreeSet<Cell> {
    (0..64).filter(|bit| pieces >> bit & 1 == 1).map(|bit| (bit / 8, bit % 8)).collect()
}

fn board(cells: &BTreeSet<Cell>) -> u64 {
    cells.iter().map(|(row, column)| 1 << (row * 8 + column)).sum()
}

/// Landing cells of one jump: over one piece in the middle, all other cells between empty.
fn jumps(others: &BTreeSet<Cell>, (row, column): Cell) -> Vec<Cell> {
    let mut found = Vec::new();
    for (down, right) in directions() {
        for half in 1..=3 {
            let at = |steps: i32| (row + down * steps, column + right * steps);
            let is_clear = |steps| others.contains(&at(steps)) == (steps == half);
            if is_on_board(at(2 * half)) && (1..=2 * half).all(is_clear) {
                found.push(at(2 * half));
            }
        }
    }
    found
}

fn directions() -> impl Iterator<Item = Cell> {
    (-1..=1)
        .flat_map(|down| (-1..=1).map(move |right| (down, right)))
        .filter(|&direction| direction != (0, 0))
}

fn is_on_board((row, column): Cell) -> bool {
    (0..8).contains(&row) && (0..8).contains(&column)
}

/// Placements after each move.
fn after_each_move(pieces: u64) -> BTreeSet<u64> {
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

fn random_placement(rng: &mut fastrand::Rng) -> u64 {
    let mut pieces: u64 = 0;
    while pieces.count_ones() < 6 {
        pieces |= 1 << rng.u32(..64);
    }
    pieces
}

#[test]
fn histogram_is_as_documented() {
    assert_eq!(table().histogram(), HISTOGRAM);
    assert_eq!(HISTOGRAM.iter().sum::<u64>(), SoloTable::PLACEMENTS);
    assert_eq!(HISTOGRAM.len(), usize::from(SoloTable::MAX_TURNS) + 1);
}

#[test]
fn start_needs_twelve_turns_and_target_none() {
    for side in [Side::First, Side::Second] {
        assert_eq!(table().turns(CAMPS[side.index()], side), Some(12));
        assert_eq!(table().turns(CAMPS[side.other().index()], side), Some(0));
    }
}

#[test]
fn placements_without_six_pieces_have_no_distance() {
    for pieces in [0, 1, CAMPS[0] & !1, CAMPS[0] | 1 << 40, u64::MAX] {
        assert_eq!(table().turns(pieces, Side::First), None, "{pieces:x}");
        assert_eq!(table().turns(pieces, Side::Second), None, "{pieces:x}");
    }
}

#[test]
fn distance_is_one_more_than_that_of_the_best_move() {
    let mut rng = fastrand::Rng::with_seed(1);
    let check = |pieces, side: Side| {
        let turns = table().turns(pieces, side).unwrap();
        if pieces == CAMPS[side.other().index()] {
            assert_eq!(turns, 0);
            return;
        }
        let next = after_each_move(pieces).into_iter();
        let best = next.map(|next| table().turns(next, side).unwrap()).min().unwrap();
        assert_eq!(turns, best + 1, "{pieces:x}");
    };
    for side in [Side::First, Side::Second] {
        for _ in 0..2000 {
            check(random_placement(&mut rng), side);
        }
        // Random placements are scattered; those of games are not.
        for _ in 0..50 {
            let mut pieces = CAMPS[side.index()];
            while table().turns(pieces, side) != Some(0) {
                check(pieces, side);
                let next: Vec<u64> = after_each_move(pieces).into_iter().collect();
                let turns = |next| table().turns(next, side).unwrap();
                let best = next.iter().map(|&next| turns(next)).min().unwrap();
                let good: Vec<u64> = next.into_iter().filter(|&next| turns(next) == best).collect();
                pieces = good[rng.usize(..good.len())];
            }
        }
    }
}

#[test]
fn red_distance_is_blue_distance_on_the_rotated_board() {
    let mut rng = fastrand::Rng::with_seed(2);
    for _ in 0..10_000 {
        let pieces = random_placement(&mut rng);
        let rotated = pieces.reverse_bits();
        assert_eq!(table().turns(pieces, Side::First), table().turns(rotated, Side::Second));
    }
}

#[test]
fn progress_ends_with_all_placements() {
    let reports = &GENERATED.1;
    assert_eq!(reports.iter().max(), Some(&SoloTable::PLACEMENTS));
    assert!(reports.len() > 100, "{} reports", reports.len());
}

#[test]
fn progress_callback_cancels_generation() {
    for threads in [0, 1, 3] {
        let calls = AtomicU64::new(0);
        let progress = |_, _| match calls.fetch_add(1, Ordering::Relaxed) {
            0..100 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        let error = SoloTable::generate(threads, &progress).unwrap_err();
        assert!(matches!(error, TableError::Cancelled), "{error:?}");
        assert!(calls.into_inner() <= 100 + threads.max(1) as u64);
    }
}

#[test]
fn saved_table_opens_unchanged() {
    let folder = Folder::new();
    table().save(folder.path()).unwrap();
    assert_eq!(folder.files(), ["solo.table"]);
    assert_eq!(fs::metadata(folder.path()).unwrap().len(), SoloTable::FILE_BYTES);
    let opened = SoloTable::open(folder.path()).unwrap();
    assert_eq!(opened.histogram(), HISTOGRAM);
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..10_000 {
        let pieces = random_placement(&mut rng);
        assert_eq!(opened.turns(pieces, Side::First), table().turns(pieces, Side::First));
    }
    // An open table stays usable when its file is replaced or removed.
    opened.save(folder.path()).unwrap();
    fs::remove_file(folder.path()).unwrap();
    assert_eq!(opened.turns(CAMPS[0], Side::First), Some(12));
}

#[cfg(unix)]
#[test]
fn saved_table_is_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    table().save(folder.path()).unwrap();
    assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o222, 0);
}

#[test]
fn save_creates_missing_folders() {
    let folder = Folder::new();
    let path = folder.0.path().join("a/b/solo.table");
    table().save(&path).unwrap();
    SoloTable::open(&path).unwrap();
}

#[test]
fn failed_save_reports_the_path_and_leaves_nothing_behind() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("file"), "").unwrap();
    let error = table().save(folder.0.path().join("file/solo.table")).unwrap_err();
    assert!(matches!(&error, TableError::Io { action: "create", .. }), "{error:?}");
    assert!(error.to_string().starts_with("cannot create "), "{error}");

    fs::create_dir_all(folder.path().join("inside")).unwrap();
    let error = table().save(folder.path()).unwrap_err();
    assert!(matches!(&error, TableError::Io { action: "write", .. }), "{error:?}");
    assert!(error.to_string().starts_with("cannot write "), "{error}");
    assert!(error.to_string().contains("solo.table: "), "{error}");
    let mut files = folder.files();
    files.sort();
    assert_eq!(files, ["file", "solo.table"]);
}

#[test]
fn concurrent_saves_never_expose_a_partial_table() {
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
fn missing_file_is_not_found() {
    let folder = Folder::new();
    match SoloTable::open(folder.path()) {
        Err(TableError::Io { error, .. }) => {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    let folder = Folder::new();
    let mut bytes = bytes();
    let end = bytes.len();
    let mut rng = fastrand::Rng::with_seed(4);
    let header = [0, 13, 14, 15, 16, 19, 20, 23, 24, 40, 63];
    let edges = [64, end / 2, end - 5, end - 4, end - 1];
    let data = std::array::from_fn::<_, 8, _>(|_| rng.usize(64..end - 4));
    for at in header.into_iter().chain(edges).chain(data) {
        let bit = 1 << rng.u32(..8);
        bytes[at] ^= bit;
        fs::write(folder.path(), &bytes).unwrap();
        bytes[at] ^= bit;
        let message = open_error(&folder.path());
        let expected = match at {
            0..16 => "invalid header",
            16..20 => "version ",
            _ => "checksum mismatch: stored ",
        };
        assert!(message.contains(expected), "byte {at}: {message}");
    }
    fs::write(folder.path(), &bytes).unwrap();
    SoloTable::open(folder.path()).unwrap();
}

#[test]
fn other_version_is_reported() {
    let folder = Folder::new();
    let mut bytes = bytes();
    bytes[16..20].copy_from_slice(&0x0102_0304_u32.to_le_bytes());
    fs::write(folder.path(), &bytes).unwrap();
    let message = open_error(&folder.path());
    assert!(message.contains("version 16909060, expected 1"), "{message}");
}

#[test]
fn wrong_length_is_reported_with_the_expected_one() {
    let folder = Folder::new();
    let mut bytes = bytes();
    for length in [0, 1, 15] {
        fs::write(folder.path(), &bytes[..length]).unwrap();
        assert!(open_error(&folder.path()).contains("invalid header"), "{length}");
    }
    let whole = bytes.len();
    bytes.push(0);
    for length in [16, 18, 20, 63, 64, 65, whole / 2, whole - 4, whole - 1, whole + 1] {
        fs::write(folder.path(), &bytes[..length]).unwrap();
        let message = open_error(&folder.path());
        let expected = format!("{length} bytes, expected {whole}");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn folders_and_pipes_are_not_tables() {
    let folder = Folder::new();
    assert!(open_error(folder.0.path()).contains("not a regular file"));
    #[cfg(unix)]
    {
        // Opening a pipe would wait for a writer.
        let pipe = folder.0.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(open_error(&pipe).contains("not a regular file"));
        }
    }
}

#[test]
fn file_that_changes_while_being_opened_is_an_error_at_worst() {
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
            // Succeeds if the file is read before the first change.
            let _ = SoloTable::open(folder.path());
        }
    });
    assert!(open_error(&folder.path()).contains("100 bytes, expected"));
}

#[test]
fn table_in_memory_is_checked_like_a_file() {
    let mut bytes = bytes();
    let table = SoloTable::from_bytes(bytes.clone()).unwrap();
    assert_eq!(table.turns(CAMPS[0], Side::First), Some(12));
    bytes[1000] ^= 1;
    let error = SoloTable::from_bytes(bytes.clone()).unwrap_err();
    assert!(error.to_string().starts_with("checksum mismatch"), "{error}");
    bytes.truncate(1000);
    let error = SoloTable::from_bytes(bytes).unwrap_err();
    assert!(error.to_string().starts_with("1000 bytes, expected"), "{error}");
    assert!(SoloTable::from_bytes(Vec::new()).is_err());
}

#[test]
fn probe_values_positions_in_which_one_side_has_no_pieces() {
    let probe = |text: &str| table().probe(&ChineseCheckers::parse_position(text, &()).unwrap());
    let (blue, red) = ("###5/##6/#7/8/8/8/8/8", "8/8/8/8/8/7O/6OO/5OOO");
    assert_eq!(probe(&format!("{blue} # 0")), Some(TableValue::Win { plies: 23 }));
    assert_eq!(probe(&format!("{blue} O 1")), Some(TableValue::Loss { plies: 24 }));
    assert_eq!(probe(&format!("{red} O 1")), Some(TableValue::Win { plies: 23 }));
    assert_eq!(probe(&format!("{red} # 0")), Some(TableValue::Loss { plies: 24 }));
    // Both sides, neither, too few pieces, and a target that is full already.
    assert_eq!(probe("###5/##6/#7/8/8/7O/6OO/5OOO # 0"), None);
    assert_eq!(probe("8/8/8/8/8/8/8/8 # 0"), None);
    assert_eq!(probe("##6/##6/#7/8/8/8/8/8 # 0"), None);
    assert_eq!(probe("8/8/8/8/8/7#/6##/5### # 0"), None);
}
