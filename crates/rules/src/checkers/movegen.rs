//! Generates steps and captures on bitboards, with the side to move as a const generic.
//!
//! This module knows squares and pieces only: no key, no counters, no outcome.

use smallvec::SmallVec;

use super::squares::{BOTTOM_ROW, DIRECTIONS, SQUARES, TOP_ROW, ahead, behind, step};
use crate::cell::Bits;

/// A move: start square, end square and the squares of all captured pieces.
///
/// Packed into one word. Bits 0 to 34 are the captured squares. Bits 40 to 45 are the bit number of
/// the start and bit 46 says whether the piece was a king; bits 48 to 54 are the same for the end.
/// Bits 56 to 58 are the [`kind`](Move::kind).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move(u64);

impl Move {
    /// `from` and `to` are bit numbers.
    #[inline(always)]
    const fn new(from: u32, to: u32, captured: u64, was_king: bool, is_king: bool) -> Move {
        let start = from as u64 | (was_king as u64) << 6;
        let end = to as u64 | (is_king as u64) << 6;
        let kind = was_king as u64 | (is_king as u64) << 1 | ((captured != 0) as u64) << 2;
        Move(captured | start << 40 | end << 48 | kind << 56)
    }

    /// Mask that removes the crowning from a move of a man, for games without kings.
    const UNCROWNED: u64 = !(64 << 48 | 2 << 56);

    /// Returns 1 if a king moves, plus 2 if a king arrives, plus 4 if a piece is captured. 0 is the
    /// step of a man without crowning.
    #[inline(always)]
    pub const fn kind(self) -> usize {
        (self.0 >> 56) as usize & 7
    }

    /// Returns the bit number of the start, plus 64 for a king.
    #[inline(always)]
    pub const fn start(self) -> usize {
        (self.0 >> 40) as usize & 127
    }

    /// Returns the bit number of the end, plus 64 if a king arrives.
    #[inline(always)]
    pub const fn end(self) -> usize {
        (self.0 >> 48) as usize & 127
    }

    #[inline(always)]
    pub(super) const fn from(self) -> u64 {
        1 << (self.start() & 63)
    }

    #[inline(always)]
    pub(super) const fn to(self) -> u64 {
        1 << (self.end() & 63)
    }

    /// Returns the end square if a king arrives there, else 0.
    #[inline(always)]
    pub(super) const fn crown(self) -> u64 {
        (self.end() as u64 >> 6) << (self.end() & 63)
    }

    /// Returns the squares of the captured pieces, in the layout of [`squares`](super::squares).
    #[inline(always)]
    pub const fn captured(self) -> u64 {
        self.0 & SQUARES
    }

    /// Returns whether the move captures a piece.
    #[inline(always)]
    pub const fn is_capture(self) -> bool {
        self.kind() & 4 != 0
    }

    /// Returns the number of captured pieces.
    pub const fn captures(self) -> u32 {
        self.captured().count_ones()
    }
}

/// The pieces from the point of view of the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pieces {
    pub(super) own: u64,
    pub(super) opponent: u64,
    /// Kings of both sides.
    pub(super) kings: u64,
}

/// Returns the king-row of a side.
#[inline(always)]
pub(super) const fn king_row(first: bool) -> u64 {
    if first { BOTTOM_ROW } else { TOP_ROW }
}

/// The squares from which a jump is possible: the next square in the direction holds an opponent's
/// piece and the one after it is empty.
#[derive(Clone, Copy)]
pub(super) struct Jumps {
    pub(super) ahead4: u64,
    pub(super) ahead5: u64,
    pub(super) behind4: u64,
    pub(super) behind5: u64,
}

impl Jumps {
    #[inline(always)]
    pub(super) const fn new<const FIRST: bool>(other: u64, empty: u64) -> Jumps {
        Jumps {
            ahead4: behind::<FIRST, 4>(other & behind::<FIRST, 4>(empty)),
            ahead5: behind::<FIRST, 5>(other & behind::<FIRST, 5>(empty)),
            behind4: ahead::<FIRST, 4>(other & ahead::<FIRST, 4>(empty)),
            behind5: ahead::<FIRST, 5>(other & ahead::<FIRST, 5>(empty)),
        }
    }

    #[inline(always)]
    pub(super) const fn ahead(self) -> u64 {
        self.ahead4 | self.ahead5
    }

    #[inline(always)]
    pub(super) const fn any(self) -> u64 {
        self.ahead() | self.behind4 | self.behind5
    }
}

impl Pieces {
    #[inline(always)]
    pub(super) const fn empty(self) -> u64 {
        SQUARES & !(self.own | self.opponent)
    }

    /// Returns the pieces that can capture.
    #[inline(always)]
    pub(super) const fn capturing(self, jumps: Jumps) -> u64 {
        self.own & jumps.ahead() | self.own & self.kings & jumps.any()
    }

    /// Returns the pieces after a move, from the point of view of the opponent.
    #[inline(always)]
    pub(super) const fn after(self, mv: Move) -> Pieces {
        Pieces {
            own: self.opponent & !mv.captured(),
            opponent: self.own & !mv.from() | mv.to(), // a king may end where it started
            kings: self.kings & !(mv.captured() | mv.from()) | mv.crown(),
        }
    }

    /// Calls `visit` with every move. A man that ends on `crowning` becomes a king.
    ///
    /// With `PATHS` a capture is generated once per path, otherwise once per start, end and set of
    /// captured pieces.
    #[inline(always)]
    pub(super) fn moves<const FIRST: bool, const PATHS: bool>(
        self,
        crowning: u64,
        mut visit: impl FnMut(Move),
    ) {
        let empty = self.empty();
        let jumps = Jumps::new::<FIRST>(self.opponent, empty);
        if self.capturing(jumps) == 0 {
            self.steps::<FIRST>(empty, crowning, visit);
        } else {
            self.captures::<FIRST, PATHS>(empty, jumps, crowning, &mut visit);
        }
    }

    #[inline(always)]
    fn steps<const FIRST: bool>(self, empty: u64, crowning: u64, mut visit: impl FnMut(Move)) {
        let kings = self.own & self.kings;
        let steps = Bits(self.steps_ahead::<FIRST>(empty));
        if kings == 0 {
            let mask = if crowning == 0 { Move::UNCROWNED } else { !0 };
            for bit in steps {
                visit(Move(STEPS[usize::from(!FIRST)][bit as usize & 63] & mask));
            }
            return;
        }
        for bit in steps {
            let (from, to) = (packed_from::<FIRST>(bit), packed_to::<FIRST>(bit));
            let was_king = kings >> from & 1 != 0;
            visit(Move::new(from, to, 0, was_king, was_king || crowning >> to & 1 != 0));
        }
        let (back4, back5) = if FIRST { (-4, -5) } else { (4, 5) };
        for from in Bits(kings & ahead::<FIRST, 4>(empty)) {
            visit(Move::new(from, from.wrapping_add_signed(back4), 0, true, true));
        }
        for from in Bits(kings & ahead::<FIRST, 5>(empty)) {
            visit(Move::new(from, from.wrapping_add_signed(back5), 0, true, true));
        }
    }

    /// Returns whether a step is possible.
    pub(super) fn can_step<const FIRST: bool>(self) -> bool {
        let empty = self.empty();
        let behind = ahead::<FIRST, 4>(empty) | ahead::<FIRST, 5>(empty);
        self.steps_ahead::<FIRST>(empty) != 0 || self.own & self.kings & behind != 0
    }

    /// Returns all steps ahead, packed by [`pack_moves`].
    #[inline(always)]
    fn steps_ahead<const FIRST: bool>(self, empty: u64) -> u64 {
        pack_moves::<FIRST>(
            self.own & behind::<FIRST, 4>(empty),
            self.own & behind::<FIRST, 5>(empty),
        )
    }

    /// Generates complete captures.
    #[inline(always)]
    fn captures<const FIRST: bool, const PATHS: bool>(
        self,
        empty: u64,
        jumps: Jumps,
        crowning: u64,
        visit: &mut impl FnMut(Move),
    ) {
        let men = self.own & !self.kings;
        for bit in Bits(pack_moves::<FIRST>(men & jumps.ahead4, men & jumps.ahead5)) {
            let over = 1 << packed_to::<FIRST>(bit);
            let to = continue_step::<FIRST>(over, bit);
            let captures = ManCaptures { from: packed_from::<FIRST>(bit), jumps, crowning };
            if to & jumps.ahead() == 0 {
                captures.finish(to, over, visit);
            } else {
                captures.extend::<FIRST, _>(to, over, visit);
            }
        }
        let kings = self.own & self.kings;
        if kings != 0 {
            for index in Bits(kings & jumps.any()) {
                let from = 1 << index;
                let seen = SmallVec::new();
                let mut captures = KingCaptures { from: index, empty: empty | from, seen };
                captures.extend::<PATHS, _>(from, 0, self.opponent, visit);
            }
        }
    }
}

/// Returns the lowest bit from which a side moves ahead: the second player cannot on the top row.
const fn first_row<const FIRST: bool>() -> u32 {
    if FIRST { 0 } else { 4 }
}

/// Packs the pieces that move ahead by 4 and those that move ahead by 5 into one word, so that one
/// loop with one mispredicted exit serves both. No piece moves ahead from the last row, so 31 bits
/// hold each board.
#[inline(always)]
const fn pack_moves<const FIRST: bool>(by4: u64, by5: u64) -> u64 {
    by4 >> first_row::<FIRST>() | (by5 >> first_row::<FIRST>()) << 32
}

/// Returns the bit number where a packed move starts.
#[inline(always)]
const fn packed_from<const FIRST: bool>(bit: u32) -> u32 {
    (bit & 31) + first_row::<FIRST>()
}

/// Returns the bit number one step ahead of the start of a packed move.
#[inline(always)]
const fn packed_to<const FIRST: bool>(bit: u32) -> u32 {
    let by = 4 + (bit >> 5 & 1);
    if FIRST { packed_from::<FIRST>(bit) + by } else { packed_from::<FIRST>(bit).wrapping_sub(by) }
}

/// Shifts a board one step in the direction of a packed move.
#[inline(always)]
const fn continue_step<const FIRST: bool>(from: u64, bit: u32) -> u64 {
    let by = 4 + (bit >> 5 & 1);
    if FIRST { from << by } else { from >> by }
}

/// The step of a man for each bit of a packed word, with crowning on the king-row.
static STEPS: [[u64; 64]; 2] = [steps::<true>(), steps::<false>()];

const fn steps<const FIRST: bool>() -> [u64; 64] {
    let mut table = [0; 64];
    let mut bit = 0;
    while bit < 64 {
        let (from, to) = (packed_from::<FIRST>(bit), packed_to::<FIRST>(bit) & 63);
        let is_king = king_row(FIRST) >> to & 1 != 0;
        table[bit as usize] = Move::new(from, to, 0, false, is_king).0;
        bit += 1;
    }
    table
}

/// Captures of one man. It only moves forward, so neither its vacated square nor the captured
/// pieces matter later in the capture: the jumps of the initial board stay valid.
#[derive(Clone, Copy)]
struct ManCaptures {
    from: u32,
    jumps: Jumps,
    crowning: u64,
}

impl ManCaptures {
    #[inline(always)]
    fn finish(self, to: u64, captured: u64, visit: &mut impl FnMut(Move)) {
        let is_king = to & self.crowning != 0;
        let to = to.trailing_zeros();
        visit(Move::new(self.from, to, captured, false, is_king));
    }

    fn extend<const FIRST: bool, F: FnMut(Move)>(self, at: u64, captured: u64, visit: &mut F) {
        if at & self.jumps.ahead() == 0 {
            return self.finish(at, captured, visit);
        }
        if at & self.jumps.ahead4 != 0 {
            let over = ahead::<FIRST, 4>(at);
            self.extend::<FIRST, F>(ahead::<FIRST, 4>(over), captured | over, visit);
        }
        if at & self.jumps.ahead5 != 0 {
            let over = ahead::<FIRST, 5>(at);
            self.extend::<FIRST, F>(ahead::<FIRST, 5>(over), captured | over, visit);
        }
    }
}

/// Captures of one king.
struct KingCaptures {
    from: u32,
    /// Empty squares, including the start.
    empty: u64,
    /// End and captured pieces of the captures that may be found again by another path.
    seen: SmallVec<[(u64, u64); 16]>,
}

/// Number of jumps in the shortest cycle. Two paths with the same start, end and captured pieces
/// contain a cycle.
const MIN_CYCLE: u32 = 4;

impl KingCaptures {
    fn extend<const PATHS: bool, F: FnMut(Move)>(
        &mut self,
        at: u64,
        captured: u64,
        targets: u64,
        visit: &mut F,
    ) {
        let mut is_complete = true;
        for direction in DIRECTIONS {
            let over = step(at, direction) & targets;
            let to = step(over, direction) & self.empty;
            if to != 0 {
                is_complete = false;
                self.extend::<PATHS, F>(to, captured | over, targets & !over, visit);
            }
        }
        if !is_complete {
            return;
        }
        if !PATHS && captured.count_ones() >= MIN_CYCLE {
            if self.seen.contains(&(at, captured)) {
                return;
            }
            self.seen.push((at, captured));
        }
        let to = at.trailing_zeros();
        visit(Move::new(self.from, to, captured, true, true));
    }
}
