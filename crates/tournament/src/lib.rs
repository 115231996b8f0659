//! Tournaments between many players: who meets whom, what is written down, and the table at the end.
//!
//! A [`Contest`] is read from a file ([`config`]). Its [`schedule`] says which games are to be
//! played, the [`runner`] plays them, the [`journal`] keeps all that happened through any crash, and
//! [`standings`] are computed from the journal alone. [`resume`] compares a tournament that is taken up
//! again with what it was.
//!
//! How one game is played is the business of `crownhead_play`.

pub mod config;
pub mod events;
mod fingerprint;
mod isolation;
pub mod journal;
pub mod matches;
pub mod resume;
pub mod runner;
pub mod schedule;
pub mod standings;
pub mod statistics;
mod tournament;

pub use fingerprint::FileDigests;
pub use isolation::IsolationRecord;
pub use tournament::{Colours, Entrant, Points, Schedule, Settings, Tournament};
