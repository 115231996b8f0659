//! Tests of the crate `rules`, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod cases;
mod naive;
mod perft;
mod perft_deep;
mod properties;
