//! External programs as players, in any language.
//!
//! [`BotProgram`] describes how a bot is built and started; its process runs in a
//! [sandbox](crownhead_sandbox). A protocol adapter talks to it: the bot protocol, or an adapter
//! for programs written for something else (see [`Protocol`]). [`PlayerSpec`] creates a
//! [`Player`](crownhead_play::Player) from it. [`check`] tests a bot, `attack` tests the sandbox,
//! [`replay`] asks it about a logged turn again, a [`StarterKit`] is a bot to start from, and
//! [`engine`] is the bot's side of the protocol.
//!
//! A bot uses bounded time and memory, whatever it does. Every mistake is a
//! [`Fault`](crownhead_play::Fault), reported to its author.

#![cfg_attr(not(unix), allow(dead_code))] // only processes use some parts

mod adapters;
#[cfg(unix)]
pub mod attack;
mod build;
pub mod check;
mod line_buffer;
pub mod log;
mod manifest;
mod player;
mod process;
mod program;
mod protocol;
pub mod replay;
mod spec;
mod starter_kits;

pub use program::{BotProgram, ProgramError};
pub use protocol::{Protocol, engine};
pub use spec::{PlayerSpec, SpecError};
pub use starter_kits::StarterKit;
