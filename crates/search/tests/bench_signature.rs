//! The node counts of `bench.txt`.

#![allow(clippy::unwrap_used)]

use crownhead_rules::Game;

#[test]
fn node_counts_match_bench_txt() {
    let counts: String = Game::all()
        .iter()
        .map(|game| {
            let nodes = crownhead_search::bench::bench(game, 1).unwrap().nodes;
            format!("{} {nodes}\n", game.info().id)
        })
        .collect();
    assert_eq!(counts, include_str!("../../../bench.txt"));
}
