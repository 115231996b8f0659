//! Choosing a move: one search over [`Searchable`] positions, one evaluation per game.
//!
//! [`Engine`] is the strong search; [`textbook`] holds plain minimax and alpha-beta. A search takes
//! a [`SearchRequest`] and returns a [`SearchReport`]; it knows no protocol, no game clock and no
//! files.

pub mod bench;
mod engine;
pub mod eval;
mod game;
mod helpers;
mod history;
mod knowledge;
mod limits;
mod movepick;
mod params;
mod qsearch;
mod score;
mod search;
pub mod textbook;
mod thread_data;
pub mod time;
mod tt;
pub mod tune;

pub use engine::{Engine, EngineConfig, HashAllocError, PvLine, SearchReport, SearchRequest};
pub use eval::Evaluator;
pub use game::{GameVisitor, Quiescence, Searchable, visit};
pub use knowledge::{Knowledge, SoloDistances};
pub use limits::{SearchLimits, StopFlag};
pub use params::SearchParams;
pub use score::{DRAW, MAX_PLY, Score, WIN, plies_to_end};
