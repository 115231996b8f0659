//! A game in progress: [`Session`], [`Clock`], built-in [`Player`]s, the [`mod@referee`], openings,
//! lessons and [`analysis`].
//!
//! Pure: no processes, files, sockets, or threads of its own.

pub mod analysis;
mod clock;
mod draws;
mod encounter;
mod fault;
mod knowledge;
pub mod lessons;
mod openings;
mod opponents;
mod player;
mod players;
pub mod referee;
mod session;
mod stopwatch;
mod words;

pub use clock::{
    Allotment, Clock, ParseTimeError, TimeControl, format_duration, parse_duration, shorten,
};
pub use crownhead_search::{Knowledge, Stop};
pub use draws::{accepts_draw, hears_offer};
pub use encounter::{GameSetup, log_name};
pub use fault::{Fault, FaultKind, quoted};
pub use knowledge::knowledge_for;
pub use openings::{Drawing, Opening, Openings, OpeningsError, mix};
pub use opponents::{OPPONENTS, Opponent};
pub use player::{Choice, Player, PlayerError, Seating, Verdict};
pub use players::{BUILTIN_NAMES, BuiltinSpec, PlayerKind, PlayerOptions, Random, SpecError};
pub use referee::{End, FaultPolicy, GameSettings, Incident, PlayedGame};
pub use session::{LegalMove, PlayError, Session, TypedSession, session};
pub use words::sentence;
