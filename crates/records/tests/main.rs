//! Tests of the crate `records`, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod files;
mod properties;
