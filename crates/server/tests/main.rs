//! Tests of the crate `server`, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)] // a failing test may panic

mod abuse;
mod analysis;
mod common;
mod fleet;
mod golden;
mod hosted_game;
mod rooms;
mod routes;
mod websocket;
