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
/// What one search finds is in the hash table of the next, so stepping through a game is quick.
pub struct Analyst {
    game: Game,
    engine: Box<dyn AnyEngine>,
}

/// An engine with the type of its game erased.
trait AnyEngine: Send {
    fn clear(&mut self);

    fn search(
        &mut self,
        session: &dyn Session,
        limits: SearchLimits,
        lines: usize,
        stop: &StopFlag,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Option<Progress>;
}

impl Analyst {
    /// Creates an engine for a game.
    pub fn new(
        game: &Game,
        config: EngineConfig,
        knowledge: &Knowledge,
    ) -> Result<Analyst, AnalysisError> {
        struct NewEngine<'a>(EngineConfig, &'a Knowledge);
        impl GameVisitor for NewEngine<'_> {
            type Output = Result<Box<dyn AnyEngine>, AnalysisError>;
            fn visit<P: HasEngine>(self, _: &P::Options) -> Self::Output {
                let engine = P::new_engine(self.0, self.1)
                    .map_err(|error| AnalysisError::OutOfMemory(error.to_string()))?;
                Ok(Box::new(TypedEngine::<P>(engine)))
            }
        }
        Ok(Analyst { game: game.clone(), engine: visit(game, NewEngine(config, knowledge))? })
    }

    /// The game and its options.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Forgets earlier searches.
    pub fn clear(&mut self) {
        self.engine.clear();
    }

    /// Searches the current position of a game and returns its best lines; none if the game is
    /// over.
    /// `on_progress` is called after every iteration. A search that is stopped returns the result of
    /// its last iteration. `None` if the session is of another game.
    pub fn search(
        &mut self,
        session: &dyn Session,
        limits: SearchLimits,
        lines: usize,
        stop: &StopFlag,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Option<Progress> {
        // The draw counters of other options would make its stored results wrong.
        if *session.game() != self.game {
            return None;
        }
        self.engine.search(session, limits, lines, stop, on_progress)
    }
}

struct TypedEngine<P: HasEngine>(Box<dyn DynEngine<P>>);

impl<P: HasEngine> AnyEngine for TypedEngine<P> {
    fn clear(&mut self) {
        self.0.clear();
    }

    fn search(
        &mut self,
        session: &dyn Session,
        limits: SearchLimits,
        lines: usize,
        stop: &StopFlag,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Option<Progress> {
        let session = session.as_any().downcast_ref::<TypedSession<P>>()?;
        let (position, multipv) = (session.current(), lines.max(1));
        let history_keys = session.history_keys();
        let request = SearchRequest { position, history_keys, limits, multipv };
        let report = self.0.search(request, stop, &mut |report| {
            on_progress(&Progress::new((0, 1), position, report, MAX_LINE_MOVES));
        });
        Some(Progress::new((1, 1), position, &report, MAX_LINE_MOVES))
    }
}
