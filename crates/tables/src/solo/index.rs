//! A number for each placement of six pieces on 64 cells, and back.
//!
//! Placements are numbered as their bitboards are ordered: the number of a placement with the cells
//! a < b < … < f is C(a,1) + C(b,2) + … + C(f,6). So the next number belongs to the next larger
//! bitboard with six bits, and moving one piece changes only the terms of the pieces it passes.

use crownhead_rules::Side;

/// Pieces of one player.
pub(super) const PIECES: usize = 6;

/// How many placements there are: C(64,6).
pub(super) const PLACEMENTS: usize = choose(64, PIECES as u64) as usize;

/// `TERMS[0][i][cell]` is C(cell, i+1), what a piece adds to the number if i pieces lie before it.
///
/// `TERMS[1]` numbers a placement as if the board were turned by half a turn, the pieces still taken
/// from the first cell on: cell c with i pieces before it then is cell 63-c with 5-i before it. So
/// the second player's placements need no turning.
static TERMS: [[[u32; 64]; PIECES]; 2] = [terms(false), terms(true)];

/// What a piece of the first player adds to the number, by the pieces before it and its cell.
pub(super) static FIRST_TERMS: &[[u32; 64]; PIECES] = &TERMS[0];

const fn terms(turned: bool) -> [[u32; 64]; PIECES] {
    let mut table = [[0; 64]; PIECES];
    let mut before = 0;
    while before < PIECES {
        let mut cell = 0;
        while cell < 64 {
            let (n, k) = if turned { (63 - cell, PIECES - before) } else { (cell, before + 1) };
            table[before][cell] = choose(n as u64, k as u64) as u32;
            cell += 1;
        }
        before += 1;
    }
    table
}

/// C(n,k), exact at every step because each product of k neighbours is divisible by k!.
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

/// The number of a player's placement, or `None` if it has not exactly six pieces.
#[inline(always)]
pub(super) fn rank(pieces: u64, side: Side) -> Option<usize> {
    let mut left = pieces;
    let mut last = 0;
    let mut sum = 0;
    for terms in &TERMS[side.index()] {
        // An empty rest gives 64; the mask keeps it in the table, and the test below refuses it.
        sum += terms[left.trailing_zeros() as usize & 63];
        last = left;
        left &= left.wrapping_sub(1);
    }
    // Cheaper than counting: the sixth piece was there, and none is left behind it.
    (last != 0 && left == 0).then_some(sum as usize)
}

/// The first player's placement with this number. Numbers that no placement has give nonsense, not a panic.
pub(super) fn unrank(number: usize) -> u64 {
    let mut left = number as u32;
    let mut pieces = 0;
    for terms in FIRST_TERMS.iter().rev() {
        let cell = terms.partition_point(|&term| term <= left).saturating_sub(1);
        left -= terms[cell].min(left);
        pieces |= 1 << cell;
    }
    pieces
}

/// The next larger bitboard with as many bits.
#[inline(always)]
pub(super) fn next(pieces: u64) -> u64 {
    let lowest = pieces & pieces.wrapping_neg();
    let carried = pieces.wrapping_add(lowest);
    carried | ((pieces ^ carried) >> 2).wrapping_shr(pieces.trailing_zeros())
}

/// The placement mirrored at the diagonal that runs through both camps: rows become columns.
///
/// Three exchanges of blocks off the diagonal: of 1, 2 and 4 cells.
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
    fn every_placement_has_a_number_of_its_own_in_the_order_of_bitboards() {
        let mut pieces = 0b11_1111;
        for number in 0..PLACEMENTS {
            assert_eq!(rank(pieces, Side::First), Some(number));
            pieces = next(pieces);
        }
        // The last one had the six highest cells, so the next is no board any more.
        assert_ne!(pieces.count_ones(), 6);
        assert_eq!(rank(0b11_1111 << 58, Side::First), Some(PLACEMENTS - 1));
    }

    /// The sum as it is defined, with binomials computed row by row.
    fn defined(pieces: u64) -> usize {
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
        fn a_number_gives_back_its_placement(number in 0..PLACEMENTS) {
            let pieces = unrank(number);
            prop_assert_eq!(rank(pieces, Side::First), Some(number));
            prop_assert_eq!(defined(pieces), number);
            prop_assert_eq!(rank(pieces.reverse_bits(), Side::Second), Some(number));
        }

        #[test]
        fn boards_without_exactly_six_pieces_have_none(pieces: u64) {
            prop_assume!(pieces.count_ones() != 6);
            prop_assert_eq!(rank(pieces, Side::First), None);
            prop_assert_eq!(rank(pieces, Side::Second), None);
        }

        #[test]
        fn the_mirror_exchanges_rows_and_columns(pieces: u64) {
            let image = mirror(pieces);
            for cell in 0..64 {
                prop_assert_eq!(image >> cell & 1, pieces >> (cell % 8 * 8 + cell / 8) & 1);
            }
        }

        #[test]
        fn any_number_is_unranked_without_a_panic(number: usize) {
            unrank(number);
        }
    }

    #[test]
    fn too_few_and_too_many_pieces_have_no_number() {
        for pieces in [0, 1, 1 << 63, 0b1_1111, 0b1_1111 << 59, 0b111_1111, 0x7f << 57, u64::MAX] {
            assert_eq!(rank(pieces, Side::First), None, "{pieces:x}");
            assert_eq!(rank(pieces, Side::Second), None, "{pieces:x}");
        }
    }
}
