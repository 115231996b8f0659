//! The evaluation of contest checkers: material, formations of men, mobility, runaways, the move.
//!
//! Boards are seen from the side to move, rotated for the second player: its men always move toward
//! the higher bits.
//!
//! Formations of men are looked up as patterns: a window of four rows and four columns has eight
//! squares, each empty, own or the opponent's, so there are 3^8 = 6561 patterns. 15 overlapping
//! windows cover the board. Back ranks, bridges, holes and advanced posts are all patterns, with
//! values learned from games. (Such patterns made the draughts program Scan strong.)

use std::sync::{Arc, LazyLock};

use crownhead_rules::Bits;
use crownhead_rules::checkers::squares::{BOTTOM_ROW, SQUARES, TOP_ROW};
use crownhead_rules::checkers::{Checkers, ContestRules, Move};

use super::checkers::{CheckersNetwork, boards, count, faded, network_eval, rotated};
use super::embedded_weights;
use crate::eval::weights::{FeatureSink, Layout, MAX_PHASE, WeightedSum, Weights};
use crate::{Evaluator, Score};

pub(super) const LAYOUT: Layout = &[
    ("turn", 1),
    ("man", 1),
    ("king", 1),
    ("king-square", 36),
    ("man-steps", 1),
    ("king-steps", 1),
    ("trapped-king", 1),
    ("runaway", 8),
    ("the-move", 1),
    ("advance", 1),
    ("back-rank", 16),
    ("formation", WINDOWS * FORMATIONS),
];

const TURN: usize = 0;
const MAN: usize = 1;
const KING: usize = 2;
const KING_SQUARE: usize = 3;
const MAN_STEPS: usize = KING_SQUARE + 36;
const KING_STEPS: usize = MAN_STEPS + 1;
const TRAPPED_KING: usize = KING_STEPS + 1;
const RUNAWAY: usize = TRAPPED_KING + 1;
const THE_MOVE: usize = RUNAWAY + 8;
const ADVANCE: usize = THE_MOVE + 1;
const BACK_RANK: usize = ADVANCE + 1;
const FORMATION: usize = BACK_RANK + 16;

/// Five bands of four rows, each with a left, a middle and a right window.
const WINDOWS: usize = 15;
const FORMATIONS: usize = 6561;

static CONTEST: LazyLock<Weights> =
    LazyLock::new(|| embedded_weights(include_str!("../../weights/contest.txt"), LAYOUT));

/// Evaluator of contest checkers.
#[derive(Clone)]
pub struct PatternEvaluation {
    weights: Weights,
    /// The network of positions with kings. Kings are an option of contest checkers; its weights do
    /// not cover them.
    with_kings: Arc<CheckersNetwork>,
}

impl PatternEvaluation {
    pub(super) fn new(with_kings: Arc<CheckersNetwork>) -> PatternEvaluation {
        PatternEvaluation { weights: CONTEST.clone(), with_kings }
    }
}

/// Board seen from the side to move.
struct MoverView {
    own: u64,
    other: u64,
    kings: u64,
}

/// Every second row: the parity of the pieces there decides who has the move (the opposition).
const MOVE_ROWS: u64 = 0xf | 0xf << 9 | 0xf << 18 | 0xf << 27;

impl MoverView {
    #[inline(always)]
    fn add_features(&self, sink: &mut WeightedSum) {
        let (own, other) = (self.own, self.other);
        let (own_kings, other_kings) = (own & self.kings, other & self.kings);
        let (own_men, other_men) = (own & !self.kings, other & !self.kings);
        let empty = SQUARES & !(own | other);
        sink.add(TURN, 1);
        sink.add(MAN, count(own_men) - count(other_men));
        if self.kings != 0 {
            sink.add(KING, count(own_kings) - count(other_kings));
            for square in Bits(own_kings) {
                sink.add(KING_SQUARE + square as usize, 1);
            }
            for square in Bits(other_kings) {
                sink.add(KING_SQUARE + (34 - square as usize), -1);
            }
            let (own_steps, own_free) = king_steps(own_kings, empty);
            let (other_steps, other_free) = king_steps(other_kings, empty);
            sink.add(KING_STEPS, own_steps - other_steps);
            sink.add(TRAPPED_KING, count(own_kings & !own_free) - count(other_kings & !other_free));
        }
        let own_steps = count(own_men << 4 & empty) + count(own_men << 5 & empty);
        let other_steps = count(other_men >> 4 & empty) + count(other_men >> 5 & empty);
        sink.add(MAN_STEPS, own_steps - other_steps);

        // Runaway: a man with no opponent in the cone ahead of it.
        for man in Bits(own_men & !cone_back(other) & !TOP_ROW) {
            sink.add(RUNAWAY + row(man), 1);
        }
        for man in Bits(other_men & !cone_ahead(own) & !BOTTOM_ROW) {
            sink.add(RUNAWAY + 7 - row(man), -1);
        }
        if count(own) == count(other) {
            let odd = count((own | other) & MOVE_ROWS) & 1;
            sink.add(THE_MOVE, 2 * odd - 1);
        }
        sink.add(ADVANCE, advance(own_men) - advance(rotated(other_men)));
        // The back rank matters while the opponent still has men to crown.
        if other_men != 0 {
            sink.add(BACK_RANK + (own_men & TOP_ROW) as usize, 1);
        }
        if own_men != 0 {
            sink.add(BACK_RANK + (rotated(other_men) & TOP_ROW) as usize, -1);
        }
        self.formations(sink);
    }

    /// A pattern is a number of eight ternary digits. Each row contributes two digits to each of
    /// the three windows of a band; the three are computed side by side in one word.
    #[inline(always)]
    fn formations(&self, sink: &mut WeightedSum) {
        let (own, other) = (self.own & !self.kings, self.other & !self.kings);
        let mut rows = [0u64; 8];
        for (index, digits) in rows.iter_mut().enumerate() {
            let shift = 4 * index + index / 2;
            let row = (own >> shift & 15) | (other >> shift & 15) << 4;
            *digits = DIGITS[row as usize];
        }
        for band in 0..5 {
            let word =
                rows[band] + 9 * (rows[band + 1] + 9 * (rows[band + 2] + 9 * rows[band + 3]));
            let window = FORMATION + 3 * band * FORMATIONS;
            sink.add(window + (word & 0xffff) as usize, 1);
            sink.add(window + FORMATIONS + (word >> 16 & 0xffff) as usize, 1);
            sink.add(window + 2 * FORMATIONS + (word >> 32) as usize, 1);
        }
    }
}

/// Two ternary digits for the left, middle and right window, 16 bits each, by the four squares of a
/// row: own men in the low half of the index, the opponent's in the high half.
static DIGITS: [u64; 256] = {
    let mut table = [0; 256];
    let mut row = 0;
    while row < 256 {
        let mut window = 0;
        while window < 3 {
            let low = digit(row, window) + 3 * digit(row, window + 1);
            table[row] |= low << (16 * window);
            window += 1;
        }
        row += 1;
    }
    table
};

/// Digit of a square: 1 for an own man, 2 for one of the opponent's.
const fn digit(row: usize, square: usize) -> u64 {
    let own = row >> square & 1;
    let other = row >> (square + 4) & 1;
    if own == 1 { 1 } else { 2 * other as u64 }
}

/// Row of a bit, 0 to 7.
#[inline(always)]
const fn row(bit: u32) -> usize {
    ((bit - bit / 9) / 4) as usize & 7
}

/// Sum of the rows that men have advanced.
#[inline(always)]
const fn advance(men: u64) -> i32 {
    // One mask per bit of the row number.
    const ODD: u64 = 0xf << 4 | 0xf << 13 | 0xf << 22 | 0xf << 31;
    const TWO: u64 = 0xff << 9 | 0xff << 27;
    const FOUR: u64 = 0xff << 18 | 0xff << 27;
    count(men & ODD) + 2 * count(men & TWO) + 4 * count(men & FOUR)
}

/// Number of king steps, and the kings that have one.
#[inline(always)]
const fn king_steps(kings: u64, empty: u64) -> (i32, u64) {
    let (a, b) = (kings & empty >> 4, kings & empty >> 5);
    let (c, d) = (kings & empty << 4, kings & empty << 5);
    (count(a) + count(b) + count(c) + count(d), a | b | c | d)
}

/// Squares from which a man moving toward higher bits can reach one of `pieces`.
#[inline(always)]
const fn cone_back(pieces: u64) -> u64 {
    let one = (pieces | pieces >> 4 | pieces >> 5) & SQUARES;
    let two = (one | one >> 4 | one >> 5) & SQUARES;
    let three = (two | two >> 4 | two >> 5) & SQUARES;
    let four = (three | three >> 4 | three >> 5) & SQUARES;
    let five = (four | four >> 4 | four >> 5) & SQUARES;
    (five | five >> 4 | five >> 5) & SQUARES
}

/// Squares from which a man moving toward lower bits can reach one of `pieces`.
#[inline(always)]
const fn cone_ahead(pieces: u64) -> u64 {
    rotated(cone_back(rotated(pieces)))
}

impl Evaluator<Checkers<ContestRules>> for PatternEvaluation {
    type State = ();

    #[inline(always)]
    fn refresh(&self, _: &Checkers<ContestRules>) {}

    #[inline(always)]
    fn after(&self, (): &(), _: &Checkers<ContestRules>, _: Move) {}

    #[inline(always)]
    fn eval(&self, position: &Checkers<ContestRules>, (): &()) -> Score {
        if position.has_kings() {
            return network_eval(&self.with_kings, position);
        }
        let [own, other, kings] = boards(position);
        let mut sum = self.weights.sum();
        MoverView { own, other, kings }.add_features(&mut sum);
        let phase = (count(own | other) - 4) * MAX_PHASE / 16;
        faded(sum.score(phase.clamp(0, MAX_PHASE)), position)
    }
}
