//! Generating and playing moves touches no heap: an allocator that counts shows it.

#![allow(unsafe_code)] // a global allocator is an unsafe trait

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crownhead_rules::perft::PerftOptions;
use crownhead_rules::{BulkPerft, Game, MoveList, Notation, PerftVisitor};

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

fn allocations_during(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

struct NoAllocation;

impl PerftVisitor for NoAllocation {
    type Output = ();

    fn visit<P: Notation + BulkPerft>(self, options: &P::Options) {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let mut position = P::start(options);
            let allocations = allocations_during(|| {
                while position.outcome(&[]).is_none() {
                    let mut moves = MoveList::new();
                    position.legal_moves(&mut moves);
                    position.play(moves[random.usize(..moves.len())]);
                }
            });
            assert_eq!(allocations, 0, "{} in a game that ended as {position:?}", P::ID);
        }
        let start = P::start(options);
        let counter = PerftOptions { bulk: false, ..PerftOptions::default() };
        assert_eq!(
            allocations_during(|| assert!(counter.count(&start, 4, &[]) > 0)),
            0,
            "{}",
            P::ID
        );
        assert_eq!(allocations_during(|| assert!(start.bulk_leaves(4) > 0)), 0, "{}", P::ID);
    }
}

#[test]
fn generating_and_playing_moves_does_not_allocate() {
    assert!(allocations_during(|| drop(std::hint::black_box(vec![1]))) > 0, "the counter counts");
    for game in Game::all() {
        game.visit_perft(NoAllocation);
    }
}
