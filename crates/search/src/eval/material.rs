//! The evaluator of games without one of their own: it counts pieces.

use crownhead_rules::{Notation, Side};

use super::Evaluator;
use crate::Score;

/// Counts pieces: 100 points each.
#[derive(Clone, Copy, Debug)]
pub struct MaterialEvaluator;

impl<P: Notation> Evaluator<P> for MaterialEvaluator {
    type State = ();

    fn refresh(&self, _: &P) {}

    fn after(&self, (): &(), _: &P, _: P::Move) {}

    fn eval(&self, position: &P, (): &()) -> Score {
        let board = position.board();
        let count = |side: Side| {
            let letter = P::letter(side);
            board.iter().filter(|piece| piece.eq_ignore_ascii_case(&letter)).count() as Score
        };
        100 * (count(position.side()) - count(position.side().other()))
    }
}

/// Implements `Searchable` for a game without a search of its own; does nothing for a `custom` one.
macro_rules! derive_searchable {
    ($name:ident: custom) => {};
    ($name:ident: default) => {
        impl $crate::Searchable for crownhead_rules::$name {
            type Evaluator = $crate::eval::material::MaterialEvaluator;
            type TextbookEvaluator = $crate::eval::material::MaterialEvaluator;

            fn evaluator(_: &$crate::Knowledge) -> Self::Evaluator {
                $crate::eval::material::MaterialEvaluator
            }

            fn textbook_evaluator(_: &$crate::Knowledge) -> Self::TextbookEvaluator {
                $crate::eval::material::MaterialEvaluator
            }
        }
    };
}

macro_rules! derive_searchables {
    ($($name:ident: $search:ident,)*) => { $(derive_searchable!($name: $search);)* };
}

crownhead_rules::for_each_game!(derive_searchables);
