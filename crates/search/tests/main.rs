//! Tests of the crate `search`, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod bench_signature;
mod capture_halma;
mod chinese_checkers;
mod endgames;
mod properties;
mod setups;
mod solved_endings;
mod tactics;
