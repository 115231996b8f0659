//! Scores moves and picks the best one first: the better the order, the smaller the tree.

use crate::Searchable;
use crate::history::History;

/// Score of the move from the transposition table.
pub(crate) const TT_MOVE_SCORE: i32 = 1 << 30;
/// Base score of captures.
pub(crate) const CAPTURE_SCORE: i32 = 1 << 24;
/// Base score of killer moves.
pub(crate) const KILLER_SCORE: i32 = 1 << 20;

/// A move with its place in the search order.
#[derive(Clone, Copy)]
pub(crate) struct ScoredMove<M> {
    pub(crate) mv: M,
    /// Higher scores are searched first.
    pub(crate) score: i32,
    /// Index in generation order, which is what the transposition table stores. Indices above 255
    /// are stored as 255; a wrong TT move costs time and nothing else.
    pub(crate) index: u8,
}

/// Appends all moves of a position with their scores.
#[inline(always)]
pub(crate) fn push_moves<P: Searchable>(
    position: &P,
    ply: usize,
    tt_index: Option<u8>,
    history: &History<P>,
    moves: &mut Vec<ScoredMove<P::Move>>,
) {
    let side = position.side();
    let mut index = 0u32;
    position.each_move(|mv| {
        let score = if tt_index.is_some_and(|best| u32::from(best) == index) {
            TT_MOVE_SCORE
        } else {
            history.score(side, ply, mv, position.move_score(mv))
        };
        moves.push(ScoredMove { mv, score, index: index.min(255) as u8 });
        index += 1;
    });
}

/// Appends the captures of a position, scored by the number of captured pieces.
#[inline(always)]
pub(crate) fn push_captures<P: Searchable>(position: &P, moves: &mut Vec<ScoredMove<P::Move>>) {
    position.each_move(|mv| {
        let captures = P::capture_count(mv);
        if captures > 0 {
            moves.push(ScoredMove { mv, score: captures as i32, index: 0 });
        }
    });
}

/// Swaps the move with the highest score to the front.
#[inline(always)]
pub(crate) fn pick_best<M: Copy>(moves: &mut [ScoredMove<M>]) {
    let mut best = 0;
    for index in 1..moves.len() {
        if moves[index].score > moves[best].score {
            best = index;
        }
    }
    if best > 0 {
        moves.swap(0, best);
    }
}
