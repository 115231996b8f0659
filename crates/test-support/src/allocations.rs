//! Counts memory allocations.

#![allow(unsafe_code)] // a global allocator is an unsafe trait

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Per thread: other tests run at the same time.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting the allocations of each thread. A test program makes it the
/// `#[global_allocator]`.
pub struct CountingAllocator;

// SAFETY: forwards every call to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
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

/// Returns the number of allocations that this thread makes during `work`, and its result. Panics
/// if [`CountingAllocator`] is not the allocator of the program.
pub fn count_allocations<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1]));
    let start = ALLOCATIONS.get();
    assert!(start > before, "the allocator of this program does not count");
    let result = work();
    (ALLOCATIONS.get() - start, result)
}
