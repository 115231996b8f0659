//! The 32 dark squares as bits of a `u64`, laid out so that every step is one shift.
//!
//! Squares 1 to 32 are numbered along the rows, four per row. A ghost bit follows every two rows:
//!
//! ```text
//!  bits   0  1  2  3        squares   1  2  3  4     row 1
//!        4  5  6  7  (8)             5  6  7  8      row 2
//!           9 10 11 12               9 10 11 12      row 3
//!       13 14 15 16 (17)           13 14 15 16       row 4   … up to bit 34
//! ```
//!
//! The ghost bits make the neighbours of every square 4 and 5 bits away, upward and downward. A
//! step off the board lands on a ghost bit or past the end, so the edges need no masks: the `&
//! empty` that follows every shift anyway clears it. Samuel padded his rows the same way in 1959.

use crate::Cell;

/// All squares, without the ghost bits.
pub const SQUARES: u64 = 0x7_fbfd_feff;
/// Squares 1 to 4, the king-row of the second player.
pub const TOP_ROW: u64 = 0xf;
/// Squares 29 to 32, the king-row of the first player.
pub const BOTTOM_ROW: u64 = 0xf << 31;
/// The dark cells, in the layout of [`Cell::bit`].
pub(super) const DARK_CELLS: u64 = 0x55aa_55aa_55aa_55aa;

/// Returns the bit of square `number`, 1 to 32.
pub const fn bit(number: u32) -> u64 {
    1 << (number - 1 + (number - 1) / 8)
}

/// Returns the number of the square with this bit.
pub const fn number(bit: u64) -> u32 {
    let index = bit.trailing_zeros();
    index - index / 9 + 1
}

/// Removes the ghost bits: bit n becomes the square with number n + 1.
#[inline(always)]
pub const fn compact(board: u64) -> u32 {
    (board & 0xff | board >> 1 & 0xff00 | board >> 2 & 0x00ff_0000 | board >> 3 & 0xff00_0000)
        as u32
}

/// Inserts the ghost bits; inverts [`compact`].
#[inline(always)]
pub const fn spread(squares: u32) -> u64 {
    let squares = squares as u64;
    squares & 0xff
        | (squares & 0xff00) << 1
        | (squares & 0x00ff_0000) << 2
        | (squares & 0xff00_0000) << 3
}

/// Appends the number of a square, which has at most two digits. The referee formats moves in every
/// turn; this is several times as fast as `write!`.
pub fn push_number(number: u32, text: &mut String) {
    let digit = |value| char::from_digit(value, 10).unwrap_or('?');
    if number >= 10 {
        text.push(digit(number / 10));
    }
    text.push(digit(number % 10));
}

/// Returns the cell of square `number`: square 1 is cell 12, square 32 is cell 87.
pub const fn cell(number: u32) -> Cell {
    let row = (number - 1) / 4;
    let column = (number - 1) % 4 * 2 + (row + 1) % 2;
    Cell::from_index(row * 8 + column)
}

/// Returns the number of the square on a dark cell; `None` for a light cell.
pub fn from_cell(cell: Cell) -> Option<u32> {
    let (row, column) = (cell.index() / 8, cell.index() % 8);
    ((row + column) % 2 == 1).then_some(row * 4 + column / 2 + 1)
}

/// The diagonal directions as bit distances; the first two are forward for the first player.
pub(super) const DIRECTIONS: [i32; 4] = [4, 5, -4, -5];

/// Shifts a board one step in a direction of [`DIRECTIONS`]. The caller masks the result.
#[inline(always)]
pub(super) const fn step(board: u64, direction: i32) -> u64 {
    if direction > 0 { board << direction } else { board >> -direction }
}

/// Shifts a board forward: one step if `N` is 4 or 5, two if it is 8 or 10.
#[inline(always)]
pub(super) const fn ahead<const FIRST: bool, const N: u32>(board: u64) -> u64 {
    if FIRST { board << N } else { board >> N }
}

/// Shifts a board backward; see [`ahead`].
#[inline(always)]
pub(super) const fn behind<const FIRST: bool, const N: u32>(board: u64) -> u64 {
    if FIRST { board >> N } else { board << N }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_bits_and_cells_round_trip() {
        let mut all = 0;
        for n in 1..=32 {
            assert_eq!(number(bit(n)), n);
            assert_eq!(from_cell(cell(n)), Some(n));
            all |= bit(n);
        }
        assert_eq!(all, SQUARES);
        assert_eq!((compact(SQUARES), spread(u32::MAX)), (u32::MAX, SQUARES));
        let dark = (1..=32).fold(0, |cells, n| cells | cell(n).bit());
        assert_eq!(dark, DARK_CELLS);
        assert_eq!((cell(1).to_string(), cell(32).to_string()), ("12".into(), "87".into()));
        assert_eq!(Cell::all().filter(|&c| from_cell(c).is_none()).count(), 32);
    }

    #[test]
    fn shifts_reach_diagonal_neighbours_only() {
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
