//! The strongest player: the search at full strength, and the opening book.

use std::time::Duration;

use crownhead_search::{DynEngine, EngineConfig, HasEngine, Knowledge, SearchRequest, StopFlag};

use super::{choice, limits, only_move, typed};
use crate::book::Book;
use crate::{Choice, Clock, GameStart, Player, PlayerError, PlayerOptions, Session};

pub(crate) struct Best<P: HasEngine> {
    engine: Box<dyn DynEngine<P>>,
    options: PlayerOptions,
    book: Option<&'static Book<'static>>,
    /// Chooses among the moves of the book.
    rng: fastrand::Rng,
}

/// Time per move without a clock and without options that limit the search.
const DEFAULT_MOVE_TIME: Duration = Duration::from_secs(1);

impl<P: HasEngine> Best<P> {
    pub(crate) fn new(
        options: PlayerOptions,
        knowledge: &Knowledge,
        book: Option<&'static Book<'static>>,
    ) -> Result<Best<P>, PlayerError> {
        let default = EngineConfig::default();
        let config = EngineConfig {
            threads: options.threads.map_or(default.threads, usize::from),
            hash_mb: options.hash.map_or(default.hash_mb, |hash| hash as usize),
            contempt: P::contempt(),
            params: options.params,
            ..default
        };
        let engine = P::new_engine(config, knowledge);
        let engine = engine.map_err(|error| PlayerError::OutOfMemory(error.to_string()))?;
        Ok(Best { engine, options, book, rng: fastrand::Rng::with_seed(0) })
    }
}

impl<P: HasEngine> Player for Best<P> {
    fn start_game(&mut self, start: &GameStart<'_>, _: &StopFlag) {
        self.engine.clear();
        self.rng = fastrand::Rng::with_seed(start.seed);
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &StopFlag,
        on_info: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        let game = typed::<P>(game)?;
        if let Some(choice) = only_move(game)? {
            return Ok(choice);
        }
        let position = game.current();
        let book_moves = self.book.map(|book| book.moves(position)).unwrap_or_default();
        if let Some(mv) = self.rng.choice(book_moves) {
            return Ok(Choice::from_text(position.format_move(mv)));
        }
        let mut limits = limits(&self.options, clock);
        if limits.hard_time.is_none() && limits.nodes.is_none() && limits.cpu_time.is_none() {
            limits.hard_time = Some(DEFAULT_MOVE_TIME);
        }
        let history_keys = game.history_keys();
        let request = SearchRequest { position, history_keys, limits, multipv: 1 };
        let report = self.engine.search(request, stop, &mut |report| {
            on_info(choice(position, report, 0));
        });
        if report.lines.is_empty() {
            return Err(PlayerError::GameOver);
        }
        Ok(choice(position, &report, 0))
    }
}
