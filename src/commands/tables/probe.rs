//! `crownhead tables probe`: lists the legal moves of a position by their exact values.

use std::cmp::Reverse;
use std::io::Write;

use crownhead_play::knowledge::{value_json, value_text};
use crownhead_play::{Knowledge, Session, new_session};
use crownhead_rules::{Game, Side, TableValue};

use super::tables_for;
use crate::failure::Failure;
use crate::knowledge::load_knowledge;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Game, with options
    game: Game,
    /// Position
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    position: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A legal move and the value of the position before it, if this move is played.
struct Row {
    text: String,
    value: Option<TableValue>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let id = args.game.info().id;
    tables_for(&args.game)?;
    let session = new_session(&args.game, Some(&args.position))
        .map_err(|error| Failure::BadInput(error.to_string()))?;
    if let Some(outcome) = session.outcome_text() {
        return Err(Failure::BadInput(format!("the game is over: {outcome}")));
    }
    let knowledge = load_knowledge(&args.game).0;
    let value = session.table_value(&knowledge).ok_or_else(|| missing(id))?;
    let mut rows: Vec<_> =
        session.legal_moves().into_iter().map(|mv| row(&*session, &mv.text, &knowledge)).collect();
    rows.sort_by_key(|row| order(row.value));
    let mut out = std::io::stdout().lock();
    if args.json {
        let moves = rows.iter().map(|row| {
            let mut object = value_json(&args.game, row.value);
            object["move"] = row.text.clone().into();
            object
        });
        let mut object = value_json(&args.game, Some(value));
        object["position"] = session.position().into();
        object["side"] = args.game.info().sides[session.side().index()].letter.to_string().into();
        object["moves"] = moves.collect();
        writeln!(out, "{object}")?;
        return Ok(());
    }
    let side = args.game.info().sides[session.side().index()].name;
    writeln!(out, "{side} {}", value_text(&args.game, value))?;
    for Row { text, value } in &rows {
        let value = value.map_or("unknown".into(), |value| value_text(&args.game, value));
        writeln!(out, "{text} {value}")?;
    }
    Ok(())
}

/// Error for a position without an exact value.
fn missing(id: &str) -> Failure {
    Failure::BadInput(format!(
        "no table contains this position; `crownhead tables list` shows which tables are built, \
         `crownhead tables build {id}` builds those of {id}"
    ))
}

fn row(session: &dyn Session, text: &str, knowledge: &Knowledge) -> Row {
    let mut after = session.clone_box();
    let mover = session.side();
    // A listed move is legal.
    let played = after.replay(text).is_ok();
    let value = match after.outcome() {
        _ if !played => None,
        Some(outcome) => Some(ended(outcome.winner, mover)),
        None => after.table_value(knowledge).map(before),
    };
    Row { text: text.into(), value }
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
