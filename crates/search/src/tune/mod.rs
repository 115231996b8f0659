//! Tunes the weights of linear evaluators on self-play games.
//!
//! [`Tuner::generate_samples`] plays games and collects quiet positions, each with the search's
//! score and the result of the game. [`fit()`] adjusts the weights until the evaluator predicts the
//! results best: logistic regression, known as Texel tuning. Both are reproducible: the same seed
//! gives the same weights with any number of threads.

mod fit;
mod self_play;

pub use fit::{Fit, FitOptions, fit};
pub use self_play::SelfPlayOptions;

use crownhead_rules::{Game, Position};

use crate::eval::weights::{FeatureSink, Layout, Weights, WeightsError};
use crate::{
    Evaluator, GameVisitor, HasEngine, HashAllocError, Knowledge, Searchable, StopFlag, visit,
};

/// An evaluator that is a weighted sum of features.
pub trait Tunable<P: Position>: Evaluator<P> + Clone + 'static {
    /// Groups of weights.
    fn layout() -> Layout;

    /// The current weights.
    fn weights(&self) -> &Weights;

    /// Returns the same evaluator with other weights.
    fn with_weights(&self, weights: Weights) -> Self;

    /// Passes the features of a position, seen from the side to move, to `sink`.
    fn features(&self, position: &P, sink: &mut impl FeatureSink);

    /// Phase of the game: 32 at the start, 0 at the end.
    fn phase(&self, position: &P) -> i32;

    /// Factor of the weighted sum, 0 to 1: an advantage counts less near a draw by a counter.
    fn scale(&self, _position: &P) -> f32 {
        1.0
    }
}

/// A position of a self-play game, as the features of its evaluator.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Feature indices and counts; the count is in the lowest eight bits.
    features: Box<[u32]>,
    /// Share of the opening weights, 0 to 1.
    opening_share: f32,
    /// [`Tunable::scale`] of the position.
    scale: f32,
    /// Score of the search for the side to move.
    score: f32,
    /// Result for the side to move: 0, ½ or 1.
    result: f32,
    /// Number of the game. Games are assigned to training and validation as a whole.
    game: u32,
}

/// The tuner of one game's evaluator.
pub trait Tuner {
    /// Name of the game.
    fn game_name(&self) -> &'static str;

    /// Replaces the weights with those of a weights file.
    fn parse_weights(&mut self, text: &str) -> Result<(), WeightsError>;

    /// The current weights.
    fn weights(&self) -> &Weights;

    /// Formats weights as the lines of a weights file, without comments.
    fn format_weights(&self, weights: &Weights) -> String;

    /// Plays self-play games and returns the samples in the order of the games. Calls `on_game`
    /// with the number of finished games.
    fn generate_samples(
        &self,
        options: &SelfPlayOptions,
        stop: &StopFlag,
        on_game: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Sample>, HashAllocError>;
}

/// Creates the tuner of a game's evaluator; `None` if it cannot be tuned.
pub fn tuner(game: &Game, knowledge: &Knowledge) -> Option<Box<dyn Tuner>> {
    struct Create<'a>(&'a Knowledge);
    impl GameVisitor for Create<'_> {
        type Output = Option<Box<dyn Tuner>>;
        fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
            P::tuner(options, self.0)
        }
    }
    visit(game, Create(knowledge))
}

/// The tuner of a linear evaluator.
pub(crate) struct LinearTuner<P: Searchable, E> {
    options: P::Options,
    knowledge: Knowledge,
    evaluator: E,
}

impl<P: Searchable, E: Tunable<P>> LinearTuner<P, E> {
    pub(crate) fn boxed(
        options: &P::Options,
        knowledge: &Knowledge,
        evaluator: E,
    ) -> Option<Box<dyn Tuner>> {
        let (options, knowledge) = (options.clone(), knowledge.clone());
        Some(Box::new(LinearTuner::<P, E> { options, knowledge, evaluator }))
    }
}

impl<P: Searchable, E: Tunable<P>> Tuner for LinearTuner<P, E> {
    fn game_name(&self) -> &'static str {
        P::NAME
    }

    fn parse_weights(&mut self, text: &str) -> Result<(), WeightsError> {
        self.evaluator = self.evaluator.with_weights(Weights::parse(text, E::layout())?);
        Ok(())
    }

    fn weights(&self) -> &Weights {
        self.evaluator.weights()
    }

    fn format_weights(&self, weights: &Weights) -> String {
        weights.format(E::layout())
    }

    fn generate_samples(
        &self,
        options: &SelfPlayOptions,
        stop: &StopFlag,
        on_game: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Sample>, HashAllocError> {
        self_play::generate_samples(self, options, stop, on_game)
    }
}
