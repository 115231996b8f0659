//! English and contest checkers. A network evaluates English checkers, and contest checkers with
//! kings; [`patterns`](super::patterns) evaluate contest checkers without.
//!
//! Boards are seen from the side to move, rotated for the second player: its men always move toward
//! the higher bits.
//!
//! The network sees the men in blocks of four neighbouring squares: two rows and two columns of
//! dark squares. Each square is empty, own or the opponent's, so a block has 3^4 = 81 patterns, and
//! every block has one active input. Patterns tell more than single men, and there are fewer rows
//! of weights to add. Blocks of successive rows overlap. Kings are inputs of their own.

use std::sync::{Arc, LazyLock};

use crownhead_rules::checkers::squares::compact;
use crownhead_rules::checkers::{Checkers, ContestRules, EnglishRules, Move, SQUARES, Variant};
use crownhead_rules::{Bits, Notation, Position, Side};

use super::embedded_network;
use super::patterns::PatternEvaluation;
use crate::bench::BenchPositions;
use crate::network::{Inputs, Network, NetworkError, Shape};
use crate::train::data::Boards;
use crate::train::{self, Learnable, Trainer};
use crate::{Evaluator, Knowledge, Quiescence, Score, SearchParams, Searchable};

/// Blocks of four squares: two for each of the seven pairs of successive rows.
const BLOCKS: usize = 14;
/// Patterns of men in a block.
const PATTERNS: usize = 81;
/// Inputs of kings: own and the opponent's, on 32 squares each.
const KINGS: usize = BLOCKS * PATTERNS;
const INPUTS: usize = KINGS + 2 * 32;
const HIDDEN: usize = 64;
const BUCKETS: usize = 4;

/// The shape of the networks.
pub type CheckersNetwork = Network<INPUTS, HIDDEN, BUCKETS>;

const ENGLISH_FILE: &[u8] = include_bytes!("../../networks/english.network");

static ENGLISH: LazyLock<Arc<CheckersNetwork>> = LazyLock::new(|| embedded_network(ENGLISH_FILE));

/// Evaluation and search settings of a variant.
pub trait CheckersEval: Variant {
    /// See [`Searchable::Evaluator`].
    type Evaluator: Evaluator<Checkers<Self>> + 'static;
    /// Positions of `crownhead bench`.
    const BENCH: BenchPositions;
    /// See [`Searchable::contempt`].
    const CONTEMPT: Score;
    /// Creates the evaluator.
    fn evaluator() -> Self::Evaluator;
}

impl CheckersEval for EnglishRules {
    type Evaluator = NetworkEvaluation;

    const BENCH: BenchPositions =
        BenchPositions { text: include_str!("../../bench/english.txt"), depth: 15 };
    const CONTEMPT: Score = 0;

    fn evaluator() -> NetworkEvaluation {
        NetworkEvaluation(Arc::clone(&ENGLISH))
    }
}

impl CheckersEval for ContestRules {
    type Evaluator = PatternEvaluation;

    const BENCH: BenchPositions =
        BenchPositions { text: include_str!("../../bench/contest.txt"), depth: 15 };
    // Two good players draw nearly every game.
    const CONTEMPT: Score = 100;

    fn evaluator() -> PatternEvaluation {
        PatternEvaluation::new(Arc::clone(&ENGLISH))
    }
}

/// Evaluation by a network.
#[derive(Clone)]
pub struct NetworkEvaluation(Arc<CheckersNetwork>);

/// The board rotated by 180°.
#[inline(always)]
pub(super) const fn rotated(board: u64) -> u64 {
    board.reverse_bits() >> 29
}

#[inline(always)]
pub(super) const fn count(board: u64) -> i32 {
    board.count_ones() as i32
}

/// The board seen from the side to move: own pieces, the opponent's pieces, kings of both.
#[inline(always)]
pub(super) fn boards<V: Variant>(position: &Checkers<V>) -> Boards {
    let (first, second) = (position.pieces(Side::First), position.pieces(Side::Second));
    match position.side() {
        Side::First => [first, second, position.kings()],
        Side::Second => [rotated(second), rotated(first), rotated(position.kings())],
    }
}

/// With fewer plies left before a draw counter ends the game, scores fade to zero.
pub(super) const FADE_PLIES: u32 = 16;

#[inline(always)]
pub(super) fn faded<V: CheckersEval>(score: Score, position: &Checkers<V>) -> Score {
    let left = Searchable::plies_left(position);
    if left >= FADE_PLIES { score } else { score * left as Score / FADE_PLIES as Score }
}

impl<V: CheckersEval> Evaluator<Checkers<V>> for NetworkEvaluation {
    type State = ();

    #[inline(always)]
    fn refresh(&self, _: &Checkers<V>) {}

    #[inline(always)]
    fn after(&self, (): &(), _: &Checkers<V>, _: Move) {}

    #[inline(always)]
    fn eval(&self, position: &Checkers<V>, (): &()) -> Score {
        network_eval(&self.0, position)
    }
}

#[inline(always)]
pub(super) fn network_eval<V: CheckersEval>(
    network: &CheckersNetwork,
    position: &Checkers<V>,
) -> Score {
    let boards = boards(position);
    faded(network.eval(BoardInputs(boards), bucket(&boards)), position)
}

/// By the number of pieces: up to 6, 12, 18, and more.
#[inline(always)]
fn bucket(&[own, other, _]: &Boards) -> usize {
    ((count(own | other) - 1) / 6).clamp(0, 3) as usize
}

/// The active inputs of a board.
#[derive(Clone)]
struct BoardInputs(Boards);

impl Inputs for BoardInputs {
    #[inline(always)]
    fn each(self, mut on_input: impl FnMut(usize)) {
        let [own, other, kings] = self.0;
        let (own_men, other_men) = (own & !kings, other & !kings);
        // Four bits per row.
        let (own_rows, other_rows) = (compact(own_men), compact(other_men));
        for pair in 0..BLOCKS / 2 {
            let digits = |men: u32| DIGITS[(men >> (4 * pair) & 0xff) as usize];
            let patterns = digits(own_rows) + 2 * digits(other_rows);
            on_input(2 * pair * PATTERNS + usize::from(patterns & 0xff));
            on_input((2 * pair + 1) * PATTERNS + usize::from(patterns >> 8));
        }
        for (first, pieces) in [(KINGS, own & kings), (KINGS + 32, other & kings)] {
            for bit in Bits(pieces) {
                on_input(first + (bit - bit / 9) as usize);
            }
        }
    }
}

/// Ternary digits of the left block (low byte) and the right block (high byte) of two rows.
static DIGITS: [u16; 256] = {
    let mut table = [0; 256];
    let mut rows = 0;
    while rows < 256 {
        let (mut square, mut digits) = (0, 0);
        while square < 8 {
            // Squares 0, 1, 4 and 5 are on the left.
            let power = [1, 3, 9, 27][square / 4 * 2 + square % 2];
            digits += ((rows as u16 >> square & 1) * power) << (8 * (square % 4 / 2));
            square += 1;
        }
        table[rows] = digits;
        rows += 1;
    }
    table
};

/// Evaluator of the textbook players: a man is 1, a king 1.5.
#[derive(Clone, Copy)]
pub struct TextbookEvaluation;

impl<V: CheckersEval> Evaluator<Checkers<V>> for TextbookEvaluation {
    type State = ();

    fn refresh(&self, _: &Checkers<V>) {}

    fn after(&self, (): &(), _: &Checkers<V>, _: Move) {}

    fn eval(&self, position: &Checkers<V>, (): &()) -> Score {
        let [own, other, kings] = boards(position);
        let value = |pieces: u64| 100 * count(pieces) + 50 * count(pieces & kings);
        faded(value(own) - value(other), position)
    }
}

impl<V: CheckersEval> Searchable for Checkers<V> {
    type Evaluator = V::Evaluator;
    type TextbookEvaluator = TextbookEvaluation;

    // A position has about eight moves, and those late in the order are seldom good.
    const PARAMS: SearchParams =
        SearchParams { lmp_depth: 4, lmp_base: 400, lmp_factor: 100, ..SearchParams::DEFAULT };

    const BENCH: BenchPositions = V::BENCH;

    fn evaluator(_: &Knowledge) -> V::Evaluator {
        V::evaluator()
    }

    fn textbook_evaluator(_: &Knowledge) -> TextbookEvaluation {
        TextbookEvaluation
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
    type Learned = NetworkEvaluation;

    const SHAPE: Shape = CheckersNetwork::SHAPE;
    const FADE_PLIES: u32 = FADE_PLIES;

    fn learned(file: &[u8], _: &Knowledge) -> Result<NetworkEvaluation, NetworkError> {
        Ok(NetworkEvaluation(CheckersNetwork::parse(file)?.into()))
    }

    fn boards(&self, _: &V::Evaluator) -> Boards {
        boards(self)
    }

    fn are_valid(&[own, other, kings]: &Boards) -> bool {
        let pieces = own | other;
        own & other == 0 && pieces & !SQUARES == 0 && kings & !pieces == 0
    }

    fn inputs(boards: &Boards, on_input: impl FnMut(usize)) {
        BoardInputs(*boards).each(on_input);
    }

    fn bucket(boards: &Boards) -> usize {
        bucket(boards)
    }

    fn is_ending(&self) -> bool {
        count(self.pieces(Side::First) | self.pieces(Side::Second)) <= 8
    }

    /// Half of the games start with one man fewer on each side.
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

#[cfg(test)]
mod tests {
    use crownhead_rules::{Contest, English};

    use super::*;
    use crate::eval::tests::{check_kernels, check_network_file, random_games};

    #[test]
    fn network_file_is_intact_and_small_and_says_how_it_was_made() {
        check_network_file(ENGLISH_FILE, "english", CheckersNetwork::parse(ENGLISH_FILE));
    }

    /// The boards of positions of random games.
    fn random_boards() -> Vec<Boards> {
        random_games::<English>(50).iter().map(boards).collect()
    }

    #[test]
    fn network_gives_the_same_integers_on_every_processor() {
        for boards in random_boards() {
            check_kernels(&ENGLISH, BoardInputs(boards), bucket(&boards));
        }
    }

    #[test]
    fn different_boards_have_different_inputs() {
        let mut seen = std::collections::HashMap::new();
        for boards in random_boards() {
            let mut inputs = Vec::new();
            BoardInputs(boards).each(|input| inputs.push(input));
            assert!(inputs.iter().all(|input| *input < INPUTS));
            assert_eq!(*seen.entry(inputs).or_insert(boards), boards);
        }
    }

    #[test]
    fn contest_positions_with_kings_are_evaluated_as_in_english_checkers() {
        let text = "W:WK1,21,22,23:B12,13,15";
        let with_kings = Contest::parse_options("kings=true").unwrap();
        let contest = Contest::parse_position(text, &with_kings).unwrap();
        let english = English::parse_position(text, &Default::default()).unwrap();
        let boards = boards(&english);
        let score = ENGLISH.eval(BoardInputs(boards), bucket(&boards));
        assert_eq!(
            Contest::evaluator(&Knowledge::default()).evaluate(&contest),
            faded(score, &contest)
        );
    }
}
