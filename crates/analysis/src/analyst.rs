//! Searches of positions of one game that share a hash table.

use crownhead_play::{Session, TypedSession};
use crownhead_rules::Game;
use crownhead_search::{
    DynEngine, EngineConfig, GameVisitor, HasEngine, Knowledge, SearchLimits, SearchRequest,
    StopFlag, visit,
};

use crate::{AnalysisError, Progress};

/// Maximum number of moves per line. Later moves of a line are mostly noise.
const MAX_LINE_MOVES: usize = 24;

/// Searches positions of one game, one after the other.
///
/// Each search starts with the hash table of the previous one, so stepping through a game is quick.
pub trait Analyst: Send {
    /// The game and its options.
    fn game(&self) -> &Game;

    /// Forgets earlier searches.
    fn clear(&mut self);

    /// Searches the current position of a game and returns its best lines; none if the game is
    /// over. Calls `on_progress` after every iteration. A search that is stopped returns the result
    /// of its last iteration. `None` if the session is of another game.
    fn search(
        &mut self,
        session: &dyn Session,
        limits: SearchLimits,
        lines: usize,
        stop: &StopFlag,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Option<Progress>;
}

/// Creates an engine for a game.
pub fn new_analyst(
    game: &Game,
    config: EngineConfig,
    knowledge: &Knowledge,
) -> Result<Box<dyn Analyst>, AnalysisError> {
    struct NewAnalyst<'a>(&'a Game, EngineConfig, &'a Knowledge);
    impl GameVisitor for NewAnalyst<'_> {
        type Output = Result<Box<dyn Analyst>, AnalysisError>;
        fn visit<P: HasEngine>(self, _: &P::Options) -> Self::Output {
            let NewAnalyst(game, config, knowledge) = self;
            let engine = P::new_engine(config, knowledge)
                .map_err(|error| AnalysisError::OutOfMemory(error.to_string()))?;
            Ok(Box::new(TypedAnalyst::<P> { game: game.clone(), engine }))
        }
    }
    visit(game, NewAnalyst(game, config, knowledge))
}

struct TypedAnalyst<P: HasEngine> {
    game: Game,
    engine: Box<dyn DynEngine<P>>,
}

impl<P: HasEngine> Analyst for TypedAnalyst<P> {
    fn game(&self) -> &Game {
        &self.game
    }

    fn clear(&mut self) {
        self.engine.clear();
    }

    fn search(
        &mut self,
        session: &dyn Session,
        limits: SearchLimits,
        lines: usize,
        stop: &StopFlag,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Option<Progress> {
        // The draw counters of other options would make the stored results wrong.
        if *session.game() != self.game {
            return None;
        }
        let session = session.as_any().downcast_ref::<TypedSession<P>>()?;
        let (position, multipv) = (session.current(), lines.max(1));
        let history_keys = session.history_keys();
        let request = SearchRequest { position, history_keys, limits, multipv };
        let report = self.engine.search(request, stop, &mut |report| {
            on_progress(&Progress::new((0, 1), position, report, MAX_LINE_MOVES));
        });
        Some(Progress::new((1, 1), position, &report, MAX_LINE_MOVES))
    }
}
