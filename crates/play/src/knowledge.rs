//! Hands tables that the caller loaded to the search.

use std::sync::Arc;

use crownhead_rules::{ChineseCheckers, Notation, SoloDistances};
use crownhead_search::Knowledge;
use crownhead_tables::registry::Table;

/// Makes loaded tables available to searches and evaluators.
///
/// Callers that use files get the tables of a game from `crownhead_tables::registry::load`.
pub fn from_tables(tables: &[Table]) -> Knowledge {
    let mut knowledge = Knowledge::default();
    for table in tables {
        match table {
            Table::Solo(table) => {
                let distances: Arc<dyn SoloDistances> = Arc::clone(table) as _;
                knowledge.insert(ChineseCheckers::ID, "solo", distances);
                knowledge.insert_probe::<ChineseCheckers>("solo", Arc::clone(table) as _);
            }
        }
    }
    knowledge
}
