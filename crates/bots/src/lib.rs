//! External programs as players, in any language.
//!
//! `BotProgram` says how a bot is started, [`process`] starts, reads and stops it. A
//! [`protocol`] adapter talks to it: [`protocol::v1`] is the bot protocol, [`adapters`] are for
//! programs written for something else. [`player`] makes a [`Player`](crownhead_play::Player) of
//! all that. [`check`] tests a bot, [`replay`] asks it about a logged turn again, and starter
//! `Kit`s are bots to begin with. A bot costs bounded time and memory, whatever it does; each
//! misstep is a [`Fault`](crownhead_play::Fault) reported to its author.

mod adapters;
pub mod check;
mod line_buffer;
mod log;
mod player;
mod process;
mod program;
mod protocol;
pub mod replay;
mod spec;
mod starter_kits;

pub use adapters::Protocol;
pub use log::board_text;
pub use program::{BotProgram, ProgramError};
pub use protocol::engine;
pub use spec::{PlayerSpec, SpecError};
pub use starter_kits::StarterKit;
