//! The toy game is searched with the default `Searchable`: it needs no code in this crate.

#![allow(clippy::unwrap_used)] // a failing test may panic

use crownhead_rules::{Breakthrough, Position};
use crownhead_search::{
    EngineConfig, HasEngine, Knowledge, SearchLimits, SearchRequest, StopFlag, plies_to_end,
};

#[test]
fn engine_and_textbook_search_solve_the_toy_game_alike() {
    let position = Breakthrough::start(&());
    let textbook = Breakthrough::new_textbook(&Knowledge::default());
    let solved = textbook.search(&position, &[], 24, true, &|| false).unwrap();
    assert!(solved.complete);
    for pruning in [false, true] {
        let config = EngineConfig { hash_mb: 1, pruning, ..EngineConfig::default() };
        let mut engine = Breakthrough::new_engine(config, &Knowledge::default()).unwrap();
        let limits = SearchLimits { depth: Some(60), ..SearchLimits::default() };
        let request = SearchRequest::new(&position, limits);
        let report = engine.search(request, &StopFlag::new(), &mut |_| {});
        let plies = plies_to_end(report.score()).unwrap();
        assert_eq!(plies.signum(), plies_to_end(solved.score).unwrap().signum());
        if !pruning {
            assert_eq!(report.score(), solved.score);
        }
        let mut end = position.clone();
        report.lines[0].moves.iter().for_each(|&mv| end.play(mv));
        assert!(end.outcome(&[]).is_some(), "{:?}", report.lines[0].moves);
    }
}

#[test]
fn toy_game_has_a_bench() {
    let game = "breakthrough".parse().unwrap();
    assert!(crownhead_search::bench::bench(&game, 1).unwrap().nodes > 0);
}
