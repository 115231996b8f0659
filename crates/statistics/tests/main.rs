//! Tests of the crate `statistics`, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod pairs;
mod ratings;
mod sprt;
mod spsa;
