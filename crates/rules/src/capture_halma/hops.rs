//! What one piece can reach by hopping.
//!
//! A hop moves by two cells, so a hopping piece stays on the lattice of cells with its own parity
//! of row and column, and hops over cells between lattice cells. Two facts follow that make the
//! search small:
//! - The piece itself never stands in its own way, and a captured piece never frees a landing cell.
//! - Hops over own pieces can be repeated and reversed. So the lattice falls apart into areas
//!   within which the piece moves at will; only a capture leads from one area to another (or within
//!   one), and each piece is captured once.
//!
//! The state of a sequence is therefore an area and the set of captured pieces, and every cell of
//! the area is a possible end. Each area is found for all its cells at once by shifting boards.

use smallvec::SmallVec;

/// Cells that are not in columns 1, 1–2, 8, 7–8: a shift along the rows must not wrap.
const NOT_FIRST: u64 = 0xfefe_fefe_fefe_fefe;
const NOT_FIRST_TWO: u64 = 0xfcfc_fcfc_fcfc_fcfc;
const NOT_LAST: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const NOT_LAST_TWO: u64 = 0x3f3f_3f3f_3f3f_3f3f;

/// The cells next to those of a board.
#[inline(always)]
pub(super) const fn neighbours(board: u64) -> u64 {
    (board << 1 & NOT_FIRST) | (board >> 1 & NOT_LAST) | board << 8 | board >> 8
}

/// The cells one or two away from those of a board along a row or a column.
#[inline(always)]
pub(super) const fn within_two(board: u64) -> u64 {
    neighbours(board)
        | (board << 2 & NOT_FIRST_TWO)
        | (board >> 2 & NOT_LAST_TWO)
        | board << 16
        | board >> 16
}

/// The number of steps of all own pieces together.
#[inline(always)]
pub(super) const fn count_steps(own: u64, empty: u64) -> u32 {
    (own << 1 & NOT_FIRST & empty).count_ones()
        + (own >> 1 & NOT_LAST & empty).count_ones()
        + (own << 8 & empty).count_ones()
        + (own >> 8 & empty).count_ones()
}

/// The pieces that can make at least one hop.
#[inline(always)]
pub(super) const fn hoppers(own: u64, other: u64) -> u64 {
    let occupied = own | other;
    let empty = !occupied;
    own & ((occupied >> 1 & empty >> 2 & NOT_LAST_TWO)
        | (occupied << 1 & empty << 2 & NOT_FIRST_TWO)
        | (occupied >> 8 & empty >> 16)
        | (occupied << 8 & empty << 16))
}

/// Where hops over the pieces of `over` lead from the cells of `board`; still to be masked with the
/// free cells.
#[inline(always)]
const fn hop(board: u64, over: u64) -> u64 {
    ((board << 1 & over) << 1 & NOT_FIRST_TWO)
        | ((board >> 1 & over) >> 1 & NOT_LAST_TWO)
        | (board << 8 & over) << 8
        | (board >> 8 & over) >> 8
}

/// One lifted piece.
pub(super) struct Hopper {
    from: u64,
    own: u64,
    opponent: u64,
    /// Free cells, the start among them.
    free: u64,
}

impl Hopper {
    #[inline(always)]
    pub(super) const fn new(own: u64, other: u64, from: u32) -> Hopper {
        let from = 1 << from;
        Hopper { from, own: own & !from, opponent: other, free: !(own | other) | from }
    }

    /// All cells that hops over own pieces connect with this one.
    #[inline(always)]
    const fn region(&self, start: u64) -> u64 {
        let mut area = start;
        let mut fresh = start;
        while fresh != 0 {
            fresh = hop(fresh, self.own) & self.free & !area;
            area |= fresh;
        }
        area
    }

    /// Calls `visit` with every area and set of captured pieces that can be reached, the start's
    /// own area (nothing captured, the start included) first.
    #[inline(always)]
    pub(super) fn each_region(&self, mut visit: impl FnMut(u64, u64)) {
        let home = self.region(self.from);
        visit(home, 0);
        if hop(home, self.opponent) & self.free != 0 {
            self.each_capture(home, &mut visit);
        }
    }

    #[inline(never)]
    fn each_capture(&self, home: u64, visit: &mut impl FnMut(u64, u64)) {
        let mut states: SmallVec<[(u64, u64); 32]> = SmallVec::new();
        states.push((home, 0));
        let mut next = 0;
        while next < states.len() {
            let (area, captured) = states[next];
            next += 1;
            let targets = self.opponent & !captured;
            for over in crate::cell::Bits(neighbours(area) & targets) {
                let over = 1 << over;
                // Two cells of one area may face each other across the piece: then it is hopped
                // both ways.
                let mut landings = hop(area, over) & self.free;
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
