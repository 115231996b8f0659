//! Chinese checkers: the race, counted by the solo table where there is one, and what the table
//! cannot know: the other side's pieces.
//!
//! Everything is seen from one side, the board turned round for the second player, so that a side's
//! target is always the corner of the highest bits. Board and rules are symmetric about the diagonal
//! between the camps, and so are the weights.
//!
//! The solo table counts turns on an empty board. The opponent's pieces change the count in three
//! ways: they are bridges, they stand in the way, and those still at home fill the target for us (a
//! camp filled by pieces of any colour wins). For the last, the table is asked a second time, with
//! our rearmost pieces standing in place of theirs.

use std::sync::{Arc, LazyLock};

use crownhead_rules::chinese_checkers::{CAMPS, MAX_PLIES, Move};
use crownhead_rules::{Bits, ChineseCheckers, Position, Side};

use super::{Tunable, embedded_weights};
use crate::eval::weights::{FeatureSink, Layout, MAX_PHASE, Weights};
use crate::{Evaluator, Knowledge, Quiescence, Score, SearchParams, Searchable, SoloDistances};

const LAYOUT: Layout = &[
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
/// The features that need no table have weights of their own for when there is none.
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

static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| embedded_weights(include_str!("../../weights/chinese-checkers.txt"), LAYOUT));

/// Judges positions of Chinese checkers.
#[derive(Clone)]
pub struct Evaluation {
    weights: Weights,
    solo: Option<Arc<dyn SoloDistances>>,
}

/// How far the armies may still have to pass each other.
const CONTACTS: usize = 16;

/// Cells that are not each other's mirror image about the diagonal between the camps.
const CELLS: usize = 36;

/// The number of each cell's class.
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

/// By the number of steps down and to the right that lead there from the home corner: the cells.
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

/// The pieces of one side, seen so that its target is the corner of the highest bits, and the other
/// side's on the same board.
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

    /// The pieces with the rearmost put in place of the opponent's that stand in the target.
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

    /// How far the rearmost piece has come.
    #[inline(always)]
    fn rear(self) -> usize {
        (0..15).find(|&row| self.own & ANTIDIAGONALS[row] != 0).unwrap_or(0)
    }

    /// Whether the side fills its target with its next turn.
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

/// What the solo table says of a side.
#[derive(Clone, Copy)]
struct Race {
    turns: i32,
    /// Turns that the opponent's pieces at home save, and how many they are.
    saved: i32,
    fillers: usize,
}

impl Evaluation {
    /// The table's word on both sides, the one to move first.
    #[inline(always)]
    fn races(&self, views: [MoverView; 2]) -> Option<[Race; 2]> {
        let solo = self.solo.as_deref()?;
        let [own, other] = views;
        let (own_turns, other_turns) =
            (solo.turns(own.own, Side::First)?, solo.turns(other.own, Side::First)?);
        Some([race(solo, own, own_turns), race(solo, other, other_turns)])
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

/// Rows across between the rearmost pieces of both sides, as far as they have still to pass each
/// other; 0 when all have passed. A lead counts for more when nobody can hinder or help any longer.
#[inline(always)]
fn contact(views: [MoverView; 2]) -> usize {
    let [own, other] = views;
    (16 - other.rear()).saturating_sub(own.rear()).min(CONTACTS - 1)
}

#[inline(always)]
fn phase(views: [MoverView; 2], races: Option<[Race; 2]>) -> i32 {
    let left = match races {
        Some([own, other]) => (own.turns + other.turns) * 4 / 3,
        // From 136 at the start.
        None => views.into_iter().map(steps_left).sum::<i32>() * MAX_PHASE / 136,
    };
    left.clamp(0, MAX_PHASE)
}

/// Steps down and to the right that a side has before it, all pieces together.
#[inline(always)]
fn steps_left(view: MoverView) -> i32 {
    let gone: u32 = Bits(view.own).map(|cell| cell / 8 + cell % 8).sum();
    76 - gone.min(76) as i32
}

fn views(position: &ChineseCheckers) -> [MoverView; 2] {
    let side = position.side();
    [MoverView::new(position, side), MoverView::new(position, side.other())]
}

/// How much sooner a move is tried for every step of progress.
const PROGRESS: i32 = 300;

/// With fewer plies left than this an advantage fades: a draw by count is near.
const FADE_PLIES: u32 = 16;

impl Tunable<ChineseCheckers> for Evaluation {
    fn layout() -> Layout {
        LAYOUT
    }

    fn weights(&self) -> &Weights {
        &self.weights
    }

    fn with_weights(&self, weights: Weights) -> Self {
        Evaluation { weights, solo: self.solo.clone() }
    }

    fn features(&self, position: &ChineseCheckers, sink: &mut impl FeatureSink) {
        let views = views(position);
        self.add_features(views, self.races(views), sink);
    }

    fn phase(&self, position: &ChineseCheckers) -> i32 {
        let views = views(position);
        phase(views, self.races(views))
    }

    fn scale(&self, position: &ChineseCheckers) -> f32 {
        position.plies_left().min(FADE_PLIES) as f32 / FADE_PLIES as f32
    }
}

impl Evaluator<ChineseCheckers> for Evaluation {
    fn eval(&self, position: &ChineseCheckers) -> Score {
        let views = views(position);
        let races = self.races(views);
        let mut sum = self.weights.sum();
        self.add_features(views, races, &mut sum);
        let score = sum.score(phase(views, races));
        let left = position.plies_left();
        if left >= FADE_PLIES { score } else { score * left as Score / FADE_PLIES as Score }
    }
}

impl Searchable for ChineseCheckers {
    type Evaluator = Evaluation;

    // A turn gains a turn or so, whatever the opponent does: judgements change little from ply to
    // ply, and most moves lead nowhere.
    const PARAMS: SearchParams = SearchParams {
        rfp_margin: 30,
        futility_depth: 3,
        futility_margin: (40, 50),
        lmp_depth: 3,
        lmp_count: (8, 3),
    };

    const TEXTBOOK_WEIGHTS: &'static str =
        include_str!("../../weights/textbook/chinese-checkers.txt");

    fn evaluator(knowledge: &Knowledge) -> Evaluation {
        Evaluation { weights: WEIGHTS.clone(), solo: knowledge.solo.clone() }
    }

    #[inline(always)]
    fn plies_to_draw(&self) -> [u32; 2] {
        [u32::from(MAX_PLIES.saturating_sub(self.plies())), u32::MAX]
    }

    #[inline(always)]
    fn reversible_plies(&self) -> u32 {
        0
    }

    #[inline(always)]
    fn quiescence(&self) -> Quiescence {
        Quiescence::Quiet
    }

    #[inline(always)]
    fn capture_count(_: Move) -> u32 {
        0
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
