//! Static evaluation: the [`Evaluator`] interface and one evaluator per family of games.
//!
//! A network evaluates English checkers. It is in `networks/`, and the file says how
//! `crownhead train` made it. The evaluators of the other games are weighted sums of features. The
//! weights are in `weights/`; each file says how `crownhead tune` made it. `weights/textbook/` holds
//! the few weights of the textbook players.

pub mod capture_halma;
pub mod checkers;
pub mod chinese_checkers;
pub mod material;
pub mod patterns;
pub mod weights;

use crownhead_rules::Position;

use self::weights::{Layout, Weights};
use crate::Score;
use crate::network::Network;

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

/// Reads a network of this crate. A test reads them all, so reading cannot fail.
fn embedded_network<const INPUTS: usize, const HIDDEN: usize, const BUCKETS: usize>(
    bytes: &[u8],
) -> Box<Network<INPUTS, HIDDEN, BUCKETS>> {
    Network::parse(bytes).unwrap_or_else(|_| Network::zero())
}

#[cfg(test)]
mod tests {
    use crownhead_rules::{CaptureHalma, ChineseCheckers, Contest};

    use super::*;
    use crate::Searchable;
    use crate::tune::Tunable;

    fn check<P: Searchable>(texts: &[&str])
    where
        P::Evaluator: Tunable<P>,
    {
        for text in texts {
            let weights = Weights::parse(text, P::Evaluator::layout()).unwrap();
            assert!(weights.pairs().iter().any(|pair| *pair != (0, 0)), "{}", P::ID);
            assert!(text.starts_with('#'), "{}: the file does not say how it was made", P::ID);
        }
    }

    macro_rules! weights_files {
        ($($position:ty: $($file:literal)+;)+) => {$(
            check::<$position>(&[$(include_str!(concat!("../../weights/", $file))),+]);
        )+};
    }

    #[test]
    fn every_weights_file_fits_its_evaluator_and_says_how_it_was_made() {
        weights_files! {
            Contest: "contest.txt";
            ChineseCheckers: "chinese-checkers.txt" "textbook/chinese-checkers.txt";
            CaptureHalma: "capture-halma.txt" "textbook/capture-halma.txt";
        }
    }
}
