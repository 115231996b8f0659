//! Requests of the web page for searches, as JSON. The engine in the page and the server both run
//! them.

use std::time::Duration;

use crownhead_play::{Knowledge, PositionRequest, RequestError, Session};
use crownhead_records::{GameRecord, Line, Ply};
use crownhead_rules::{Cell, Game};
use crownhead_search::{EngineConfig, SearchLimits, StopFlag};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    AnalysisError, AnalysisRequest, Analyst, Progress, analyse_game, hint, json, new_analyst,
};

/// Maximum number of lines.
const MAX_LINES: usize = 5;
/// Maximum time of a search in seconds: longer than any page stays open.
const MAX_SECONDS: f64 = 1e6;
/// Searches per move that the time of a report allows for. Reports rarely need more.
const SEARCHES_PER_MOVE: u32 = 2;

/// A request for a search.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "call", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SearchCall {
    /// The best lines of a position.
    Search {
        /// The position.
        spec: PositionRequest,
        /// Number of lines.
        lines: usize,
        /// When to stop.
        limits: CallLimits,
    },
    /// A judgement of every move of a game.
    Report {
        /// The start position and the moves.
        spec: PositionRequest,
        /// Limits of the search of one position.
        limits: CallLimits,
    },
    /// A move to play, with reasons.
    Hint {
        /// The position.
        spec: PositionRequest,
    },
}

/// Limits of a search.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallLimits {
    /// Seconds.
    pub seconds: Option<f64>,
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Number of nodes.
    pub nodes: Option<u64>,
}

/// Why a request was refused, in a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallError {
    /// The reason.
    pub message: String,
    /// Index of the move that cannot be played.
    pub at: Option<usize>,
    /// The cells that the message names.
    pub cells: Vec<Cell>,
}

impl CallError {
    /// An error without details.
    pub fn new(message: impl ToString) -> CallError {
        CallError { message: message.to_string(), at: None, cells: Vec::new() }
    }

    /// The message that ends a request.
    pub fn json(&self) -> Value {
        let cells: Vec<_> = self.cells.iter().map(Cell::to_string).collect();
        json!({ "type": "error", "message": self.message, "at": self.at, "cells": cells })
    }
}

impl From<RequestError> for CallError {
    fn from(error: RequestError) -> CallError {
        let message = error.to_string();
        match error {
            RequestError::Move { at, cells, .. } => CallError { message, at: Some(at), cells },
            _ => CallError::new(message),
        }
    }
}

/// Engine settings, tables and time limit of a call.
#[derive(Debug)]
pub struct CallConfig<'a> {
    /// Threads and memory.
    pub engine: EngineConfig,
    /// The tables.
    pub knowledge: &'a Knowledge,
    /// Maximum time; a report may take a little longer.
    pub max_time: Option<Duration>,
}

impl SearchCall {
    /// The start and the moves.
    pub fn spec(&self) -> &PositionRequest {
        match self {
            SearchCall::Search { spec, .. }
            | SearchCall::Report { spec, .. }
            | SearchCall::Hint { spec } => spec,
        }
    }

    /// Searches. `on_message` gets a message of type `info` or `progress` now and then. Returns the
    /// result, or `None` if it was stopped before there was one.
    ///
    /// `analyst` keeps the engine for the next call.
    pub fn run(
        &self,
        config: &CallConfig<'_>,
        analyst: &mut Option<Box<dyn Analyst>>,
        stop: &StopFlag,
        on_message: &mut dyn FnMut(Value),
    ) -> Result<Option<Value>, CallError> {
        let session = self.spec().session()?;
        let session = session.as_ref();
        let answered = match self {
            SearchCall::Search { lines, limits, .. } => {
                let analyst = config.analyst(session.game(), analyst)?;
                let sides = session.game().info().sides;
                let mut on_progress =
                    |progress: &Progress| on_message(json::info(progress, &sides, false));
                let limits = limits.capped(config.max_time);
                let lines = (*lines).clamp(1, MAX_LINES);
                let found = analyst.search(session, limits, lines, stop, &mut on_progress);
                Ok(found.map(|found| json::info(&found, &sides, true)))
            }
            SearchCall::Report { limits, .. } => {
                let positions = session.plies() as u32 + 1;
                let share = config.max_time.map(|time| time / positions / SEARCHES_PER_MOVE);
                let limits = limits.capped(share);
                report(session, config, limits, stop, on_message).map(Some)
            }
            SearchCall::Hint { .. } => {
                let analyst = config.analyst(session.game(), analyst)?;
                hint(session, analyst, stop).map(|hint| hint.as_ref().map(json::hint))
            }
        };
        match answered {
            Err(AnalysisError::Interrupted) => Ok(None),
            answered => answered.map_err(CallError::new),
        }
    }
}

impl CallConfig<'_> {
    fn analyst<'b>(
        &self,
        game: &Game,
        analyst: &'b mut Option<Box<dyn Analyst>>,
    ) -> Result<&'b mut dyn Analyst, CallError> {
        let last = analyst.take().filter(|analyst| analyst.game() == game);
        let next = last.map_or_else(|| new_analyst(game, self.engine, self.knowledge), Ok);
        Ok(analyst.insert(next.map_err(CallError::new)?).as_mut())
    }
}

impl CallLimits {
    fn capped(self, max_time: Option<Duration>) -> SearchLimits {
        let seconds = self.seconds.map(|seconds| seconds.clamp(0.0, MAX_SECONDS));
        let times = [seconds.map(Duration::from_secs_f64), max_time];
        SearchLimits {
            depth: self.depth,
            nodes: self.nodes,
            hard_time: times.into_iter().flatten().min(),
            ..SearchLimits::default()
        }
    }
}

fn report(
    session: &dyn Session,
    config: &CallConfig<'_>,
    limits: SearchLimits,
    stop: &StopFlag,
    on_message: &mut dyn FnMut(Value),
) -> Result<Value, AnalysisError> {
    let mut record = GameRecord::new(session.game().clone());
    record.start = Some(session.start());
    let plies = session.moves().into_iter().map(Ply::new).collect();
    record.line = Line { comment: None, plies };
    let request = AnalysisRequest { limits, engine: config.engine, lines: 1 };
    let mut last = None;
    let mut on_progress = |progress: &Progress| {
        let (done, total) = progress.positions;
        if last.replace(done) != Some(done) {
            on_message(json!({ "type": "progress", "done": done, "total": total }));
        }
    };
    let analysis = analyse_game(&record, 1, &request, config.knowledge, stop, &mut on_progress)?;
    Ok(json::game(&analysis))
}
