//! Killer moves and history.

use crownhead_rules::{Position, Side};

use crate::game::HISTORY_SIZE;
use crate::movepick::{CAPTURE_SCORE, KILLER_SCORE, ScoredMove};
use crate::{MAX_PLY, Searchable};

/// Killer moves and history of one thread.
pub(crate) struct History<P: Position> {
    /// By ply: the last two quiet moves that caused a beta cutoff.
    killers: Box<[[Option<P::Move>; 2]]>,
    /// By side and [`Searchable::history_index`]: bonuses for cutoffs minus maluses.
    counts: Box<[i16]>,
}

/// Bound of the history counts.
pub(crate) const HISTORY_MAX: i32 = 1 << 13;

impl<P: Searchable> History<P> {
    pub(crate) fn new() -> Self {
        History {
            killers: vec![[None; 2]; MAX_PLY + 1].into(),
            counts: vec![0; 2 * HISTORY_SIZE].into(),
        }
    }

    /// Halves the history and clears the killer moves: the history of the last position is still
    /// useful for the next one.
    pub(crate) fn halve(&mut self) {
        self.killers.fill([None; 2]);
        self.counts.iter_mut().for_each(|count| *count /= 2);
    }

    #[inline(always)]
    fn index(side: Side, mv: P::Move) -> usize {
        side.index() * HISTORY_SIZE + P::history_index(mv) % HISTORY_SIZE
    }

    #[inline(always)]
    pub(crate) fn count(&self, side: Side, mv: P::Move) -> i32 {
        i32::from(self.counts[Self::index(side, mv)])
    }

    /// Score of a move that is not the TT move. Higher scores are searched first.
    #[inline(always)]
    pub(crate) fn score(&self, side: Side, ply: usize, mv: P::Move, move_score: i32) -> i32 {
        let captures = P::capture_count(mv);
        if captures > 0 {
            let history = self.count(side, mv) / 16;
            return CAPTURE_SCORE + 4096 * captures as i32 + history + move_score;
        }
        let [first, second] = self.killers[ply];
        let killer = if first == Some(mv) {
            KILLER_SCORE + 1
        } else if second == Some(mv) {
            KILLER_SCORE
        } else {
            0
        };
        killer + self.count(side, mv) + move_score
    }

    #[inline(always)]
    pub(crate) fn is_killer(&self, ply: usize, mv: P::Move) -> bool {
        self.killers[ply].contains(&Some(mv))
    }

    /// Records that the quiet move `mv` caused a beta cutoff after the moves `tried` did not.
    /// `bonus` is at most [`HISTORY_MAX`].
    pub(crate) fn update(
        &mut self,
        side: Side,
        ply: usize,
        bonus: i32,
        mv: P::Move,
        tried: &[ScoredMove<P::Move>],
    ) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(mv) {
            killers[1] = killers[0];
            killers[0] = Some(mv);
        }
        self.apply_bonus(side, mv, bonus);
        for tried in tried.iter().filter(|tried| P::capture_count(tried.mv) == 0) {
            self.apply_bonus(side, tried.mv, -bonus);
        }
    }

    /// Adds a bonus, scaled down as the count approaches [`HISTORY_MAX`] ("history gravity").
    fn apply_bonus(&mut self, side: Side, mv: P::Move, bonus: i32) {
        let count = &mut self.counts[Self::index(side, mv)];
        let old = i32::from(*count);
        *count = (old + bonus - old * bonus.abs() / HISTORY_MAX) as i16;
    }
}
