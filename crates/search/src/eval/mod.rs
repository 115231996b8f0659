//! Static evaluation: the [`Evaluator`] interface and one evaluator per family of games.
//!
//! Today's evaluators are weighted sums of features. The weights are in `weights/`; each file says
//! how `crownhead tune` produced it. `weights/textbook/` holds the few weights of the textbook
//! players.

pub mod capture_halma;
pub mod checkers;
pub mod chinese_checkers;
pub mod material;
pub mod weights;

use crownhead_rules::Position;

use self::weights::{Layout, Weights};
use crate::Score;

/// A static evaluation.
///
/// The search keeps one `State` per ply, on its stack. An evaluator that is computed from the
/// position alone uses `()`, which costs nothing; a network keeps its accumulator there and updates
/// it move by move. A state must not allocate.
pub trait Evaluator<P: Position>: Send + Sync {
    /// Incremental state of a position.
    type State;

    /// Computes the state of a position from scratch.
    fn refresh(&self, position: &P) -> Self::State;

    /// Computes the state after `mv` from the state of `position`, the position before it.
    fn after(&self, state: &Self::State, position: &P, mv: P::Move) -> Self::State;

    /// Score for the side to move of a position whose game is not over.
    fn eval(&self, position: &P, state: &Self::State) -> Score;

    /// [`eval`](Evaluator::eval) of a position without a state.
    fn evaluate(&self, position: &P) -> Score {
        self.eval(position, &self.refresh(position))
    }
}

/// Parses a weights file of this crate. A test parses them all, so parsing cannot fail.
fn embedded_weights(text: &str, layout: Layout) -> Weights {
    let total = layout.iter().map(|(_, len)| len).sum();
    Weights::parse(text, layout).unwrap_or_else(|_| Weights::from_pairs(&vec![(0, 0); total]))
}

#[cfg(test)]
mod tests {
    use crownhead_rules::{CaptureHalma, ChineseCheckers, Contest, English};

    use super::*;
    use crate::Searchable;
    use crate::tune::Tunable;

    fn check<P: Searchable>(text: &str, textbook: &str)
    where
        P::Evaluator: Tunable<P>,
    {
        for text in [text, textbook] {
            let weights = Weights::parse(text, P::Evaluator::layout()).unwrap();
            assert!(weights.pairs().iter().any(|pair| *pair != (0, 0)), "{}", P::ID);
            assert!(text.starts_with('#'), "{}: the file does not say how it was made", P::ID);
        }
    }

    macro_rules! weights_files {
        ($($position:ty: $file:literal, $textbook:literal;)+) => {$(
            check::<$position>(
                include_str!(concat!("../../weights/", $file)),
                include_str!(concat!("../../weights/textbook/", $textbook)),
            );
        )+};
    }

    #[test]
    fn every_weights_file_fits_its_evaluator_and_says_how_it_was_made() {
        weights_files! {
            English: "english.txt", "checkers.txt";
            Contest: "contest.txt", "checkers.txt";
            ChineseCheckers: "chinese-checkers.txt", "chinese-checkers.txt";
            CaptureHalma: "capture-halma.txt", "capture-halma.txt";
        }
    }
}
