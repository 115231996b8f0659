//! Choosing a move: one search over [`Searchable`] positions, one evaluation per game.
//!
//! [`Engine`] is the strong search; [`plain`] holds the textbook's minimax and alpha-beta.
//! A search takes a [`Task`] and returns a [`Report`]; it knows no protocol, no clock of a game and
//! no files.

pub mod bench;
mod engine;
pub mod evaluations;
mod game;
mod limits;
mod order;
pub mod plain;
mod score;
mod table;
pub mod tune;
pub mod weights;
mod worker;

pub use engine::{Engine, Line, NoMemory, Report, Settings, Task};
pub use game::{Evaluate, GameVisitor, Knowledge, Pruning, Searchable, Solo, Unrest, visit};
pub use limits::{Limits, Stop};
pub use score::{DRAW, MAX_PLY, Score, WIN, plies_to_end};
