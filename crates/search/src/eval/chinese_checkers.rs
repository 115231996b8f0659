//! Chinese checkers: the race, measured by the solo table if there is one, and what the table does
//! not contain: the opponent's pieces.
//!
//! Boards are seen from one side, rotated for the second player: its target is always the corner of
//! the highest bits. Board and rules are symmetric about the diagonal between the camps, and so are
//! the weights.
//!
//! The solo table counts turns on an empty board. The opponent's pieces change the count in three
//! ways: they can be jumped, they block, and those still in their camp help to fill our target (a
//! camp filled by pieces of any colour wins). For the last effect the table is probed a second time
//! with our rearmost pieces in place of the opponent's.

use std::sync::{Arc, LazyLock};

use crownhead_rules::chinese_checkers::{CAMPS, MAX_PLIES, Move};
use crownhead_rules::{Bits, ChineseCheckers, MoveList, Notation, Position, Side, SoloDistances};

use super::{embedded_network, embedded_weights, transposed};
use crate::bench::BenchPositions;
use crate::eval::weights::{FeatureSink, Layout, MAX_PHASE, Weights};
use crate::network::{Inputs, Network, NetworkError, Shape};
use crate::train::data::Boards;
use crate::train::{self, Learnable, Trainer};
use crate::{Evaluator, Knowledge, Score, SearchParams, Searchable};

pub(super) const LAYOUT: Layout = &[
    ("turn", 1),
    ("solo", 1),
    ("filled", 6),
    ("solo-contact", CONTACTS),
    ("contact", CONTACTS),
    ("cell", CELLS),
    ("home", 7),
    ("arrived", 7),
    ("rear", 15),
    ("win-at-hand", 1),
    ("plain-turn", 1),
    ("plain-contact", CONTACTS),
    ("plain-cell", CELLS),
    ("plain-home", 7),
    ("plain-arrived", 7),
    ("plain-rear", 15),
    ("plain-win-at-hand", 1),
];

const SOLO: usize = 1;
const FILLED: usize = 2;
const SOLO_CONTACT: usize = FILLED + 6;
/// Features that need no table have separate weights for searches without it.
const WITH_TABLE: Groups = Groups::from(0, SOLO_CONTACT + CONTACTS);
const WITHOUT_TABLE: Groups = Groups::from(WITH_TABLE.win_at_hand + 1, WITH_TABLE.win_at_hand + 2);

struct Groups {
    turn: usize,
    contact: usize,
    cell: usize,
    home: usize,
    arrived: usize,
    rear: usize,
    win_at_hand: usize,
}

impl Groups {
    const fn from(turn: usize, contact: usize) -> Groups {
        let cell = contact + CONTACTS;
        let home = cell + CELLS;
        Groups {
            turn,
            contact,
            cell,
            home,
            arrived: home + 7,
            rear: home + 14,
            win_at_hand: home + 14 + 15,
        }
    }
}

const TEXTBOOK_WEIGHTS: &str = include_str!("../../weights/textbook/chinese-checkers.txt");

static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| embedded_weights(include_str!("../../weights/chinese-checkers.txt"), LAYOUT));

/// Evaluator of Chinese checkers.
#[derive(Clone)]
pub struct Evaluation {
    weights: Weights,
    solo: Option<Arc<dyn SoloDistances>>,
    /// Corrects the weighted sum in positions that the solo table contains.
    network: Option<Arc<RaceNetwork>>,
}

const NETWORK_FILE: &[u8] = include_bytes!("../../networks/chinese-checkers.network");

static NETWORK: LazyLock<Arc<RaceNetwork>> = LazyLock::new(|| embedded_network(NETWORK_FILE));

/// The shape of the network.
type RaceNetwork = Network<{ OTHER_TURNS + TURNS }, 32, 4>;

// Inputs of the network: own pieces, the opponent's pieces, then one of each of the following.
const CONTACT: usize = 128;
const AHEAD: usize = CONTACT + CONTACTS;
const OWN_TURNS: usize = AHEAD + 2 * MAX_AHEAD as usize + 1;
const OTHER_TURNS: usize = OWN_TURNS + TURNS;
const MAX_AHEAD: i32 = 8;
const TURNS: usize = 32;

/// Number of contact classes; see [`contact`].
const CONTACTS: usize = 16;

/// Number of cell classes: mirror images about the diagonal between the camps share one.
const CELLS: usize = 36;

/// Class of each cell.
static CLASSES: [u8; 64] = {
    let mut classes = [0; 64];
    let mut cell = 0;
    while cell < 64 {
        let (row, column) = (cell / 8, cell % 8);
        let (low, high) = if row < column { (row, column) } else { (column, row) };
        classes[cell] = (high * (high + 1) / 2 + low) as u8;
        cell += 1;
    }
    classes
};

/// Cells by the number of steps down and to the right from the home corner.
static ANTIDIAGONALS: [u64; 15] = {
    let mut rows = [0; 15];
    let mut cell = 0;
    while cell < 64 {
        rows[cell / 8 + cell % 8] |= 1 << cell;
        cell += 1;
    }
    rows
};

const HOME: u64 = CAMPS[0];
const TARGET: u64 = CAMPS[1];

/// The board seen from one side: its pieces and the opponent's.
#[derive(Clone, Copy)]
struct MoverView {
    own: u64,
    other: u64,
}

impl MoverView {
    #[inline(always)]
    fn new(position: &ChineseCheckers, side: Side) -> MoverView {
        let (own, other) = (position.pieces(side), position.pieces(side.other()));
        match side {
            Side::First => MoverView { own, other },
            Side::Second => MoverView { own: own.reverse_bits(), other: other.reverse_bits() },
        }
    }

    /// Our pieces, the rearmost replaced by the opponent's pieces in our target.
    #[inline(always)]
    fn filled(self) -> u64 {
        let mut own = self.own;
        let filled = self.other & TARGET;
        let mut surplus = filled.count_ones();
        let mut row = 0;
        while surplus > 0 && row < 15 {
            let mut here = own & ANTIDIAGONALS[row];
            while here != 0 && surplus > 0 {
                own &= !(here & here.wrapping_neg());
                here &= here - 1;
                surplus -= 1;
            }
            row += 1;
        }
        own | filled
    }

    /// Antidiagonal of the rearmost piece.
    #[inline(always)]
    fn rear(self) -> usize {
        (0..15).find(|&row| self.own & ANTIDIAGONALS[row] != 0).unwrap_or(0)
    }

    /// Whether the side can fill its target with one move.
    #[inline(always)]
    fn wins_next(self) -> bool {
        let occupied = self.own | self.other;
        let hole = TARGET & !occupied;
        hole.is_power_of_two()
            && Bits(self.own & !TARGET)
                .any(|from| ChineseCheckers::destinations(occupied, from) & hole != 0)
    }
}

#[inline(always)]
const fn count(board: u64) -> usize {
    board.count_ones() as usize
}

/// Solo distance of a side.
#[derive(Clone, Copy)]
struct Race {
    turns: i32,
    /// Turns saved by the opponent's pieces in our target, and the number of those pieces.
    saved: i32,
    fillers: usize,
}

impl Evaluation {
    /// The weighted sum alone.
    pub fn without_network(&self) -> Evaluation {
        Evaluation { network: None, ..self.clone() }
    }

    /// The weights of the sum.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Passes the features of a position to `sink` and returns its phase.
    pub fn features(&self, position: &ChineseCheckers, sink: &mut impl FeatureSink) -> i32 {
        let views = views(position);
        let races = self.races(views);
        self.add_features(views, races, sink);
        phase(views, races)
    }

    /// Solo distances of both sides, the side to move first; `None` without a table.
    #[inline(always)]
    fn races(&self, views: [MoverView; 2]) -> Option<[Race; 2]> {
        let solo = self.solo.as_deref()?;
        let [own, other] = views;
        let (own_turns, other_turns) =
            (solo.turns(own.own, Side::First)?, solo.turns(other.own, Side::First)?);
        Some([race(solo, own, own_turns), race(solo, other, other_turns)])
    }

    /// The weighted sum of the features.
    #[inline(always)]
    fn sum(&self, views: [MoverView; 2], races: Option<[Race; 2]>) -> Score {
        let mut sum = self.weights.sum();
        self.add_features(views, races, &mut sum);
        sum.score(phase(views, races))
    }

    #[inline(always)]
    fn add_features(
        &self,
        views: [MoverView; 2],
        races: Option<[Race; 2]>,
        sink: &mut impl FeatureSink,
    ) {
        let contact = contact(views);
        let groups = if let Some([own, other]) = races {
            let ahead = (other.turns - own.turns).clamp(-8, 8);
            sink.add(SOLO, ahead);
            sink.add(SOLO_CONTACT + contact, ahead);
            sink.add(FILLED + own.fillers % 6, own.saved);
            sink.add(FILLED + other.fillers % 6, -other.saved);
            &WITH_TABLE
        } else {
            &WITHOUT_TABLE
        };
        sink.add(groups.turn, 1);
        sink.add(groups.contact + contact, 1);
        for (view, sign) in views.into_iter().zip([1, -1]) {
            for cell in Bits(view.own) {
                sink.add(groups.cell + usize::from(CLASSES[cell as usize & 63]), sign);
            }
            sink.add(groups.home + count(view.own & HOME) % 7, sign);
            sink.add(groups.arrived + count(view.own & TARGET) % 7, sign);
            sink.add(groups.rear + view.rear(), sign);
        }
        if views[0].wins_next() {
            sink.add(groups.win_at_hand, 1);
        }
    }
}

#[inline(always)]
fn race(solo: &dyn SoloDistances, view: MoverView, turns: u8) -> Race {
    let fillers = count(view.other & TARGET);
    let turns = i32::from(turns);
    let saved = match fillers {
        0 | 6.. => 0,
        _ => turns - solo.turns(view.filled(), Side::First).map_or(turns, i32::from),
    };
    Race { turns, saved, fillers }
}

/// Antidiagonals by which the sides still overlap; 0 when they have passed each other. A lead
/// counts more when neither side can block or help the other any more.
#[inline(always)]
fn contact(views: [MoverView; 2]) -> usize {
    let [own, other] = views;
    (16 - other.rear()).saturating_sub(own.rear()).min(CONTACTS - 1)
}

#[inline(always)]
fn phase(views: [MoverView; 2], races: Option<[Race; 2]>) -> i32 {
    let left = match races {
        Some([own, other]) => (own.turns + other.turns) * 4 / 3,
        // 136 steps at the start.
        None => views.into_iter().map(steps_left).sum::<i32>() * MAX_PHASE / 136,
    };
    left.clamp(0, MAX_PHASE)
}

/// Steps down and to the right that all pieces of a side have left.
#[inline(always)]
fn steps_left(view: MoverView) -> i32 {
    let done: u32 = Bits(view.own).map(|cell| cell / 8 + cell % 8).sum();
    76 - done.min(76) as i32
}

fn views(position: &ChineseCheckers) -> [MoverView; 2] {
    let side = position.side();
    [MoverView::new(position, side), MoverView::new(position, side.other())]
}

/// The inputs of the network.
#[derive(Clone)]
struct RaceInputs {
    view: MoverView,
    contact: usize,
    own_turns: i32,
    other_turns: i32,
}

impl RaceInputs {
    #[inline(always)]
    fn new(view: MoverView, own_turns: i32, other_turns: i32) -> RaceInputs {
        let opponent = MoverView { own: view.other.reverse_bits(), other: view.own.reverse_bits() };
        RaceInputs { view, contact: contact([view, opponent]), own_turns, other_turns }
    }

    fn from_boards(&[own, other, rest]: &Boards) -> RaceInputs {
        let turns = |shift: u32| (rest >> shift & 0xff) as i32;
        RaceInputs::new(MoverView { own, other }, turns(16), turns(24))
    }

    /// By the turns that both sides still need.
    #[inline(always)]
    fn bucket(&self) -> usize {
        ((self.own_turns + self.other_turns) / 6).clamp(0, 3) as usize
    }
}

impl Inputs for RaceInputs {
    #[inline(always)]
    fn each(self, mut on_input: impl FnMut(usize)) {
        for cell in Bits(self.view.own) {
            on_input(cell as usize);
        }
        for cell in Bits(self.view.other) {
            on_input(64 + cell as usize);
        }
        on_input(CONTACT + self.contact);
        let ahead = (self.other_turns - self.own_turns).clamp(-MAX_AHEAD, MAX_AHEAD);
        on_input(AHEAD + (ahead + MAX_AHEAD) as usize);
        let turns = |turns: i32| turns.clamp(0, TURNS as i32 - 1) as usize;
        on_input(OWN_TURNS + turns(self.own_turns));
        on_input(OTHER_TURNS + turns(self.other_turns));
    }
}

/// Move score per step of progress.
const PROGRESS: i32 = 300;

/// With fewer plies left before the draw by the turn limit, scores fade to zero.
const FADE_PLIES: u32 = 16;

impl Evaluator<ChineseCheckers> for Evaluation {
    type State = ();

    #[inline(always)]
    fn refresh(&self, _: &ChineseCheckers) {}

    #[inline(always)]
    fn after(&self, (): &(), _: &ChineseCheckers, _: Move) {}

    fn eval(&self, position: &ChineseCheckers, (): &()) -> Score {
        let views = views(position);
        let races = self.races(views);
        let mut score = self.sum(views, races);
        if let (Some(network), Some([own, other])) = (&self.network, races) {
            let inputs = RaceInputs::new(views[0], own.turns, other.turns);
            let bucket = inputs.bucket();
            score += network.eval(inputs, bucket);
        }
        let left = position.plies_left();
        if left >= FADE_PLIES { score } else { score * left as Score / FADE_PLIES as Score }
    }
}

impl Searchable for ChineseCheckers {
    type Evaluator = Evaluation;
    type TextbookEvaluator = Evaluation;

    // A move gains about a turn whatever the opponent does: scores change little from ply to ply,
    // and most moves lead nowhere.
    const PARAMS: SearchParams = SearchParams {
        rfp_margin: 30,
        futility_depth: 3,
        futility_base: 40,
        futility_margin: 50,
        lmp_depth: 3,
        lmp_base: 800,
        lmp_factor: 300,
        ..SearchParams::DEFAULT
    };

    const BENCH: BenchPositions =
        BenchPositions { text: include_str!("../../bench/chinese-checkers.txt"), depth: 9 };

    fn evaluator(knowledge: &Knowledge) -> Evaluation {
        let solo = knowledge.get::<dyn SoloDistances>(ChineseCheckers::ID, "solo");
        Evaluation { weights: WEIGHTS.clone(), solo, network: Some(Arc::clone(&NETWORK)) }
    }

    fn textbook_evaluator(knowledge: &Knowledge) -> Evaluation {
        let weights = embedded_weights(TEXTBOOK_WEIGHTS, LAYOUT);
        Evaluation { weights, ..Self::evaluator(knowledge).without_network() }
    }

    fn trainer((): &(), knowledge: &Knowledge) -> Option<Box<dyn Trainer>> {
        train::boxed::<Self>(&(), knowledge)
    }

    #[inline(always)]
    fn plies_to_draw(&self) -> [u32; 2] {
        [u32::from(MAX_PLIES.saturating_sub(self.plies())), u32::MAX]
    }

    #[inline(always)]
    fn move_score(&self, mv: Move) -> i32 {
        let advance = |cell: u32| (cell / 8 + cell % 8) as i32;
        let progress = advance(mv.to().index()) - advance(mv.from().index());
        let progress = if self.side() == Side::First { progress } else { -progress };
        progress * PROGRESS
    }

    #[inline(always)]
    fn history_index(mv: Move) -> usize {
        (mv.from().index() << 6 | mv.to().index()) as usize
    }
}

/// The third board holds the weighted sum, and the turns that each side still needs.
impl Learnable for ChineseCheckers {
    type Learned = Evaluation;

    const SHAPE: Shape = RaceNetwork::SHAPE;
    const FADE_PLIES: u32 = FADE_PLIES;

    fn learned(file: &[u8], knowledge: &Knowledge) -> Result<Evaluation, NetworkError> {
        let network = Some(RaceNetwork::parse(file)?.into());
        Ok(Evaluation { network, ..Self::evaluator(knowledge) })
    }

    fn boards(&self, evaluator: &Evaluation) -> Boards {
        let views = views(self);
        let races = evaluator.races(views);
        let sum = evaluator.sum(views, races).clamp(i16::MIN.into(), i16::MAX.into());
        let turns = |index: usize| races.map_or(0, |races| races[index].turns as u64 & 0xff);
        let rest = u64::from(sum as u16) | turns(0) << 16 | turns(1) << 24;
        [views[0].own, views[0].other, rest]
    }

    fn base(&[_, _, rest]: &Boards) -> Score {
        Score::from(rest as i16)
    }

    fn inputs(boards: &Boards, on_input: impl FnMut(usize)) {
        RaceInputs::from_boards(boards).each(on_input);
    }

    fn bucket(boards: &Boards) -> usize {
        RaceInputs::from_boards(boards).bucket()
    }

    fn mirrored(&[own, other, rest]: &Boards) -> Option<Boards> {
        Some([transposed(own), transposed(other), rest])
    }

    /// Half of the games start with random moves forward.
    fn training_start((): &(), rng: &mut fastrand::Rng) -> Self {
        let mut position = Self::start(&());
        let plies = if rng.bool() { 2 * rng.u32(0..10) } else { 0 };
        let mut moves = MoveList::new();
        for _ in 0..plies {
            position.legal_moves(&mut moves);
            let advances = |mv: &&Move| position.move_score(**mv) > 0;
            let choices: Vec<_> = moves.iter().filter(advances).copied().collect();
            let Some(mv) = rng.choice(choices) else { break };
            position.play(mv);
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::tests::{check_kernels, check_network_file, random_games};

    #[test]
    fn network_file_is_intact_and_small_and_says_how_it_was_made() {
        check_network_file(NETWORK_FILE, "chinese-checkers", RaceNetwork::parse(NETWORK_FILE));
    }

    #[test]
    fn network_gives_the_same_integers_on_every_processor() {
        for position in random_games::<ChineseCheckers>(10) {
            let view = views(&position)[0];
            let turns = [view.own, view.other].map(|pieces| pieces.count_ones() as i32 + 4);
            let inputs = RaceInputs::new(view, turns[0], turns[1]);
            check_kernels(&NETWORK, inputs.clone(), inputs.bucket());
        }
    }
}
