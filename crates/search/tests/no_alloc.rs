//! A search allocates at its start and between iterations, never per node.

use crownhead_rules::Game;
use crownhead_search::{
    EngineConfig, GameVisitor, HasEngine, Knowledge, SearchLimits, SearchRequest, StopFlag, visit,
};
use crownhead_test_support::count_allocations;

use crate::setups::{GAMES, from_game};

/// Compares the allocations of two searches, one with ten times the nodes of the other.
struct NoAllocation;

impl GameVisitor for NoAllocation {
    type Output = ();

    fn visit<P: HasEngine>(self, options: &P::Options) {
        let mut rng = fastrand::Rng::with_seed(11);
        for (hash_mb, pruning) in [(1, true), (0, false)] {
            let config = EngineConfig { threads: 1, hash_mb, pruning, ..EngineConfig::default() };
            let mut engine = P::new_engine(config, &Knowledge::default()).unwrap();
            for _ in 0..3 {
                let (position, history_keys) = from_game::<P>(options, &mut rng);
                let mut search = |nodes| {
                    engine.clear();
                    let limits = SearchLimits { nodes: Some(nodes), ..SearchLimits::default() };
                    let request = SearchRequest {
                        position: &position,
                        history_keys: &history_keys,
                        limits,
                        multipv: 1,
                    };
                    count_allocations(|| {
                        engine.search(request, &StopFlag::new(), &mut |_| {}).depth
                    })
                };
                let (few, shallow) = search(6_000);
                let (many, deep) = search(60_000);
                // An iteration allocates its line; nodes that allocate would add 54,000.
                let iterations = u64::from(deep - shallow);
                assert!(
                    many <= few + 4 * iterations + 8,
                    "{} {config:?} {position:?}: {few} allocations, then {many} and {iterations} \
                     iterations more",
                    P::ID
                );
            }
        }
    }
}

#[test]
fn search_does_not_allocate_per_node() {
    GAMES.iter().for_each(|game| visit(&game.parse::<Game>().unwrap(), NoAllocation));
}
