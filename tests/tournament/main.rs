//! `crownhead tournament` as its users see it, with the built program, real bots and real crashes.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on may stop

mod commands;
mod course;
mod crash;
mod disk;
mod harness;
mod isolation;
mod journal;
mod resume;
#[path = "../cli/run.rs"]
#[allow(dead_code)] // each test program uses its part
mod run;
mod signals;
