//! Tests of the crate `rules`, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod cases;
mod naive;
mod no_alloc;
mod perft;
mod perft_deep;
mod properties;

#[global_allocator]
static ALLOCATOR: crownhead_test_support::CountingAllocator =
    crownhead_test_support::CountingAllocator;
