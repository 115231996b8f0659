//! Contests between many players: who meets whom, what is written down, and the table at the end.
//!
//! A [`Contest`] is read from a file ([`contest_file`]). Its [`schedule`] says which games are to be
//! played, the [`runner`] plays them, the [`journal`] keeps all that happened through any crash, and
//! [`standings`] are computed from the journal alone. [`changes`] compares a contest that is taken up
//! again with what it was.
//!
//! How one game is played is the business of `crownhead_play`.

pub mod changes;
mod contest;
pub mod contest_file;
pub mod events;
mod fingerprint;
pub mod journal;
pub mod matches;
pub mod runner;
pub mod schedule;
mod settings;
pub mod standings;
pub mod statistics;
mod walls;

pub use contest::{Colours, Contest, Entrant, Points, Schedule};
pub use fingerprint::Files;
pub use settings::Settings;
pub use walls::Walls;
