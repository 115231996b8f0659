//! Placements of the men of a pair of slices, in the order in which they can be solved.
//!
//! Men move forward only, so a placement of men is solved after those to which a man's move leads:
//! the men are farther advanced there. Placements that are advanced equally far do not depend on
//! each other.

use super::Slice;
use super::slice::{MEN_SQUARES, combinations, rank};

/// Placements of the men of both sides, seen from the side to move of the first slice.
pub(super) struct Placements {
    /// Sets of squares of the own men and of the opponent's.
    sets: [Vec<u32>; 2],
    /// Whether the other side to move has the same slice.
    is_symmetric: bool,
    /// Numbers of the placements, the most advanced ones first.
    levels: Vec<Vec<u32>>,
}

/// A placement of men.
pub(super) struct Placement {
    /// Squares of the own men and of the opponent's.
    pub(super) men: [u32; 2],
    /// Number of the placement in the slice, and in that of the other side to move.
    pub(super) numbers: [u64; 2],
    /// Whether it is the same placement for both sides.
    pub(super) is_same_for_both: bool,
}

/// Rows that men have advanced.
fn advance(men: u32) -> usize {
    (1..8).map(|row| row * (men >> (4 * row) & 15).count_ones() as usize).sum()
}

impl Placements {
    pub(super) fn new(slice: Slice) -> Placements {
        let squares = MEN_SQUARES as u64;
        let mut sets = [slice.own_men, slice.opponent_men].map(|men| combinations(squares, men));
        for men in &mut sets[1] {
            *men <<= 4;
        }
        let is_symmetric = slice == slice.swapped();
        let mut placements = Placements { sets, is_symmetric, levels: Vec::new() };
        let [own, opponent] = &placements.sets;
        let max_advance = 6 * usize::from(slice.own_men + slice.opponent_men);
        let advances: Vec<usize> =
            opponent.iter().map(|&men| advance(men.reverse_bits())).collect();
        let mut levels = vec![Vec::new(); max_advance + 1];
        let mut number = 0;
        for &own in own {
            let own_advance = advance(own);
            for (&opponent, opponent_advance) in opponent.iter().zip(&advances) {
                // The other one of two placements with equal slices is solved together with it.
                let is_first = || {
                    let numbers = placements.numbers([own, opponent]);
                    !is_symmetric || numbers[0] <= numbers[1]
                };
                if own & opponent == 0 && is_first() {
                    levels[max_advance - own_advance - opponent_advance].push(number);
                }
                number += 1;
            }
        }
        placements.levels = levels;
        placements
    }

    /// Numbers of a placement.
    fn numbers(&self, [own, opponent]: [u32; 2]) -> [u64; 2] {
        let counts = [&self.sets[0], &self.sets[1]].map(|sets| sets.len() as u64);
        let turned = [opponent.reverse_bits(), own.reverse_bits()];
        [
            rank(own) * counts[1] + rank(opponent >> 4),
            rank(turned[0]) * counts[0] + rank(turned[1] >> 4),
        ]
    }

    pub(super) fn levels(&self) -> &[Vec<u32>] {
        &self.levels
    }

    pub(super) fn get(&self, number: u32) -> Placement {
        let number = number as usize;
        let [own, opponent] = &self.sets;
        let men = [own[number / opponent.len()], opponent[number % opponent.len()]];
        let numbers = self.numbers(men);
        let is_same_for_both = self.is_symmetric && numbers[0] == numbers[1];
        Placement { men, numbers, is_same_for_both }
    }

    /// Number of placements, including those with two men on one square.
    pub(super) fn count(&self) -> u64 {
        self.sets.iter().map(|sets| sets.len() as u64).product()
    }

    /// Bytes of memory for the placements of a slice.
    pub(super) fn memory(slice: Slice) -> u64 {
        let count = |men: u8| combinations(MEN_SQUARES as u64, men).len() as u64;
        // Lists that grow have up to twice the size that they need.
        2 * 4 * count(slice.own_men) * count(slice.opponent_men)
    }
}
