//! Estimates of playing strength from the results of games.
//!
//! [`Pentanomial`] estimates the Elo difference of two players with error bars, [`sprt`] decides
//! when there are enough games, and [`ratings`] rates any number of players.

mod pairs;
pub mod ratings;
pub mod sprt;

pub use pairs::{Estimate, GamePoints, Pentanomial, Wdl, elo};
