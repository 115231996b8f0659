//! A game with variations, comments and scores: PDN and the tree of the page.
//!
//! The tree is a list in which every move names the move before it. A nested form would let a
//! hostile file choose the depth of a recursion.

use std::collections::BTreeMap;

use crownhead_analysis::CallError;
use crownhead_analysis::json::eval_object;
use crownhead_play::Eval;
use crownhead_play::position_json::parse_side;
use crownhead_records::{
    EvalScore, GameRecord, GameResult, Line, MoveData, MoveEval, Ply, Reader, format_game,
};
use crownhead_rules::{Game, Side};
use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum nesting depth of variations, as in PDN files.
const MAX_DEPTH: usize = 32;
/// Maximum number of moves.
const MAX_MOVES: usize = 20_000;

/// A game as the page sends it.
#[derive(Deserialize)]
pub(crate) struct GameTree {
    game: String,
    position: Option<String>,
    comment: Option<String>,
    tags: Vec<(String, String)>,
    moves: Vec<TreeMove>,
    result: String,
}

#[derive(Deserialize)]
struct TreeMove {
    /// Index of the move before it. The first of several moves with the same one is the main line.
    parent: Option<usize>,
    r#move: String,
    comment: Option<String>,
    #[serde(default)]
    nags: Vec<u8>,
    eval: Option<TreeEval>,
}

#[derive(Deserialize)]
struct TreeEval {
    points: Option<i32>,
    winner: Option<String>,
    plies: Option<u32>,
}

/// Reads the first game of a PDN text.
pub(crate) fn read_game(text: &str) -> Result<Value, CallError> {
    let record = Reader::new(text.as_bytes()).next();
    let record = record.ok_or_else(|| CallError::new("the text contains no game"))?;
    let record = record.map_err(CallError::new)?;
    let mut moves = Vec::new();
    push_line(&mut moves, &record, &record.line, None);
    Ok(json!({
        "game": record.game.to_string(),
        "position": record.start,
        "comment": record.line.comment,
        "tags": record.tags,
        "moves": moves,
        "result": record.result.text(),
    }))
}

/// Appends the moves of a line. The reader limits the depth of variations.
fn push_line(moves: &mut Vec<Value>, record: &GameRecord, line: &Line, parent: Option<usize>) {
    let sides = &record.game.info().sides;
    let mut parent = parent;
    // The comment before a variation belongs to its first move.
    let mut before = line.comment.as_deref().filter(|_| parent.is_some() || !moves.is_empty());
    for ply in &line.plies {
        if moves.len() >= MAX_MOVES {
            return;
        }
        let (mut data, rest) = MoveData::split(ply.comment.as_deref().unwrap_or_default());
        let eval = data.eval.take().and_then(eval_of);
        let comment = joined(&[before.take().unwrap_or_default(), &data.to_string(), &rest]);
        let index = moves.len();
        moves.push(json!({
            "parent": parent,
            "move": ply.text,
            "comment": comment,
            "nags": ply.nags,
            "eval": eval.map(|eval| eval_object(eval, sides)),
        }));
        for variation in &ply.variations {
            push_line(moves, record, variation, parent);
        }
        parent = Some(index);
    }
}

/// Joins the parts of a comment that are not empty.
fn joined(parts: &[&str]) -> Option<String> {
    let parts: Vec<_> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The evaluation in a file. `#0` does not say who has won.
fn eval_of(eval: MoveEval) -> Option<Eval> {
    match eval.score {
        EvalScore::Points(points) => Some(Eval::Points(points)),
        EvalScore::WinIn(0) => None,
        EvalScore::WinIn(moves) => {
            let winner = if moves > 0 { Side::First } else { Side::Second };
            Some(Eval::Win { winner, plies: moves.unsigned_abs().saturating_mul(2) - 1 })
        }
    }
}

/// Writes a game as PDN.
pub(crate) fn write_game(tree: &GameTree) -> Result<String, CallError> {
    let game: Game = tree.game.parse().map_err(CallError::new)?;
    if tree.moves.len() > MAX_MOVES {
        return Err(CallError::new(format!("more than {MAX_MOVES} moves")));
    }
    let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (index, mv) in tree.moves.iter().enumerate() {
        // A move after itself would never end.
        if mv.parent.is_some_and(|parent| parent >= index) {
            return Err(CallError::new("a move comes before the move that leads to it"));
        }
        children.entry(mv.parent).or_default().push(index);
    }
    let writer = TreeWriter { tree, game: &game, children };
    let mut record = GameRecord::new(game.clone());
    record.tags.clone_from(&tree.tags);
    record.start.clone_from(&tree.position);
    record.result = GameResult::parse(&tree.result).unwrap_or_default();
    record.line = writer.line(None, None, 0)?;
    record.line.comment.clone_from(&tree.comment);
    format_game(&record).map_err(CallError::new)
}

struct TreeWriter<'a> {
    tree: &'a GameTree,
    game: &'a Game,
    children: BTreeMap<Option<usize>, Vec<usize>>,
}

impl TreeWriter<'_> {
    /// The line after `parent`, or the one that begins with `first` there.
    fn line(
        &self,
        parent: Option<usize>,
        first: Option<usize>,
        depth: usize,
    ) -> Result<Line, CallError> {
        if depth > MAX_DEPTH {
            let message = format!("variations are nested more than {MAX_DEPTH} deep");
            return Err(CallError::new(message));
        }
        let mut line = Line::default();
        let (mut parent, mut next) = (parent, first);
        loop {
            let siblings = self.children.get(&parent).map_or(&[][..], Vec::as_slice);
            let is_first = next.is_none();
            let Some(index) = next.take().or(siblings.first().copied()) else { return Ok(line) };
            let mut ply = self.ply(index);
            // A variation begins with a sibling, and has no siblings of its own there.
            if is_first {
                for &sibling in siblings.iter().skip(1) {
                    ply.variations.push(self.line(parent, Some(sibling), depth + 1)?);
                }
            }
            line.plies.push(ply);
            parent = Some(index);
        }
    }

    fn ply(&self, index: usize) -> Ply {
        let mv = &self.tree.moves[index];
        let eval = mv.eval.as_ref().and_then(|eval| self.score(eval));
        let eval = eval.map(|score| MoveEval { score, depth: None });
        let data = MoveData { eval, ..MoveData::default() }.to_string();
        let comment = joined(&[&data, mv.comment.as_deref().unwrap_or_default()]);
        Ply { nags: mv.nags.clone(), comment, ..Ply::new(mv.r#move.clone()) }
    }

    fn score(&self, eval: &TreeEval) -> Option<EvalScore> {
        if let Some(points) = eval.points {
            return Some(EvalScore::Points(points));
        }
        let winner = parse_side(self.game, eval.winner.as_deref()?)?;
        Some(Eval::Win { winner, plies: eval.plies? }.record())
    }
}
