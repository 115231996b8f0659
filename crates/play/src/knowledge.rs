//! Hands tables that the caller loaded to the search, and describes their values.

use std::sync::Arc;

use crownhead_rules::{
    ChineseCheckers, Contest, English, Game, Notation, SoloDistances, TableValue,
};
use crownhead_search::Knowledge;
use crownhead_tables::registry::{TABLES, Table};
use serde_json::{Value, json};

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
            Table::Endgame(table) => {
                knowledge.insert_probe::<English>("endgames", Arc::clone(table) as _);
            }
            Table::Contest(table) => {
                knowledge.insert_probe::<Contest>("endgames", Arc::clone(table) as _);
            }
        }
    }
    knowledge
}

/// Plies of a win or loss, unless the table of the game knows only an upper bound.
fn exact_plies(game: &Game, plies: u32) -> Option<u32> {
    let has_distances = TABLES.iter().any(|info| info.has_distances && info.is_for(game));
    has_distances.then_some(plies)
}

/// Describes a value for the side to move: `wins in 23 plies`, `draws`.
pub fn value_text(game: &Game, value: TableValue) -> String {
    let within = |plies: Option<u32>| match plies {
        Some(1) => " in 1 ply".into(),
        Some(plies) => format!(" in {plies} plies"),
        None => String::new(),
    };
    match value {
        TableValue::Win { plies } => format!("wins{}", within(exact_plies(game, plies))),
        TableValue::Draw => "draws".into(),
        TableValue::Loss { plies } => format!("loses{}", within(exact_plies(game, plies))),
        TableValue::AtLeastDraw { plies } => {
            format!("wins{} unless a draw counter ends the game first", within(plies))
        }
        TableValue::AtMostDraw { plies } => {
            format!("loses{} unless a draw counter ends the game first", within(plies))
        }
    }
}

/// Formats a value for the side to move as JSON; `docs/tables.md` describes the keys.
pub fn value_json(game: &Game, value: Option<TableValue>) -> Value {
    let (result, plies, proved) = match value {
        Some(TableValue::Win { plies }) => (Some("win"), exact_plies(game, plies), true),
        Some(TableValue::Draw) => (Some("draw"), None, true),
        Some(TableValue::Loss { plies }) => (Some("loss"), exact_plies(game, plies), true),
        Some(TableValue::AtLeastDraw { plies }) => (Some("win"), plies, false),
        Some(TableValue::AtMostDraw { plies }) => (Some("loss"), plies, false),
        None => (None, None, false),
    };
    json!({ "result": result, "plies": plies, "proved": proved })
}
