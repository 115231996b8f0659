//! The search with the endgame table of contest checkers.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use crate::setups::{play_random, setup};
use crownhead_rules::{Contest, Notation, Position, Probe, TableValue};
use crownhead_search::{
    DRAW, DynEngine, EngineConfig, HasEngine, Knowledge, Score, SearchLimits, SearchRequest,
    StopFlag, plies_to_end,
};
use crownhead_tables::ContestTable;
use crownhead_tables::contest::Build;
use proptest::prelude::*;

static TABLE: LazyLock<Arc<ContestTable>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contest-endgames");
    let build = Build { folder: &folder, pieces: 5, threads: 2, memory: 1 << 30, force: false };
    Arc::new(build.run(&|_, _| ControlFlow::Continue(())).unwrap())
});

fn with_table() -> Knowledge {
    let mut knowledge = Knowledge::default();
    knowledge.insert_probe::<Contest>("endgames", Arc::clone(&TABLE) as _);
    knowledge
}

fn search(knowledge: &Knowledge, position: &Contest, keys: &[u64], nodes: u64) -> (Score, Contest) {
    let config = EngineConfig { threads: 1, hash_mb: 4, ..EngineConfig::default() };
    let mut engine: Box<dyn DynEngine<Contest>> = Contest::new_engine(config, knowledge).unwrap();
    let limits = SearchLimits { nodes: Some(nodes), depth: Some(60), ..SearchLimits::default() };
    let request = SearchRequest { position, history_keys: keys, limits, multipv: 1 };
    let report = engine.search(request, &StopFlag::new(), &mut |_| {});
    (report.score(), position.after(report.best_move().unwrap()))
}

/// A random position with at most this many men on each side, after random moves: counters that
/// have begun to run, and a game that is not over.
fn position(max_pieces: usize, seed: u64) -> (Contest, Vec<u64>) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let options = Contest::parse_options("").unwrap();
    let start = setup::<Contest>(&options, max_pieces, 0, &mut rng);
    let mut keys = Vec::new();
    let plies = rng.usize(0..10);
    let position = play_random(start, plies, &mut rng, &mut keys);
    (position, keys)
}

/// Sign of the result that the table proves.
fn result(position: &Contest) -> Option<Score> {
    Some(match TABLE.probe(position)? {
        TableValue::Win { .. } => 1,
        TableValue::Loss { .. } => -1,
        _ => 0,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// With the table, the score has the result of the table, and the move keeps it.
    #[test]
    fn search_with_the_table_finds_its_result(seed in any::<u64>()) {
        let (position, keys) = position(2, seed);
        let Some(expected) = result(&position) else { return Ok(()) };
        let (score, after) = search(&with_table(), &position, &keys, 2000);
        match expected {
            0 => prop_assert_eq!(score, DRAW, "{:?}", position),
            _ => {
                let plies = plies_to_end(score).map(|plies| plies.signum());
                prop_assert_eq!(plies, Some(expected), "{:?} {}", position, score);
            }
        }
        let after_result = match after.outcome(&[]) {
            Some(outcome) => match outcome.winner {
                None => 0,
                Some(winner) if winner == after.side() => 1,
                Some(_) => -1,
            },
            None => result(&after).unwrap(),
        };
        prop_assert_eq!(after_result, -expected, "{:?} {:?}", position, after);
    }

    /// What a search without the table proves is what the table says; a search with the table
    /// proves nothing else either, whether the root is in the table or not.
    #[test]
    fn searches_with_and_without_the_table_agree(seed in any::<u64>()) {
        let (position, keys) = position(4, seed);
        let (plain, _) = search(&Knowledge::default(), &position, &keys, 60_000);
        let (score, _) = search(&with_table(), &position, &keys, 20_000);
        let sign = |score| plies_to_end(score).map(|plies| plies.signum());
        let (plain, with) = (sign(plain), sign(score));
        if let (Some(plain), Some(with)) = (plain, with) {
            prop_assert_eq!(plain, with, "{:?}", position);
        }
        if let Some(result) = result(&position) {
            prop_assert!(plain.is_none_or(|plain| plain == result), "{:?}", position);
        }
    }
}

/// The side with a won ending wins it against any defence.
#[test]
fn won_endings_are_won() {
    let knowledge = with_table();
    let mut rng = fastrand::Rng::with_seed(1);
    let mut won = 0;
    while won < 60 {
        let (mut position, mut keys) = position(2, rng.u64(..));
        if result(&position) != Some(1) {
            continue;
        }
        let winner = position.side();
        while position.outcome(&keys).is_none() {
            keys.push(position.key());
            let past = &keys[..keys.len() - 1];
            position = match position.side() == winner {
                true => search(&knowledge, &position, past, 1000).1,
                false => search(&Knowledge::default(), &position, past, 3000).1,
            };
        }
        assert_eq!(position.outcome(&keys).unwrap().winner, Some(winner), "{position:?}");
        won += 1;
    }
}

#[test]
fn table_is_ignored_under_other_rules() {
    // Black wins if ten plies are left, and not without a capture in the first two.
    let text = "B:W14:B1,9";
    let options = |text| Contest::parse_options(text).unwrap();
    let position = |rules| Contest::parse_position(text, &options(rules)).unwrap();
    assert!(TABLE.probe(&position("")).is_some());
    let short = search(&with_table(), &position("draw-plies=1"), &[], 1000);
    assert_eq!(short.0, search(&Knowledge::default(), &position("draw-plies=1"), &[], 1000).0);
}
