//! `crownhead tournament` end to end, with the built program, real bots and real crashes.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

#[path = "../cli/harness.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod cli;
mod commands;
mod course;
mod crash;
mod disk;
mod harness;
mod isolation;
mod journal;
mod resume;
mod signals;
