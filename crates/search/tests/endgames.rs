//! The search with the endgame table of English checkers.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use crate::setups::{legal, play_random, setup};
use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::{English, Notation, Position, Probe, TableValue};
use crownhead_search::train::{SelfPlayOptions, trainer};
use crownhead_search::{
    DRAW, DynEngine, EngineConfig, HasEngine, Knowledge, SearchLimits, SearchReport, SearchRequest,
    StopFlag, plies_to_end,
};
use crownhead_tables::EndgameTable;
use crownhead_tables::endgame::Build;
use proptest::prelude::*;

/// Most pieces of the table in everyday tests.
const PIECES: u8 = 4;

/// Builds what is missing of a table in the folder of this test program.
fn build(pieces: u8, distance_pieces: u8) -> Arc<EndgameTable> {
    let name = format!("endgames-{pieces}-{distance_pieces}");
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let (folder, threads, memory, force) = (&*folder, 2, 1 << 30, false);
    let build = Build { folder, pieces, distance_pieces, threads, memory, force };
    Arc::new(build.run(&|_, _| ControlFlow::Continue(())).unwrap())
}

static TABLE: LazyLock<Arc<EndgameTable>> = LazyLock::new(|| build(PIECES, PIECES));

/// The table with up to four pieces.
pub(crate) fn knowledge() -> Knowledge {
    with_table(&TABLE)
}

fn with_table(table: &Arc<EndgameTable>) -> Knowledge {
    let mut knowledge = Knowledge::default();
    knowledge.insert_probe::<English>("endgames", Arc::clone(table) as _);
    knowledge
}

fn engine(knowledge: &Knowledge) -> Box<dyn DynEngine<English>> {
    let config = EngineConfig { threads: 1, hash_mb: 4, ..EngineConfig::default() };
    English::new_engine(config, knowledge).unwrap()
}

fn search(
    engine: &mut dyn DynEngine<English>,
    position: &English,
    history_keys: &[u64],
    nodes: u64,
) -> SearchReport<English> {
    let limits = SearchLimits { nodes: Some(nodes), depth: Some(40), ..SearchLimits::default() };
    let request = SearchRequest { position, history_keys, limits, multipv: 1 };
    engine.search(request, &StopFlag::new(), &mut |_| {})
}

/// A random position with this number of pieces that the side to move wins.
fn won_ending(
    table: &EndgameTable,
    options: &str,
    pieces: u32,
    rng: &mut fastrand::Rng,
) -> English {
    let options = English::parse_options(options).unwrap();
    loop {
        let position = setup::<English>(&options, pieces as usize - 1, 0, rng);
        let board = position.mover_board();
        let is_won = table.value(board).is_some_and(|value| value.outcome == Ordering::Greater);
        if (board.own | board.opponent).count_ones() == pieces && is_won {
            return position;
        }
    }
}

/// The reply that delays the loss longest.
fn longest_defence(table: &EndgameTable, position: &English) -> English {
    let after = legal(position).iter().map(|&mv| position.after(mv)).collect::<Vec<_>>();
    let plies = |after: &&English| {
        table.value(after.mover_board()).and_then(|value| value.plies).unwrap_or(u32::MAX)
    };
    after.iter().max_by_key(plies).unwrap().clone()
}

/// Plays an ending that the table claims to be won. Returns whether it was won.
fn wins(table: &EndgameTable, knowledge: &Knowledge, start: &English) -> bool {
    let winner = start.side();
    let mut engine = engine(knowledge);
    let (mut position, mut keys) = (start.clone(), Vec::new());
    loop {
        if let Some(outcome) = position.outcome(&keys) {
            return outcome.winner == Some(winner);
        }
        keys.push(position.key());
        position = if position.side() == winner {
            let report = search(&mut *engine, &position, &keys[..keys.len() - 1], 2000);
            position.after(report.best_move().unwrap())
        } else {
            longest_defence(table, &position)
        };
    }
}

fn check_won_endings(table: &Arc<EndgameTable>, max_pieces: u32, count: usize) {
    let knowledge = with_table(table);
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..count {
        let position = won_ending(table, "rules=wcdf", rng.u32(2..=max_pieces), &mut rng);
        let value = knowledge.value(&position);
        assert!(matches!(value, Some(TableValue::Win { .. })), "{position:?} {value:?}");
        assert!(wins(table, &knowledge, &position), "{position:?}");
    }
}

#[test]
fn won_endings_are_won_against_the_longest_defence() {
    check_won_endings(&TABLE, PIECES.into(), 60);
}

/// Builds the table with five pieces, which takes minutes the first time.
#[test]
#[ignore = "builds the table with five pieces"]
fn two_hundred_won_endings_of_five_pieces_are_won() {
    check_won_endings(&build(5, 5), 5, 200);
}

/// Where only outcomes are stored, the search plays on until a win is proved.
#[test]
fn endings_without_distances_are_won() {
    let table = build(PIECES, 3);
    let knowledge = with_table(&table);
    // Under the rule of the assignment some wins take too long.
    for (options, expected) in [("rules=wcdf", 19), ("", 18)] {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut won = 0;
        for _ in 0..20 {
            let position = won_ending(&table, options, 4, &mut rng);
            let value = knowledge.value(&position);
            assert_eq!(value, Some(TableValue::AtLeastDraw { plies: None }), "{position:?}");
            won += u32::from(wins(&TABLE, &knowledge, &position));
        }
        assert!(won >= expected, "{options}: {won}");
    }
}

/// Under the rules of the assignment the two draw counters run separately. The table proves fewer
/// wins then, and each of them is won.
#[test]
fn claims_under_the_rule_of_the_assignment_are_kept() {
    let knowledge = knowledge();
    let mut rng = fastrand::Rng::with_seed(2);
    let mut claimed = 0;
    for _ in 0..60 {
        let position = won_ending(&TABLE, "draw-plies=24", rng.u32(3..=4), &mut rng);
        match knowledge.value(&position) {
            Some(TableValue::Win { .. }) => {
                claimed += 1;
                assert!(wins(&TABLE, &knowledge, &position), "{position:?}");
            }
            Some(TableValue::AtLeastDraw { plies: Some(plies) }) => assert!(plies >= 24),
            value => panic!("{position:?} {value:?}"),
        }
    }
    assert!((20..60).contains(&claimed), "{claimed}");
}

#[test]
fn search_agrees_with_the_table_about_its_positions() {
    let knowledge = knowledge();
    let mut rng = fastrand::Rng::with_seed(3);
    let options = English::parse_options("").unwrap();
    let mut engine = engine(&knowledge);
    for _ in 0..300 {
        let position = setup::<English>(&options, 2, 0, &mut rng);
        let score = search(&mut *engine, &position, &[], 3000).score();
        match TABLE.probe_in_game(&position, 50).unwrap() {
            TableValue::Win { plies } => {
                assert_eq!(plies_to_end(score), Some(plies as i32), "{position:?}");
            }
            TableValue::Draw => assert_eq!(score, DRAW, "{position:?}"),
            TableValue::Loss { plies } => {
                assert_eq!(plies_to_end(score), Some(-(plies as i32)), "{position:?}");
            }
            TableValue::AtLeastDraw { .. } => assert!(score >= DRAW, "{position:?}"),
            TableValue::AtMostDraw { .. } => assert!(score <= DRAW, "{position:?}"),
        }
    }
}

/// A search without the table finds only what the table knows.
#[test]
fn search_without_table_never_contradicts_it() {
    let mut rng = fastrand::Rng::with_seed(4);
    let options = English::parse_options("").unwrap();
    let mut engine = engine(&Knowledge::default());
    let mut found = 0;
    for _ in 0..150 {
        let position = setup::<English>(&options, 2, 0, &mut rng);
        let score = search(&mut *engine, &position, &[], 20_000).score();
        let value = TABLE.value(position.mover_board()).unwrap();
        if let Some(plies) = plies_to_end(score) {
            found += 1;
            let outcome = plies.cmp(&0);
            assert_eq!(outcome, value.outcome, "{position:?}");
            assert!(plies.unsigned_abs() >= value.plies.unwrap(), "{position:?}");
        }
    }
    assert!(found >= 30, "{found}");
}

/// Sign of the result that a search proved.
fn proved(report: &SearchReport<English>) -> Option<Ordering> {
    plies_to_end(report.score()).map(|plies| plies.cmp(&0))
}

/// Sign of the result that the table proves.
fn table_result(position: &English, plies_left: u32) -> Option<Ordering> {
    Some(match TABLE.probe_in_game(position, plies_left)? {
        TableValue::Win { .. } => Ordering::Greater,
        TableValue::Draw => Ordering::Equal,
        TableValue::Loss { .. } => Ordering::Less,
        TableValue::AtLeastDraw { .. } | TableValue::AtMostDraw { .. } => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// Positions of up to five pieces, in and outside the table, under both rules for draws, with
    /// counters that have begun to run and positions that have occurred. One engine with the table
    /// searches the whole line that leads there, and keeps what it has learnt.
    #[test]
    fn searches_with_and_without_the_table_agree(
        seed in any::<u64>(),
        rules in prop::sample::select(&["", "rules=wcdf", "draw-plies=30"][..]),
    ) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let options = English::parse_options(rules).unwrap();
        let start = loop {
            let start = setup::<English>(&options, 4, 0, &mut rng);
            let board = start.mover_board();
            if (board.own | board.opponent).count_ones() <= 5 {
                break start;
            }
        };
        let mut with_table = engine(&knowledge());
        let (mut position, mut keys) = (start, Vec::new());
        for _ in 0..rng.usize(1..=6) {
            let plies = rng.usize(0..8);
            position = play_random(position, plies, &mut rng, &mut keys);
            let with = proved(&search(&mut *with_table, &position, &keys, 3000));
            let without = search(&mut *engine(&Knowledge::default()), &position, &keys, 20_000);
            let without = proved(&without);
            if let (Some(with), Some(without)) = (with, without) {
                prop_assert_eq!(with, without, "{:?}", position);
            }
            let [first, second] = position.plies_to_draw();
            if let Some(result) = table_result(&position, first.min(second)) {
                prop_assert!(without.is_none_or(|found| found == result), "{:?}", position);
                prop_assert!(with.is_none_or(|found| found == result), "{:?}", position);
            }
        }
    }
}

#[test]
fn training_data_has_the_exact_results_of_the_table() {
    let options =
        SelfPlayOptions { nodes: 100, random_plies: 3, off_game: 50, seed: 1, threads: 2 };
    let trainer = trainer(&"english".parse().unwrap(), &knowledge()).unwrap();
    let records = trainer.play_games(0..300, &options, &StopFlag::new()).unwrap().unwrap();
    let mut found = [0; 3];
    for record in records {
        let [own, opponent, kings] = record.boards;
        let Some(value) = TABLE.value(MoverBoard { own, opponent, kings }) else { continue };
        let is_proved = value.plies.is_none_or(|plies| plies < record.plies_left.into());
        if is_proved {
            let expected = value.outcome as i16 + 1;
            assert_eq!(record.result.map(i16::from), Some(expected), "{record:?}");
            assert_eq!(record.score.signum(), value.outcome as i16, "{record:?}");
            found[expected as usize] += 1;
        }
    }
    assert!(found[1] >= 10 && found[0] + found[2] >= 10, "{found:?}");
}

/// White can repeat a position for the third time, which is a draw, although the table calls it
/// lost for White.
#[test]
fn third_occurrence_takes_precedence_over_the_table() {
    let options = English::parse_options("rules=wcdf").unwrap();
    let mut position = English::parse_position("B:WK32:BK10,K15", &options).unwrap();
    let mut keys = Vec::new();
    for text in ["15-11", "32-28", "11-15", "28-32", "15-11", "32-28", "11-15"] {
        keys.push(position.key());
        position.play(position.parse_move(text).unwrap());
    }
    assert_eq!(TABLE.value(position.mover_board()).unwrap().outcome, Ordering::Less);
    let in_game = |keys: &[u64]| knowledge().value_in_game(&position, keys);
    assert!(matches!(in_game(&keys), Some(TableValue::AtMostDraw { plies: Some(_) })));
    assert!(matches!(in_game(&keys[5..]), Some(TableValue::Loss { .. })));
    let mut engine = engine(&knowledge());
    let report = search(&mut *engine, &position, &keys, 20_000);
    assert_eq!(report.score(), DRAW);
    assert_eq!(position.format_move(report.best_move().unwrap()), "28-32");
}
