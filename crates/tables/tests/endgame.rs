//! The endgame table of English checkers: counts, a plain solver that agrees with it, files,
//! probing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

#[path = "endgame/files.rs"]
mod files;
#[path = "endgame/plain.rs"]
mod plain;
mod shared;

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::checkers::squares::bit;
use crownhead_rules::{English, Game, Notation, Probe, TableValue};
use crownhead_tables::endgame::{Boards, Build, Counts, Slice};
use crownhead_tables::{EndgameTable, Progress, TableError, Verification};

use shared::silent;

/// Counts of positions with 2, 3, … pieces, one side to move. Two generators that are not part of
/// this program agree on them.
const COUNTS: [Counts; 4] = [
    Counts { wins: 716, losses: 402, draws: 2370 },
    Counts { wins: 100_250, losses: 87_305, draws: 8_477 },
    Counts { wins: 2_574_304, losses: 1_917_090, draws: 1_717_922 },
    Counts { wins: 71_334_772, losses: 56_993_144, draws: 11_122_892 },
];

fn build(folder: &Path, pieces: u8, progress: &Progress<'_>) -> Result<EndgameTable, TableError> {
    build_with_distances(folder, pieces, 5, progress)
}

fn build_with_distances(
    folder: &Path,
    pieces: u8,
    distance_pieces: u8,
    progress: &Progress<'_>,
) -> Result<EndgameTable, TableError> {
    let (threads, memory, force) = (2, 1 << 30, false);
    Build { folder, pieces, distance_pieces, threads, memory, force }.run(progress)
}

/// The table with up to four pieces, and its folder.
static BUILT: LazyLock<(tempfile::TempDir, EndgameTable)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let table = build(folder.path(), 4, &silent).unwrap();
    (folder, table)
});

fn table() -> &'static EndgameTable {
    &BUILT.1
}

fn counts(table: &EndgameTable) -> Vec<Counts> {
    table.summary().iter().map(|summary| summary.counts).collect()
}

#[test]
fn counts_are_the_published_ones() {
    assert_eq!(counts(table()), COUNTS[..3]);
    assert_eq!(table().pieces(), 4);
}

#[test]
fn king_against_king_has_108_losses() {
    let mut found = Counts::default();
    let slice = Slice { own_men: 0, own_kings: 1, opponent_men: 0, opponent_kings: 1 };
    Boards::new(slice).each(0..slice.size(), |_, board| {
        match table().value(board).unwrap().outcome {
            Ordering::Greater => found.wins += 1,
            Ordering::Less => found.losses += 1,
            Ordering::Equal => found.draws += 1,
        }
    });
    assert_eq!(found, Counts { wins: 230, losses: 108, draws: 654 });
}

#[test]
fn verification_finds_no_error() {
    let verified = table().verify(&Verification::new(2), &silent).unwrap();
    assert_eq!(verified.slices, 4 + 12 + 25);
    assert_eq!(verified.positions, 3_488 + 196_032 + 6_209_316);
}

/// Compares all positions that the plain solver has solved.
fn compare_with_plain_solver(table: &EndgameTable, solved: &[plain::Solved]) {
    for (solved, pieces) in solved.iter().zip(2..) {
        let mut compared = 0;
        for slice in Slice::all(pieces) {
            Boards::new(slice).each(0..slice.size(), |_, board| {
                let Some(expected) = solved.value(board) else { return };
                let found = table.value(board).unwrap();
                let found = (found.outcome, found.plies, found.progress);
                assert_eq!(found, expected, "{board:?}");
                compared += 1;
            });
        }
        assert_eq!(compared, solved.len());
        assert!(compared > 0, "{pieces} pieces");
    }
}

#[test]
fn plain_solver_agrees_on_all_positions_with_two_and_three_pieces() {
    compare_with_plain_solver(table(), &plain::solve(3, |_| true));
}

#[test]
fn plain_solver_agrees_on_one_piece_against_three() {
    compare_with_plain_solver(table(), &plain::solve(4, plain::is_small));
}

#[test]
#[ignore = "takes minutes and 6 GB of memory"]
fn plain_solver_agrees_on_all_positions_with_four_pieces() {
    compare_with_plain_solver(table(), &plain::solve(4, |_| true));
}

#[test]
#[ignore = "builds the table with five pieces"]
fn plain_solver_agrees_on_one_king_against_four() {
    let folder = tempfile::tempdir().unwrap();
    let table = build(folder.path(), 5, &silent).unwrap();
    compare_with_plain_solver(&table, &plain::solve(5, plain::is_small));
}

/// With more pieces than this, only outcomes are stored.
#[test]
fn outcomes_without_distances_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let outcomes = build_with_distances(folder.path(), 4, 2, &silent).unwrap();
    assert_eq!(counts(&outcomes), COUNTS[..3]);
    assert_eq!(outcomes.summary()[2].longest, None);
    assert!(outcomes.bytes() < table().bytes() / 2);
    outcomes.verify(&Verification::new(2), &silent).unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    for slice in (3..=4).flat_map(Slice::all) {
        let boards = Boards::new(slice);
        let mut cursor = boards.cursor();
        for board in (0..1000).filter_map(|_| cursor.board(rng.u64(..slice.size()))) {
            let value = outcomes.value(board).unwrap();
            assert_eq!(value.outcome, table().value(board).unwrap().outcome, "{board:?}");
            assert_eq!((value.plies, value.progress), (None, None));
        }
    }
    let position = parse("english", TWO_KINGS);
    assert_eq!(outcomes.probe(&position), Some(TableValue::AtLeastDraw { plies: None }));
}

/// Takes minutes.
#[test]
#[ignore = "builds the table with five pieces"]
fn counts_of_five_pieces_are_the_published_ones() {
    let folder = tempfile::tempdir().unwrap();
    let table = build(folder.path(), 5, &silent).unwrap();
    assert_eq!(counts(&table), COUNTS);
    println!("{:#?}", table.summary());
    table.verify(&Verification::new(2), &silent).unwrap();
}

fn parse(game: &str, text: &str) -> English {
    let Game::English(options) = game.parse().unwrap() else { panic!("{game}") };
    English::parse_position(text, &options).unwrap()
}

/// A position of a game whose counters have this many plies left.
fn with_plies_left(game: &str, text: &str, left: u32) -> English {
    let Game::English(options) = game.parse().unwrap() else { panic!("{game}") };
    let draw_plies = parse(game, text).draw_plies();
    let options = if draw_plies == left {
        options
    } else {
        let game = format!("{game}{}draw-plies={left}", if game.contains(':') { "," } else { ":" });
        let Game::English(options) = game.parse().unwrap() else { panic!("{game}") };
        options
    };
    English::parse_position(text, &options).unwrap()
}

/// Two kings catch a king in the open.
const TWO_KINGS: &str = "B:WK32:BK10,K15";

#[test]
fn wins_are_claimed_if_the_counters_leave_enough_plies() {
    for game in ["english", "english:rules=wcdf"] {
        let position = parse(game, TWO_KINGS);
        let Some(TableValue::Win { plies }) = table().probe_in_game(&position, u32::MAX) else {
            panic!("{game}")
        };
        for left in 1..plies + 10 {
            let position = with_plies_left(game, TWO_KINGS, left);
            let found = table().probe_in_game(&position, left);
            let expected = match left > plies {
                true => TableValue::Win { plies },
                false => TableValue::AtLeastDraw { plies: Some(plies) },
            };
            assert_eq!(found, Some(expected), "{game}, {left} plies left");
        }
    }
}

#[test]
fn counter_that_progress_restarts_does_not_stop_a_slow_win() {
    // A king and a man win slowly, and the man can advance at once.
    let text = "B:WK32:B9,K22";
    let wcdf = parse("english:rules=wcdf", text);
    let value = table().value(wcdf.mover_board()).unwrap();
    let (plies, progress) = (value.plies.unwrap(), value.progress.unwrap());
    assert!(value.outcome == Ordering::Greater && progress + 1 < plies, "{value:?}");
    let left = progress + 1;
    let win = Some(TableValue::Win { plies });
    assert_eq!(table().probe_in_game(&wcdf, left), win);
    assert_eq!(
        table().probe_in_game(&wcdf, progress),
        Some(TableValue::AtLeastDraw { plies: Some(plies) })
    );
    // Two separate counters: advancing the man does not restart the other one.
    let assignment = parse("english", text);
    let unproved = Some(TableValue::AtLeastDraw { plies: Some(plies) });
    assert_eq!(table().probe_in_game(&assignment, left), unproved);
    // With a limit shorter than the longest wait for progress, the table proves nothing.
    let short = parse("english:rules=wcdf,draw-plies=20", text);
    assert_eq!(table().probe_in_game(&short, left.min(plies)), unproved);
}

#[test]
fn positions_outside_the_table_have_no_value() {
    for text in [
        "B:W32,31,30:B1,2", // too many pieces
        "B:W:B1",           // no opponent
        "B:W32,31,30,29:B1,2,3,4",
    ] {
        assert_eq!(table().probe(&parse("english", text)), None, "{text}");
    }
    // Without kings, men stay on the last row.
    assert_eq!(table().probe(&parse("english:kings=false", "B:W32:B1")), None);
}
