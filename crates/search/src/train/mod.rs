//! Training of learned evaluations: data from self-play games, a network fitted to it, and a match.
//!
//! [`Trainer::play_games`] plays games and collects quiet positions, each with the search's score
//! and the result of the game; [`data`] is their file format. [`fit()`] trains a network on them.
//! [`Trainer::play_match`] shows whether the network is stronger. All three are reproducible: the
//! same seed gives the same data, the same network and, with a node limit, the same games.

pub mod data;
mod fit;
mod matches;
mod self_play;

pub use fit::{Epoch, FitOptions, FloatNetwork, TrainingSet, fit};
pub use matches::{MatchError, MatchOptions, PairResult};
pub use self_play::SelfPlayOptions;

use std::marker::PhantomData;
use std::ops::Range;

use crownhead_rules::Game;

use self::data::{Boards, Record};
use self::fit::Terms;
use self::matches::Matches;
use crate::network::{NetworkError, Shape};
use crate::{
    Evaluator, GameVisitor, HasEngine, HashAllocError, Knowledge, Score, Searchable, StopFlag,
    visit,
};

/// A game with a learned evaluation.
pub trait Learnable: Searchable {
    /// The evaluator with a network.
    type Learned: Evaluator<Self> + Clone + 'static;

    /// Shape of the network.
    const SHAPE: Shape;
    /// With fewer plies left before a draw counter ends the game, scores fade to zero.
    const FADE_PLIES: u32;

    /// Creates the evaluator with the network of a file.
    fn learned(file: &[u8], knowledge: &Knowledge) -> Result<Self::Learned, NetworkError>;

    /// The board from the side to move.
    fn boards(&self, evaluator: &Self::Evaluator) -> Boards;

    /// Score that the output of the network is added to.
    fn base(_boards: &Boards) -> Score {
        0
    }

    /// Whether boards are possible. The inputs are undefined for others.
    fn are_valid(&[own, other, _]: &Boards) -> bool {
        own & other == 0
    }

    /// Calls `on_input` with the index of every active input of the network.
    fn inputs(boards: &Boards, on_input: impl FnMut(usize));

    /// Output bucket of a position.
    fn bucket(boards: &Boards) -> usize;

    /// The mirror image, if the rules are symmetric: the network learns it too.
    fn mirrored(_boards: &Boards) -> Option<Boards> {
        None
    }

    /// Whether few pieces are left; see [`SelfPlayOptions`].
    fn is_ending(&self) -> bool {
        false
    }

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

    /// Whether boards are possible in this game: data of an untrusted machine may hold others.
    fn are_valid(&self, boards: &Boards) -> bool;

    /// Converts records to inputs of the network.
    fn add_samples(&self, records: &[Record], set: &mut TrainingSet);

    /// Plays pairs of games between two networks; `None` stands for the game's own evaluator.
    /// Returns the results for the first one in the order of the pairs, or `None` if `stop` was
    /// set.
    fn play_match(
        &self,
        networks: [Option<&[u8]>; 2],
        pairs: Range<u32>,
        options: &MatchOptions,
        stop: &StopFlag,
    ) -> Result<Option<Vec<PairResult>>, MatchError>;
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

    fn are_valid(&self, boards: &Boards) -> bool {
        P::are_valid(boards)
    }

    fn add_samples(&self, records: &[Record], set: &mut TrainingSet) {
        for record in records {
            let Record { boards, plies_left, .. } = record;
            let scale = u32::from(*plies_left).min(P::FADE_PLIES) as f32 / P::FADE_PLIES as f32;
            let terms = Terms { bucket: P::bucket(boards), base: P::base(boards), scale };
            for boards in [Some(*boards), P::mirrored(boards)].into_iter().flatten() {
                set.push(record, terms, |on_input| P::inputs(&boards, on_input));
            }
        }
    }

    fn play_match(
        &self,
        [first, second]: [Option<&[u8]>; 2],
        pairs: Range<u32>,
        options: &MatchOptions,
        stop: &StopFlag,
    ) -> Result<Option<Vec<PairResult>>, MatchError> {
        let learned = |file: &[u8], player| {
            P::learned(file, &self.knowledge).map_err(|error| MatchError::Network(player, error))
        };
        let current = || P::evaluator(&self.knowledge);
        let (rules, knowledge) = (&self.options, &self.knowledge);
        let matches = Matches { rules, knowledge, pairs, options, stop };
        match (first, second) {
            (None, None) => matches.play(current, current),
            (None, Some(second)) => {
                let second = learned(second, 1)?;
                matches.play(current, || second.clone())
            }
            (Some(first), None) => {
                let first = learned(first, 0)?;
                matches.play(|| first.clone(), current)
            }
            (Some(first), Some(second)) => {
                let (first, second) = (learned(first, 0)?, learned(second, 1)?);
                matches.play(|| first.clone(), || second.clone())
            }
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
