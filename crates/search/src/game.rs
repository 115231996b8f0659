//! The [`Searchable`] interface of games, and the dispatch from a game to its type.

use std::hash::{DefaultHasher, Hash, Hasher};

use crownhead_rules::{Game, Notation};

use crate::bench::BenchPositions;
use crate::train::Trainer;
use crate::{Evaluator, HasEngine, Knowledge, Score, SearchParams};

/// How the captures of a position affect its static eval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quiescence {
    /// There are no captures: the static eval is reliable.
    Quiet,
    /// Every legal move is a capture: there is no static eval.
    ForcedCaptures,
    /// There may be captures, and none is mandatory: the static eval is a lower bound.
    OptionalCaptures,
}

/// Number of history entries per side.
pub(crate) const HISTORY_SIZE: usize = 4096;

/// A game that can be searched: its evaluators, parameters and properties of positions and moves.
///
/// Crates above this one create engines with [`HasEngine`], not with [`Engine`](crate::Engine).
pub trait Searchable: Notation {
    /// The game's evaluator.
    type Evaluator: Evaluator<Self> + 'static;
    /// The evaluator of the textbook players.
    type TextbookEvaluator: Evaluator<Self> + 'static;

    /// Parameters of the search.
    const PARAMS: SearchParams = SearchParams::DEFAULT;

    /// Positions of `crownhead bench`.
    const BENCH: BenchPositions = BenchPositions::START;

    /// Creates the game's evaluator.
    fn evaluator(knowledge: &Knowledge) -> Self::Evaluator;

    /// Creates the elementary evaluator of the textbook players.
    fn textbook_evaluator(knowledge: &Knowledge) -> Self::TextbookEvaluator;

    /// Creates the trainer of the game's network; `None` if it has none.
    fn trainer(_options: &Self::Options, _knowledge: &Knowledge) -> Option<Box<dyn Trainer>> {
        None
    }

    /// Contempt of the players that want to win, in points; see
    /// [`EngineConfig::contempt`](crate::EngineConfig::contempt).
    fn contempt() -> Score {
        0
    }

    /// Percentage of the contempt that applies to an undecided position: 100 if it will hardly ever
    /// be won.
    fn drawishness(&self) -> Score {
        0
    }

    /// Plies until each of two draw counters ends the game; `u32::MAX` for a counter that the game
    /// does not have.
    #[inline(always)]
    fn plies_to_draw(&self) -> [u32; 2] {
        [u32::MAX; 2]
    }

    /// Plies until the first draw counter ends the game.
    #[inline(always)]
    fn plies_left(&self) -> u32 {
        let [first, second] = self.plies_to_draw();
        first.min(second)
    }

    /// Number of preceding plies within which an equal position would be a repetition; 0 in games
    /// without repetition.
    #[inline(always)]
    fn reversible_plies(&self) -> u32 {
        0
    }

    /// Whether the position has captures.
    #[inline(always)]
    fn quiescence(&self) -> Quiescence {
        Quiescence::Quiet
    }

    /// Number of pieces that a move captures.
    #[inline(always)]
    fn capture_count(_mv: Self::Move) -> u32 {
        0
    }

    /// Game-specific part of a move's score for move ordering; history is added to it.
    #[inline(always)]
    fn move_score(&self, _mv: Self::Move) -> i32 {
        0
    }

    /// History entry of a move, for example its start and end square; less than 4096. The default
    /// is a hash of the move.
    fn history_index(mv: Self::Move) -> usize {
        let mut hasher = DefaultHasher::new();
        mv.hash(&mut hasher);
        hasher.finish() as usize % HISTORY_SIZE
    }
}

/// Code that searches, generic over the game, for a game chosen at run time.
pub trait GameVisitor {
    /// Result of the visit.
    type Output;
    /// Runs with the game's position type.
    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output;
}

macro_rules! define_visit {
    ($($name:ident: $search:ident,)*) => {
        /// Calls the visitor with the game's position type.
        pub fn visit<V: GameVisitor>(game: &Game, visitor: V) -> V::Output {
            match game {
                $(Game::$name(options) => visitor.visit::<crownhead_rules::$name>(options),)*
            }
        }
    };
}

crownhead_rules::for_each_game!(define_visit);
