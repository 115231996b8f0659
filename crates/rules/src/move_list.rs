//! A list of legal moves on the stack.

use std::ops::{Deref, DerefMut};

use arrayvec::ArrayVec;

/// Maximum number of moves on the stack. Only composed positions have more, where a king or a
/// hopping piece has many paths through a lattice of pieces.
const INLINE_CAPACITY: usize = 256;

/// A list of moves. It uses the heap only for positions that do not occur in real games.
#[derive(Clone, Debug)]
pub struct MoveList<M> {
    inline: ArrayVec<M, INLINE_CAPACITY>,
    /// All moves, once `inline` is full. `inline` then stays full, so that every push spills.
    spilled: Vec<M>,
}

impl<M: Copy> MoveList<M> {
    /// Returns an empty list.
    #[inline(always)]
    pub const fn new() -> Self {
        MoveList { inline: ArrayVec::new_const(), spilled: Vec::new() }
    }

    /// Removes all moves.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.inline.clear();
        self.spilled.clear();
    }

    /// Appends a move.
    #[inline(always)]
    pub fn push(&mut self, mv: M) {
        if self.inline.try_push(mv).is_err() {
            self.spill(mv);
        }
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self, mv: M) {
        if self.spilled.is_empty() {
            self.spilled.extend_from_slice(&self.inline);
        }
        self.spilled.push(mv);
    }
}

impl<M: Copy> Default for MoveList<M> {
    fn default() -> Self {
        MoveList::new()
    }
}

impl<M> Deref for MoveList<M> {
    type Target = [M];

    #[inline(always)]
    fn deref(&self) -> &[M] {
        if self.spilled.is_empty() { &self.inline } else { &self.spilled }
    }
}

impl<M> DerefMut for MoveList<M> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [M] {
        if self.spilled.is_empty() { &mut self.inline } else { &mut self.spilled }
    }
}

impl<'a, M> IntoIterator for &'a MoveList<M> {
    type Item = &'a M;
    type IntoIter = std::slice::Iter<'a, M>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_keeps_order_when_it_spills_and_can_be_reused() {
        let mut list = MoveList::new();
        for round in 0..2 {
            (0..1000).for_each(|n| list.push(n + round));
            assert!(list.iter().copied().eq((0..1000).map(|n| n + round)));
            list.clear();
            assert!(list.is_empty());
        }
    }
}
