//! Index of a position in its slice.
//!
//! Positions are seen from the side to move; bit n of a board is the square with number n + 1, and
//! the men of the side to move go toward higher bits. The *rows* of a position are the numbers of
//! men of both sides in each row; its *level* is the number of steps until all men are on their
//! last row. The index orders positions by rows, and rows by level: first all even levels, from the
//! lowest to the highest, then all odd levels. A step lowers the level by one, so a position of an
//! odd level has its value from positions of even levels, and only those are stored.
//!
//! Within the same rows, the index has four digits, one for each pair of rows: the number of the
//! placement of the men in these two rows.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use super::{KEYS, MAX_PIECES, key};
use crate::endgame::Slice;

/// Number of pairs of rows.
const PAIRS: usize = 4;
/// Number of ways to have 0 to 4 men in each of two rows.
const CLASSES: usize = 25;
/// Maximum number of steps of a man.
const MAX_STEPS: u32 = 7;

/// Men of the side to move and of the opponent, one bit per square.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Men {
    pub(super) own: u32,
    pub(super) opponent: u32,
}

/// Class of a pair of rows of one side: men of the first row, plus 5 times men of the second.
const fn class(rows: u8) -> usize {
    (rows & 15).count_ones() as usize + 5 * (rows >> 4).count_ones() as usize
}

const fn men_of_class(class: usize) -> usize {
    class % 5 + class / 5
}

/// Facts about pairs of rows and about rows, the same for all slices.
struct Facts {
    /// By [`pair_index`]: number among the placements of the same classes, and their number.
    placements: Vec<[u16; 2]>,
    /// By classes of both sides: the placements of own and opponent's men.
    by_class: Vec<Vec<[u8; 2]>>,
    /// By pair of rows, men not in lower rows, and class: number of rows with the same lower rows
    /// and a smaller class here.
    smaller: [[[u16; CLASSES]; MAX_PIECES as usize + 1]; PAIRS],
}

/// Digits of the bits of a byte in base 3.
static TERNARY: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 1;
    while byte < 256 {
        let mut power = 1;
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte] += power;
            }
            power *= 3;
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Number of the men in a pair of rows: a digit 0, 1 or 2 in base 3 for each square.
#[inline(always)]
fn pair_index(own: u8, opponent: u8) -> usize {
    usize::from(TERNARY[usize::from(own)]) + 2 * usize::from(TERNARY[usize::from(opponent)])
}

static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let mut by_class = vec![Vec::new(); CLASSES * CLASSES];
    let mut placements = vec![[0; 2]; 6561];
    for own in 0..=u8::MAX {
        for opponent in (0..=u8::MAX).filter(|opponent| own & opponent == 0) {
            let same: &mut Vec<[u8; 2]> = &mut by_class[class(own) * CLASSES + class(opponent)];
            placements[pair_index(own, opponent)][0] = same.len() as u16;
            same.push([own, opponent]);
        }
    }
    for same in &by_class {
        for &[own, opponent] in same {
            placements[pair_index(own, opponent)][1] = same.len() as u16;
        }
    }
    // Number of rows from a pair on, by the number of men there.
    let mut count = [0; MAX_PIECES as usize + 1];
    count[0] = 1;
    let mut smaller = [[[0; CLASSES]; MAX_PIECES as usize + 1]; PAIRS];
    for pair in (0..PAIRS).rev() {
        let after = count;
        for men in 0..count.len() {
            count[men] = 0;
            for (class, smaller) in smaller[pair][men].iter_mut().enumerate() {
                *smaller = count[men];
                if let Some(left) = men.checked_sub(men_of_class(class)) {
                    count[men] += after[left];
                }
            }
        }
    }
    Facts { placements, by_class, smaller }
});

/// Number of the rows of one side.
#[inline(always)]
fn rows_number(facts: &Facts, men: u32) -> usize {
    let mut left = men.count_ones() as usize;
    let mut number = 0;
    for (pair, byte) in men.to_le_bytes().into_iter().enumerate() {
        let class = class(byte);
        number += usize::from(facts.smaller[pair][left.min(MAX_PIECES.into())][class]);
        left -= men_of_class(class);
    }
    number
}

/// All rows of one side, by number.
fn all_rows(men: u8) -> Vec<[u8; PAIRS]> {
    let mut all = Vec::new();
    extend_rows(men.into(), &mut Vec::new(), &mut all);
    all
}

fn extend_rows(left: usize, rows: &mut Vec<u8>, all: &mut Vec<[u8; PAIRS]>) {
    if let Ok(rows) = <[u8; PAIRS]>::try_from(&rows[..]) {
        if left == 0 {
            all.push(rows);
        }
        return;
    }
    for class in 0..CLASSES {
        if let Some(left) = left.checked_sub(men_of_class(class)) {
            rows.push(class as u8);
            extend_rows(left, rows, all);
            rows.pop();
        }
    }
}

/// Positions with the same rows.
#[derive(Clone, Copy)]
struct Group {
    start: u32,
    own: [u8; PAIRS],
    opponent: [u8; PAIRS],
}

/// Index of the positions of a slice.
pub(super) struct Layout {
    /// First index by the numbers of the rows of both sides.
    starts: Vec<u32>,
    /// Number of rows of the opponent.
    opponent_rows: usize,
    groups: Vec<Group>,
    /// First index of each level, even ones first, and the end.
    levels: Vec<u32>,
    /// Number of positions with an even level.
    stored: u32,
}

/// Layouts that have been used, by [`Layout::of`].
static LAYOUTS: [OnceLock<Layout>; KEYS] = [const { OnceLock::new() }; KEYS];

impl Layout {
    /// Layout of a slice, computed on first use.
    pub(super) fn of(slice: Slice) -> &'static Layout {
        LAYOUTS[key(slice)].get_or_init(|| Layout::new(slice))
    }

    fn new(slice: Slice) -> Layout {
        let facts = &*FACTS;
        let [own, opponent] = [slice.own_men, slice.opponent_men].map(all_rows);
        let max_level = MAX_STEPS * u32::from(slice.pieces());
        let mut by_level = vec![Vec::new(); max_level as usize + 1];
        for (own_number, own_rows) in own.iter().enumerate() {
            for (opponent_number, opponent_rows) in opponent.iter().enumerate() {
                let level = steps(own_rows, true) + steps(opponent_rows, false);
                by_level[level as usize].push((own_number, opponent_number));
            }
        }
        let mut layout = Layout {
            starts: vec![0; own.len() * opponent.len()],
            opponent_rows: opponent.len(),
            groups: Vec::new(),
            levels: vec![0; max_level as usize + 2],
            stored: 0,
        };
        let mut start = 0;
        for parity in [0, 1] {
            for level in (parity..=max_level as usize).step_by(2) {
                layout.levels[level] = start;
                for &(own_number, opponent_number) in &by_level[level] {
                    let group =
                        Group { start, own: own[own_number], opponent: opponent[opponent_number] };
                    let size: usize = group.digits(facts).map(<[_]>::len).into_iter().product();
                    layout.starts[own_number * opponent.len() + opponent_number] = start;
                    if size > 0 {
                        layout.groups.push(group);
                        start += size as u32;
                    }
                }
            }
            if parity == 0 {
                layout.stored = start;
            }
        }
        layout.levels[max_level as usize + 1] = start;
        layout
    }

    /// Number of positions.
    pub(super) fn size(&self) -> u64 {
        self.levels.last().copied().unwrap_or_default().into()
    }

    /// Number of positions with an even level, which have the lower indices.
    pub(super) fn stored(&self) -> u64 {
        self.stored.into()
    }

    /// Number of levels.
    #[cfg(feature = "fs")]
    pub(super) fn levels(&self) -> usize {
        self.levels.len() - 1
    }

    /// Indices of the positions of a level.
    #[cfg(feature = "fs")]
    pub(super) fn level(&self, level: usize) -> Range<u64> {
        let end = match level + 2 {
            next if next < self.levels.len() - 1 => self.levels[next],
            _ if level.is_multiple_of(2) => self.stored,
            _ => self.levels[self.levels.len() - 1],
        };
        self.levels[level].into()..end.into()
    }

    /// Index of a position.
    #[inline(always)]
    pub(super) fn index(&self, men: Men) -> u64 {
        let facts = &*FACTS;
        let Men { own, opponent } = men;
        let rows = rows_number(facts, own) * self.opponent_rows + rows_number(facts, opponent);
        let mut number = 0;
        for (own, opponent) in own.to_le_bytes().into_iter().zip(opponent.to_le_bytes()) {
            let [rank, count] = facts.placements[pair_index(own, opponent)];
            number = number * u32::from(count) + u32::from(rank);
        }
        u64::from(self.starts[rows] + number)
    }

    /// Calls `visit` with every position in a range of indices, in order.
    pub(super) fn each(&self, range: Range<u64>, mut visit: impl FnMut(u64, Men)) {
        let facts = &*FACTS;
        let mut index = range.start;
        let mut group = self.groups.partition_point(|group| u64::from(group.start) <= index);
        while index < range.end {
            let Some(found) = group.checked_sub(1).and_then(|group| self.groups.get(group)) else {
                return;
            };
            group += 1;
            let digits = found.digits(facts);
            let mut number = index - u64::from(found.start);
            let [a, b, c, d] = digits;
            let mut at = [0; PAIRS];
            for (entry, digit) in at.iter_mut().zip(digits).rev() {
                *entry = (number % digit.len() as u64) as usize;
                number /= digit.len() as u64;
            }
            'group: for a in &a[at[0]..] {
                for b in &b[at[1]..] {
                    for c in &c[at[2]..] {
                        for d in &d[at[3]..] {
                            if index == range.end {
                                break 'group;
                            }
                            let men = |side: usize| {
                                u32::from_le_bytes([a[side], b[side], c[side], d[side]])
                            };
                            visit(index, Men { own: men(0), opponent: men(1) });
                            index += 1;
                        }
                        at[3] = 0;
                    }
                    at[2] = 0;
                }
                at[1] = 0;
            }
        }
    }
}

/// Steps until all men are on their last row.
fn steps(rows: &[u8; PAIRS], own: bool) -> u32 {
    let mut steps = 0;
    for (row, &class) in (0..).step_by(2).zip(rows) {
        for (row, men) in [(row, class % 5), (row + 1, class / 5)] {
            steps += u32::from(men) * if own { MAX_STEPS - row } else { row };
        }
    }
    steps
}

impl Group {
    /// Placements of each pair of rows.
    fn digits(self, facts: &Facts) -> [&[[u8; 2]]; PAIRS] {
        std::array::from_fn(|pair| {
            let class = usize::from(self.own[pair]) * CLASSES + usize::from(self.opponent[pair]);
            &facts.by_class[class][..]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_an_index_of_its_own() {
        for pieces in 2..=5 {
            let mut positions = 0;
            for slice in super::super::slices(pieces) {
                let layout = Layout::of(slice);
                let mut next = 0;
                layout.each(0..layout.size(), |index, men| {
                    assert_eq!(index, next);
                    next += 1;
                    let counts = [men.own, men.opponent].map(|men| men.count_ones() as u8);
                    assert_eq!(counts, [slice.own_men, slice.opponent_men]);
                    assert_eq!(layout.index(men), index, "{men:?}");
                });
                assert_eq!(next, layout.size());
                positions += next;
            }
            // C(32,n), and each man is of one of the sides.
            let placements = [496, 4960, 35_960, 201_376][usize::from(pieces) - 2];
            assert_eq!(positions, placements * ((1 << pieces) - 2));
        }
    }

    #[test]
    fn parts_of_a_slice_have_the_positions_of_the_whole() {
        let slice = super::super::slices(4).swap_remove(1);
        let layout = Layout::of(slice);
        let all = |range| {
            let mut all = Vec::new();
            layout.each(range, |index, men| all.push((index, men)));
            all
        };
        let whole = all(0..layout.size());
        for length in [1, 7, 1000] {
            let starts = (0..layout.size()).step_by(length as usize);
            let parts = starts.flat_map(|at| all(at..layout.size().min(at + length)));
            assert!(parts.eq(whole.iter().copied()), "{length}");
        }
    }
}
