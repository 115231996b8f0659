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
    Allotment, Clock, ParseTimeError, TimeControl, format_duration, parse_duration, truncate,
};
pub use crownhead_search::{Knowledge, Stop};
pub use draws::{accepts_draw, considers_offer};
pub use encounter::GameSetup;
pub use fault::{Fault, FaultKind, quoted};
pub use knowledge::knowledge_for;
pub use openings::{Opening, OpeningPicker, Openings, OpeningsError, derive_seed};
pub use opponents::{CATALOG, CatalogPlayer};
pub use player::{Choice, GameOver, GameStart, Player, PlayerError};
pub use players::{BUILTIN_NAMES, BuiltinSpec, PlayerKind, PlayerOptions, Random, SpecError};
pub use referee::{End, FaultPolicy, GameSettings, Incident, PlayedGame};
pub use session::{LegalMove, PlayError, Session, TypedSession, new_session};
pub use words::to_sentence;
