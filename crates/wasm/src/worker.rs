//! Requests of the page and their responses.

use crownhead_analysis::{Analyst, CallConfig, CallError, SearchCall};
use crownhead_play::position_json::{parse_side, position_json};
use crownhead_play::{
    PositionRequest, Session, cells_of_error, named_cells, new_session, position_text,
};
use crownhead_rules::{Cell, Game};
use crownhead_search::{EngineConfig, Knowledge, StopFlag, bench};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::game_tree::{GameTree, read_game, write_game};
use crate::import::import;

/// Size of the hash table, in megabytes. Phones have little memory.
const HASH_MB: usize = 32;

/// The functions that the page provides.
pub trait Host {
    /// Receives a message.
    fn emit(&self, message: &str);
    /// Copies the next bytes of the imported file and returns their number; 0 at the end.
    fn read(&self, buffer: &mut [u8]) -> usize;
}

/// Answers requests, one at a time.
#[derive(Default)]
pub struct Worker {
    /// The engine of the last search; its hash table serves the next one.
    analyst: Option<Box<dyn Analyst>>,
}

#[derive(Deserialize)]
#[serde(tag = "call", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// A position and its legal moves.
    Position { spec: PositionRequest },
    /// Why a move cannot be played.
    Explain { spec: PositionRequest, r#move: String },
    /// A position set up piece by piece.
    SetUp(SetUp),
    /// The first game of a PDN text.
    ReadPdn { text: String },
    /// A game as PDN.
    WritePdn { game: Box<GameTree> },
    /// Summaries of all games of the file that the host reads.
    Import,
    /// The node counts of `crownhead bench`.
    Bench { game: String },
    /// A search.
    #[serde(untagged)]
    Search(SearchCall),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetUp {
    game: String,
    /// The letters of the 64 cells.
    board: String,
    side: String,
    /// Turns played, in games that count them in the position.
    plies: Option<u32>,
}

/// The result of a request as JSON, or `None` if it was stopped.
type Answer = Result<Option<String>, CallError>;

fn answer(value: &Value) -> Answer {
    Ok(Some(value.to_string()))
}

impl Worker {
    /// Answers a request of UTF-8 JSON. Whatever the request is, the last message is a result or an
    /// error.
    pub fn handle(&mut self, request: &[u8], host: &dyn Host) {
        let answer = serde_json::from_slice(request)
            .map_err(CallError::new)
            .and_then(|request| self.answer(request, host));
        host.emit(&match answer {
            Ok(value) => {
                let value = value.as_deref().unwrap_or("null");
                format!("{{\"type\":\"result\",\"value\":{value}}}")
            }
            Err(error) => error.json().to_string(),
        });
    }

    fn answer(&mut self, request: Request, host: &dyn Host) -> Answer {
        match request {
            Request::Position { spec } => {
                Ok(Some(position_json(spec.session()?.as_ref()).map_err(CallError::new)?))
            }
            Request::Explain { spec, r#move } => explain(spec.session()?.as_ref(), &r#move),
            Request::SetUp(set_up) => set_up.answer(),
            Request::ReadPdn { text } => answer(&read_game(&text)?),
            Request::WritePdn { game } => answer(&json!(write_game(&game)?)),
            Request::Import => answer(&import(host)),
            Request::Bench { game } => {
                let game: Game = game.parse().map_err(CallError::new)?;
                let found = bench::bench(&game, 1).map_err(CallError::new)?;
                let seconds = found.time.as_secs_f64();
                answer(&json!({ "nodes": found.nodes, "seconds": seconds }))
            }
            Request::Search(call) => {
                let config = CallConfig {
                    engine: EngineConfig { hash_mb: HASH_MB, ..EngineConfig::default() },
                    knowledge: &Knowledge::default(),
                    max_time: None,
                };
                let mut on_message = |message: Value| host.emit(&message.to_string());
                // The host stops searches; see `abi.rs`.
                let stop = StopFlag::new();
                let found = call.run(&config, &mut self.analyst, &stop, &mut on_message)?;
                Ok(found.map(|value| value.to_string()))
            }
        }
    }
}

fn cell_texts(cells: &[Cell]) -> Vec<String> {
    cells.iter().map(Cell::to_string).collect()
}

fn explain(session: &dyn Session, text: &str) -> Answer {
    let mut tried = session.clone_box();
    let Err(error) = tried.play(text) else { return Ok(None) };
    let cells = cells_of_error(session.game(), &error);
    answer(&json!({ "reason": error.to_string(), "cells": cell_texts(&cells) }))
}

impl SetUp {
    fn answer(&self) -> Answer {
        let game: Game = self.game.parse().map_err(CallError::new)?;
        let letters: Vec<char> = self.board.chars().collect();
        let board = <[char; 64]>::try_from(letters);
        let board = board.map_err(|_| CallError::new("a board has 64 letters"))?;
        let known = |letter: &char| *letter == '.' || game.info().piece(*letter).is_some();
        if let Some(letter) = board.iter().find(|letter| !known(letter)) {
            return Err(CallError::new(format!("{letter:?} is not a piece of this game")));
        }
        let side = parse_side(&game, &self.side);
        let side = side.ok_or_else(|| CallError::new("no such side"))?;
        let position = position_text(&game, &board, side, self.plies.unwrap_or(0));
        let error = new_session(&game, Some(&position)).err().map(|error| error.message);
        let cells = error.as_deref().map_or(Vec::new(), |error| named_cells(&game, error));
        let position = if error.is_none() { position } else { String::new() };
        answer(&json!({ "position": position, "error": error, "cells": cell_texts(&cells) }))
    }
}
