//! What a game adds to be searched, and the one place where its name becomes its type here.

use std::sync::Arc;

use crownhead_rules::{Game, Notation, Position, Side};

use crate::Score;
use crate::evaluations::Tunable;

/// Judges positions without looking ahead.
pub trait Evaluate<P: Position>: Send + Sync {
    /// What the position is worth to the side to move, when the game has not ended.
    fn score(&self, position: &P) -> Score;

    /// How promising a quiet move looks before it is tried; history is added to it.
    fn promise(&self, _position: &P, _mv: P::Move) -> i32 {
        0
    }
}

/// What the moves of a position say about whether to judge it now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unrest {
    /// Nothing hangs: an evaluation will do.
    Quiet,
    /// Every legal move captures.
    Forced,
    /// There may be captures, and nobody has to make them.
    Optional,
}

/// Exact knowledge that evaluations may ask for; each works without.
#[derive(Clone, Default)]
pub struct Knowledge {
    /// Distances in Chinese checkers.
    pub solo: Option<Arc<dyn Solo>>,
}

/// How far a player of Chinese checkers has to go.
pub trait Solo: Send + Sync {
    /// The least number of own turns to fill the target if no opponent were there; none unless
    /// there are six pieces.
    fn turns(&self, pieces: u64, side: Side) -> Option<u8>;
}

/// What a search leaves out in a game because matches showed that it seldom matters there.
#[derive(Clone, Copy, Debug)]
pub struct Pruning {
    /// Points a ply of depth: whoever is judged further ahead than that is believed.
    pub margin: Score,
    /// Up to this depth, quiet moves of a side judged too far behind are left out; 0 for never.
    pub behind_depth: i32,
    /// How far behind is too far: points, and more for every ply of depth.
    pub behind: (Score, Score),
    /// Up to this depth, late quiet moves are left out; 0 for never.
    pub late_depth: i32,
    /// Which moves are late: from this place on, and a multiple of the depth's square later.
    pub late: (usize, usize),
}

impl Pruning {
    /// The least of it, which does in every game.
    pub const LEAST: Pruning =
        Pruning { margin: 90, behind_depth: 0, behind: (0, 0), late_depth: 0, late: (0, 0) };
}

/// Slots of the history tables.
pub(crate) const SLOTS: usize = 4096;

/// What a game adds to be searched.
pub trait Searchable: Notation {
    /// How it judges positions.
    type Evaluation: Evaluate<Self> + Tunable<Self> + Clone + 'static;

    /// What is left out.
    const PRUNING: Pruning = Pruning::LEAST;

    /// The few weights of its evaluation that a textbook would choose: a weights file.
    const TEXTBOOK: &'static str;

    /// The tuned evaluation.
    fn evaluation(knowledge: &Knowledge) -> Self::Evaluation;

    /// Points that a player who wants to win gives for not drawing: see [`Settings::contempt`](crate::Settings::contempt).
    fn contempt() -> Score {
        0
    }

    /// How much of that dislike a position deserves before it is drawn: in hundredths, 100 for one
    /// that will hardly ever be won.
    fn drawishness(&self) -> Score {
        0
    }

    /// Plies before a count of plies ends the game, for each of two counts; a game that has only
    /// one gives `u32::MAX` for the other.
    fn counts_left(&self) -> [u32; 2];

    /// Plies before the first of them does.
    #[inline(always)]
    fn plies_left(&self) -> u32 {
        let [first, second] = self.counts_left();
        first.min(second)
    }

    /// How many plies back an equal position could make this one a draw; 0 in games that know no
    /// repetition.
    fn reversible_plies(&self) -> u32;

    /// Whether to judge the position now.
    fn unrest(&self) -> Unrest;

    /// How many pieces a move takes.
    fn gain(mv: Self::Move) -> u32;

    /// Where moves from the same to the same square are remembered; below 4096.
    fn slot(mv: Self::Move) -> usize;
}

/// Code that searches, generic over the game, for a game chosen at run time.
pub trait GameVisitor {
    /// Result of the visit.
    type Output;
    /// Called with the type of the position.
    fn visit<P: Searchable>(self, options: &P::Options) -> Self::Output;
}

macro_rules! define_visit {
    ($($name:ident: $search:ident,)*) => {
        /// Calls the visitor with the type of the position.
        pub fn visit<V: GameVisitor>(game: &Game, visitor: V) -> V::Output {
            match game {
                $(Game::$name(options) => visitor.visit::<crownhead_rules::$name>(options),)*
            }
        }
    };
}

crownhead_rules::for_each_game!(define_visit);
