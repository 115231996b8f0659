//! Chinese checkers.

use std::sync::Arc;

use crownhead_rules::chinese_checkers::{MAX_PLIES, Move};
use crownhead_rules::{Bits, ChineseCheckers, Position, Side};

use crate::{Evaluate, Knowledge, Score, Searchable, Solo, Unrest};

/// Judges positions of Chinese checkers.
#[derive(Clone)]
pub struct Evaluation {
    solo: Option<Arc<dyn Solo>>,
}

impl Evaluation {
    fn distance(&self, pieces: u64, side: Side) -> Score {
        if let Some(turns) = self.solo.as_ref().and_then(|solo| solo.turns(pieces, side)) {
            return 100 * Score::from(turns);
        }
        let pieces = if side == Side::First { pieces } else { pieces.reverse_bits() };
        Bits(pieces).map(|cell| 14 - (cell / 8 + cell % 8) as Score).sum::<Score>() * 20
    }
}

impl Evaluate<ChineseCheckers> for Evaluation {
    fn score(&self, position: &ChineseCheckers) -> Score {
        let side = position.side();
        let own = self.distance(position.pieces(side), side);
        let other = self.distance(position.pieces(side.other()), side.other());
        other - own + 50
    }
}

impl Searchable for ChineseCheckers {
    type Evaluation = Evaluation;

    fn evaluation(knowledge: &Knowledge) -> Evaluation {
        Evaluation { solo: knowledge.solo.clone() }
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
        Unrest::Quiet
    }

    #[inline(always)]
    fn gain(_: Move) -> u32 {
        0
    }

    #[inline(always)]
    fn slot(mv: Move) -> usize {
        (mv.from().index() << 6 | mv.to().index()) as usize
    }
}
