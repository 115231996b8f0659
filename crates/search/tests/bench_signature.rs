//! The search signature in `bench.txt`.

use crownhead_search::bench::bench;

#[test]
fn node_counts_match_bench_txt() {
    for line in include_str!("../../../bench.txt").lines() {
        let (id, nodes) = line.split_once(' ').unwrap();
        let found = bench(&id.parse().unwrap(), 1).unwrap().nodes;
        assert_eq!(found.to_string(), nodes, "{id}: the search behaves differently");
    }
}
