//! Move counts of many positions, in data files: `perft/*.perft`. The figures come from the naive
//! generator beside this test; every way of counting must give them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

mod naive;

use std::path::PathBuf;

use crownhead_rules::perft::{PerftHash, PerftOptions};
use crownhead_rules::{BulkPerft, Game, Notation, PerftVisitor, checkers};
use naive::Board;

/// Deeper counts of the naive generator are slow; the files hold what it gave.
const NAIVE_LIMIT: u64 = 20_000;

struct Entry {
    game: String,
    position: String,
    counts: Vec<(u32, u64)>,
    paths: Vec<(u32, u64)>,
}

/// Reads `GAME | POSITION | D1=7 D2=49 … [| paths D1=7 …]`.
fn entries(file: &str) -> Vec<Entry> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/perft").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let counts = |text: &str| -> Vec<(u32, u64)> {
        text.split_whitespace()
            .filter(|word| word.starts_with('D'))
            .map(|word| {
                let (depth, nodes) = word[1..].split_once('=').unwrap();
                (depth.parse().unwrap(), nodes.replace('_', "").parse().unwrap())
            })
            .collect()
    };
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let parts: Vec<_> = line.split('|').map(str::trim).collect();
            Entry {
                game: parts[0].into(),
                position: parts[1].into(),
                counts: counts(parts[2]),
                paths: parts.get(3).map(|text| counts(text)).unwrap_or_default(),
            }
        })
        .collect()
}

fn check(file: &str) {
    let entries = entries(file);
    assert!(entries.len() > 20, "{file} has only {} positions", entries.len());
    for entry in &entries {
        let game: Game = entry.game.parse().unwrap();
        game.visit_perft(Check(entry));
        check_paths(entry, &game);
        let naive = Board::read(&entry.game, &entry.position);
        for &(depth, nodes) in entry.counts.iter().filter(|(_, nodes)| *nodes <= NAIVE_LIMIT) {
            assert_eq!(
                naive.perft(depth),
                nodes,
                "naive: {} {} {depth}",
                entry.game,
                entry.position
            );
        }
    }
}

struct Check<'a>(&'a Entry);

impl PerftVisitor for Check<'_> {
    type Output = ();

    fn visit<P: Notation + BulkPerft>(self, options: &P::Options) {
        let Entry { game, position, counts, .. } = self.0;
        let start = P::parse_position(position, options)
            .unwrap_or_else(|error| panic!("{position}: {error}"));
        let table = PerftHash::new(8).unwrap();
        let ways = [
            ("in bulk", PerftOptions::default()),
            ("every move played", PerftOptions { bulk: false, ..PerftOptions::default() }),
            ("with a table", PerftOptions { hash: Some(&table), ..PerftOptions::default() }),
            ("on two threads", PerftOptions { threads: 2, ..PerftOptions::default() }),
        ];
        for &(depth, nodes) in counts {
            for (name, counter) in ways {
                let counted = counter.count(&start, depth, &[]);
                assert_eq!(counted, nodes, "{name}: {game} {position} depth {depth}");
            }
        }
    }
}

/// Paths are counted where captures have paths: in english and contest. Where the file gives no
/// figure of their own, no capture of the tree can be made in two ways.
fn check_paths(entry: &Entry, game: &Game) {
    let figure = |depth: u32, nodes: u64| {
        entry.paths.iter().find(|(d, _)| *d == depth).map_or(nodes, |(_, paths)| *paths)
    };
    for &(depth, nodes) in &entry.counts {
        let counted = match game {
            Game::English(options) => {
                let position = checkers::English::parse_position(&entry.position, options).unwrap();
                checkers::perft_paths(&position, depth)
            }
            Game::Contest(options) => {
                let position = checkers::Contest::parse_position(&entry.position, options).unwrap();
                checkers::perft_paths(&position, depth)
            }
            _ => continue,
        };
        assert_eq!(
            counted,
            figure(depth, nodes),
            "paths: {} {} {depth}",
            entry.game,
            entry.position
        );
    }
}

#[test]
fn counts_of_english_checkers() {
    check("english.perft");
}

#[test]
fn counts_of_contest_checkers() {
    check("contest.perft");
}

#[test]
fn counts_of_chinese_checkers() {
    check("chinese-checkers.perft");
}

#[test]
fn counts_of_capture_halma() {
    check("capture-halma.perft");
}
