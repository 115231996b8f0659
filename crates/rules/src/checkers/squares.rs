//! The 32 dark squares as bits of a `u64`, laid out so that every step is one shift.
//!
//! Squares 1 to 32 are numbered along the rows, four to a row. A ghost bit follows every two rows:
//!
//! ```text
//!  bits   0  1  2  3        squares   1  2  3  4     row 1
//!        4  5  6  7  (8)             5  6  7  8      row 2
//!           9 10 11 12               9 10 11 12      row 3
//!       13 14 15 16 (17)           13 14 15 16       row 4   … up to bit 34
//! ```
//!
//! With the ghosts, the two squares below a square are always 4 and 5 bits up, the two above it 4
//! and 5 bits down, and whatever would leave the board falls on a ghost or off the end: no masks
//! for the edges. One `& EMPTY` after each shift, needed anyway, clears them. (The idea of padded
//! rows is old: Samuel used it in 1959.)

use crate::Cell;

/// The bits that are squares.
pub const SQUARES: u64 = 0x7_fbfd_feff;
/// Squares 1 to 4: the king-row of the second player.
pub const TOP_ROW: u64 = 0xf;
/// Squares 29 to 32: the king-row of the first player.
pub const BOTTOM_ROW: u64 = 0xf << 31;

/// The bit of square `number`, 1 to 32.
pub const fn bit(number: u32) -> u64 {
    1 << (number - 1 + (number - 1) / 8)
}

/// The number of the square that is this one bit.
pub const fn number(bit: u64) -> u32 {
    let index = bit.trailing_zeros();
    index - index / 9 + 1
}

/// The cell of a square: square 1 is cell 12, square 32 is cell 87.
pub(super) const fn cell(number: u32) -> Cell {
    let row = (number - 1) / 4;
    let column = (number - 1) % 4 * 2 + (row + 1) % 2;
    Cell::from_index(row * 8 + column)
}

/// The number of the square on a cell; light cells have none.
pub(super) fn from_cell(cell: Cell) -> Option<u32> {
    let (row, column) = (cell.index() / 8, cell.index() % 8);
    ((row + column) % 2 == 1).then_some(row * 4 + column / 2 + 1)
}

/// The four diagonal directions as bit distances: two forward for the first player, two backward.
pub(super) const DIRECTIONS: [i32; 4] = [4, 5, -4, -5];

/// One step in a direction of [`DIRECTIONS`], still to be masked.
#[inline(always)]
pub(super) const fn step(board: u64, direction: i32) -> u64 {
    if direction > 0 { board << direction } else { board >> -direction }
}

/// One or two steps toward the opponent (`N` is 4 or 5, or twice that).
#[inline(always)]
pub(super) const fn ahead<const FIRST: bool, const N: u32>(board: u64) -> u64 {
    if FIRST { board << N } else { board >> N }
}

/// One or two steps toward the own side.
#[inline(always)]
pub(super) const fn behind<const FIRST: bool, const N: u32>(board: u64) -> u64 {
    if FIRST { board >> N } else { board << N }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_bits_and_cells_agree() {
        let mut all = 0;
        for n in 1..=32 {
            assert_eq!(number(bit(n)), n);
            assert_eq!(from_cell(cell(n)), Some(n));
            all |= bit(n);
        }
        assert_eq!(all, SQUARES);
        assert_eq!((cell(1).to_string(), cell(32).to_string()), ("12".into(), "87".into()));
        assert_eq!(Cell::all().filter(|&c| from_cell(c).is_none()).count(), 32);
    }

    #[test]
    fn every_shift_reaches_the_diagonal_neighbour_or_leaves_the_board() {
        for n in 1..=32 {
            for (direction, rows) in [(4, 1), (5, 1), (-4, -1), (-5, -1)] {
                let to = step(bit(n), direction) & SQUARES;
                if to != 0 {
                    let (a, b) = (cell(n), cell(number(to)));
                    assert_eq!(i32::from(b.row()) - i32::from(a.row()), rows);
                    assert_eq!(b.column().abs_diff(a.column()), 1);
                }
            }
            let neighbours = DIRECTIONS.iter().filter(|&&d| step(bit(n), d) & SQUARES != 0).count();
            let around = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
            let expected = around.iter().filter(|(r, c)| cell(n).offset(*r, *c).is_some()).count();
            assert_eq!(neighbours, expected, "square {n}");
        }
    }
}
