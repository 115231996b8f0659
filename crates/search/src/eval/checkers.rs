//! English and contest checkers: material, formations, kings, mobility, runaways, the move.
//!
//! Boards are seen from the side to move, rotated for the second player: its men always move toward
//! the higher bits.
//!
//! Formations of men are looked up as patterns: a window of four rows and four columns has eight
//! squares, each empty, own or the opponent's, so there are 3^8 = 6561 patterns. 15 overlapping
//! windows cover the board. Back ranks, bridges, holes and advanced posts are all patterns, and the
//! tuner finds their values. (Such patterns made the draughts program Scan strong.)

use std::sync::LazyLock;

use crownhead_rules::checkers::squares::{BOTTOM_ROW, SQUARES, TOP_ROW};
use crownhead_rules::checkers::{Checkers, ContestRules, EnglishRules, Move, Variant};
use crownhead_rules::{Bits, Notation, Position, Side};

use super::embedded_weights;
use crate::bench::BenchPositions;
use crate::eval::weights::{FeatureSink, Layout, MAX_PHASE, Weights};
use crate::network::Shape;
use crate::train::data::Boards;
use crate::train::{self, Learnable, Trainer};
use crate::tune::{LinearTuner, Tunable, Tuner};
use crate::{Evaluator, Knowledge, Quiescence, Score, SearchParams, Searchable};

const LAYOUT: Layout = &[
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

static ENGLISH: LazyLock<Weights> =
    LazyLock::new(|| embedded_weights(include_str!("../../weights/english.txt"), LAYOUT));
static CONTEST: LazyLock<Weights> =
    LazyLock::new(|| embedded_weights(include_str!("../../weights/contest.txt"), LAYOUT));

const TEXTBOOK_WEIGHTS: &str = include_str!("../../weights/textbook/checkers.txt");

/// Weights and search settings of a variant.
pub trait CheckersEval: Variant {
    /// Positions of `crownhead bench`.
    const BENCH: BenchPositions;
    /// See [`Searchable::contempt`].
    const CONTEMPT: Score;
    /// Whether positions with kings use the weights of English checkers. Kings are an option of
    /// contest checkers; its own weights do not cover them.
    const USES_ENGLISH_WEIGHTS_WITH_KINGS: bool;
    /// The tuned weights.
    fn weights() -> &'static Weights;
}

impl CheckersEval for EnglishRules {
    const BENCH: BenchPositions =
        BenchPositions { text: include_str!("../../bench/english.txt"), depth: 15 };
    const CONTEMPT: Score = 0;
    const USES_ENGLISH_WEIGHTS_WITH_KINGS: bool = false;

    fn weights() -> &'static Weights {
        &ENGLISH
    }
}

impl CheckersEval for ContestRules {
    const BENCH: BenchPositions =
        BenchPositions { text: include_str!("../../bench/contest.txt"), depth: 15 };
    // Two good players draw nearly every game.
    const CONTEMPT: Score = 100;
    const USES_ENGLISH_WEIGHTS_WITH_KINGS: bool = true;

    fn weights() -> &'static Weights {
        &CONTEST
    }
}

/// Evaluator of English and contest checkers.
#[derive(Clone)]
pub struct Evaluation {
    weights: Weights,
    /// Weights of positions with kings, if the variant has separate ones.
    with_kings: Weights,
}

/// Board seen from the side to move.
struct MoverView {
    own: u64,
    other: u64,
    kings: u64,
}

/// The board rotated by 180°.
#[inline(always)]
const fn rotated(board: u64) -> u64 {
    board.reverse_bits() >> 29
}

/// Every second row: the parity of the pieces there decides who has the move (the opposition).
const MOVE_ROWS: u64 = 0xf | 0xf << 9 | 0xf << 18 | 0xf << 27;

impl MoverView {
    #[inline(always)]
    fn new<V: Variant>(position: &Checkers<V>) -> MoverView {
        let (first, second) = (position.pieces(Side::First), position.pieces(Side::Second));
        match position.side() {
            Side::First => MoverView { own: first, other: second, kings: position.kings() },
            Side::Second => MoverView {
                own: rotated(second),
                other: rotated(first),
                kings: rotated(position.kings()),
            },
        }
    }

    #[inline(always)]
    fn features(&self, sink: &mut impl FeatureSink) {
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
    fn formations(&self, sink: &mut impl FeatureSink) {
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

#[inline(always)]
const fn count(board: u64) -> i32 {
    board.count_ones() as i32
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

/// With fewer plies left before a draw counter ends the game, scores fade to zero.
const FADE_PLIES: u32 = 16;

impl<V: CheckersEval> Tunable<Checkers<V>> for Evaluation {
    fn layout() -> Layout {
        LAYOUT
    }

    fn weights(&self) -> &Weights {
        &self.weights
    }

    fn with_weights(&self, weights: Weights) -> Self {
        Evaluation { with_kings: weights.clone(), weights }
    }

    #[inline(always)]
    fn features(&self, position: &Checkers<V>, sink: &mut impl FeatureSink) {
        MoverView::new(position).features(sink);
    }

    #[inline(always)]
    fn phase(&self, position: &Checkers<V>) -> i32 {
        let pieces = count(position.pieces(Side::First) | position.pieces(Side::Second));
        ((pieces - 4) * MAX_PHASE / 16).clamp(0, MAX_PHASE)
    }

    fn scale(&self, position: &Checkers<V>) -> f32 {
        Searchable::plies_left(position).min(FADE_PLIES) as f32 / FADE_PLIES as f32
    }
}

impl<V: CheckersEval> Evaluator<Checkers<V>> for Evaluation {
    type State = ();

    #[inline(always)]
    fn refresh(&self, _: &Checkers<V>) {}

    #[inline(always)]
    fn after(&self, (): &(), _: &Checkers<V>, _: Move) {}

    #[inline(always)]
    fn eval(&self, position: &Checkers<V>, (): &()) -> Score {
        let has_other_weights = V::USES_ENGLISH_WEIGHTS_WITH_KINGS && position.has_kings();
        let weights = if has_other_weights { &self.with_kings } else { &self.weights };
        let mut sum = weights.sum();
        self.features(position, &mut sum);
        let score = sum.score(Tunable::<Checkers<V>>::phase(self, position));
        let left = Searchable::plies_left(position);
        if left >= FADE_PLIES { score } else { score * left as Score / FADE_PLIES as Score }
    }
}

impl<V: CheckersEval> Searchable for Checkers<V> {
    type Evaluator = Evaluation;
    type TextbookEvaluator = Evaluation;

    // A position has about eight moves, and those late in the order are seldom good.
    const PARAMS: SearchParams =
        SearchParams { lmp_depth: 4, lmp_count: (4, 1), ..SearchParams::DEFAULT };

    const BENCH: BenchPositions = V::BENCH;

    fn evaluator(_: &Knowledge) -> Evaluation {
        Evaluation { weights: V::weights().clone(), with_kings: ENGLISH.clone() }
    }

    fn textbook_evaluator(_: &Knowledge) -> Evaluation {
        let weights = embedded_weights(TEXTBOOK_WEIGHTS, LAYOUT);
        Evaluation { with_kings: weights.clone(), weights }
    }

    fn tuner(options: &Self::Options, knowledge: &Knowledge) -> Option<Box<dyn Tuner>> {
        LinearTuner::<Self, _>::boxed(options, knowledge, Self::evaluator(knowledge))
    }

    fn trainer(options: &Self::Options, knowledge: &Knowledge) -> Option<Box<dyn Trainer>> {
        train::boxed::<Self>(options, knowledge)
    }

    fn contempt() -> Score {
        V::CONTEMPT
    }

    /// The fewer men are left, the fewer mistakes are possible; and every ply without progress
    /// brings the draw by a counter nearer.
    fn drawishness(&self) -> Score {
        let pieces = count(self.pieces(Side::First) | self.pieces(Side::Second));
        let captured = (24 - pieces) * 100 / 24;
        let left = Searchable::plies_left(self).min(10) as Score;
        captured + (100 - captured) * (10 - left) / 10
    }

    #[inline(always)]
    fn plies_to_draw(&self) -> [u32; 2] {
        self.plies_to_draw()
    }

    #[inline(always)]
    fn reversible_plies(&self) -> u32 {
        self.reversible_plies()
    }

    #[inline(always)]
    fn quiescence(&self) -> Quiescence {
        if self.has_capture() { Quiescence::ForcedCaptures } else { Quiescence::Quiet }
    }

    #[inline(always)]
    fn capture_count(mv: Move) -> u32 {
        u32::from(mv.is_capture())
    }

    #[inline(always)]
    fn history_index(mv: Move) -> usize {
        (mv.start() & 63) << 6 | mv.end() & 63
    }
}

impl<V: CheckersEval> Learnable for Checkers<V> {
    const SHAPE: Shape = Shape { inputs: 128, hidden: 64, buckets: 4 };

    #[inline(always)]
    fn boards(&self) -> Boards {
        let MoverView { own, other, kings } = MoverView::new(self);
        [own, other, kings]
    }

    /// Own men, own kings, the opponent's men, the opponent's kings; 32 squares each.
    #[inline(always)]
    fn inputs(&[own, other, kings]: &Boards, mut on_input: impl FnMut(usize)) {
        for (offset, pieces) in
            [own & !kings, own & kings, other & !kings, other & kings].into_iter().enumerate()
        {
            for bit in Bits(pieces) {
                on_input(32 * offset + (bit - bit / 9) as usize);
            }
        }
    }

    /// By the number of pieces: up to 6, 12, 18, and more.
    #[inline(always)]
    fn bucket(&[own, other, _]: &Boards) -> usize {
        ((count(own | other) - 1) / 6).clamp(0, 3) as usize
    }

    /// Half of the games start with a man less on each side.
    fn training_start(options: &Self::Options, rng: &mut fastrand::Rng) -> Self {
        if rng.bool() {
            return Self::start(options);
        }
        let squares = |range: std::ops::RangeInclusive<u32>, removed: u32| {
            let squares = range.filter(|square| *square != removed);
            squares.map(|square| square.to_string()).collect::<Vec<_>>().join(",")
        };
        let (white, black) = (squares(21..=32, rng.u32(21..33)), squares(1..=12, rng.u32(1..13)));
        let text = format!("B:W{white}:B{black}");
        Self::parse_position(&text, options).unwrap_or_else(|_| Self::start(options))
    }
}
