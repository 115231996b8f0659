//! Capture Halma: men, men at home, progress, hanging men, reach, and who may end the game.
//!
//! Boards are seen from the side to move, rotated for the second player: its target is always
//! columns 7 and 8. The rules are symmetric about the horizontal axis, and so are the weights.
//!
//! A player who brings all men home ends the game, and wins if the opponent has fewer men home. So
//! a player with few men can still win by being quick, and one with more can wait. Near the end,
//! what matters is the number of men still outside and the result if the game ended now.

use std::sync::{Arc, LazyLock};

use crownhead_rules::capture_halma::{MAX_PLIES, Move, TARGETS};
use crownhead_rules::{Bits, CaptureHalma, Position, Side};

use super::{embedded_network, embedded_weights, transposed};
use crate::bench::BenchPositions;
use crate::eval::weights::{FeatureSink, Layout, MAX_PHASE, WeightedSum, Weights};
use crate::network::{Inputs, Network, NetworkError, Shape};
use crate::train::data::Boards;
use crate::train::{self, Learnable, Trainer};
use crate::{Evaluator, Knowledge, Quiescence, Score, Searchable};

pub(super) const LAYOUT: Layout = &[
    ("turn", 1),
    ("men", 10),
    ("cell", 32),
    ("outside", 10),
    ("rear", 8),
    ("attacked", 4),
    ("hanging", 4),
    ("attacked-home", 1),
    ("hanging-home", 1),
    ("open", 2),
    ("steps", 1),
    ("reach", 1),
    ("reach-home", 1),
    ("neighbours", 2),
    ("end", OUTSIDE * LEADS),
    ("their-end", OUTSIDE * LEADS),
    ("row", 4 * LINES),
    ("column", 8 * LINES),
];

const TURN: usize = 0;
const MEN: usize = 1;
const CELL: usize = MEN + 10;
const OUT: usize = CELL + 32;
const REAR: usize = OUT + 10;
const ATTACKED: usize = REAR + 8;
const HANGING: usize = ATTACKED + 4;
const ATTACKED_HOME: usize = HANGING + 4;
const HANGING_HOME: usize = ATTACKED_HOME + 1;
const OPEN: usize = HANGING_HOME + 1;
const STEPS: usize = OPEN + 2;
const REACH: usize = STEPS + 1;
const REACH_HOME: usize = REACH + 1;
const NEIGHBOURS: usize = REACH_HOME + 1;
const END: usize = NEIGHBOURS + 2;
const THEIR_END: usize = END + OUTSIDE * LEADS;

const ROW: usize = THEIR_END + OUTSIDE * LEADS;
const COLUMN: usize = ROW + 4 * LINES;

/// Eight cells, each empty, own or the opponent's.
const LINES: usize = 6561;
/// Classes of men outside: 1 to 4, or more.
const OUTSIDE: usize = 5;
/// Classes of leads: -3 or less to 3 or more.
const LEADS: usize = 7;

const HOME: u64 = TARGETS[0];
const AWAY: u64 = TARGETS[1];

const TEXTBOOK_WEIGHTS: &str = include_str!("../../weights/textbook/capture-halma.txt");

static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| embedded_weights(include_str!("../../weights/capture-halma.txt"), LAYOUT));

/// Evaluator of Capture Halma.
#[derive(Clone)]
pub struct Evaluation {
    weights: Weights,
    /// Corrects the weighted sum.
    network: Option<Arc<HalmaNetwork>>,
}

const NETWORK_FILE: &[u8] = include_bytes!("../../networks/capture-halma.network");

static NETWORK: LazyLock<Arc<HalmaNetwork>> = LazyLock::new(|| embedded_network(NETWORK_FILE));

/// The shape of the network.
type HalmaNetwork = Network<{ IN_THEIR_END + OUTSIDE * LEADS }, 32, 4>;

// Inputs of the network: the patterns of 16 blocks of four cells, then one of each of the
// following.
const PATTERNS: usize = 81;
const IN_ATTACKED: usize = 16 * PATTERNS;
const IN_HANGING: usize = IN_ATTACKED + 4;
const IN_OUT: usize = IN_HANGING + 4;
const IN_THEIR_OUT: usize = IN_OUT + 10;
const IN_END: usize = IN_THEIR_OUT + 10;
const IN_THEIR_END: usize = IN_END + OUTSIDE * LEADS;

const NOT_FIRST: u64 = 0xfefe_fefe_fefe_fefe;
const NOT_FIRST_TWO: u64 = 0xfcfc_fcfc_fcfc_fcfc;
const NOT_LAST: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const NOT_LAST_TWO: u64 = 0x3f3f_3f3f_3f3f_3f3f;

#[inline(always)]
const fn right(board: u64) -> u64 {
    board << 1 & NOT_FIRST
}

#[inline(always)]
const fn left(board: u64) -> u64 {
    board >> 1 & NOT_LAST
}

/// Cells reachable from `from` by hops over `over`, `from` included.
#[inline(always)]
const fn reach(from: u64, over: u64, empty: u64) -> u64 {
    // Landing cells of hops in each direction.
    let to_right = over << 1 & NOT_FIRST_TWO & empty;
    let to_left = over >> 1 & NOT_LAST_TWO & empty;
    let down = over << 8 & empty;
    let up = over >> 8 & empty;
    let mut all = from;
    let mut fresh = from;
    while fresh != 0 {
        fresh = ((fresh << 2 & to_right)
            | (fresh >> 2 & to_left)
            | (fresh << 16 & down)
            | (fresh >> 16 & up))
            & !all;
        all |= fresh;
    }
    all
}

/// Pieces of `victims` that can be hopped over from cells of `from`.
#[inline(always)]
const fn hopped(from: u64, victims: u64, empty: u64) -> u64 {
    victims
        & ((right(from) & left(empty))
            | (left(from) & right(empty))
            | (from << 8 & empty >> 8)
            | (from >> 8 & empty << 8))
}

#[inline(always)]
const fn count(board: u64) -> i32 {
    board.count_ones() as i32
}

/// Board seen from the side to move, and cells that can be reached by hops.
#[derive(Clone)]
struct MoverView {
    own: u64,
    other: u64,
    own_reach: u64,
    other_reach: u64,
}

impl MoverView {
    #[inline(always)]
    fn new(position: &CaptureHalma) -> MoverView {
        let (first, second) = (position.pieces(Side::First), position.pieces(Side::Second));
        match position.side() {
            Side::First => MoverView::from_boards(first, second),
            Side::Second => MoverView::from_boards(second.reverse_bits(), first.reverse_bits()),
        }
    }

    #[inline(always)]
    fn from_boards(own: u64, other: u64) -> MoverView {
        let occupied = own | other;
        let (own_reach, other_reach) =
            (reach(own, occupied, !occupied), reach(other, occupied, !occupied));
        MoverView { own, other, own_reach, other_reach }
    }

    /// The opponent's pieces that can be captured, and own pieces that the opponent could capture.
    #[inline(always)]
    fn captures(&self) -> [u64; 2] {
        let empty = !(self.own | self.other);
        [hopped(self.own_reach, self.other, empty), hopped(self.other_reach, self.own, empty)]
    }

    /// What decides the end, for both sides: men outside, and the class of men outside and of the
    /// lead if that side ended the game now.
    #[inline(always)]
    fn ends(&self) -> [(usize, usize); 2] {
        let (own, other) = (self.own, self.other);
        let end = |all: u64, home: u64, their_home: i32| {
            let outside = count(all & !home);
            let lead = count(all) - their_home;
            let class = (outside.min(OUTSIDE as i32) - 1).max(0) as usize * LEADS
                + (lead.clamp(-3, 3) + 3) as usize;
            (outside.min(9) as usize, class)
        };
        [end(own, HOME, count(other & AWAY)), end(other, AWAY, count(own & HOME))]
    }

    /// By the men outside.
    #[inline(always)]
    fn bucket(&self) -> usize {
        (count(self.own & !HOME | self.other & !AWAY) / 5).clamp(0, 3) as usize
    }

    #[inline(always)]
    fn add_features(&self, sink: &mut WeightedSum) {
        let (own, other) = (self.own, self.other);
        let occupied = own | other;
        let empty = !occupied;
        sink.add(TURN, 1);
        let (own_reach, other_reach) = (self.own_reach, self.other_reach);
        let [attacked, hanging] = self.captures();
        sink.add(ATTACKED + count(attacked).min(3) as usize, 1);
        sink.add(HANGING + count(hanging).min(3) as usize, 1);
        sink.add(ATTACKED_HOME, count(attacked & AWAY));
        sink.add(HANGING_HOME, count(hanging & HOME));
        let other_turned = other.reverse_bits();
        side(sink, 1, own, own_reach, empty);
        side(sink, -1, other_turned, other_reach.reverse_bits(), empty.reverse_bits());

        let [(_, end), (_, their_end)] = self.ends();
        sink.add(END + end, 1);
        sink.add(THEIR_END + their_end, 1);
        self.lines(sink);
    }

    #[inline(always)]
    fn lines(&self, sink: &mut WeightedSum) {
        let rows = (self.own.to_le_bytes(), self.other.to_le_bytes());
        let columns = (transposed(self.own).to_le_bytes(), transposed(self.other).to_le_bytes());
        for index in 0..8 {
            let row = line(rows.0[index], rows.1[index]);
            sink.add(ROW + index.min(7 - index) * LINES + row, 1);
            let column = line(columns.0[index], columns.1[index]);
            sink.add(COLUMN + index * LINES + usize::from(EITHER_WAY[column]), 1);
        }
    }
}

impl Inputs for MoverView {
    #[inline(always)]
    fn each(self, mut on_input: impl FnMut(usize)) {
        let (own, other) = (self.own, self.other);
        for block in 0..16 {
            let corner = block / 4 * 16 + block % 4 * 2;
            let digits = |board: u64| {
                let board = board >> corner;
                usize::from(DIGITS[(board & 3 | board >> 6 & 12) as usize])
            };
            on_input(block * PATTERNS + digits(own) + 2 * digits(other));
        }
        let [attacked, hanging] = self.captures();
        on_input(IN_ATTACKED + count(attacked).min(3) as usize);
        on_input(IN_HANGING + count(hanging).min(3) as usize);
        let [(outside, end), (their_outside, their_end)] = self.ends();
        on_input(IN_OUT + outside);
        on_input(IN_THEIR_OUT + their_outside);
        on_input(IN_END + end);
        on_input(IN_THEIR_END + their_end);
    }
}

/// Features of one side, with its target on the right; `sign` is -1 for the opponent.
#[inline(always)]
fn side(sink: &mut WeightedSum, sign: i32, own: u64, reached: u64, empty: u64) {
    sink.add(MEN + count(own).min(9) as usize, sign);
    for cell in Bits(own) {
        sink.add(CELL + CELLS[cell as usize & 63] as usize, sign);
    }
    let outside = own & !HOME;
    sink.add(OUT + count(outside).min(9) as usize, sign);
    if outside != 0 {
        // Columns with men, as a byte.
        let mut columns = outside | outside >> 32;
        columns |= columns >> 16;
        columns |= columns >> 8;
        sink.add(REAR + (columns & 0xff).trailing_zeros() as usize % 8, sign);
    }
    sink.add(OPEN, sign * count(own & left(empty) & right(empty)));
    sink.add(OPEN + 1, sign * count(own & empty << 8 & empty >> 8));
    let steps = count(right(own) & empty) + count(own << 8 & empty) + count(own >> 8 & empty);
    sink.add(STEPS, sign * steps);
    sink.add(REACH, sign * count(reached & empty));
    sink.add(REACH_HOME, sign * count(reached & empty & HOME));
    sink.add(NEIGHBOURS, sign * count(own & right(own)));
    sink.add(NEIGHBOURS + 1, sign * count(own & own << 8));
}

/// Class of each cell: its column, and its distance to the nearer horizontal edge.
static CELLS: [u8; 64] = {
    let mut table = [0; 64];
    let mut cell = 0;
    while cell < 64 {
        let row = cell / 8;
        let edge = if row < 4 { row } else { 7 - row };
        table[cell] = (edge * 8 + cell % 8) as u8;
        cell += 1;
    }
    table
};

/// Pattern of a line as a ternary number.
#[inline(always)]
const fn line(own: u8, other: u8) -> usize {
    (DIGITS[own as usize] + 2 * DIGITS[other as usize]) as usize
}

/// Sum of the powers of 3 of the bits of a byte.
static DIGITS: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 1;
    while byte < 256 {
        table[byte] = table[byte >> 1] * 3 + (byte & 1) as u16;
        byte += 1;
    }
    table
};

/// Canonical pattern of a column: the smaller of the numbers read from the top and the bottom.
static EITHER_WAY: [u16; LINES] = {
    let mut table = [0; LINES];
    let mut number = 0;
    while number < LINES {
        let (mut rest, mut turned, mut digit) = (number, 0, 0);
        while digit < 8 {
            turned = turned * 3 + rest % 3;
            rest /= 3;
            digit += 1;
        }
        table[number] = if turned < number { turned } else { number } as u16;
        number += 1;
    }
    table
};

/// With fewer plies left, the score fades to the lead in men at home.
const LAST_PLIES: u32 = 24;
/// Value of a lead of one man at home on the last ply.
const LAST_LEAD: Score = 300;

/// Bonus if the opponent has no men left. (Too rare to be learned from games.)
const NO_MEN: Score = 2000;

impl Evaluation {
    /// The weighted sum alone.
    pub fn without_network(&self) -> Evaluation {
        Evaluation { network: None, ..self.clone() }
    }

    /// The weighted sum of the features.
    #[inline(always)]
    fn sum(&self, view: &MoverView) -> Score {
        let mut sum = self.weights.sum();
        view.add_features(&mut sum);
        // By the men outside: 18 at the start.
        let outside = count(view.own & !HOME | view.other & !AWAY);
        sum.score(outside * MAX_PHASE / 18)
    }
}

impl Evaluator<CaptureHalma> for Evaluation {
    type State = ();

    #[inline(always)]
    fn refresh(&self, _: &CaptureHalma) {}

    #[inline(always)]
    fn after(&self, (): &(), _: &CaptureHalma, _: Move) {}

    #[inline(always)]
    fn eval(&self, position: &CaptureHalma, (): &()) -> Score {
        let view = MoverView::new(position);
        let mut score = self.sum(&view);
        if let Some(network) = &self.network {
            let bucket = view.bucket();
            score += network.eval(view, bucket);
        }
        let side = position.side();
        // A side without men cannot score any more.
        match (position.pieces(side), position.pieces(side.other())) {
            (0, 0) => return 0,
            (_, 0) => score += NO_MEN,
            (0, _) => score -= NO_MEN,
            _ => {}
        }
        let plies = position.plies_left();
        if plies >= LAST_PLIES {
            return score;
        }
        let lead = Score::from(position.score(side)) - Score::from(position.score(side.other()));
        let (plies, all) = (plies as Score, LAST_PLIES as Score);
        (score * plies + LAST_LEAD * lead * (all - plies)) / all
    }
}

impl Searchable for CaptureHalma {
    type Evaluator = Evaluation;
    type TextbookEvaluator = Evaluation;

    const BENCH: BenchPositions =
        BenchPositions { text: include_str!("../../bench/capture-halma.txt"), depth: 8 };

    fn evaluator(_: &Knowledge) -> Evaluation {
        Evaluation { weights: WEIGHTS.clone(), network: Some(Arc::clone(&NETWORK)) }
    }

    fn textbook_evaluator(_: &Knowledge) -> Evaluation {
        Evaluation { weights: embedded_weights(TEXTBOOK_WEIGHTS, LAYOUT), network: None }
    }

    fn trainer((): &(), knowledge: &Knowledge) -> Option<Box<dyn Trainer>> {
        train::boxed::<Self>(&(), knowledge)
    }

    #[inline(always)]
    fn plies_to_draw(&self) -> [u32; 2] {
        [u32::from(MAX_PLIES.saturating_sub(self.plies())), u32::MAX]
    }

    #[inline(always)]
    fn quiescence(&self) -> Quiescence {
        let side = self.side();
        let (own, other) = (self.pieces(side), self.pieces(side.other()));
        let empty = !(own | other);
        // Up to the first capture a piece hops over own pieces only.
        if hopped(reach(own, own, empty), other, empty) == 0 {
            Quiescence::Quiet
        } else {
            Quiescence::OptionalCaptures
        }
    }

    #[inline(always)]
    fn capture_count(mv: Move) -> u32 {
        mv.captures()
    }

    #[inline(always)]
    fn history_index(mv: Move) -> usize {
        (mv.from().index() << 6 | mv.to().index()) as usize
    }
}

/// The third board holds the weighted sum.
impl Learnable for CaptureHalma {
    type Learned = Evaluation;

    const SHAPE: Shape = HalmaNetwork::SHAPE;
    const FADE_PLIES: u32 = LAST_PLIES;

    fn learned(file: &[u8], knowledge: &Knowledge) -> Result<Evaluation, NetworkError> {
        let network = Some(HalmaNetwork::parse(file)?.into());
        Ok(Evaluation { network, ..Self::evaluator(knowledge) })
    }

    fn boards(&self, evaluator: &Evaluation) -> Boards {
        let view = MoverView::new(self);
        let sum = evaluator.sum(&view).clamp(i16::MIN.into(), i16::MAX.into());
        [view.own, view.other, u64::from(sum as u16)]
    }

    fn base(&[_, _, rest]: &Boards) -> Score {
        Score::from(rest as i16)
    }

    fn inputs(&[own, other, _]: &Boards, on_input: impl FnMut(usize)) {
        MoverView::from_boards(own, other).each(on_input);
    }

    fn bucket(&[own, other, _]: &Boards) -> usize {
        MoverView::from_boards(own, other).bucket()
    }

    fn mirrored(&[own, other, rest]: &Boards) -> Option<Boards> {
        Some([own.swap_bytes(), other.swap_bytes(), rest])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::tests::{check_kernels, check_network_file, random_games};

    #[test]
    fn network_file_is_intact_and_small_and_says_how_it_was_made() {
        check_network_file(NETWORK_FILE, "capture-halma", HalmaNetwork::parse(NETWORK_FILE));
    }

    #[test]
    fn network_gives_the_same_integers_on_every_processor() {
        for position in random_games::<CaptureHalma>(10) {
            let view = MoverView::new(&position);
            check_kernels(&NETWORK, view.clone(), view.bucket());
        }
    }
}
