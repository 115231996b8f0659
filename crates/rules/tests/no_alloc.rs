//! Generating and playing moves does not allocate.

#![allow(unsafe_code)] // a global allocator is an unsafe trait

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crownhead_rules::perft::PerftOptions;
use crownhead_rules::{Game, MoveList, Notation, Perft, PerftVisitor};

struct Counting;

thread_local! {
    // Per thread, since the test runner allocates too.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: forwards every call to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract.
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

    fn visit<P: Notation + Perft>(self, options: &P::Options) {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let mut position = P::start(options);
            let allocations = allocations_during(|| {
                while position.outcome(&[]).is_none() {
                    let mut moves = MoveList::new();
                    position.legal_moves(&mut moves);
                    position.play(moves[rng.usize(..moves.len())]);
                }
            });
            assert_eq!(allocations, 0, "{} in a game that ended as {position:?}", P::ID);
        }
        let start = P::start(options);
        let perft = PerftOptions { bulk: false, ..PerftOptions::default() };
        assert_eq!(allocations_during(|| assert!(perft.count(&start, 4, &[]) > 0)), 0, "{}", P::ID);
        assert_eq!(allocations_during(|| assert!(start.bulk_leaves(4) > 0)), 0, "{}", P::ID);
    }
}

#[test]
fn generating_and_playing_moves_does_not_allocate() {
    assert!(
        allocations_during(|| drop(std::hint::black_box(vec![1]))) > 0,
        "allocations are counted"
    );
    for game in Game::all() {
        game.visit_perft(NoAllocation);
    }
}
