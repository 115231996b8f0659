//! A game in progress: [`Session`], [`Clock`], built-in [`Player`]s, the [`mod@referee`], openings,
//! lessons and [`analysis`].
//!
//! Pure: no processes, files, sockets, or threads of its own.

pub mod analysis;
mod clock;
mod draws;
pub mod fault;
pub mod game;
pub mod knowledge;
pub mod lessons;
mod openings;
mod opponents;
mod player;
mod players;
pub mod referee;
mod session;
mod stopwatch;
mod time_control;
mod words;

pub use clock::{Clock, Clocks, TimeLeft, truncate};
pub use crownhead_search::{Knowledge, StopFlag};
pub use draws::{accepts_draw, considers_offer};
pub use fault::{Fault, FaultKind, FaultPolicy, Incident, quoted};
pub use game::{
    Action, End, Event, GameConfig, GameInPlay, GameSettings, OfferKind, Refusal, SideConfig,
};
pub use openings::{Opening, OpeningPicker, Openings, OpeningsError, derive_seed};
pub use opponents::{CATALOG, CatalogPlayer};
pub use player::{Choice, GameOver, GameStart, Player, PlayerError};
pub use players::{BUILTIN_NAMES, BuiltinSpec, PlayerKind, PlayerOptions, Random, SpecError};
pub use referee::{GameSetup, PlayedGame};
pub use session::{LegalMove, PlayError, Session, TypedSession, new_session};
pub use time_control::{ParseTimeError, TimeControl, format_duration, parse_duration};
pub use words::to_sentence;
