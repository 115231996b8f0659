//! Capture Halma.

use crownhead_rules::capture_halma::{MAX_PLIES, Move};
use crownhead_rules::{Bits, CaptureHalma, Position, Side};

use crate::{Evaluate, Knowledge, Score, Searchable, Unrest};

/// Judges positions of Capture Halma.
#[derive(Clone)]
pub struct Evaluation;

fn worth(position: &CaptureHalma, side: Side) -> Score {
    let pieces = position.pieces(side);
    let column = |cell: u32| match side {
        Side::First => cell % 8,
        Side::Second => 7 - cell % 8,
    };
    let progress: u32 = Bits(pieces).map(|cell| column(cell).min(6)).sum();
    100 * pieces.count_ones() as Score
        + 10 * progress as Score
        + 20 * Score::from(position.score(side))
}

impl Evaluate<CaptureHalma> for Evaluation {
    fn score(&self, position: &CaptureHalma) -> Score {
        let side = position.side();
        worth(position, side) - worth(position, side.other()) + 5
    }
}

impl Searchable for CaptureHalma {
    type Evaluation = Evaluation;

    fn evaluation(_: &Knowledge) -> Evaluation {
        Evaluation
    }

    #[inline(always)]
    fn plies_left(&self) -> u32 {
        u32::from(MAX_PLIES.saturating_sub(self.plies()))
    }

    #[inline(always)]
    fn reversible_plies(&self) -> u32 {
        0
    }

    #[inline(always)]
    fn unrest(&self) -> Unrest {
        Unrest::Optional
    }

    #[inline(always)]
    fn gain(mv: Move) -> u32 {
        mv.captures()
    }

    #[inline(always)]
    fn slot(mv: Move) -> usize {
        (mv.from().index() << 6 | mv.to().index()) as usize
    }
}
