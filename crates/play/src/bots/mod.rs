//! Players that are programs of their own, in any language.
//!
//! [`program`] says how one is started, [`process`] starts it, reads it and ends it, [`running`] knows
//! all that run, a
//! [`dialogue`] is the way of talking with it: [`protocol`] is ours, [`adapters`] are for programs that
//! were written for something else. [`outside`] makes a
//! [`Player`](crate::Player) of all that. [`check`] tries a bot out, [`replay`] asks it again, and
//! [`Kit`]s are bots to begin with. Whatever such a program does, it costs bounded time and
//! bounded memory, and what it did wrong is a [`Fault`] told to its author.

mod adapters;
mod buffer;
pub mod check;
mod dialogue;
mod kits;
mod line;
mod log;
mod nearness;
mod outside;
mod process;
mod program;
mod protocol;
pub mod replay;
mod running;

pub(crate) use crate::fault::{Fault, FaultKind};
pub use adapters::Protocol;
pub(crate) use buffer::read_bounded_line;
pub use kits::Kit;
pub(crate) use line::{Line, quote};
pub use log::board_text;
pub(crate) use outside::Outside;
pub(crate) use process::build;
pub use program::{Program, ProgramError};
pub use running::kill_all;
