//! Sets of kings of both sides and their moves, while the men stay where they are.

use super::Slice;
use super::slice::{MEN_SQUARES, combinations, free_squares, rank};

use crownhead_rules::Bits;
use crownhead_rules::checkers::squares::spread;

/// Sets of kings of both sides, on the squares without men, which are counted from 0.
pub(super) struct Kings {
    /// Number of squares without men.
    squares: usize,
    /// Sets of kings of each side.
    pub(super) sets: [Vec<u32>; 2],
    /// Number of pairs of sets without a common square.
    pub(super) distinct: u64,
}

/// Sets of kings of each side, in the order of the sets of the board turned by 180°.
pub(super) type Orders = [Vec<u32>; 2];

/// King's moves of one side.
#[derive(Default)]
pub(super) struct Moves {
    /// For each set the end of its moves.
    ends: Vec<u32>,
    moves: Vec<KingMove>,
}

/// A king's move.
#[derive(Clone, Copy)]
pub(super) struct KingMove {
    /// Set of kings after the move.
    pub(super) set: u32,
    /// Bit of the square that the king moves to.
    pub(super) to: u32,
}

impl Moves {
    /// Moves of a set, to squares without men and kings of the same side.
    #[inline(always)]
    pub(super) fn of(&self, set: usize) -> &[KingMove] {
        &self.moves[self.ends[set] as usize..self.ends[set + 1] as usize]
    }
}

impl Kings {
    pub(super) fn new(slice: Slice) -> Kings {
        let squares = 32 - usize::from(slice.own_men + slice.opponent_men);
        let sets = [slice.own_kings, slice.opponent_kings];
        let sets = sets.map(|kings| combinations(squares as u64, kings));
        let [own_men, opponent_men] = [slice.own_men, slice.opponent_men]
            .map(|men| combinations(MEN_SQUARES as u64, men).len() as u64);
        Kings { squares, sets, distinct: slice.size() / (own_men * opponent_men) }
    }

    /// Number of pairs of sets.
    pub(super) fn positions(&self) -> u64 {
        self.sets.iter().map(|sets| sets.len() as u64).product()
    }

    pub(super) fn orders(&self) -> Orders {
        let turned = |&set: &u32| rank(set.reverse_bits().unbounded_shr(32 - self.squares as u32));
        [0, 1].map(|side: usize| self.sets[side].iter().map(|set| turned(set) as u32).collect())
    }

    /// Computes boards and moves for a placement of men.
    pub(super) fn place(&self, men: [u32; 2], boards: &mut [Vec<u64>; 2], moves: &mut [Moves; 2]) {
        let squares = free_squares(men[0] | men[1]);
        let squares = &squares[..self.squares];
        // Bits of the neighbouring squares.
        let mut near = [0; 32];
        for (near, &square) in near.iter_mut().zip(squares) {
            let neighbours = neighbours(square);
            for (index, other) in squares.iter().enumerate() {
                if neighbours >> other & 1 == 1 {
                    *near |= 1 << index;
                }
            }
        }
        for side in 0..2 {
            let Moves { ends, moves } = &mut moves[side];
            boards[side].clear();
            ends.clear();
            moves.clear();
            ends.push(0);
            for &set in &self.sets[side] {
                let mut board = 0;
                for king in Bits(set.into()) {
                    let king = king as usize & 31;
                    board |= 1 << squares[king];
                    for to in Bits(u64::from(near[king] & !set)) {
                        let after = set ^ 1 << king ^ 1 << to;
                        moves.push(KingMove { set: rank(after) as u32, to: 1 << to });
                    }
                }
                boards[side].push(spread(board));
                ends.push(moves.len() as u32);
            }
        }
    }
}

/// Squares next to a square, diagonally.
const fn neighbours(square: u8) -> u32 {
    let (row, column) = (square / 4, square % 4);
    // Squares of the rows 0, 2, … are shifted to the right by one cell.
    let other = if row % 2 == 0 { column + 1 } else { column.wrapping_sub(1) };
    let mut columns = 1 << column;
    if other < 4 {
        columns |= 1 << other;
    }
    let mut found = 0;
    if row > 0 {
        found |= columns << (4 * (row - 1));
    }
    if row < 7 {
        found |= columns << (4 * (row + 1));
    }
    found
}
