//! A plain evaluator for games without one of their own, and what else they need to be searched.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crownhead_rules::{Cell, Notation, Side};

use crate::game::HISTORY_SIZE;
use crate::{Evaluator, Score};

/// Value of a piece of the first kind. The other kinds are promoted pieces.
const PIECE: Score = 100;
const PROMOTED_PIECE: Score = 150;
/// Value of a piece in the target of its side.
const IN_TARGET: Score = 50;
/// Value of a legal move.
const MOVE: Score = 2;

/// Counts pieces, pieces in the target and legal moves. Slow, but needs no more than the rules.
pub struct MaterialEvaluator;

impl<P: Notation> Evaluator<P> for MaterialEvaluator {
    type State = ();

    fn refresh(&self, _: &P) {}

    fn after(&self, (): &(), _: &P, _: P::Move) {}

    fn eval(&self, position: &P, (): &()) -> Score {
        let board = position.board();
        let mut scores = [0; 2];
        for cell in Cell::all() {
            let Some((side, kind)) = P::INFO.piece(board[cell.index() as usize]) else { continue };
            let is_plain = kind.letters == P::INFO.pieces[0].letters;
            let targets = P::INFO.targets.map_or(0, |targets| targets[side.index()]);
            scores[side.index()] += if is_plain { PIECE } else { PROMOTED_PIECE };
            scores[side.index()] += if targets & cell.bit() != 0 { IN_TARGET } else { 0 };
        }
        let mut moves = 0;
        position.each_move(|_| moves += 1);
        let [first, second] = scores;
        let score = if position.side() == Side::First { first - second } else { second - first };
        score + moves * MOVE
    }
}

/// Returns the history entry of a move of any type.
pub fn history_index<M: std::hash::Hash>(mv: M) -> usize {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(mv);
    (hash % HISTORY_SIZE as u64) as usize
}

/// Implements [`Searchable`](crate::Searchable) for the games that the list of games marks as `default`.
macro_rules! default_searchable {
    ($($name:ident: $search:ident,)*) => { $(default_searchable!(@$search $name);)* };
    (@custom $name:ident) => {};
    (@default $name:ident) => {
        impl crate::Searchable for crownhead_rules::$name {
            type Evaluator = MaterialEvaluator;
            type TextbookEvaluator = MaterialEvaluator;

            fn evaluator(_: &crate::Knowledge) -> MaterialEvaluator {
                MaterialEvaluator
            }

            fn textbook_evaluator(_: &crate::Knowledge) -> MaterialEvaluator {
                MaterialEvaluator
            }

            fn history_index(mv: Self::Move) -> usize {
                history_index(mv)
            }
        }
    };
}

crownhead_rules::for_each_game!(default_searchable);
