//! Hands tables that the caller loaded to the search, and describes their values.

use std::cmp::Reverse;
use std::sync::Arc;

use crownhead_rules::{
    Cell, ChineseCheckers, Contest, English, Game, Notation, Side, SoloDistances, TableValue,
};
use crownhead_search::Knowledge;
use crownhead_tables::registry::{TABLES, Table};
use serde_json::{Value, json};

use crate::Session;

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

/// A legal move and the value of the position before it, if this move is played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoveValue {
    /// Text of the move.
    pub text: String,
    /// The value; `None` if no table knows it.
    pub value: Option<TableValue>,
}

/// Returns the legal moves with their values, the best first; none if the game is over.
pub fn move_values(session: &dyn Session, knowledge: &Knowledge) -> Vec<MoveValue> {
    let moves = session.legal_moves().into_iter();
    let mut values: Vec<_> = moves.map(|mv| move_value(session, mv.text, knowledge)).collect();
    values.sort_by_key(|mv| order(mv.value));
    values
}

fn move_value(session: &dyn Session, text: String, knowledge: &Knowledge) -> MoveValue {
    let mut after = session.clone_box();
    let mover = session.side();
    // A listed move is legal.
    let played = after.replay(&text).is_ok();
    let value = match after.outcome() {
        _ if !played => None,
        Some(outcome) => Some(ended(outcome.winner, mover)),
        None => after.table_value(knowledge).map(before),
    };
    MoveValue { text, value }
}

/// Value of a move that ends the game.
fn ended(winner: Option<Side>, mover: Side) -> TableValue {
    match winner {
        None => TableValue::Draw,
        Some(winner) if winner == mover => TableValue::Win { plies: 1 },
        Some(_) => TableValue::Loss { plies: 1 },
    }
}

/// Value of a position if a move to a position of this value is played.
fn before(value: TableValue) -> TableValue {
    match value {
        TableValue::Win { plies } => TableValue::Loss { plies: plies + 1 },
        TableValue::Draw => TableValue::Draw,
        TableValue::Loss { plies } => TableValue::Win { plies: plies + 1 },
        TableValue::AtLeastDraw { plies } => {
            TableValue::AtMostDraw { plies: plies.map(|plies| plies + 1) }
        }
        TableValue::AtMostDraw { plies } => {
            TableValue::AtLeastDraw { plies: plies.map(|plies| plies + 1) }
        }
    }
}

/// The best value first: the shortest win, the longest loss.
fn order(value: Option<TableValue>) -> (u8, u32, Reverse<u32>) {
    let won = |rank, plies: Option<u32>| (rank, plies.unwrap_or(u32::MAX), Reverse(0));
    let lost = |rank, plies: Option<u32>| (rank, 0, Reverse(plies.unwrap_or(0)));
    match value {
        Some(TableValue::Win { plies }) => won(0, Some(plies)),
        Some(TableValue::AtLeastDraw { plies }) => won(1, plies),
        Some(TableValue::Draw) => won(2, None),
        Some(TableValue::AtMostDraw { plies }) => lost(3, plies),
        Some(TableValue::Loss { plies }) => lost(4, Some(plies)),
        None => won(5, None),
    }
}

/// Turns that each side would need alone on the board, in Chinese checkers with the solo table.
pub fn solo_turns(session: &dyn Session, knowledge: &Knowledge) -> Option<[u8; 2]> {
    let info = session.game().info();
    let table = knowledge.get::<dyn SoloDistances>(info.id, "solo")?;
    let board = session.board();
    let turns = |side: Side| {
        let is_own = |cell: &Cell| {
            info.piece(board[cell.index() as usize]).is_some_and(|(owner, _)| owner == side)
        };
        table.turns(Cell::all().filter(is_own).map(Cell::bit).sum(), side)
    };
    Some([turns(Side::First)?, turns(Side::Second)?])
}

/// Describes a position by its exact values as JSON: its own, those of its moves, and the rules
/// they hold for. `None` if no table knows anything about it.
pub fn exact_json(session: &dyn Session, knowledge: &Knowledge) -> Option<Value> {
    if session.outcome().is_some() {
        return None;
    }
    let value = session.table_value(knowledge);
    let values = move_values(session, knowledge);
    let solo = solo_turns(session, knowledge);
    let is_known = value.is_some() || solo.is_some() || knows_any(session, &values);
    let moves = values.iter().map(|mv| {
        let mut object = value_json(session.game(), mv.value);
        object["move"] = mv.text.clone().into();
        object
    });
    let mut object = value_json(session.game(), value);
    object["rules"] = rules_text(session.game()).into();
    object["moves"] = moves.collect();
    object["solo"] = json!(solo);
    is_known.then_some(object)
}

/// Whether a table knows a move that does not end the game.
fn knows_any(session: &dyn Session, values: &[MoveValue]) -> bool {
    values.iter().any(|mv| {
        let mut after = session.clone_box();
        mv.value.is_some() && after.replay(&mv.text).is_ok() && after.outcome().is_none()
    })
}

/// The rules that a value holds for: `English checkers, rules=assignment`.
fn rules_text(game: &Game) -> String {
    let chosen = game.to_string();
    let chosen = chosen.split_once(':').map_or("", |(_, options)| options);
    let mut text = game.info().name.to_string();
    for option in game.info().options {
        let is_own = |given: &&str| given.split_once('=').is_some_and(|(key, _)| key == option.key);
        match chosen.split(',').find(is_own) {
            Some(given) => text.push_str(&format!(", {given}")),
            // The default of some options depends on another option, which the text names.
            None if option.default.contains(' ') => {}
            None => text.push_str(&format!(", {}={}", option.key, option.default)),
        }
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;

    #[test]
    fn rules_of_a_value_name_the_options_in_force() {
        let text = |game: &str| rules_text(&game.parse().unwrap());
        assert_eq!(text("english:rules=wcdf"), "English checkers, rules=wcdf, kings=true");
        assert_eq!(text("contest"), "Contest checkers, draw-plies=10, kings=false");
        assert_eq!(text("contest:draw-plies=20"), "Contest checkers, draw-plies=20, kings=false");
    }
}
