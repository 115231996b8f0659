//! Jumps: in one of eight directions over a single piece that stands exactly halfway.
//!
//! A multiplication maps each of the four lines through a cell (row, column, two diagonals) to one
//! byte, with a bit per column (per row for the column). A table gives the landing cells for every
//! position on a line and every occupancy, and a second multiplication maps them back. Chess
//! programs find sliding moves this way ("kindergarten bitboards"). There is no loop over
//! directions or distances.

use crate::cell::Bits;

const COLUMN: u64 = 0x0101_0101_0101_0101;
const DIAGONAL: u64 = 0x8040_2010_0804_0201;

/// Landing cells on a line, by position on the line and occupancy.
static LANDINGS: [[u8; 256]; 8] = landings();

const fn landings() -> [[u8; 256]; 8] {
    let mut table = [[0; 256]; 8];
    let mut at = 0;
    while at < 8 {
        let mut occupied = 0;
        while occupied < 256 {
            table[at][occupied] = landings_on_line(at as i32, occupied as i32);
            occupied += 1;
        }
        at += 1;
    }
    table
}

const fn landings_on_line(at: i32, occupied: i32) -> u8 {
    let mut result = 0;
    let mut distance = -6;
    while distance <= 6 {
        let to = at + distance;
        if distance != 0 && to >= 0 && to < 8 {
            let direction = if distance > 0 { 1 } else { -1 };
            // All cells after the start, including the landing cell.
            let mut crossed = 0;
            let mut index = at;
            while index != to {
                index += direction;
                crossed |= 1 << index;
            }
            let middle = 1 << (at + distance / 2);
            if occupied & crossed == middle {
                result |= 1 << to;
            }
        }
        distance += 2;
    }
    result
}

/// Cells of a line that the landing cells depend on.
static DEPENDENCIES: [[u8; 256]; 8] = dependencies();

const fn dependencies() -> [[u8; 256]; 8] {
    let mut table = [[0; 256]; 8];
    let mut at = 0;
    while at < 8 {
        let mut occupied = 0;
        while occupied < 256 {
            table[at][occupied] = dependencies_on_ray(at as i32, 1, occupied as i32)
                | dependencies_on_ray(at as i32, -1, occupied as i32);
            occupied += 1;
        }
        at += 1;
    }
    table
}

/// Returns the cells of a line that jumps in one direction depend on. Only the first piece can be
/// jumped over, so they are the cells up to it and as many behind it. If no piece is near enough,
/// they are all cells where such a piece could stand.
const fn dependencies_on_ray(at: i32, direction: i32, occupied: i32) -> u8 {
    let mut cells = 0;
    let mut distance = 1;
    while at + 2 * distance * direction >= 0 && at + 2 * distance * direction < 8 {
        let index = at + distance * direction;
        cells |= 1 << index;
        if occupied & 1 << index != 0 {
            let mut behind = 1;
            while behind <= distance {
                cells |= 1 << (index + behind * direction);
                behind += 1;
            }
            return cells;
        }
        distance += 1;
    }
    cells
}

/// The two diagonals through each cell: down to the right, up to the right.
static DIAGONALS: [[u64; 2]; 64] = diagonals();

const fn diagonals() -> [[u64; 2]; 64] {
    let mut table = [[0; 2]; 64];
    let mut pair = 0;
    while pair < 64 * 64 {
        let (a, b) = (pair / 64, pair % 64);
        let (rows, columns) = distance(a, b);
        table[a][0] |= if rows == columns { 1 << b } else { 0 };
        table[a][1] |= if rows == -columns { 1 << b } else { 0 };
        pair += 1;
    }
    table
}

/// Neighbours of each cell.
pub(super) static STEPS: [u64; 64] = steps();

const fn steps() -> [u64; 64] {
    let mut table = [0; 64];
    let mut pair = 0;
    while pair < 64 * 64 {
        let (a, b) = (pair / 64, pair % 64);
        let (rows, columns) = distance(a, b);
        if a != b && rows.abs() <= 1 && columns.abs() <= 1 {
            table[a] |= 1 << b;
        }
        pair += 1;
    }
    table
}

/// Returns the number of rows and columns from one cell to another.
const fn distance(from: usize, to: usize) -> (i32, i32) {
    (to as i32 / 8 - from as i32 / 8, to as i32 % 8 - from as i32 % 8)
}

/// Returns the cells one jump away from `cell`.
#[inline(always)]
pub(super) fn jumps(occupied: u64, cell: u32) -> u64 {
    on_lines(&LANDINGS, occupied, cell)
}

/// Returns the cells that [`jumps`] depends on.
#[inline(always)]
pub(super) fn jump_dependencies(occupied: u64, cell: u32) -> u64 {
    on_lines(&DEPENDENCIES, occupied, cell)
}

/// Looks up the four lines through `cell` in a table by position and occupancy.
#[inline(always)]
fn on_lines(table: &[[u8; 256]; 8], occupied: u64, cell: u32) -> u64 {
    let (row, column) = (cell >> 3 & 7, cell & 7);
    let by_column = &table[column as usize];

    let line = occupied >> (8 * row) & 0xff;
    let along_row = u64::from(by_column[line as usize]) << (8 * row);

    // The multiplication collects the column, one bit per byte, in the top byte, row 1 highest.
    let line = (occupied >> column & COLUMN).wrapping_mul(DIAGONAL) >> 56;
    let cells = table[7 - row as usize][line as usize];
    let along_column = (u64::from(cells).wrapping_mul(DIAGONAL) >> 7 & COLUMN) << column;

    let [down, up] = DIAGONALS[cell as usize & 63];
    let diagonal = |line: u64| {
        let cells = by_column[((occupied & line).wrapping_mul(COLUMN) >> 56) as usize];
        u64::from(cells).wrapping_mul(COLUMN) & line
    };
    along_row | along_column | diagonal(down) | diagonal(up)
}

/// Returns the cells reached by one or more jumps, without the start: a turn cannot end there.
/// `occupied` excludes the jumping piece, so that its start counts as empty.
#[inline(always)]
pub(super) fn reachable(occupied: u64, from: u32) -> u64 {
    let mut reached = 1u64 << from;
    let mut frontier = jumps(occupied, from);
    let mut pending = Bits(frontier);
    reached |= frontier;
    while let Some(cell) = pending.next() {
        frontier = jumps(occupied, cell) & !reached;
        reached |= frontier;
        pending.0 |= frontier;
    }
    reached & !(1 << from)
}
