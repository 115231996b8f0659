//! The hop sequences of one piece, and what they capture.
//!
//! A hop moves a piece by two cells, so it stays on the lattice of cells with the same parity of
//! row and column and only hops over cells between them. Two consequences keep the search small:
//! - A piece never blocks itself, and a capture never frees a landing cell.
//! - Hops over pieces of one's own side can be repeated and reversed. They divide the lattice into
//!   regions within which the piece moves freely. Only captures lead from a region to another one
//!   (or to itself), and each piece is captured once.
//!
//! So the state of a sequence is a region and the set of captured pieces, and the sequence can end
//! on every cell of the region. A flood fill by shifts finds a whole region at once.

use smallvec::SmallVec;

/// Cells outside columns 1, 1–2, 8 and 7–8: masks that keep a shift from wrapping to the next row.
const NOT_FIRST: u64 = 0xfefe_fefe_fefe_fefe;
const NOT_FIRST_TWO: u64 = 0xfcfc_fcfc_fcfc_fcfc;
const NOT_LAST: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const NOT_LAST_TWO: u64 = 0x3f3f_3f3f_3f3f_3f3f;

/// Returns the cells adjacent to those of a board.
#[inline(always)]
pub(super) const fn neighbours(board: u64) -> u64 {
    (board << 1 & NOT_FIRST) | (board >> 1 & NOT_LAST) | board << 8 | board >> 8
}

/// Returns the cells one or two away from those of a board along a row or column.
#[inline(always)]
pub(super) const fn within_two(board: u64) -> u64 {
    neighbours(board)
        | (board << 2 & NOT_FIRST_TWO)
        | (board >> 2 & NOT_LAST_TWO)
        | board << 16
        | board >> 16
}

/// Counts the steps of all pieces of a side.
#[inline(always)]
pub(super) const fn count_steps(own: u64, empty: u64) -> u32 {
    (own << 1 & NOT_FIRST & empty).count_ones()
        + (own >> 1 & NOT_LAST & empty).count_ones()
        + (own << 8 & empty).count_ones()
        + (own >> 8 & empty).count_ones()
}

/// Returns the pieces that can hop.
#[inline(always)]
pub(super) const fn hoppers(own: u64, opponent: u64) -> u64 {
    let occupied = own | opponent;
    let empty = !occupied;
    own & ((occupied >> 1 & empty >> 2 & NOT_LAST_TWO)
        | (occupied << 1 & empty << 2 & NOT_FIRST_TWO)
        | (occupied >> 8 & empty >> 16)
        | (occupied << 8 & empty << 16))
}

/// Returns where hops over the pieces `over` lead from the cells of `board`. The caller masks the
/// result with the empty cells.
#[inline(always)]
const fn hop(board: u64, over: u64) -> u64 {
    ((board << 1 & over) << 1 & NOT_FIRST_TWO)
        | ((board >> 1 & over) >> 1 & NOT_LAST_TWO)
        | (board << 8 & over) << 8
        | (board >> 8 & over) >> 8
}

/// A piece lifted from the board.
pub(super) struct Hopper {
    from: u64,
    own: u64,
    opponent: u64,
    /// Empty cells, including the start.
    empty: u64,
}

impl Hopper {
    #[inline(always)]
    pub(super) const fn new(own: u64, opponent: u64, from: u32) -> Hopper {
        let from = 1 << from;
        Hopper { from, own: own & !from, opponent, empty: !(own | opponent) | from }
    }

    /// Returns all cells that hops over pieces of the own side connect with `start`.
    #[inline(always)]
    const fn region(&self, start: u64) -> u64 {
        let mut region = start;
        let mut fresh = start;
        while fresh != 0 {
            fresh = hop(fresh, self.own) & self.empty & !region;
            region |= fresh;
        }
        region
    }

    /// Calls `visit` with every reachable region and the pieces captured on the way; first with the
    /// region of the start, which includes the start itself.
    #[inline(always)]
    pub(super) fn each_region(&self, mut visit: impl FnMut(u64, u64)) {
        let home = self.region(self.from);
        visit(home, 0);
        if hop(home, self.opponent) & self.empty != 0 {
            self.each_capture(home, &mut visit);
        }
    }

    #[inline(never)]
    fn each_capture(&self, home: u64, visit: &mut impl FnMut(u64, u64)) {
        let mut states: SmallVec<[(u64, u64); 32]> = SmallVec::new();
        states.push((home, 0));
        let mut next = 0;
        while next < states.len() {
            let (region, captured) = states[next];
            next += 1;
            let targets = self.opponent & !captured;
            for over in crate::cell::Bits(neighbours(region) & targets) {
                let over = 1 << over;
                // If two cells of the region face each other across the piece, it can be hopped
                // over both ways.
                let mut landings = hop(region, over) & self.empty;
                while landings != 0 {
                    let landing = landings & landings.wrapping_neg();
                    let reached = self.region(landing);
                    landings &= !reached;
                    if !states.contains(&(reached, captured | over)) {
                        states.push((reached, captured | over));
                        visit(reached, captured | over);
                    }
                }
            }
        }
    }
}
