//! Cells of the 8x8 board, named by row and column, `11` to `88`.

use std::fmt::{self, Write};

/// One of the 64 cells: row 1 is the top, column 1 the left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(u8);

impl Cell {
    /// Iterates over all cells, row 1 first.
    pub fn all() -> impl Iterator<Item = Cell> {
        (0..64).map(Cell)
    }

    /// Returns the cell at `row` and `column`, both 1 to 8.
    pub const fn new(row: u8, column: u8) -> Option<Cell> {
        if row >= 1 && row <= 8 && column >= 1 && column <= 8 {
            Some(Cell((row - 1) * 8 + column - 1))
        } else {
            None
        }
    }

    /// Returns the cell with this [`index`](Cell::index). Only the six lowest bits count.
    pub const fn from_index(index: u32) -> Cell {
        Cell((index & 63) as u8)
    }

    /// Parses a name such as `47`.
    pub fn parse(name: &str) -> Option<Cell> {
        match name.as_bytes() {
            [row, column] => Cell::new(row.wrapping_sub(b'0'), column.wrapping_sub(b'0')),
            _ => None,
        }
    }

    /// Returns the index, from 0 for cell `11` along the rows to 63 for cell `88`.
    pub const fn index(self) -> u32 {
        self.0 as u32
    }

    /// Returns the row, 1 to 8.
    pub const fn row(self) -> u8 {
        self.0 / 8 + 1
    }

    /// Returns the column, 1 to 8.
    pub const fn column(self) -> u8 {
        self.0 % 8 + 1
    }

    /// Appends row and column. The referee formats moves in every turn; this is several times as
    /// fast as `write!`.
    pub fn push_to(self, text: &mut String) {
        text.push(char::from(b'0' + self.row()));
        text.push(char::from(b'0' + self.column()));
    }

    /// Returns the board with only this cell set.
    pub const fn bit(self) -> u64 {
        1 << self.0
    }

    /// Returns the cell `rows` down and `columns` to the right; `None` if it is off the board.
    pub fn offset(self, rows: i32, columns: i32) -> Option<Cell> {
        let row = i32::from(self.row()) + rows;
        let column = i32::from(self.column()) + columns;
        Cell::new(u8::try_from(row).ok()?, u8::try_from(column).ok()?)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char(char::from(b'0' + self.row()))?;
        f.write_char(char::from(b'0' + self.column()))
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Iterator over the indices of the set bits, lowest first.
#[derive(Clone, Copy)]
pub struct Bits(pub u64);

impl Iterator for Bits {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let index = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(index)
    }
}
