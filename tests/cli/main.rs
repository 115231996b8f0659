//! The command line as scripts see it: output, standard error and exit codes of the built program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod adapters;
mod analyse;
mod arguments;
mod assignment;
mod bench;
mod book;
mod bot_check;
mod bots;
mod completions;
mod contest_endgames;
mod endgames;
mod evidence;
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
mod regressions;
#[cfg(target_os = "linux")]
mod release;
mod serve;
mod tables;
mod train;
mod tune;
