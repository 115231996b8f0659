//! Analyses as JSON, documented in `docs/analysis.md`. An incompatible change increments
//! [`VERSION`].

use crownhead_play::knowledge::value_json;
use crownhead_rules::{Cell, Side, SideInfo};
use crownhead_search::SearchLimits;
use serde_json::{Value, json};

use crate::{
    Eval, FileAnalysis, GameAnalysis, Hint, Judgement, MoveAnalysis, MoveStep, PositionAnalysis,
    Progress, Reason, Variation, reasons_text,
};

/// Version of the format.
pub const VERSION: u32 = 1;

/// Formats the analysis of a position.
pub fn position(analysis: &PositionAnalysis, limits: &SearchLimits) -> Value {
    let sides = &analysis.sides;
    json!({
        "version": VERSION,
        "limits": limits_object(limits),
        "game": analysis.game.to_string(),
        "position": analysis.position,
        "side": letter(sides, analysis.side),
        "end": analysis.end.as_ref().map(|(winner, text)| end(sides, *winner, text)),
        "table": analysis.table.map(|value| value_json(&analysis.game, Some(value))),
        "depth": analysis.depth,
        "seldepth": analysis.seldepth,
        "nodes": analysis.nodes,
        "seconds": analysis.time.as_secs_f64(),
        "lines": lines(&analysis.lines, sides),
    })
}

/// Formats the state of a search for the page. `done` is set at its end.
pub fn info(progress: &Progress, sides: &[SideInfo; 2], done: bool) -> Value {
    let cells = |cells: &[Cell]| cells.iter().map(Cell::to_string).collect::<Vec<_>>();
    let step = |step: &MoveStep| {
        json!({
            "text": step.text,
            "path": cells(&step.path),
            "captures": cells(&step.captures),
            "board": step.board,
        })
    };
    let line = |line: &Variation| {
        json!({
            "eval": eval_object(line.eval, sides),
            "moves": line.steps.iter().map(step).collect::<Vec<_>>(),
        })
    };
    json!({
        "type": "info",
        "depth": progress.depth,
        "seldepth": progress.seldepth,
        "nodes": progress.nodes,
        "seconds": progress.time.as_secs_f64(),
        "hashfull": progress.hashfull,
        "table_hits": progress.table_hits,
        "lines": progress.lines.iter().map(line).collect::<Vec<_>>(),
        "done": done,
    })
}

/// Formats a hint: the piece, the move, and the reasons, joined and one by one.
pub fn hint(hint: &Hint) -> Value {
    let cells = |cells: &[Cell]| cells.iter().map(Cell::to_string).collect::<Vec<_>>();
    let reason = |reason: &Reason| {
        let code = reason.kind.code();
        json!({ "kind": code, "text": reason.text, "cells": cells(&reason.cells) })
    };
    json!({
        "piece": hint.step.path.first().map(Cell::to_string),
        "move": hint.step.text,
        "reason": reasons_text(&hint.reasons),
        "reasons": hint.reasons.iter().map(reason).collect::<Vec<_>>(),
    })
}

/// Formats the analysis of a file of games.
pub fn file(analysis: &FileAnalysis) -> Value {
    let error = |error: &crownhead_records::RecordError| {
        json!({
            "game": error.game,
            "line": error.line,
            "column": error.column,
            "message": error.message,
        })
    };
    json!({
        "version": VERSION,
        "limits": limits_object(&analysis.limits),
        "file": analysis.file,
        "games": analysis.games.iter().map(game).collect::<Vec<_>>(),
        "errors": analysis.errors.iter().map(error).collect::<Vec<_>>(),
    })
}

fn limits_object(limits: &SearchLimits) -> Value {
    json!({
        "seconds": limits.hard_time.map(|time| time.as_secs_f64()),
        "depth": limits.depth,
        "nodes": limits.nodes,
    })
}

/// Formats the analysis of a game.
pub fn game(analysis: &GameAnalysis) -> Value {
    let sides = &analysis.sides;
    let tags: serde_json::Map<_, _> =
        analysis.record.tags.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "number": analysis.number,
        "game": analysis.record.game.to_string(),
        "tags": tags,
        "result": analysis.record.result.text(),
        "start": analysis.start,
        "eval": eval_object(analysis.eval, sides),
        "sides": [summary(analysis, Side::First), summary(analysis, Side::Second)],
        "turning_point": analysis.turning_point.map(|index| index + 1),
        "end": analysis.end.as_ref().map(|game_end| {
            let mut object = end(sides, game_end.winner, &game_end.text);
            object["ply"] = game_end.plies.into();
            object
        }),
        "moves": analysis
            .moves
            .iter()
            .enumerate()
            .map(|(index, played)| move_object(analysis, index, played))
            .collect::<Vec<_>>(),
    })
}

fn summary(analysis: &GameAnalysis, side: Side) -> Value {
    let summary = &analysis.summaries[side.index()];
    let [inaccuracies, mistakes, blunders] = summary.judgements;
    json!({
        "letter": letter(&analysis.sides, side),
        "name": analysis.sides[side.index()].name,
        "player": analysis.player(side),
        "moves": summary.moves,
        "counted_moves": summary.counted_moves,
        "accuracy": summary.accuracy,
        "mean_loss": summary.mean_loss,
        "inaccuracies": inaccuracies,
        "mistakes": mistakes,
        "blunders": blunders,
    })
}

fn move_object(analysis: &GameAnalysis, index: usize, played: &MoveAnalysis) -> Value {
    let sides = &analysis.sides;
    let mut object = json!({
        "ply": index + 1,
        "number": analysis.move_number(index),
        "side": letter(sides, played.side),
        "move": played.step.text,
        "position": played.position,
        "before": eval_object(played.before, sides),
        "after": eval_object(played.after, sides),
        "loss": played.loss,
        "verdict": played.verdict.code(),
        "mark": played.verdict.judgement().map(Judgement::symbol),
        "better": played.better.as_ref().map(|better| line(better, sides)),
        "depth": played.depth,
    });
    if !played.lines.is_empty() {
        object["lines"] = lines(&played.lines, sides);
    }
    object
}

fn lines(lines: &[Variation], sides: &[SideInfo; 2]) -> Value {
    lines.iter().map(|variation| line(variation, sides)).collect::<Vec<_>>().into()
}

fn line(variation: &Variation, sides: &[SideInfo; 2]) -> Value {
    json!({
        "eval": eval_object(variation.eval, sides),
        "moves": variation.steps.iter().map(|step| step.text.as_str()).collect::<Vec<_>>(),
    })
}

/// Formats an evaluation.
pub fn eval_object(eval: Eval, sides: &[SideInfo; 2]) -> Value {
    let (points, winner, plies) = match eval {
        Eval::Points(points) => (Some(points), None, None),
        Eval::Win { winner, plies } => (None, Some(letter(sides, winner)), Some(plies)),
        Eval::Drawn => (Some(0), None, Some(0)),
    };
    json!({
        "points": points,
        "winner": winner,
        "plies": plies,
        "expected": eval.expected_score(),
        "text": eval.text(sides),
    })
}

fn end(sides: &[SideInfo; 2], winner: Option<Side>, text: &str) -> Value {
    json!({ "winner": winner.map(|side| letter(sides, side)), "text": text })
}

fn letter(sides: &[SideInfo; 2], side: Side) -> String {
    sides[side.index()].letter.to_string()
}
