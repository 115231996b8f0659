//! One evaluation per game: weighted sums of features that players of the game name.
//!
//! The weights are in `weights/`, made by `crownhead tune`; each file says how. `weights/textbook/`
//! holds the few that the plain players use.

pub mod capture_halma;
pub mod checkers;
pub mod chinese_checkers;
pub mod weights;

use crownhead_rules::Position;

use self::weights::{FeatureSink, Layout, Weights};
use crate::{Knowledge, Score, Searchable};

/// Judges positions without looking ahead.
pub trait Evaluator<P: Position>: Send + Sync {
    /// What the position is worth to the side to move, when the game has not ended.
    fn eval(&self, position: &P) -> Score;
}

/// An evaluation that is a weighted sum, so that its weights can be tuned.
pub trait Tunable<P>: Sized {
    /// Its weights, group by group.
    fn layout() -> Layout;

    /// The weights it was built with.
    fn weights(&self) -> &Weights;

    /// The same evaluation with other weights.
    fn with_weights(&self, weights: Weights) -> Self;

    /// Hands the features of a position, as the side to move sees it, to `sink`.
    fn features(&self, position: &P, sink: &mut impl FeatureSink);

    /// How far the game is from its end: 32 at the beginning, 0 at the end.
    fn phase(&self, position: &P) -> i32;

    /// What the weighted sum is multiplied with before it is a score, 0 to 1: near a draw by count
    /// an advantage is worth less.
    fn scale(&self, _position: &P) -> f32 {
        1.0
    }
}

/// The evaluation with the weights of a textbook: what anyone would count, and nothing tuned.
pub fn textbook_evaluator<P: Searchable>(knowledge: &Knowledge) -> P::Evaluator {
    let layout = <P::Evaluator as Tunable<P>>::layout();
    P::evaluator(knowledge).with_weights(embedded_weights(P::TEXTBOOK_WEIGHTS, layout))
}

/// The weights of a file in this crate. They are read by a test, so nothing can be wrong with them.
fn embedded_weights(text: &str, layout: Layout) -> Weights {
    let total = layout.iter().map(|(_, len)| len).sum();
    Weights::parse(text, layout).unwrap_or_else(|_| Weights::from_pairs(&vec![(0, 0); total]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GameVisitor, visit};
    use crownhead_rules::Game;

    struct Read(&'static str);

    impl GameVisitor for Read {
        type Output = ();
        fn visit<P: Searchable>(self, _: &P::Options) {
            let layout = <P::Evaluator as Tunable<P>>::layout();
            for text in [self.0, P::TEXTBOOK_WEIGHTS] {
                let weights = Weights::parse(text, layout).unwrap();
                assert!(weights.pairs().iter().any(|pair| *pair != (0, 0)), "{}", P::ID);
                assert!(text.starts_with('#'), "{}: nothing says how it was made", P::ID);
            }
        }
    }

    #[test]
    fn every_weights_file_fits_its_evaluation_and_says_how_it_was_made() {
        for (game, text) in Game::all().iter().zip([
            include_str!("../../weights/english.txt"),
            include_str!("../../weights/contest.txt"),
            include_str!("../../weights/chinese-checkers.txt"),
            include_str!("../../weights/capture-halma.txt"),
        ]) {
            visit(game, Read(text));
        }
    }
}
