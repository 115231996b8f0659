//! A game in progress: [`GameInPlay`], [`Session`], [`Clock`], built-in [`Player`]s, the
//! [`mod@referee`], openings, lessons and [`analysis`].
//!
//! Pure: no processes, files or sockets, and no threads but those of the search. Compiles for
//! `wasm32-unknown-unknown`.

pub mod analysis;
mod clock;
mod draw_offer;
pub mod fault;
pub mod game;
pub mod knowledge;
pub mod lessons;
mod openings;
mod player;
mod players;
pub mod referee;
pub mod replay;
mod seed;
mod sentence;
mod session;
mod stopwatch;
mod time_control;

pub use clock::{Clock, Clocks, TimeLeft};
pub use crownhead_search::{Knowledge, StopFlag};
pub use fault::{Fault, FaultKind, FaultPolicy, Incident, quoted};
pub use game::{
    Action, End, Event, GameConfig, GameInPlay, GameSettings, OfferKind, Refusal, SideConfig,
};
pub use openings::{Opening, OpeningPicker, Openings, OpeningsError};
pub use player::{Choice, GameOver, GameStart, Player, PlayerError};
pub use players::{
    BUILTIN_NAMES, BuiltinSpec, CATALOG, CatalogPlayer, PlayerKind, PlayerOptions, Random,
    SpecError,
};
pub use referee::{GameSetup, PlayedGame};
pub use seed::derive_seed;
pub use sentence::{to_sentence, truncate};
pub use session::{LegalMove, PlayError, Session, TypedSession, new_session};
pub use time_control::{ParseTimeError, TimeControl, format_duration, parse_duration};
