//! Tests of the crate `play`, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod books;
mod clocks;
mod game;
mod openings;
mod players;
mod sessions;
mod specs;
