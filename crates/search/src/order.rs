//! The order in which moves are tried: the better the first, the smaller the tree.

use crownhead_rules::{Position, Side};

use crate::game::SLOTS;
use crate::{MAX_PLY, Searchable};

/// What earlier parts of the search tell about moves.
pub(crate) struct Memory<P: Position> {
    /// By ply, the last two quiet moves that refuted something.
    killers: Box<[[Option<P::Move>; 2]]>,
    /// By side and slot, how often a quiet move was best, less how often it was not.
    history: Box<[i16]>,
}

const FIRST: i32 = 1 << 30;
const CAPTURE: i32 = 1 << 24;
const KILLER: i32 = 1 << 20;
const MOST: i32 = 1 << 13;

impl<P: Searchable> Memory<P> {
    pub(crate) fn new() -> Self {
        Memory { killers: vec![[None; 2]; MAX_PLY + 1].into(), history: vec![0; 2 * SLOTS].into() }
    }

    /// Forgets half: what was learnt about the last position still tells something.
    pub(crate) fn fade(&mut self) {
        self.killers.fill([None; 2]);
        self.history.iter_mut().for_each(|count| *count /= 2);
    }

    #[inline(always)]
    fn place(side: Side, mv: P::Move) -> usize {
        side.index() * SLOTS + P::slot(mv) % SLOTS
    }

    #[inline(always)]
    pub(crate) fn history(&self, side: Side, mv: P::Move) -> i32 {
        i32::from(self.history[Self::place(side, mv)])
    }

    /// How early to try a move other than the hash move.
    #[inline(always)]
    pub(crate) fn rank(&self, side: Side, ply: usize, mv: P::Move, promise: i32) -> i32 {
        let gain = P::gain(mv);
        if gain > 0 {
            return CAPTURE + 4096 * gain as i32 + self.history(side, mv) / 16 + promise;
        }
        let [first, second] = self.killers[ply];
        let killer = if first == Some(mv) {
            KILLER + 1
        } else if second == Some(mv) {
            KILLER
        } else {
            0
        };
        killer + self.history(side, mv) + promise
    }

    /// The rank of the hash move.
    pub(crate) const BEST: i32 = FIRST;

    #[inline(always)]
    pub(crate) fn is_killer(&self, ply: usize, mv: P::Move) -> bool {
        self.killers[ply].contains(&Some(mv))
    }

    /// A quiet move refuted the opponent's; `tried` did not.
    pub(crate) fn reward(
        &mut self,
        side: Side,
        ply: usize,
        depth: i32,
        mv: P::Move,
        tried: &[Choice<P::Move>],
    ) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(mv) {
            killers[1] = killers[0];
            killers[0] = Some(mv);
        }
        let bonus = (depth * depth + 8 * depth).min(MOST / 8);
        self.learn(side, mv, bonus);
        for other in tried.iter().filter(|other| P::gain(other.mv) == 0) {
            self.learn(side, other.mv, -bonus);
        }
    }

    /// Moves the count toward the bonus's side; the further it is there, the less.
    fn learn(&mut self, side: Side, mv: P::Move, bonus: i32) {
        let count = &mut self.history[Self::place(side, mv)];
        let old = i32::from(*count);
        *count = (old + bonus - old * bonus.abs() / MOST) as i16;
    }
}

/// A move to be tried.
#[derive(Clone, Copy)]
pub(crate) struct Choice<M> {
    pub(crate) mv: M,
    /// How early to try it.
    pub(crate) rank: i32,
    /// Its place in the order of generation, which is what the hash table keeps of it. (All places
    /// from 255 on are one; a wrong guess costs time and nothing else.)
    pub(crate) place: u8,
}

/// Brings the highest ranked of the moves to the front.
#[inline(always)]
pub(crate) fn pick<M: Copy>(moves: &mut [Choice<M>]) {
    let mut best = 0;
    for index in 1..moves.len() {
        if moves[index].rank > moves[best].rank {
            best = index;
        }
    }
    if best > 0 {
        moves.swap(0, best);
    }
}
