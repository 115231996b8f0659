//! Matches and tournaments: schedules, a runner, a crash-safe journal and standings.
//!
//! A [`Tournament`] is read from a file ([`config`]). A [`schedule`] decides which games to play,
//! the [`runner`] plays them, the [`journal`] stores everything that happened, and [`standings`]
//! are computed from the journal alone. [`resume`] finds out what changed since the last run.
//! [`mod@matches`] plays two players against each other; `crownhead_statistics` says how much the
//! result means.
//!
//! A single game is a [`GameJob`]; where it is played is up to the
//! [`Executor`](runner::Executor). The rules of conduct belong to `crownhead_play`.

pub mod config;
pub mod events;
mod fingerprint;
mod isolation;
pub mod job;
pub mod journal;
pub mod matches;
pub mod resume;
pub mod runner;
pub mod schedule;
pub mod standings;
mod time_left;
mod tournament;

pub use fingerprint::FileDigests;
pub use isolation::IsolationRecord;
pub use job::{FinishedGame, GameJob, GameSummary, JobResult, MoveReport};
pub use time_left::time_left;
pub use tournament::{Colours, Entrant, Points, Schedule, Settings, Tournament};
