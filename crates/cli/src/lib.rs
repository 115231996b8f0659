//! Code shared by all commands of `crownhead` (failures and exit codes, messages, signals, tables,
//! game files), and the commands for matches and tournaments: [`mod@matches`], [`sprt`], [`rate`],
//! [`tournament`] and [`fleet`].

pub mod failure;
pub mod fleet;
pub mod game_files;
pub mod isolation_args;
pub mod knowledge;
pub mod matches;
pub mod network;
pub mod output;
pub mod rate;
pub mod signals;
pub mod sprt;
pub mod tournament;
