//! `crownhead moves`: lists the legal moves of a position, with paths and captures.

use std::io::Write;

use crownhead_play::move_words;
use crownhead_rules::{Cell, Game, GameVisitor, MoveList, Notation, Outcome};
use serde_json::{Value, json};

use super::parse_position;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Game, with options: english, contest:kings=true, …
    game: Game,
    /// Position [default: the start position]
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    position: Option<String>,
    /// Moves to play first, for example "1. 11-15 22-18"; explains an illegal one
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true)]
    after: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.game.visit(List(args))
}

struct List<'a>(&'a Args);

/// A legal move. The order of the fields is the order of the list.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    from: Option<Cell>,
    to: Option<Cell>,
    captures: Vec<Cell>,
    path: Vec<Cell>,
    text: String,
}

impl GameVisitor for List<'_> {
    type Output = Result<(), Failure>;

    fn visit<P: Notation>(self, options: &P::Options) -> Self::Output {
        let mut position: P = parse_position(self.0.position.as_deref(), options)?;
        let mut past = Vec::new();
        let after = self.0.after.as_deref().unwrap_or_default();
        for (number, text) in (1..).zip(move_words(after)) {
            let quoted: String = text.chars().take(40).collect();
            let illegal =
                |reason: String| Failure::BadInput(format!("move {number}, {quoted}: {reason}"));
            if let Some(outcome) = position.outcome(&past) {
                return Err(illegal(format!("the game is over: {}", position.describe(outcome))));
            }
            let mv = position.parse_move(text).map_err(|error| illegal(error.to_string()))?;
            past.push(position.key());
            position.play(mv);
        }
        let outcome = position.outcome(&past);
        let mut moves = MoveList::new();
        if outcome.is_none() {
            position.legal_moves(&mut moves);
        }
        let mut rows: Vec<_> = moves
            .iter()
            .map(|&mv| {
                let path = position.path(mv);
                let (from, to) = (path.first().copied(), path.last().copied());
                Row {
                    from,
                    to,
                    captures: position.captures(mv),
                    path,
                    text: position.format_move(mv),
                }
            })
            .collect();
        rows.sort();

        let mut out = std::io::stdout().lock();
        if self.0.json {
            let object = json!({
                "position": position.format_position(),
                "side": P::letter(position.side()).to_string(),
                "outcome": outcome.map(|outcome| outcome_json(&position, outcome)),
                "moves": rows.iter().map(move_json).collect::<Vec<_>>(),
            });
            writeln!(out, "{object}")?;
            return Ok(());
        }
        if let Some(outcome) = outcome {
            writeln!(out, "{}", position.describe(outcome))?;
        }
        for row in &rows {
            writeln!(out, "{}", row.text)?;
        }
        Ok(())
    }
}

fn move_json(row: &Row) -> Value {
    let names = |cells: &[Cell]| cells.iter().map(Cell::to_string).collect::<Vec<_>>();
    json!({
        "text": row.text,
        "from": row.from.map(|cell| cell.to_string()),
        "to": row.to.map(|cell| cell.to_string()),
        "captures": names(&row.captures),
        "path": names(&row.path),
    })
}

fn outcome_json<P: Notation>(position: &P, outcome: Outcome) -> Value {
    json!({
        "winner": outcome.winner.map(|side| P::letter(side).to_string()),
        "reason": outcome.reason.code(),
        "score": outcome.score.map(|(first, second)| [first, second]),
        "text": position.describe(outcome),
    })
}
