//! Slices of the endgame table, and the index of a position in its slice.
//!
//! A slice holds all positions with the same numbers of men and kings of both sides, seen from the
//! side to move. Its index is a number with four digits: the combination of squares of the own men,
//! of the opponent's men, of the own kings and of the opponent's kings. Men stand on 28 squares.
//! Kings are counted on the squares that the preceding groups leave free. Men of both sides on one
//! square are the only indices without a position.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crownhead_rules::Bits;
use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::checkers::squares::{compact, spread};

use super::{MAX_PIECES, MIN_PIECES};

/// Numbers of pieces of both sides, seen from the side to move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slice {
    /// Men of the side to move.
    pub own_men: u8,
    /// Kings of the side to move.
    pub own_kings: u8,
    /// Men of the opponent.
    pub opponent_men: u8,
    /// Kings of the opponent.
    pub opponent_kings: u8,
}

/// `CHOOSE[n][k]` is C(n,k).
static CHOOSE: [[u32; 13]; 33] = {
    let mut table = [[0; 13]; 33];
    let mut n = 0;
    while n <= 32 {
        table[n][0] = 1;
        let mut k = 1;
        while k <= 12 && n > 0 {
            table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    table
};

/// Number of squares where a man can stand.
pub(super) const MEN_SQUARES: usize = 28;

impl Slice {
    /// Slice of a position.
    #[inline(always)]
    pub fn of(board: MoverBoard) -> Slice {
        let MoverBoard { own, opponent, kings } = board;
        let count = |pieces: u64| pieces.count_ones() as u8;
        Slice {
            own_men: count(own & !kings),
            own_kings: count(own & kings),
            opponent_men: count(opponent & !kings),
            opponent_kings: count(opponent & kings),
        }
    }

    /// A number of its own for each slice.
    pub(crate) const fn number(self) -> u64 {
        let Slice { own_men, own_kings, opponent_men, opponent_kings } = self;
        u32::from_be_bytes([own_men, own_kings, opponent_men, opponent_kings]) as u64
    }

    /// The same pieces with the other side to move.
    pub const fn swapped(self) -> Slice {
        Slice {
            own_men: self.opponent_men,
            own_kings: self.opponent_kings,
            opponent_men: self.own_men,
            opponent_kings: self.own_kings,
        }
    }

    /// Number of pieces.
    pub const fn pieces(self) -> u8 {
        self.own_men + self.own_kings + self.opponent_men + self.opponent_kings
    }

    /// All slices with this number of pieces, at least one on each side, in pairs that differ in
    /// the side to move only. A pair depends on pairs before it and on fewer pieces: fewer men come
    /// first, because crowning turns men into kings.
    pub fn pairs(pieces: u8) -> Vec<Slice> {
        let mut pairs = Vec::new();
        for own in 1..pieces {
            for own_men in 0..=own {
                for opponent_men in 0..=pieces - own {
                    let slice = Slice {
                        own_men,
                        own_kings: own - own_men,
                        opponent_men,
                        opponent_kings: pieces - own - opponent_men,
                    };
                    if slice <= slice.swapped() {
                        pairs.push(slice);
                    }
                }
            }
        }
        pairs.sort_by_key(|slice| (slice.own_men + slice.opponent_men, *slice));
        pairs
    }

    /// All slices with this number of pieces.
    pub fn all(pieces: u8) -> Vec<Slice> {
        let both = |slice: &Slice| [Some(*slice), Some(slice.swapped()).filter(|s| s != slice)];
        Slice::pairs(pieces).iter().flat_map(both).flatten().collect()
    }

    /// Numbers of combinations of the four groups.
    #[inline(always)]
    fn digits(self) -> [u64; 4] {
        let [a, b] = [self.own_men, self.opponent_men].map(usize::from);
        let [c, d] = [self.own_kings, self.opponent_kings].map(usize::from);
        let free = 32 - a - b;
        let counts =
            [CHOOSE[MEN_SQUARES][a], CHOOSE[MEN_SQUARES][b], CHOOSE[free][c], CHOOSE[free - c][d]];
        counts.map(u64::from)
    }

    /// Number of indices.
    pub fn size(self) -> u64 {
        self.digits().iter().product()
    }

    /// Index of a position of this slice.
    #[inline(always)]
    pub fn index(self, board: MoverBoard) -> u64 {
        let MoverBoard { own, opponent, kings } = board;
        let (own, opponent, kings) = (compact(own), compact(opponent), compact(kings));
        let own_men = own & !kings;
        let men = own_men | opponent & !kings;
        let own_kings = own & kings;
        let [_, b, c, d] = self.digits();
        let index = rank(own_men) * b + rank((opponent & !kings) >> 4);
        let index = index * c + rank_among(own_kings, men);
        index * d + rank_among(opponent & kings, men | own_kings)
    }
}

/// The positions of a slice by index.
pub struct Boards {
    slice: Slice,
    digits: [u64; 4],
    /// Combinations of each group by rank.
    sets: [Vec<u32>; 4],
}

impl Boards {
    /// Prepares the positions of a slice.
    pub fn new(slice: Slice) -> Boards {
        let Slice { own_men, own_kings, opponent_men, opponent_kings } = slice;
        let free = 32 - u64::from(own_men + opponent_men);
        let sets = [
            combinations(MEN_SQUARES as u64, own_men),
            combinations(MEN_SQUARES as u64, opponent_men),
            combinations(free, own_kings),
            combinations(free - u64::from(own_kings), opponent_kings),
        ];
        Boards { slice, digits: slice.digits(), sets }
    }

    /// A cursor, which is fast if it proceeds from index to index.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor {
            boards: self,
            same_men: 0..0,
            same_kings: 0..0,
            men: [0; 2],
            own_kings: 0,
            free: [0; 32],
            free_for_opponent: [0; 32],
        }
    }

    /// Calls `visit` with every position in a range of indices, in order.
    pub fn each(&self, range: Range<u64>, mut visit: impl FnMut(u64, MoverBoard)) {
        let mut cursor = self.cursor();
        for index in range {
            if let Some(board) = cursor.board(index) {
                visit(index, board);
            }
        }
    }

    /// The slice.
    pub fn slice(&self) -> Slice {
        self.slice
    }
}

/// Converts indices to positions, and keeps the digits of the last one.
pub struct Cursor<'a> {
    boards: &'a Boards,
    /// Indices with the current men.
    same_men: Range<u64>,
    /// Indices with the current men and own kings.
    same_kings: Range<u64>,
    /// Men of the side to move and of the opponent.
    men: [u32; 2],
    own_kings: u32,
    /// Squares without men.
    free: [u8; 32],
    /// Squares without men and own kings.
    free_for_opponent: [u8; 32],
}

impl Cursor<'_> {
    /// Position with this index; `None` if there is none.
    #[inline]
    pub fn board(&mut self, index: u64) -> Option<MoverBoard> {
        let Boards { digits: [_, b, c, d], ref sets, .. } = *self.boards;
        if !self.same_kings.contains(&index) {
            if !self.same_men.contains(&index) {
                let men = index / (c * d);
                self.same_men = men * (c * d)..(men + 1) * (c * d);
                self.men = [sets[0][(men / b) as usize], sets[1][(men % b) as usize] << 4];
                self.free = free_squares(self.men[0] | self.men[1]);
            }
            if self.men[0] & self.men[1] != 0 {
                return None;
            }
            let kings = (index - self.same_men.start) / d;
            let start = self.same_men.start + kings * d;
            self.same_kings = start..start + d;
            self.own_kings = deposit(sets[2][kings as usize], &self.free);
            self.free_for_opponent = free_squares(self.men[0] | self.men[1] | self.own_kings);
        }
        let set = sets[3][(index - self.same_kings.start) as usize];
        let opponent_kings = deposit(set, &self.free_for_opponent);
        Some(MoverBoard {
            own: spread(self.men[0] | self.own_kings),
            opponent: spread(self.men[1] | opponent_kings),
            kings: spread(self.own_kings | opponent_kings),
        })
    }
}

/// Writes `2m1k-1m0k`: the side to move first.
impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slice { own_men, own_kings, opponent_men, opponent_kings } = self;
        write!(f, "{own_men}m{own_kings}k-{opponent_men}m{opponent_kings}k")
    }
}

/// Reads what [`Display`](fmt::Display) writes, for slices of the table.
impl FromStr for Slice {
    type Err = SliceError;

    fn from_str(text: &str) -> Result<Slice, SliceError> {
        let side = |text: &str| {
            let (men, kings) = text.strip_suffix('k')?.split_once('m')?;
            let count = |text: &str| text.parse().ok().filter(|&count: &u8| count < MAX_PIECES);
            Some((count(men)?, count(kings)?))
        };
        let slice = text.split_once('-').and_then(|(own, opponent)| {
            let ((own_men, own_kings), (opponent_men, opponent_kings)) =
                (side(own)?, side(opponent)?);
            let slice = Slice { own_men, own_kings, opponent_men, opponent_kings };
            let has_both = own_men + own_kings > 0 && opponent_men + opponent_kings > 0;
            (has_both && slice.pieces() <= MAX_PIECES).then_some(slice)
        });
        slice.ok_or(SliceError)
    }
}

/// The text is not a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "not a slice with up to {MAX_PIECES} pieces, such as 0m3k-0m4k (men and kings of both sides)"
)]
pub struct SliceError;

/// Rank of a combination of squares in the combinatorial number system.
#[inline(always)]
pub(super) fn rank(set: u32) -> u64 {
    let squares = Bits(set.into()).zip(1..13);
    squares.map(|(square, k)| u64::from(CHOOSE[square as usize & 31][k])).sum()
}

/// Rank of a combination among the squares that are not `occupied`.
#[inline(always)]
fn rank_among(set: u32, occupied: u32) -> u64 {
    let squares = Bits(set.into()).zip(1..13);
    let among = |square: u32| square - (occupied & ((1 << square) - 1)).count_ones();
    squares.map(|(square, k)| u64::from(CHOOSE[among(square & 31) as usize & 31][k])).sum()
}

/// All combinations of `count` of the first `squares` squares, in the order of their ranks.
pub(super) fn combinations(squares: u64, count: u8) -> Vec<u32> {
    let total = CHOOSE[squares as usize][usize::from(count)];
    let mut set = (1u64 << count) - 1;
    let mut sets = Vec::with_capacity(total as usize);
    for _ in 0..total {
        sets.push(set as u32);
        // Gosper's hack.
        let carried = set + (set & set.wrapping_neg());
        set = carried | ((set ^ carried) >> 2).wrapping_shr(set.trailing_zeros());
    }
    sets
}

/// Numbers of the squares that are not occupied.
#[inline(always)]
pub(super) fn free_squares(occupied: u32) -> [u8; 32] {
    let mut free = [0; 32];
    for (entry, square) in free.iter_mut().zip(Bits((!occupied).into())) {
        *entry = square as u8;
    }
    free
}

/// Squares of a combination among free squares.
#[inline(always)]
fn deposit(set: u32, free: &[u8; 32]) -> u32 {
    Bits(set.into()).fold(0, |squares, index| squares | 1 << free[index as usize & 31])
}

/// Slices that captures and crownings of a pair lead to, those with fewer pieces first.
pub(super) fn dependencies(pair: Slice) -> Vec<Slice> {
    let mut found = Vec::new();
    let is_part = |part: Slice, whole: Slice| {
        part.own_men <= whole.own_men
            && part.opponent_men <= whole.opponent_men
            && part.own_men + part.own_kings <= whole.own_men + whole.own_kings
            && part.opponent_men + part.opponent_kings <= whole.opponent_men + whole.opponent_kings
    };
    for pieces in MIN_PIECES..pair.pieces() {
        let slices = Slice::all(pieces).into_iter();
        found.extend(slices.filter(|&part| is_part(part, pair) || is_part(part, pair.swapped())));
    }
    for slice in [pair, pair.swapped()] {
        if let Some(own_men) = slice.own_men.checked_sub(1) {
            found.push(Slice { own_men, own_kings: slice.own_kings + 1, ..slice }.swapped());
        }
    }
    // The captures of a slice lead to slices with fewer pieces, which are read before it.
    found.sort_by_key(|slice| (slice.pieces(), *slice));
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(max: u8) -> impl Iterator<Item = Slice> {
        (2..=max).flat_map(Slice::all)
    }

    #[test]
    fn every_position_has_an_index_of_its_own() {
        let mut positions = [0; 5];
        for slice in slices(4) {
            let mut last = None;
            Boards::new(slice).each(0..slice.size(), |index, board| {
                assert!(last < Some(index));
                last = Some(index);
                assert_eq!(Slice::of(board), slice);
                assert_eq!(slice.index(board), index, "{slice} {board:?}");
                positions[usize::from(slice.pieces())] += 1;
            });
            assert!(last < Some(slice.size()));
        }
        assert_eq!(positions, [0, 0, 3488, 196_032, 6_209_316]);
    }

    #[test]
    fn parts_of_a_slice_have_the_positions_of_the_whole() {
        for slice in slices(3) {
            let all = Boards::new(slice);
            let boards = |range| {
                let mut boards = Vec::new();
                all.each(range, |index, board| boards.push((index, board)));
                boards
            };
            let all = boards(0..slice.size());
            for length in [1, 7, 100, 1 << 12] {
                let starts = (0..slice.size()).step_by(length as usize);
                let parts = starts.flat_map(|at| boards(at..slice.size().min(at + length)));
                assert!(parts.eq(all.iter().copied()), "{slice} {length}");
            }
        }
    }

    #[test]
    fn pairs_come_after_what_they_depend_on() {
        for pieces in 2..=7 {
            let pairs = Slice::pairs(pieces);
            let men: Vec<_> =
                pairs.iter().map(|slice| slice.own_men + slice.opponent_men).collect();
            assert!(men.is_sorted());
        }
        assert_eq!(slices(5).count(), 4 + 12 + 25 + 44);
    }
}
