//! Perft of many positions, listed in `perft/*.perft`. The counts come from the naive generator
//! beside this test; every counting method must reproduce them.

use std::path::PathBuf;

use crate::naive::Board;
use crownhead_rules::perft::{PerftHash, PerftOptions};
use crownhead_rules::{Game, Notation, Perft, PerftVisitor};

/// Counts above this limit take the naive generator too long; the files record its results.
const NAIVE_LIMIT: u64 = 20_000;

struct Entry {
    game: String,
    position: String,
    counts: Vec<(u32, u64)>,
    paths: Vec<(u32, u64)>,
}

/// Parses `GAME | POSITION | D1=7 D2=49 … [| paths D1=7 …]`.
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
        let naive = Board::parse(&entry.game, &entry.position);
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

    fn visit<P: Notation + Perft>(self, options: &P::Options) {
        let Entry { game, position, counts, paths } = self.0;
        let start = P::parse_position(position, options)
            .unwrap_or_else(|error| panic!("{position}: {error}"));
        let hash = PerftHash::new(8).unwrap();
        let methods = [
            ("bulk", PerftOptions::default()),
            ("no bulk", PerftOptions { bulk: false, ..PerftOptions::default() }),
            ("hash", PerftOptions { hash: Some(&hash), ..PerftOptions::default() }),
            ("two threads", PerftOptions { threads: 2, ..PerftOptions::default() }),
        ];
        for &(depth, nodes) in counts {
            for (name, options) in methods {
                let counted = options.count(&start, depth, &[]);
                assert_eq!(counted, nodes, "{name}: {game} {position} depth {depth}");
            }
        }
        // Without a figure for paths, no capture of the tree has two paths.
        let Some(perft) = P::perft_by_paths() else { return };
        for &(depth, nodes) in counts {
            let expected = paths.iter().find(|(d, _)| *d == depth).map_or(nodes, |(_, n)| *n);
            let counted = (perft.count)(&start, depth);
            assert_eq!(counted, expected, "paths: {game} {position} depth {depth}");
        }
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
