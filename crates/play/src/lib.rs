//! A game in progress, and those who play it without a person: [`Session`], [`Clock`],
//! [`Player`]s by name, [`bots`] that are programs of their own, the [`mod@referee`], and
//! [`mod@matches`]. [`sandbox`] has the walls around those programs.
//!
//! How a move is found is the business of `crownhead_search`; this crate knows whose turn it is,
//! how much time there is, and which knowledge a player may use.

pub mod analysis;
pub mod bots;
mod clock;
mod data;
mod draws;
mod encounter;
pub mod engine;
mod hub_text;
pub mod knowledge;
pub mod lessons;
pub mod matches;
mod openings;
mod opponents;
mod player;
mod players;
pub mod referee;
pub mod sandbox;
mod session;
mod spec;
pub mod statistics;
mod stopwatch;
mod words;

pub use clock::{Clock, TimeControl, TimeError, read_time, write_time};
pub use crownhead_search::{Knowledge, StopFlag};
pub use data::data_dir;
pub use draws::{accepts_draw, hears_offer};
pub use encounter::{Encounter, log_name};
pub use knowledge::knowledge_for;
pub use openings::{Drawing, Opening, Openings, OpeningsError, mix};
pub use opponents::{OPPONENTS, Opponent};
pub use player::{Choice, Player, PlayerError, Seating, Verdict};
pub use referee::{End, Incident, Policy, Refereed, Terms};
pub use session::{LegalMove, PlayError, Session, TypedSession, session};
pub use spec::{PlayerKind, PlayerOptions, PlayerSpec, SpecError};
pub use words::sentence;
