//! Static evaluation: the [`Evaluator`] interface and one evaluator per family of games.
//!
//! A network evaluates English checkers; in Chinese checkers and Capture Halma its output is added
//! to a weighted sum of features. The networks are in `networks/`, and each file says how
//! `crownhead train` made it. Contest checkers is evaluated by a weighted sum alone. The weights are
//! in `weights/`; each file says how it was made. `weights/textbook/` holds the few
//! weights of the textbook players.

pub mod capture_halma;
pub mod checkers;
pub mod chinese_checkers;
pub mod material;
pub mod patterns;
pub mod weights;

use std::sync::Arc;

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

/// Swaps rows and columns.
#[inline(always)]
const fn transposed(board: u64) -> u64 {
    let swap = (board ^ board >> 7) & 0x00aa_00aa_00aa_00aa;
    let board = board ^ swap ^ swap << 7;
    let swap = (board ^ board >> 14) & 0x0000_cccc_0000_cccc;
    let board = board ^ swap ^ swap << 14;
    let swap = (board ^ board >> 28) & 0x0000_0000_f0f0_f0f0;
    board ^ swap ^ swap << 28
}

/// Parses a weights file of this crate. A test parses them all, so parsing cannot fail.
fn embedded_weights(text: &str, layout: Layout) -> Weights {
    let total = layout.iter().map(|(_, len)| len).sum();
    Weights::parse(text, layout).unwrap_or_else(|_| Weights::from_pairs(&vec![(0, 0); total]))
}

/// Reads a network of this crate. A test reads them all, so reading cannot fail.
fn embedded_network<const INPUTS: usize, const HIDDEN: usize, const BUCKETS: usize>(
    bytes: &[u8],
) -> Arc<Network<INPUTS, HIDDEN, BUCKETS>> {
    Network::parse(bytes).unwrap_or_else(|_| Network::zero()).into()
}

#[cfg(test)]
mod tests {
    use crownhead_rules::MoveList;

    use super::*;
    use crate::Searchable;
    use crate::network::{Inputs, NetworkError};

    /// Checks a file of a network.
    pub(super) fn check_network_file<T>(file: &[u8], game: &str, parsed: Result<T, NetworkError>) {
        assert_eq!(parsed.map(drop), Ok(()), "{game}");
        assert!(file.len() <= 256 << 10, "{game}: {} bytes", file.len());
        let end = file.windows(2).position(|pair| pair == b"\n\n").unwrap();
        let header = std::str::from_utf8(&file[..end]).unwrap();
        let command = format!("# crownhead train fit {game} ");
        for part in [&command, "# data: ", " loss ", "# match: "] {
            assert!(header.contains(part), "no {part:?} in\n{header}");
        }
    }

    /// Checks that all versions of the kernel agree with a plain loop.
    pub(super) fn check_kernels<const I: usize, const H: usize, const B: usize>(
        network: &Network<I, H, B>,
        inputs: impl Inputs + Clone,
        bucket: usize,
    ) {
        let (scores, plain) = network.scores(inputs, bucket);
        assert!(scores.iter().all(|score| *score == plain), "{scores:?} {plain}");
    }

    /// Positions of random games.
    pub(super) fn random_games<P: Searchable>(games: usize) -> Vec<P> {
        let mut rng = fastrand::Rng::with_seed(1);
        let (mut list, mut moves) = (Vec::new(), MoveList::new());
        for _ in 0..games {
            let mut position = P::start(&Default::default());
            while position.outcome(&[]).is_none() {
                list.push(position.clone());
                position.legal_moves(&mut moves);
                position.play(moves[rng.usize(0..moves.len())]);
            }
        }
        list
    }

    #[test]
    fn every_weights_file_fits_its_evaluator_and_says_how_it_was_made() {
        macro_rules! weights_files {
            ($($layout:path: $($file:literal)+;)+) => {
                [$($((include_str!(concat!("../../weights/", $file)), $layout)),+),+]
            };
        }
        let files = weights_files! {
            patterns::LAYOUT: "contest.txt";
            chinese_checkers::LAYOUT: "chinese-checkers.txt" "textbook/chinese-checkers.txt";
            capture_halma::LAYOUT: "capture-halma.txt" "textbook/capture-halma.txt";
        };
        for (text, layout) in files {
            let weights = Weights::parse(text, layout).unwrap();
            assert!(weights.pairs().iter().any(|pair| *pair != (0, 0)));
            assert!(text.starts_with('#'), "the file does not say how it was made");
        }
    }
}
