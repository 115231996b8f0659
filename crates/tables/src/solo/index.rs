//! Ranking and unranking of the placements of six pieces on 64 cells.
//!
//! The index of a placement with the cells a < b < … < f is C(a,1) + C(b,2) + … + C(f,6), the
//! combinatorial number system. Indices are in the order of the bitboards, and moving a piece
//! changes only the terms of the pieces it passes.

use crownhead_rules::Side;

/// Number of pieces.
pub(super) const PIECES: usize = 6;

/// Number of placements: C(64,6).
pub(super) const PLACEMENTS: usize = choose(64, PIECES as u64) as usize;

/// `TERMS[0][i][cell]` is C(cell, i+1), the term of a piece with i pieces before it.
///
/// `TERMS[1]` ranks a placement on the rotated board without rotating it: cell c with i pieces
/// before it becomes cell 63-c with 5-i before it.
static TERMS: [[[u32; 64]; PIECES]; 2] = [terms(false), terms(true)];

/// Terms of the first player, by the number of pieces before and the cell.
pub(super) static FIRST_TERMS: &[[u32; 64]; PIECES] = &TERMS[0];

const fn terms(rotated: bool) -> [[u32; 64]; PIECES] {
    let mut table = [[0; 64]; PIECES];
    let mut before = 0;
    while before < PIECES {
        let mut cell = 0;
        while cell < 64 {
            let (n, k) = if rotated { (63 - cell, PIECES - before) } else { (cell, before + 1) };
            table[before][cell] = choose(n as u64, k as u64) as u32;
            cell += 1;
        }
        before += 1;
    }
    table
}

/// C(n,k). Each step is exact, because a product of k consecutive numbers is divisible by k!.
const fn choose(n: u64, k: u64) -> u64 {
    let mut result = 1;
    let mut i = 0;
    while i < k {
        if i >= n {
            return 0;
        }
        result = result * (n - i) / (i + 1);
        i += 1;
    }
    result
}

/// Returns the index of a placement; `None` unless it has exactly six pieces.
#[inline(always)]
pub(super) fn rank(pieces: u64, side: Side) -> Option<usize> {
    let mut rest = pieces;
    let mut last = 0;
    let mut sum = 0;
    for terms in &TERMS[side.index()] {
        // An empty rest gives 64: the mask keeps it in bounds, and the check below rejects it.
        sum += terms[rest.trailing_zeros() as usize & 63];
        last = rest;
        rest &= rest.wrapping_sub(1);
    }
    // Cheaper than counting: there was a sixth piece and no seventh.
    (last != 0 && rest == 0).then_some(sum as usize)
}

/// Returns the placement of the first player with this index. An index out of range gives a
/// meaningless result, not a panic.
pub(super) fn unrank(index: usize) -> u64 {
    let mut rest = index as u32;
    let mut pieces = 0;
    for terms in FIRST_TERMS.iter().rev() {
        let cell = terms.partition_point(|&term| term <= rest).saturating_sub(1);
        rest -= terms[cell].min(rest);
        pieces |= 1 << cell;
    }
    pieces
}

/// Returns the next larger bitboard with the same number of bits (Gosper's hack).
#[inline(always)]
pub(super) fn next(pieces: u64) -> u64 {
    let lowest = pieces & pieces.wrapping_neg();
    let carried = pieces.wrapping_add(lowest);
    carried | ((pieces ^ carried) >> 2).wrapping_shr(pieces.trailing_zeros())
}

/// Mirrors a placement about the diagonal through both camps, by three swaps of blocks of 1, 2 and
/// 4 cells.
#[inline(always)]
pub(super) fn mirror(pieces: u64) -> u64 {
    const fn exchange(pieces: u64, distance: u32, upper: u64) -> u64 {
        let differing = (pieces ^ pieces >> distance) & upper;
        pieces ^ differing ^ differing << distance
    }
    let pieces = exchange(pieces, 7, 0x00aa_00aa_00aa_00aa);
    let pieces = exchange(pieces, 14, 0x0000_cccc_0000_cccc);
    exchange(pieces, 28, 0x0000_0000_f0f0_f0f0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn indices_are_unique_and_in_bitboard_order() {
        let mut pieces = 0b11_1111;
        for index in 0..PLACEMENTS {
            assert_eq!(rank(pieces, Side::First), Some(index));
            pieces = next(pieces);
        }
        // The last placement has the six highest cells, so there is no next one.
        assert_ne!(pieces.count_ones(), 6);
        assert_eq!(rank(0b11_1111 << 58, Side::First), Some(PLACEMENTS - 1));
    }

    /// The index by definition, with Pascal's triangle.
    fn index_by_definition(pieces: u64) -> usize {
        let mut row = vec![1];
        let mut rows = vec![row.clone()];
        for _ in 0..64 {
            let inner = row.windows(2).map(|pair| pair[0] + pair[1]);
            row = [1].into_iter().chain(inner).chain([1]).collect();
            rows.push(row.clone());
        }
        let cells = (0..64).filter(|cell| pieces >> cell & 1 == 1);
        cells.zip(1..).map(|(cell, k)| rows[cell].get(k).copied().unwrap_or(0)).sum()
    }

    proptest! {
        #[test]
        fn rank_inverts_unrank(index in 0..PLACEMENTS) {
            let pieces = unrank(index);
            prop_assert_eq!(rank(pieces, Side::First), Some(index));
            prop_assert_eq!(index_by_definition(pieces), index);
            prop_assert_eq!(rank(pieces.reverse_bits(), Side::Second), Some(index));
        }

        #[test]
        fn placements_without_six_pieces_have_no_index(pieces: u64) {
            prop_assume!(pieces.count_ones() != 6);
            prop_assert_eq!(rank(pieces, Side::First), None);
            prop_assert_eq!(rank(pieces, Side::Second), None);
        }

        #[test]
        fn mirror_swaps_rows_and_columns(pieces: u64) {
            let image = mirror(pieces);
            for cell in 0..64 {
                prop_assert_eq!(image >> cell & 1, pieces >> (cell % 8 * 8 + cell / 8) & 1);
            }
        }

        #[test]
        fn unrank_never_panics(index: usize) {
            unrank(index);
        }
    }

    #[test]
    fn too_few_and_too_many_pieces_have_no_index() {
        for pieces in [0, 1, 1 << 63, 0b1_1111, 0b1_1111 << 59, 0b111_1111, 0x7f << 57, u64::MAX] {
            assert_eq!(rank(pieces, Side::First), None, "{pieces:x}");
            assert_eq!(rank(pieces, Side::Second), None, "{pieces:x}");
        }
    }
}
