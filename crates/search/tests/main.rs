//! Tests of the crate `search`, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod bench_signature;
mod capture_halma;
mod chinese_checkers;
mod contest_endgames;
mod endgames;
mod no_alloc;
mod params;
mod properties;
mod setups;
mod solved_endings;
mod tactics;

#[global_allocator]
static ALLOCATOR: crownhead_test_support::CountingAllocator =
    crownhead_test_support::CountingAllocator;
