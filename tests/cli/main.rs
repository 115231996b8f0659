//! The command line as its users see it: the built program is run, and what it prints, where it
//! prints it and how it exits are checked. Each test states a fact that somebody's script may rely
//! on.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot go on may stop

mod adapters;
mod analyse;
mod arguments;
mod bench;
mod bots;
mod completions;
mod games;
mod harness;
mod isolation;
mod matches;
mod moves;
mod pdn;
mod perft;
mod pipes;
mod play;
mod play_vs_bot;
mod tables;
mod tune;
