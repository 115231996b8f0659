//! Where exact knowledge comes from: `tables` has it, `search` asks for it, and neither knows the
//! other.

use std::sync::Arc;

use crownhead_rules::{ChineseCheckers, Game, Notation, Side};
use crownhead_search::{Knowledge, SoloDistances};
use crownhead_tables::SoloTable;

/// The solo table as the search asks for it.
struct Distances(SoloTable);

impl SoloDistances for Distances {
    fn turns(&self, pieces: u64, side: Side) -> Option<u8> {
        self.0.turns(pieces, side)
    }
}

/// What there is to know about a game, and a sentence for the user if something is missing:
/// play goes on without it.
pub fn knowledge_for(game: &Game) -> (Knowledge, Option<String>) {
    if game.info().id != ChineseCheckers::ID {
        return (Knowledge::default(), None);
    }
    match SoloTable::open_default() {
        Ok(Some(table)) => (Knowledge { solo: Some(Arc::new(Distances(table))) }, None),
        Ok(None) => {
            let missing = "play and analysis are weaker without the table of Chinese checkers; \
                           `crownhead tables build chinese-checkers` builds it";
            (Knowledge::default(), Some(missing.into()))
        }
        Err(error) => {
            let missing = format!("play and analysis are weaker without a table: {error}");
            (Knowledge::default(), Some(missing))
        }
    }
}
