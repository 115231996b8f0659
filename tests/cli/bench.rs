//! `crownhead bench`: the signature of the search.

use crate::harness::crownhead;

#[test]
fn node_counts_match_bench_txt() {
    let expected = include_str!("../../bench.txt");
    let finished = crownhead(&["bench"]);
    assert_eq!(
        finished.stdout, expected,
        "the search has changed: if intended, run `crownhead bench > bench.txt`"
    );
    assert_eq!(finished.code, Some(0));
    assert_eq!(finished.stderr.matches("million nodes per second").count(), 4);
}

#[test]
fn json_describes_one_game() {
    let finished = crownhead(&["bench", "capture-halma", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    let games = object["games"].as_array().unwrap();
    assert_eq!(games.len(), 1);
    let expected = include_str!("../../bench.txt");
    let nodes = games[0]["nodes"].as_u64().unwrap();
    assert!(expected.contains(&format!("capture-halma {nodes}\n")), "{nodes}");
}
