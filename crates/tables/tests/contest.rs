//! The endgame table of contest checkers: a plain solver that agrees with it, files, probing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod shared;

use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

use crownhead_rules::checkers::squares::bit;
use crownhead_rules::{Contest, MoveList, Notation, Position, Probe, Side, TableValue};
use crownhead_tables::contest::Build;
use crownhead_tables::endgame::Counts;
use crownhead_tables::{ContestTable, Progress, TableError, Verification};

use shared::{check_flipped_bits, check_second_build, check_truncated, silent, slices};

/// Maximum number of men of the table in these tests.
const PIECES: u8 = 5;

fn build(folder: &Path, pieces: u8, progress: &Progress<'_>) -> Result<ContestTable, TableError> {
    let (threads, memory, force) = (2, 1 << 30, false);
    Build { folder, pieces, threads, memory, force }.run(progress)
}

/// The table, and its folder.
static BUILT: LazyLock<(tempfile::TempDir, ContestTable)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let table = build(folder.path(), PIECES, &silent).unwrap();
    (folder, table)
});

fn table() -> &'static ContestTable {
    &BUILT.1
}

fn parse(options: &str, text: &str) -> Contest {
    let options = Contest::parse_options(options).unwrap();
    Contest::parse_position(text, &options).unwrap()
}

/// A position from which the game is drawn after this many plies without a capture. Only until the
/// first capture the rules are those of contest checkers.
fn with_plies_left(text: &str, left: u32) -> Contest {
    parse(&format!("draw-plies={left}"), text)
}

fn legal(position: &Contest) -> MoveList<<Contest as Position>::Move> {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    moves
}

/// Solves positions by trying all moves of `rules`, with every number of plies left.
#[derive(Default)]
struct PlainSolver(HashMap<(u64, u64, Side, u32), i8>);

impl PlainSolver {
    /// 1 if the side to move wins, -1 if it loses, 0 for a draw.
    fn result(&mut self, position: &Contest) -> i8 {
        if let Some(outcome) = position.outcome(&[]) {
            return match outcome.winner {
                None => 0,
                Some(winner) if winner == position.side() => 1,
                Some(_) => -1,
            };
        }
        let [first, second] = [Side::First, Side::Second].map(|side| position.pieces(side));
        let key = (first, second, position.side(), position.plies_to_draw()[0]);
        if let Some(&result) = self.0.get(&key) {
            return result;
        }
        let moves = legal(position);
        let results = moves.iter().map(|&mv| {
            let after = position.after(mv);
            match mv.is_capture() {
                true => -self.result(&parse("", &after.format_position())),
                false => -self.result(&after),
            }
        });
        let result = results.max().unwrap();
        self.0.insert(key, result);
        result
    }
}

/// Result of the table for a position whose game is not over.
fn table_result(table: &ContestTable, position: &Contest, plies_left: u32) -> (i8, Option<u32>) {
    match table.probe_in_game(position, plies_left) {
        Some(TableValue::Win { plies }) => (1, Some(plies)),
        Some(TableValue::Loss { plies }) => (-1, Some(plies)),
        Some(TableValue::Draw) => (0, None),
        value => panic!("{position:?} {value:?}"),
    }
}

/// All positions with these numbers of men.
fn all(black: u32, red: u32) -> Vec<String> {
    let mut all = Vec::new();
    let mut squares = vec![' '; 32];
    place(&mut squares, 0, [black, red], &mut all);
    all
}

/// Puts the remaining men on squares from `from` on.
fn place(squares: &mut Vec<char>, from: usize, left: [u32; 2], all: &mut Vec<String>) {
    if left == [0, 0] {
        let list = |letter| {
            let on = (0..32).filter(|&square| squares[square] == letter);
            on.map(|square| (square + 1).to_string()).collect::<Vec<_>>().join(",")
        };
        all.extend(["B", "W"].map(|side| format!("{side}:W{}:B{}", list('w'), list('b'))));
        return;
    }
    for square in from..32 {
        for (side, letter) in ['b', 'w'].into_iter().enumerate().filter(|&(side, _)| left[side] > 0)
        {
            let mut left = left;
            left[side] -= 1;
            squares[square] = letter;
            place(squares, square + 1, left, all);
            squares[square] = ' ';
        }
    }
}

#[test]
fn plain_solver_agrees_with_every_number_of_plies_left() {
    let mut solver = PlainSolver::default();
    let mut results = [0; 3];
    for [black, red] in [[1, 1], [1, 2], [2, 1]] {
        for text in all(black, red) {
            let position = parse("", &text);
            for left in 1..=10 {
                let limited = with_plies_left(&text, left);
                if limited.outcome(&[]).is_some() {
                    continue;
                }
                let expected = solver.result(&limited);
                let (found, _) = table_result(table(), &position, left);
                assert_eq!(found, expected, "{text}, {left} plies left");
                results[(found + 1) as usize] += 1;
            }
        }
    }
    assert!(results.iter().all(|&count| count > 50_000), "{results:?}");
}

/// A random position.
fn random(black: usize, red: usize, rng: &mut fastrand::Rng) -> String {
    let mut squares: Vec<usize> = (1..=32).collect();
    rng.shuffle(&mut squares);
    let list =
        |squares: &[usize]| squares.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let side = if rng.bool() { "B" } else { "W" };
    format!("{side}:W{}:B{}", list(&squares[..red]), list(&squares[red..red + black]))
}

/// The counters are those of a game: random moves precede each comparison.
#[test]
fn plain_solver_agrees_in_random_games() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut results = [0; 3];
    for _ in 0..150 {
        let mut solver = PlainSolver::default();
        let black = rng.usize(1..5);
        let red = rng.usize(1..=usize::from(PIECES) - black);
        let mut position = parse("", &random(black, red, &mut rng));
        while position.outcome(&[]).is_none()
            && position.pieces(Side::First) != 0
            && position.pieces(Side::Second) != 0
        {
            let Some(value) = table().probe(&position) else { panic!("{position:?}") };
            let (found, _) = table_result(table(), &position, position.plies_to_draw()[0]);
            assert_eq!(found, solver.result(&position), "{position:?} {value:?}");
            results[(found + 1) as usize] += 1;
            let moves = legal(&position);
            position = position.after(moves[rng.usize(..moves.len())]);
        }
    }
    assert!(results.iter().all(|&count| count > 30), "{results:?}");
}

/// The number of plies of a win is an upper bound: the winner can always go on to a smaller one.
#[test]
fn wins_end_within_the_plies_that_the_table_claims() {
    let mut rng = fastrand::Rng::with_seed(2);
    let mut won = 0;
    for _ in 0..2000 {
        let mut position = parse("", &random(2, 3, &mut rng));
        if position.outcome(&[]).is_some() {
            continue;
        }
        let (result, Some(mut bound)) = table_result(table(), &position, 10) else { continue };
        let winner = if result > 0 { position.side() } else { position.side().other() };
        while position.outcome(&[]).is_none() {
            let moves = legal(&position);
            let after = moves.iter().map(|&mv| position.after(mv));
            let keeps = |after: &Contest| match after.outcome(&[]) {
                Some(outcome) => outcome.winner == Some(winner),
                None => table_result(table(), after, after.plies_to_draw()[0]).0 < 0,
            };
            let after: Vec<_> = match position.side() == winner {
                true => after.filter(keeps).collect(),
                false => after.collect(),
            };
            position = after[rng.usize(..after.len())].clone();
            bound = bound.checked_sub(1).expect("the game is over within the bound");
        }
        assert_eq!(position.outcome(&[]).unwrap().winner, Some(winner), "{position:?}");
        won += 1;
    }
    assert!(won > 500, "{won}");
}

/// C(32,n) placements of n men, each of one of the sides, but not all of the same.
#[test]
fn summary_has_all_positions() {
    let summary = table().summary();
    let placements = [496, 4960, 35_960, 201_376];
    for (row, (pieces, placements)) in summary.iter().zip((2..).zip(placements)) {
        let Counts { wins, losses, draws } = row.counts;
        assert_eq!((row.pieces, row.longest), (pieces, None));
        assert_eq!(wins + losses + draws, placements * ((1 << pieces) - 2));
    }
    assert_eq!(summary.len(), 4);
    assert_eq!(summary[0].counts, Counts { wins: 426, losses: 465, draws: 101 });
}

#[test]
fn verification_finds_no_error() {
    let verification = Verification { complete_pieces: PIECES, ..Verification::new(2) };
    let verified = table().verify(&verification, &silent).unwrap();
    assert_eq!(verified.slices, 1 + 2 + 3 + 4);
    assert_eq!(verified.positions, 992 + 29_760 + 503_440 + 6_041_280);
    let some = table().verify(&Verification::new(2), &silent).unwrap();
    assert!(some.positions < verified.positions / 4, "{some:?}");
}

#[test]
fn other_rules_and_positions_have_no_value() {
    let text = "B:W30:B1,2";
    assert!(table().probe(&parse("", text)).is_some());
    for options in ["kings=true", "draw-plies=9", "draw-plies=11", "kings=true,draw-plies=50"] {
        assert_eq!(table().probe(&parse(options, text)), None, "{options}");
    }
    for text in ["B:W32,31,30:B1,2,3", "B:W:B1", "W:W30:B"] {
        assert_eq!(table().probe(&parse("", text)), None, "{text}");
    }
}

/// A copy of the built table.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in slices(BUILT.0.path()) {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn interrupted_build_continues_to_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    // Before the pair with the most positions.
    let stop = |known, total| match known > total / 2 {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let error = build(folder.path(), PIECES, &stop).unwrap_err();
    assert!(matches!(error, TableError::Cancelled), "{error:?}");
    assert!((1..10).contains(&slices(folder.path()).len()));
    fs::write(folder.path().join(".crownhead-abc.part"), "unfinished").unwrap();
    build(folder.path(), PIECES, &silent).unwrap();
    assert!(!folder.path().join(".crownhead-abc.part").exists());
    assert!(slices(folder.path()) == slices(BUILT.0.path()));
}

#[test]
fn number_of_threads_and_memory_do_not_change_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let limited = Build {
        folder: folder.path(),
        pieces: PIECES,
        threads: 1,
        memory: 5_000_000,
        force: false,
    };
    limited.run(&silent).unwrap();
    assert!(slices(folder.path()) == slices(BUILT.0.path()));
    let error = Build { memory: 1_000_000, force: true, ..limited }.run(&silent).unwrap_err();
    assert!(error.to_string().contains("--memory"), "{error}");
}

#[test]
fn second_build_of_a_folder_is_refused() {
    check_second_build(|folder, progress| build(folder, 2, progress));
}

#[test]
fn damaged_and_foreign_slices_are_refused_and_built_again() {
    let folder = copy();
    let name = "2m0k-3m0k.slice";
    let path = folder.path().join(name);
    let open_error = || ContestTable::open(folder.path()).unwrap_err().to_string();
    check_truncated(&path, "contest", open_error);
    fs::write(&path, "P6 64 64 255 …").unwrap();
    assert!(open_error().contains("invalid header"));
    fs::copy(folder.path().join("3m0k-2m0k.slice"), &path).unwrap();
    assert!(open_error().contains("the file contains the slice 3m0k-2m0k"));
    build(folder.path(), PIECES, &silent).unwrap();
    assert!(slices(folder.path()) == slices(BUILT.0.path()));
}

#[test]
fn every_flipped_bit_is_detected() {
    let folder = copy();
    let path = folder.path().join("1m0k-2m0k.slice");
    check_flipped_bits(&path, || ContestTable::open(folder.path())?.check());
}

#[test]
fn damaged_blocks_have_no_values() {
    let mut images = slices(BUILT.0.path()).into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>();
    // The first slice has one man on each side.
    *images[0].last_mut().unwrap() ^= 1;
    let table = ContestTable::from_bytes(images).unwrap();
    assert_eq!(table.pieces(), PIECES);
    let board = parse("", "B:W32:B1").mover_board();
    assert_eq!((board.own, board.opponent), (bit(1), bit(32)));
    assert_eq!(table.value(board), None);
    assert!(table.check().is_err());
}
