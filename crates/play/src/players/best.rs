//! The strongest player: the search, with all the time there is.

use std::time::Duration;

use crownhead_search::{DynEngine, EngineConfig, HasEngine, Knowledge, SearchRequest, StopFlag};

use super::{choice, limits, typed, without_thought};
use crate::{Choice, Clock, Player, PlayerError, PlayerOptions, Session};

pub(crate) struct Best<P: HasEngine> {
    engine: Box<dyn DynEngine<P>>,
    options: PlayerOptions,
}

/// How long it thinks where neither a clock nor an option says anything.
const THOUGHT: Duration = Duration::from_secs(1);

impl<P: HasEngine> Best<P> {
    pub(crate) fn new(
        options: PlayerOptions,
        knowledge: &Knowledge,
    ) -> Result<Best<P>, PlayerError> {
        let usual = EngineConfig::default();
        let settings = EngineConfig {
            threads: options.threads.map_or(usual.threads, usize::from),
            hash_mb: options.hash.map_or(usual.hash_mb, |hash| hash as usize),
            contempt: P::contempt(),
            ..usual
        };
        let engine = P::new_engine(settings, knowledge);
        let engine = engine.map_err(|error| PlayerError::OutOfMemory(error.to_string()))?;
        Ok(Best { engine, options })
    }
}

impl<P: HasEngine> Player for Best<P> {
    fn new_game(&mut self, _seed: u64) {
        self.engine.clear();
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &StopFlag,
        heard: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        let game = typed::<P>(game)?;
        if let Some(choice) = without_thought(game)? {
            return Ok(choice);
        }
        let mut limits = limits(&self.options, clock);
        if limits.hard_time.is_none() && limits.nodes.is_none() {
            limits.hard_time = Some(THOUGHT);
        }
        let position = game.current();
        let task = SearchRequest { position, history_keys: game.past(), limits, multipv: 1 };
        let report = self.engine.search(task, stop, &mut |report| {
            heard(choice(position, report, 0));
        });
        if report.lines.is_empty() {
            return Err(PlayerError::GameOver);
        }
        Ok(choice(position, &report, 0))
    }
}
