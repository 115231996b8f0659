//! The facts about a game that web pages need, as JSON. `docs/api.md` describes it.

use crownhead_rules::{Bits, Cell, Colour, Game, GameInfo, Side};
use serde_json::{Value, json};

use crate::{is_flipped_for, new_session};

/// Returns what a front end needs to know about a game: sides, pieces, squares, targets.
pub fn describe_game(game: &Game) -> Value {
    let info = game.info();
    let board: String =
        new_session(game, None).map(|session| session.board().iter().collect()).unwrap_or_default();
    let squares = info
        .numbered_squares
        .then(|| Cell::all().map(|cell| info.square_number(cell)).collect::<Vec<_>>());
    let sides = [Side::First, Side::Second].map(|side| {
        let flipped = is_flipped_for(game, side);
        let side = info.sides[side.index()];
        let colour = css_colour(side.colour);
        json!({"letter": side.letter, "name": side.name, "colour": colour, "flipped": flipped})
    });
    let options: Vec<_> = info
        .options
        .iter()
        .map(|option| {
            json!({
                "key": option.key,
                "values": option.values,
                "default": option.default,
                "meaning": option.description,
            })
        })
        .collect();
    json!({
        "id": info.id,
        "name": info.name,
        "sides": sides,
        "options": options,
        "start": game.start_position(),
        "board": board,
        "cells": cells(info.cells),
        "pieces": pieces(info),
        "squares": squares,
        "targets": info.targets.map(|targets| targets.map(cells)),
        "forced_capture": info.forced_capture,
        "counts_points": info.counts_points,
    })
}

fn cells(board: u64) -> Value {
    Bits(board).map(|index| Cell::from_index(index).to_string()).collect()
}

/// CSS colour of a side's pieces; `None` for the theme's dark and light pieces.
fn css_colour(colour: Colour) -> Option<&'static str> {
    match colour {
        Colour::Black | Colour::White => None,
        Colour::Red => Some("#b02c22"),
        Colour::Blue => Some("#24569c"),
    }
}

/// The letters on a board: the side and the name of each piece. Kinds after the first are kings.
fn pieces(info: &GameInfo) -> Vec<Value> {
    let mut pieces = Vec::new();
    for side in 0..2 {
        for (index, kind) in info.pieces.iter().enumerate() {
            let (letter, king) = (kind.letters[side], index > 0);
            pieces.push(json!({"letter": letter, "side": side, "name": kind.name, "king": king}));
        }
    }
    pieces
}
