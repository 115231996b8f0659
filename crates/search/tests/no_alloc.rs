//! A search allocates at its start and between iterations, never per node.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic
#![allow(unsafe_code)] // a global allocator is an unsafe trait

mod setups;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crownhead_rules::Game;
use crownhead_search::{
    EngineConfig, GameVisitor, HasEngine, Knowledge, SearchLimits, SearchRequest, StopFlag, visit,
};
use setups::{GAMES, from_game};

struct Counting;

thread_local! {
    // Per thread: the test runner allocates too.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: forwards to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
                    let before = ALLOCATIONS.get();
                    let report = engine.search(request, &StopFlag::new(), &mut |_| {});
                    (ALLOCATIONS.get() - before, report.depth)
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
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1]));
    assert!(ALLOCATIONS.get() > before, "the counter works");
    GAMES.iter().for_each(|game| visit(&game.parse::<Game>().unwrap(), NoAllocation));
}
