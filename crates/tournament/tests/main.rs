//! Tests of the crate `tournament`, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod config;
mod journal;
mod matches;
mod schedules;
mod standings;
