//! `crownhead bench`: the signature of the search.

use crate::harness::crownhead;

#[test]
fn the_node_counts_are_those_kept_in_the_repository() {
    let kept = include_str!("../../bench.txt");
    let finished = crownhead(&["bench"]);
    assert_eq!(
        finished.stdout, kept,
        "the search behaves differently: if that is meant, `crownhead bench > bench.txt` and say so"
    );
    assert_eq!(finished.code, Some(0));
    assert_eq!(finished.stderr.matches("million nodes per second").count(), 4);
}

#[test]
fn one_game_can_be_searched_alone_and_told_in_json() {
    let finished = crownhead(&["bench", "capture-halma", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    let games = object["games"].as_array().unwrap();
    assert_eq!(games.len(), 1);
    let kept = include_str!("../../bench.txt");
    let nodes = games[0]["nodes"].as_u64().unwrap();
    assert!(kept.contains(&format!("capture-halma {nodes}\n")), "{nodes}");
}
