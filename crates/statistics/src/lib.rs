//! What results say about strength.
//!
//! [`Pentanomial`] estimates the Elo difference of two players with error bars, [`sprt`] decides
//! when there are enough games, and [`ratings`] rates any number of players.

mod pairs;
pub mod ratings;
pub mod sprt;

pub use pairs::{Estimate, GamePoints, Pentanomial, Wdl, elo};
