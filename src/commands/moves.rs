//! `crownhead moves`: the legal moves of a position, with paths and captures.

use std::io::Write;

use crownhead_rules::{Cell, Game, GameVisitor, MoveList, Notation, Outcome};
use serde_json::{Value, json};

use super::{Failure, position};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The game, with options if wanted: english, contest:kings=true, …
    game: Game,
    /// The position to look at instead of the start
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    position: Option<String>,
    /// Moves to play first, with blanks between them; a move that is refused is explained
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true)]
    after: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.game.visit(List(arguments))
}

struct List<'a>(&'a Arguments);

/// One legal move in all its forms. Moves are listed in the order of start, end and captures.
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
        let mut position: P = position(self.0.position.as_deref(), options)?;
        let mut past = Vec::new();
        for (number, text) in
            (1..).zip(self.0.after.iter().flat_map(|text| text.split_whitespace()))
        {
            let shown: String = text.chars().take(40).collect();
            let refused = |why: String| Failure::BadInput(format!("move {number}, {shown}: {why}"));
            if let Some(outcome) = position.outcome(&past) {
                return Err(refused(format!("the game is over: {}", position.describe(outcome))));
            }
            let mv = position.parse_move(text).map_err(|error| refused(error.to_string()))?;
            past.push(position.key());
            position.play(mv);
        }
        let outcome = position.outcome(&past);
        let mut moves = MoveList::new();
        if outcome.is_none() {
            position.legal_moves(&mut moves); // a finished game has none
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
