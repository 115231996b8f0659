//! Steps and captures on the bit board, for one side as a const generic.
//!
//! This module knows squares and pieces, not games: no key, no counters, no outcome.

use smallvec::SmallVec;

use super::squares::{BOTTOM_ROW, DIRECTIONS, SQUARES, TOP_ROW, ahead, behind, step};
use crate::cell::Bits;

/// A turn: the square left, the square reached and the squares of all captured pieces.
///
/// It is one word: 35 bits of captured squares; from bit 40 the bit number of the start and, above
/// its six bits, whether the piece was a king; from bit 48 the same for the end; from bit 56 the
/// [`kind`](Move::kind).
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

    /// The move of a man that is not crowned: for games without kings.
    const UNCROWNED: u64 = !(64 << 48 | 2 << 56);

    /// 1 if a king moves, plus 2 if a king arrives, plus 4 if a piece is captured. So 0 is the step
    /// of a man.
    #[inline(always)]
    pub const fn kind(self) -> usize {
        (self.0 >> 56) as usize & 7
    }

    /// The bit number of the start, plus 64 for a king.
    #[inline(always)]
    pub const fn from_of_packed(self) -> usize {
        (self.0 >> 40) as usize & 127
    }

    /// The bit number of the end, plus 64 for what is now a king.
    #[inline(always)]
    pub const fn to_of_packed(self) -> usize {
        (self.0 >> 48) as usize & 127
    }

    #[inline(always)]
    pub(super) const fn from(self) -> u64 {
        1 << (self.from_of_packed() & 63)
    }

    #[inline(always)]
    pub(super) const fn to(self) -> u64 {
        1 << (self.to_of_packed() & 63)
    }

    /// The end, if it is a king that stands there now.
    #[inline(always)]
    pub(super) const fn crown(self) -> u64 {
        (self.to_of_packed() as u64 >> 6) << (self.to_of_packed() & 63)
    }

    /// The squares of the captured pieces, in the layout of [`squares`](super::squares).
    #[inline(always)]
    pub const fn captured(self) -> u64 {
        self.0 & SQUARES
    }

    /// Whether the move takes a piece.
    #[inline(always)]
    pub const fn is_capture(self) -> bool {
        self.kind() & 4 != 0
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
    pub(super) opponent: u64,
    /// Kings of both sides.
    pub(super) kings: u64,
}

/// The king-row of the side: where a man is crowned when there are kings.
#[inline(always)]
pub(super) const fn king_row(first: bool) -> u64 {
    if first { BOTTOM_ROW } else { TOP_ROW }
}

/// From which squares a jump is possible: over a piece of the opponent to an empty square behind
/// it.
#[derive(Clone, Copy)]
pub(super) struct Jumps {
    pub(super) ahead4: u64,
    pub(super) ahead5: u64,
    pub(super) behind4: u64,
    pub(super) behind5: u64,
}

impl Jumps {
    #[inline(always)]
    pub(super) fn new<const FIRST: bool>(other: u64, empty: u64) -> Jumps {
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

    /// The pieces that can capture, and so must.
    #[inline(always)]
    pub(super) const fn capturing(self, jumps: Jumps) -> u64 {
        self.own & jumps.ahead() | self.own & self.kings & jumps.any()
    }

    /// The pieces after a move, seen by the opponent, who is now to move.
    #[inline(always)]
    pub(super) const fn after(self, mv: Move) -> Pieces {
        Pieces {
            own: self.opponent & !mv.captured(),
            opponent: self.own & !mv.from() | mv.to(), // a king may come round to where it started
            kings: self.kings & !(mv.captured() | mv.from()) | mv.crown(),
        }
    }

    /// Hands every move to `visit`; a man that ends on `crowned` becomes a king.
    ///
    /// With `PATHS` a capture comes once for every way round; without, once for each start, end and
    /// set of captured pieces.
    #[inline(always)]
    pub(super) fn moves<const FIRST: bool, const PATHS: bool>(
        self,
        crowned: u64,
        mut visit: impl FnMut(Move),
    ) {
        let empty = self.empty();
        let jumps = Jumps::new::<FIRST>(self.opponent, empty);
        if self.capturing(jumps) == 0 {
            self.steps::<FIRST>(empty, crowned, visit);
        } else {
            self.captures::<FIRST, PATHS>(empty, jumps, crowned, &mut visit);
        }
    }

    #[inline(always)]
    fn steps<const FIRST: bool>(self, empty: u64, crowned: u64, mut visit: impl FnMut(Move)) {
        let kings = self.own & self.kings;
        let steps = Bits(self.steps_ahead::<FIRST>(empty));
        if kings == 0 {
            let mask = if crowned == 0 { Move::UNCROWNED } else { !0 };
            for bit in steps {
                visit(Move(STEPS[usize::from(!FIRST)][bit as usize & 63] & mask));
            }
            return;
        }
        for bit in steps {
            let (from, to) = (start::<FIRST>(bit), end::<FIRST>(bit));
            let was_king = kings >> from & 1 != 0;
            visit(Move::new(from, to, 0, was_king, was_king || crowned >> to & 1 != 0));
        }
        let (back4, back5) = if FIRST { (-4, -5) } else { (4, 5) };
        for from in Bits(kings & ahead::<FIRST, 4>(empty)) {
            visit(Move::new(from, from.wrapping_add_signed(back4), 0, true, true));
        }
        for from in Bits(kings & ahead::<FIRST, 5>(empty)) {
            visit(Move::new(from, from.wrapping_add_signed(back5), 0, true, true));
        }
    }

    /// Whether there is any step.
    pub(super) fn can_step<const FIRST: bool>(self) -> bool {
        let empty = self.empty();
        let behind = ahead::<FIRST, 4>(empty) | ahead::<FIRST, 5>(empty);
        self.steps_ahead::<FIRST>(empty) != 0 || self.own & self.kings & behind != 0
    }

    /// All steps ahead, as a [`word`].
    #[inline(always)]
    fn steps_ahead<const FIRST: bool>(self, empty: u64) -> u64 {
        pack_moves::<FIRST>(
            self.own & behind::<FIRST, 4>(empty),
            self.own & behind::<FIRST, 5>(empty),
        )
    }

    /// Every capture is carried to its end.
    #[inline(always)]
    fn captures<const FIRST: bool, const PATHS: bool>(
        self,
        empty: u64,
        jumps: Jumps,
        crowned: u64,
        visit: &mut impl FnMut(Move),
    ) {
        let men = self.own & !self.kings;
        for bit in Bits(pack_moves::<FIRST>(men & jumps.ahead4, men & jumps.ahead5)) {
            let over = 1 << end::<FIRST>(bit);
            let to = continue_step::<FIRST>(over, bit);
            let chain = ManCaptures { from: start::<FIRST>(bit), jumps, crowned };
            if to & jumps.ahead() == 0 {
                chain.finish(to, over, visit);
            } else {
                chain.extend::<FIRST, _>(to, over, visit);
            }
        }
        let kings = self.own & self.kings;
        if kings != 0 {
            for index in Bits(kings & jumps.any()) {
                let from = 1 << index;
                let seen = SmallVec::new();
                let mut chain = KingCaptures { from: index, empty: empty | from, seen };
                chain.extend::<PATHS, _>(from, 0, self.opponent, visit);
            }
        }
    }
}

/// The lowest bit from which the side steps ahead: the second player does not from the top row.
const fn first_row<const FIRST: bool>() -> u32 {
    if FIRST { 0 } else { 4 }
}

/// Two boards of pieces that go ahead, by 4 and by 5, in one word: one loop with one unforeseen end
/// serves both. No piece goes ahead from the last row, so 31 bits hold all others.
#[inline(always)]
const fn pack_moves<const FIRST: bool>(by4: u64, by5: u64) -> u64 {
    by4 >> first_row::<FIRST>() | (by5 >> first_row::<FIRST>()) << 32
}

/// The bit number on which a bit of a [`word`] starts.
#[inline(always)]
const fn start<const FIRST: bool>(bit: u32) -> u32 {
    (bit & 31) + first_row::<FIRST>()
}

/// The bit number one step ahead.
#[inline(always)]
const fn end<const FIRST: bool>(bit: u32) -> u32 {
    let by = 4 + (bit >> 5 & 1);
    if FIRST { start::<FIRST>(bit) + by } else { start::<FIRST>(bit).wrapping_sub(by) }
}

/// A step in the direction of a bit of a [`word`].
#[inline(always)]
const fn continue_step<const FIRST: bool>(from: u64, bit: u32) -> u64 {
    let by = 4 + (bit >> 5 & 1);
    if FIRST { from << by } else { from >> by }
}

/// The step of a man for each bit of a [`word`], ready made; crowned on the king-row.
static STEPS: [[u64; 64]; 2] = [steps::<true>(), steps::<false>()];

const fn steps<const FIRST: bool>() -> [u64; 64] {
    let mut table = [0; 64];
    let mut bit = 0;
    while bit < 64 {
        let (from, to) = (start::<FIRST>(bit), end::<FIRST>(bit) & 63);
        let is_king = king_row(FIRST) >> to & 1 != 0;
        table[bit as usize] = Move::new(from, to, 0, false, is_king).0;
        bit += 1;
    }
    table
}

/// The captures of one man. They go forward only, so neither its vacated square nor the captured
/// pieces can matter later in the chain: the jumps of the standing board serve to the end.
#[derive(Clone, Copy)]
struct ManCaptures {
    from: u32,
    jumps: Jumps,
    crowned: u64,
}

impl ManCaptures {
    #[inline(always)]
    fn finish(self, to: u64, captured: u64, visit: &mut impl FnMut(Move)) {
        let is_king = to & self.crowned != 0;
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

/// The captures of one king.
struct KingCaptures {
    from: u32,
    /// Free squares, the one it left among them.
    empty: u64,
    /// Ends and captured pieces of the chains that may come round a second way.
    seen: SmallVec<[(u64, u64); 16]>,
}

/// Two different ways with the same start, end and captured pieces contain a circle, and the
/// smallest circle on the board is four jumps long.
const MIN_CYCLE: u32 = 4;

impl KingCaptures {
    fn extend<const PATHS: bool, F: FnMut(Move)>(
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
                self.extend::<PATHS, F>(to, captured | over, targets & !over, visit);
            }
        }
        if !ended {
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
