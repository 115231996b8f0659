//! Finds the weights of an evaluation from games that the search plays against itself.
//!
//! [`play()`] makes samples: quiet positions with the score the search gave them and the result of
//! the game. [`fit()`] changes the weights until the weighted sums foretell the results best
//! (logistic regression, which draughts and chess programmers call Texel's method). Both are
//! repeatable: the same seed gives the same weights, whatever the number of threads.

mod fit;
mod self_play;

pub use fit::{Fit, FitOptions, fit};
pub use self_play::{SelfPlayOptions, generate_samples};

/// A position of a game, as the features of its evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Features and how often they occur, the count in the lowest eight bits.
    features: Box<[u32]>,
    /// Share of the weights for the beginning of a game.
    opening_share: f32,
    /// What the evaluation multiplies the sum with.
    scale: f32,
    /// What the search thought, for the side to move.
    score: f32,
    /// How the game ended for the side to move: 0, ½ or 1.
    result: f32,
    /// The number of the game, to keep whole games apart for the check.
    game: u32,
}
