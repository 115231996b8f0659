//! Killer moves and history.

use crownhead_rules::{Position, Side};

use crate::game::HISTORY_SIZE;
use crate::movepick::ScoredMove;
use crate::{MAX_PLY, Searchable};

/// What earlier parts of the search tell about moves.
pub(crate) struct History<P: Position> {
    /// By ply, the last two quiet moves that refuted something.
    killers: Box<[[Option<P::Move>; 2]]>,
    /// By side and slot, how often a quiet move was best, less how often it was not.
    counts: Box<[i16]>,
}

const TT_MOVE_SCORE: i32 = 1 << 30;
const CAPTURE_SCORE: i32 = 1 << 24;
const KILLER_SCORE: i32 = 1 << 20;
const HISTORY_MAX: i32 = 1 << 13;

impl<P: Searchable> History<P> {
    pub(crate) fn new() -> Self {
        History {
            killers: vec![[None; 2]; MAX_PLY + 1].into(),
            counts: vec![0; 2 * HISTORY_SIZE].into(),
        }
    }

    /// Forgets half: what was learnt about the last position still tells something.
    pub(crate) fn halve(&mut self) {
        self.killers.fill([None; 2]);
        self.counts.iter_mut().for_each(|count| *count /= 2);
    }

    #[inline(always)]
    fn index(side: Side, mv: P::Move) -> usize {
        side.index() * HISTORY_SIZE + P::history_index(mv) % HISTORY_SIZE
    }

    #[inline(always)]
    pub(crate) fn history(&self, side: Side, mv: P::Move) -> i32 {
        i32::from(self.counts[Self::index(side, mv)])
    }

    /// How early to try a move other than the hash move.
    #[inline(always)]
    pub(crate) fn score(&self, side: Side, ply: usize, mv: P::Move, promise: i32) -> i32 {
        let gain = P::capture_count(mv);
        if gain > 0 {
            return CAPTURE_SCORE + 4096 * gain as i32 + self.history(side, mv) / 16 + promise;
        }
        let [first, second] = self.killers[ply];
        let killer = if first == Some(mv) {
            KILLER_SCORE + 1
        } else if second == Some(mv) {
            KILLER_SCORE
        } else {
            0
        };
        killer + self.history(side, mv) + promise
    }

    /// The rank of the hash move.
    pub(crate) const TT_MOVE: i32 = TT_MOVE_SCORE;

    #[inline(always)]
    pub(crate) fn is_killer(&self, ply: usize, mv: P::Move) -> bool {
        self.killers[ply].contains(&Some(mv))
    }

    /// A quiet move refuted the opponent's; `tried` did not.
    pub(crate) fn update(
        &mut self,
        side: Side,
        ply: usize,
        depth: i32,
        mv: P::Move,
        tried: &[ScoredMove<P::Move>],
    ) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(mv) {
            killers[1] = killers[0];
            killers[0] = Some(mv);
        }
        let bonus = (depth * depth + 8 * depth).min(HISTORY_MAX / 8);
        self.apply_bonus(side, mv, bonus);
        for other in tried.iter().filter(|other| P::capture_count(other.mv) == 0) {
            self.apply_bonus(side, other.mv, -bonus);
        }
    }

    /// Moves the count toward the bonus's side; the further it is there, the less.
    fn apply_bonus(&mut self, side: Side, mv: P::Move, bonus: i32) {
        let count = &mut self.counts[Self::index(side, mv)];
        let old = i32::from(*count);
        *count = (old + bonus - old * bonus.abs() / HISTORY_MAX) as i16;
    }
}
