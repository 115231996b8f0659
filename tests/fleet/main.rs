//! Fleets: the built program as coordinator and workers, and a real NATS server.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

#[path = "../cli/harness.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod cli;
mod games;
mod harness;
mod hostile;
mod jobs;
mod kills;
mod network;
mod server;
mod trust;
