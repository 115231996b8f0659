//! The tables that a command uses.

use crownhead_play::{Knowledge, knowledge::from_tables};
use crownhead_rules::Game;
use crownhead_tables::registry;

/// Loads the tables of a game. The second part is a warning for the user if one is missing.
pub fn load_knowledge(game: &Game) -> (Knowledge, Option<String>) {
    let (tables, warning) = registry::load(game.info().id);
    (from_tables(&tables), warning)
}
