//! Hands tables that the caller loaded to the search.

use std::sync::Arc;

use crownhead_rules::{ChineseCheckers, Game, Notation, SoloDistances};
use crownhead_search::Knowledge;
use crownhead_tables::registry::{self, Table};

/// Makes loaded tables available to searches and evaluators.
pub fn from_tables(tables: &[Table]) -> Knowledge {
    let mut knowledge = Knowledge::default();
    for table in tables {
        if let Table::Solo(table) = table {
            let distances: Arc<dyn SoloDistances> = Arc::clone(table) as _;
            knowledge.insert(ChineseCheckers::ID, "solo", distances);
            knowledge.insert_probe::<ChineseCheckers>("solo", Arc::clone(table) as _);
        }
    }
    knowledge
}

/// Loads the tables of a game. The second part is a warning for the user if one is missing: play
/// goes on without it.
pub fn knowledge_for(game: &Game) -> (Knowledge, Option<String>) {
    let (tables, warning) = registry::load(game.info().id);
    (from_tables(&tables), warning)
}
