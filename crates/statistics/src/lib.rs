//! Estimates of playing strength from the results of games.
//!
//! [`Pentanomial`] estimates the Elo difference of two players with error bars, [`sprt`] decides
//! when there are enough games, [`ratings`] rates any number of players, and [`spsa`] tunes
//! parameters.

mod pairs;
pub mod ratings;
pub mod sprt;
pub mod spsa;

pub use pairs::{Estimate, GamePoints, Pentanomial, Wdl, elo};
