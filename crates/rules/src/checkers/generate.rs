//! Steps and captures on the bit board, for one side as a const generic.
//!
//! This module knows squares and pieces, not games: no key, no counters, no outcome.

use smallvec::SmallVec;

use super::squares::{BOTTOM_ROW, DIRECTIONS, SQUARES, TOP_ROW, ahead, behind, step};
use crate::MoveList;
use crate::cell::Bits;

/// A turn: the square left, the square reached and the squares of all captured pieces.
///
/// It is one word: 35 bits of captured squares; from bit 40 the bit number of the start and, above its six bits, whether
/// the piece was a king; from bit 48 the same for the end. So play looks nothing up that was known here.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move(u64);

impl Move {
    #[inline(always)]
    const fn new(from: u64, to: u64, captured: u64, was_king: bool, is_king: bool) -> Move {
        let start = from.trailing_zeros() as u64 | (was_king as u64) << 6;
        let end = to.trailing_zeros() as u64 | (is_king as u64) << 6;
        Move(captured | start << 40 | end << 48)
    }

    /// The step of a man, from a bit of [`Pieces::steps_ahead`].
    #[inline(always)]
    const fn ahead<const FIRST: bool>(bit: u32, crowned: u64) -> Move {
        let from = (bit & 31) + first_row::<FIRST>();
        let by = 4 + (bit >> 5);
        let to = if FIRST { from + by } else { from.wrapping_sub(by) };
        let crowned = crowned >> (to & 63) & 1;
        Move((from as u64) << 40 | (to as u64 | crowned << 6) << 48)
    }

    /// The bit number of the start, plus 64 for a king.
    #[inline(always)]
    pub(super) const fn start(self) -> usize {
        (self.0 >> 40) as usize & 127
    }

    /// The bit number of the end, plus 64 for what is now a king.
    #[inline(always)]
    pub(super) const fn end(self) -> usize {
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

    /// The end, if it is a king that stands there now.
    #[inline(always)]
    pub(super) const fn crown(self) -> u64 {
        (self.end() as u64 >> 6) << (self.end() & 63)
    }

    #[inline(always)]
    pub(super) const fn captured(self) -> u64 {
        self.0 & SQUARES
    }

    /// Whether the move takes a piece.
    #[inline(always)]
    pub const fn is_capture(self) -> bool {
        self.captured() != 0
    }

    /// How many pieces the move takes.
    pub const fn captures(self) -> u32 {
        self.captured().count_ones()
    }
}

/// The pieces from the mover's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pieces {
    pub(super) own: u64,
    pub(super) other: u64,
    /// Kings of both sides.
    pub(super) kings: u64,
}

/// The king-row of the side: where a man is crowned when there are kings.
#[inline(always)]
pub(super) const fn king_row(first: bool) -> u64 {
    if first { BOTTOM_ROW } else { TOP_ROW }
}

/// From which squares a jump is possible: over a piece of the opponent to an empty square behind it.
#[derive(Clone, Copy)]
pub(super) struct Jumps {
    pub(super) ahead4: u64,
    pub(super) ahead5: u64,
    pub(super) behind4: u64,
    pub(super) behind5: u64,
}

impl Jumps {
    #[inline(always)]
    pub(super) fn of<const FIRST: bool>(other: u64, empty: u64) -> Jumps {
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
        SQUARES & !(self.own | self.other)
    }

    /// The pieces that can capture, and so must.
    #[inline(always)]
    pub(super) fn jumpers<const FIRST: bool>(self) -> u64 {
        let jumps = Jumps::of::<FIRST>(self.other, self.empty());
        self.own & jumps.ahead() | self.own & self.kings & jumps.any()
    }

    /// The pieces after a move, seen by the opponent, who is now to move.
    #[inline(always)]
    pub(super) const fn after(self, mv: Move) -> Pieces {
        let (from, to, captured) = (mv.from(), mv.to(), mv.captured());
        Pieces {
            own: self.other & !captured,
            other: self.own & !from | to,
            kings: self.kings & !(captured | from) | mv.crown(),
        }
    }

    /// Adds every step to `out`; a man that ends on `crowned` becomes a king.
    #[inline(always)]
    pub(super) fn steps<const FIRST: bool>(self, crowned: u64, out: &mut MoveList<Move>) {
        let empty = self.empty();
        let kings = self.own & self.kings;
        let steps = self.steps_ahead::<FIRST>(empty);
        if kings == 0 {
            out.extend(Bits(steps).map(|bit| Move::ahead::<FIRST>(bit, crowned)));
            return;
        }
        out.extend(Bits(steps).map(|bit| {
            let (from, to) = step_ahead::<FIRST>(bit);
            let king = kings & from != 0;
            Move::new(from, to, 0, king, king || to & crowned != 0)
        }));
        let back4 = Bits(kings & ahead::<FIRST, 4>(empty)).map(|index| 1 << index);
        let back5 = Bits(kings & ahead::<FIRST, 5>(empty)).map(|index| 1 << index);
        out.extend(back4.map(|from| Move::new(from, behind::<FIRST, 4>(from), 0, true, true)));
        out.extend(back5.map(|from| Move::new(from, behind::<FIRST, 5>(from), 0, true, true)));
    }

    /// Whether there is any step.
    pub(super) fn can_step<const FIRST: bool>(self) -> bool {
        let empty = self.empty();
        let behind = ahead::<FIRST, 4>(empty) | ahead::<FIRST, 5>(empty);
        self.steps_ahead::<FIRST>(empty) != 0 || self.own & self.kings & behind != 0
    }

    /// All steps ahead in one word: those by 4 in the lower half, those by 5 in the upper, so that one loop with one
    /// unforeseen end serves both. No piece can step ahead from the last row, so 31 bits hold all others.
    #[inline(always)]
    pub(super) fn steps_ahead<const FIRST: bool>(self, empty: u64) -> u64 {
        let by4 = self.own & behind::<FIRST, 4>(empty);
        let by5 = self.own & behind::<FIRST, 5>(empty);
        (by4 >> first_row::<FIRST>()) | (by5 >> first_row::<FIRST>()) << 32
    }

    /// Hands every capture to `visit`, each carried to its end; a man that ends on `crowned` becomes a king.
    ///
    /// With `PATHS` a capture comes once for every way round; without, once for each start, end and set of
    /// captured pieces.
    #[inline(always)]
    pub(super) fn captures<const FIRST: bool, const PATHS: bool>(
        self,
        crowned: u64,
        visit: &mut impl FnMut(Move),
    ) {
        let empty = self.empty();
        let jumps = Jumps::of::<FIRST>(self.other, empty);
        for index in Bits(self.own & !self.kings & jumps.ahead()) {
            let chain = ManChain { from: 1 << index, jumps, crowned };
            chain.captures::<FIRST, _>(chain.from, 0, visit);
        }
        for index in Bits(self.own & self.kings & jumps.any()) {
            let from = 1 << index;
            let mut chain = KingChain { from, empty: empty | from, seen: SmallVec::new() };
            chain.captures::<PATHS, _>(from, 0, self.other, visit);
        }
    }
}

/// The lowest bit from which the side steps ahead: the second player does not from the top row.
const fn first_row<const FIRST: bool>() -> u32 {
    if FIRST { 0 } else { 4 }
}

/// From and to of a bit of [`Pieces::steps_ahead`].
#[inline(always)]
pub(super) const fn step_ahead<const FIRST: bool>(bit: u32) -> (u64, u64) {
    let from = 1 << ((bit & 31) + first_row::<FIRST>());
    let by = 4 + (bit >> 5 & 1);
    (from, if FIRST { from << by } else { from >> by })
}

/// The captures of one man. They go forward only, so neither its vacated square nor the captured pieces can
/// matter later in the chain: the jumps of the standing board serve to the end.
#[derive(Clone, Copy)]
struct ManChain {
    from: u64,
    jumps: Jumps,
    crowned: u64,
}

impl ManChain {
    fn captures<const FIRST: bool, F: FnMut(Move)>(self, at: u64, captured: u64, visit: &mut F) {
        if at & self.jumps.ahead() == 0 {
            return visit(Move::new(self.from, at, captured, false, at & self.crowned != 0));
        }
        if at & self.jumps.ahead4 != 0 {
            let over = ahead::<FIRST, 4>(at);
            self.captures::<FIRST, F>(ahead::<FIRST, 4>(over), captured | over, visit);
        }
        if at & self.jumps.ahead5 != 0 {
            let over = ahead::<FIRST, 5>(at);
            self.captures::<FIRST, F>(ahead::<FIRST, 5>(over), captured | over, visit);
        }
    }
}

/// The captures of one king.
struct KingChain {
    from: u64,
    /// Free squares, the one it left among them.
    empty: u64,
    /// Ends and captured pieces of the chains that may come round a second way.
    seen: SmallVec<[(u64, u64); 16]>,
}

/// Two different ways with the same start, end and captured pieces contain a circle, and the smallest circle on
/// the board is four jumps long.
const SHORTEST_CIRCLE: u32 = 4;

impl KingChain {
    fn captures<const PATHS: bool, F: FnMut(Move)>(
        &mut self,
        at: u64,
        captured: u64,
        targets: u64,
        visit: &mut F,
    ) {
        let mut ended = true;
        for direction in DIRECTIONS {
            let over = step(at, direction) & targets;
            let to = step(over, direction) & self.empty;
            if to != 0 {
                ended = false;
                self.captures::<PATHS, F>(to, captured | over, targets & !over, visit);
            }
        }
        if !ended {
            return;
        }
        if !PATHS && captured.count_ones() >= SHORTEST_CIRCLE {
            if self.seen.contains(&(at, captured)) {
                return;
            }
            self.seen.push((at, captured));
        }
        visit(Move::new(self.from, at, captured, true, true));
    }
}
