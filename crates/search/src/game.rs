//! What a game adds to be searched, and the one place where its name becomes its type here.

use crownhead_rules::{Game, Notation};

use crate::eval::{Evaluator, Tunable};
use crate::{Knowledge, Score, SearchParams};

/// What the moves of a position say about whether to judge it now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quiescence {
    /// Nothing hangs: an evaluation will do.
    Quiet,
    /// Every legal move captures.
    ForcedCaptures,
    /// There may be captures, and nobody has to make them.
    OptionalCaptures,
}

/// Slots of the history tables.
pub(crate) const HISTORY_SIZE: usize = 4096;

/// What a game adds to be searched.
pub trait Searchable: Notation {
    /// How it judges positions.
    type Evaluator: Evaluator<Self> + Tunable<Self> + Clone + 'static;

    /// What is left out.
    const PARAMS: SearchParams = SearchParams::DEFAULT;

    /// The few weights of its evaluation that a textbook would choose: a weights file.
    const TEXTBOOK_WEIGHTS: &'static str;

    /// The tuned evaluation.
    fn evaluator(knowledge: &Knowledge) -> Self::Evaluator;

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
    fn plies_to_draw(&self) -> [u32; 2];

    /// Plies before the first of them does.
    #[inline(always)]
    fn plies_left(&self) -> u32 {
        let [first, second] = self.plies_to_draw();
        first.min(second)
    }

    /// How many plies back an equal position could make this one a draw; 0 in games that know no
    /// repetition.
    fn reversible_plies(&self) -> u32;

    /// Whether to judge the position now.
    fn quiescence(&self) -> Quiescence;

    /// How many pieces a move takes.
    fn capture_count(mv: Self::Move) -> u32;

    /// How promising a quiet move looks before it is searched; history is added to it.
    #[inline(always)]
    fn move_score(&self, _mv: Self::Move) -> i32 {
        0
    }

    /// Where moves from the same to the same square are remembered; below 4096.
    fn history_index(mv: Self::Move) -> usize;
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
