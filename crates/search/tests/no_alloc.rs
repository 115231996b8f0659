//! What a search allocates it allocates at its beginning and between iterations: positions it looks
//! at cost nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail
#![allow(unsafe_code)] // a global allocator is an unsafe trait

mod setups;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crownhead_rules::Game;
use crownhead_search::{
    Engine, EngineConfig, GameVisitor, Knowledge, SearchLimits, SearchRequest, Searchable,
    StopFlag, visit,
};
use setups::{GAMES, from_game};

struct Counting;

thread_local! {
    // Of this thread only: the test runner allocates on its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Searches with two node limits, one ten times the other.
struct NoAllocation;

impl GameVisitor for NoAllocation {
    type Output = ();

    fn visit<P: Searchable>(self, options: &P::Options) {
        let mut random = fastrand::Rng::with_seed(11);
        for (hash, pruning) in [(1, true), (0, false)] {
            let settings =
                EngineConfig { threads: 1, hash_mb: hash, pruning, ..EngineConfig::default() };
            let mut engine = Engine::<P>::new(settings, &Knowledge::default()).unwrap();
            for _ in 0..3 {
                let (position, past) = from_game::<P>(options, &mut random);
                let mut search = |nodes| {
                    engine.clear();
                    let limits = SearchLimits { nodes: Some(nodes), ..SearchLimits::default() };
                    let task = SearchRequest {
                        position: &position,
                        history_keys: &past,
                        limits,
                        multipv: 1,
                    };
                    let before = ALLOCATIONS.get();
                    let report = engine.search(task, &StopFlag::new(), |_| {});
                    (ALLOCATIONS.get() - before, report.depth)
                };
                let (few, shallow) = search(6_000);
                let (many, deep) = search(60_000);
                // An iteration hands over a line; a node would be heard 54,000 times.
                let iterations = u64::from(deep - shallow);
                assert!(
                    many <= few + 4 * iterations + 8,
                    "{} {settings:?} {position:?}: {few} allocations, then {many} and {iterations} \
                     iterations more",
                    P::ID
                );
            }
        }
    }
}

#[test]
fn looking_at_positions_does_not_allocate() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1]));
    assert!(ALLOCATIONS.get() > before, "the counter counts");
    GAMES.iter().for_each(|game| visit(&game.parse::<Game>().unwrap(), NoAllocation));
}
