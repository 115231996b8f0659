//! Engines behind trait objects.
//!
//! The generic search is large. If every crate above instantiated it, each of them would compile it
//! again. So it is instantiated once per game, here: [`HasEngine`] has an implementation for each
//! position type, and its methods return trait objects.

use crownhead_rules::Position;

use crate::textbook::{DynTextbook, TextbookEngine};
use crate::{
    Engine, EngineConfig, Evaluator, HashAllocError, Knowledge, SearchReport, SearchRequest,
    Searchable, StopFlag,
};

/// An [`Engine`] with any evaluator.
pub trait DynEngine<P: Position>: Send {
    /// Clears the transposition table and the history.
    fn clear(&mut self);

    /// Searches until a limit is reached, `stop` is set or the result is proved. Calls
    /// `on_iteration` after every complete iteration.
    fn search(
        &mut self,
        request: SearchRequest<'_, P>,
        stop: &StopFlag,
        on_iteration: &mut dyn FnMut(&SearchReport<P>),
    ) -> SearchReport<P>;
}

impl<P: Searchable, E: Evaluator<P> + 'static> DynEngine<P> for Engine<P, E> {
    fn clear(&mut self) {
        self.clear();
    }

    fn search(
        &mut self,
        request: SearchRequest<'_, P>,
        stop: &StopFlag,
        on_iteration: &mut dyn FnMut(&SearchReport<P>),
    ) -> SearchReport<P> {
        self.search(request, stop, on_iteration)
    }
}

/// A game whose searches are compiled in this crate.
pub trait HasEngine: Searchable {
    /// Creates an engine with the game's evaluator.
    fn new_engine(
        config: EngineConfig,
        knowledge: &Knowledge,
    ) -> Result<Box<dyn DynEngine<Self>>, HashAllocError>;

    /// Creates plain minimax and alpha-beta with the game's textbook evaluator.
    fn new_textbook(knowledge: &Knowledge) -> Box<dyn DynTextbook<Self>>;
}

/// Instantiates the searches of all games. The implementations are not generic, so this crate
/// compiles them; `inline(never)` keeps them from being compiled elsewhere too.
macro_rules! instantiate {
    ($($name:ident: $search:ident,)*) => {$(
        impl HasEngine for crownhead_rules::$name {
            #[inline(never)]
            fn new_engine(
                config: EngineConfig,
                knowledge: &Knowledge,
            ) -> Result<Box<dyn DynEngine<Self>>, HashAllocError> {
                Ok(Box::new(Engine::<Self>::new(config, knowledge)?))
            }

            #[inline(never)]
            fn new_textbook(knowledge: &Knowledge) -> Box<dyn DynTextbook<Self>> {
                Box::new(TextbookEngine::new(Self::textbook_evaluator(knowledge)))
            }
        }
    )*};
}

crownhead_rules::for_each_game!(instantiate);
