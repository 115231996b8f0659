//! The program in a real terminal: whole games with keys and the mouse, lost terminals, signals, games
//! taken up again.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on may stop

mod autosave;
mod bots;
mod frame_rate;
mod fullscreen;
mod games;
mod progress;
mod tty;
