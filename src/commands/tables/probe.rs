//! `crownhead tables probe`: lists the legal moves of a position by their exact values.

use std::io::Write;

use crownhead_play::knowledge::{MoveValue, move_values, value_json, value_text};
use crownhead_play::new_session;
use crownhead_rules::Game;

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
    let rows = move_values(&*session, &knowledge);
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
    for MoveValue { text, value } in &rows {
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
