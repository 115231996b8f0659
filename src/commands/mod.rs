//! One file per command.

pub(crate) mod analyse;
pub(crate) mod assignment;
pub(crate) mod bench;
pub(crate) mod book;
pub(crate) mod bot;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod engine;
pub(crate) mod games;
pub(crate) mod home;
pub(crate) mod learn;
pub(crate) mod menu;
pub(crate) mod moves;
pub(crate) mod openings;
pub(crate) mod pdn;
pub(crate) mod perft;
pub(crate) mod play;
pub(crate) mod puzzles;
pub(crate) mod serve;
pub(crate) mod tables;
pub(crate) mod train;
pub(crate) mod tune;
pub(crate) mod view;

pub(crate) use crownhead_cli::{fleet, matches, rate, sprt, tournament};
use crownhead_rules::{Notation, Position};

use crate::failure::Failure;

/// Parses a position; without one, returns the start position.
fn parse_position<P: Notation>(text: Option<&str>, options: &P::Options) -> Result<P, Failure> {
    match text {
        Some(text) => {
            P::parse_position(text, options).map_err(|error| Failure::BadInput(error.to_string()))
        }
        None => Ok(<P as Position>::start(options)),
    }
}
