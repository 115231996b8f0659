//! Training of learned evaluations: data from self-play games, then a network fitted to it.
//!
//! [`Trainer::play_games`] plays games and collects quiet positions, each with the search's score
//! and the result of the game; [`data`] is their file format. [`fit()`] trains a network on them.
//! Both are reproducible: the same seed gives the same data and the same network.

pub mod data;
mod fit;
mod self_play;

pub use fit::{Epoch, FitOptions, FloatNetwork, TrainingSet, fit};
pub use self_play::SelfPlayOptions;

use std::marker::PhantomData;
use std::ops::Range;

use crownhead_rules::Game;

use self::data::{Boards, Record};
use crate::network::Shape;
use crate::{GameVisitor, HasEngine, HashAllocError, Knowledge, Searchable, StopFlag, visit};

/// A game with a learned evaluation.
pub trait Learnable: Searchable {
    /// Shape of the network.
    const SHAPE: Shape;

    /// The board from the side to move.
    fn boards(&self) -> Boards;

    /// Calls `on_input` with the index of every active input of the network.
    fn inputs(boards: &Boards, on_input: impl FnMut(usize));

    /// Output bucket of a position.
    fn bucket(boards: &Boards) -> usize;

    /// Whether few pieces are left.
    fn is_ending(boards: &Boards) -> bool;

    /// Start position of a self-play game.
    fn training_start(options: &Self::Options, _rng: &mut fastrand::Rng) -> Self {
        Self::start(options)
    }
}

/// Training of one game.
pub trait Trainer: Send + Sync {
    /// Plays self-play games and returns their positions in the order of the games; `None` if
    /// `stop` was set.
    fn play_games(
        &self,
        games: Range<u32>,
        options: &SelfPlayOptions,
        stop: &StopFlag,
    ) -> Result<Option<Vec<Record>>, HashAllocError>;

    /// Shape of the game's network.
    fn shape(&self) -> Shape;

    /// Converts records to inputs of the network.
    fn add_samples(&self, records: &[Record], set: &mut TrainingSet);
}

struct GameTrainer<P: Learnable> {
    options: P::Options,
    knowledge: Knowledge,
    position: PhantomData<fn() -> P>,
}

impl<P: Learnable> Trainer for GameTrainer<P> {
    fn play_games(
        &self,
        games: Range<u32>,
        options: &SelfPlayOptions,
        stop: &StopFlag,
    ) -> Result<Option<Vec<Record>>, HashAllocError> {
        self_play::play_games::<P>(&self.options, &self.knowledge, games, options, stop)
    }

    fn shape(&self) -> Shape {
        P::SHAPE
    }

    fn add_samples(&self, records: &[Record], set: &mut TrainingSet) {
        for record in records {
            set.push(record, P::bucket(&record.boards), |on_input| {
                P::inputs(&record.boards, on_input);
            });
        }
    }
}

/// Creates the trainer of a game for [`Searchable::trainer`].
pub(crate) fn boxed<P: Learnable>(
    options: &P::Options,
    knowledge: &Knowledge,
) -> Option<Box<dyn Trainer>>
where
    P::Options: Send + Sync,
{
    Some(Box::new(GameTrainer::<P> {
        options: options.clone(),
        knowledge: knowledge.clone(),
        position: PhantomData,
    }))
}

/// Creates the trainer of a game; `None` if the game has no learned evaluation.
pub fn trainer(game: &Game, knowledge: &Knowledge) -> Option<Box<dyn Trainer>> {
    struct Create<'a>(&'a Knowledge);
    impl GameVisitor for Create<'_> {
        type Output = Option<Box<dyn Trainer>>;
        fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
            P::trainer(options, self.0)
        }
    }
    visit(game, Create(knowledge))
}
