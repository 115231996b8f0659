//! Bots as real processes, and how they are named.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic
#![cfg(unix)]

mod adapters;
mod harness;
mod misbehaving;
mod replay;
mod specs;
