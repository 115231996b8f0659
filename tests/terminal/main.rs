//! The program in a pseudo-terminal: games with keys and mouse, lost terminals, signals, resumed
//! games.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // a failing test may panic

mod autosave;
mod bots;
mod frame_rate;
mod fullscreen;
mod games;
mod progress;
mod tty;
