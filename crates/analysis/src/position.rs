//! Best lines of a position.

use std::time::Duration;

use crownhead_play::{Session, move_words, new_session, truncate};
use crownhead_rules::{Game, Side, SideInfo, TableValue};
use crownhead_search::{Knowledge, StopFlag};

use crate::{AnalysisError, AnalysisRequest, Progress, Variation, new_analyst};

/// A position, given by a start position and moves.
#[derive(Clone, Copy, Debug)]
pub struct PositionSpec<'a> {
    /// The game.
    pub game: &'a Game,
    /// Start position; `None` is the game's own.
    pub position: Option<&'a str>,
    /// Moves to play first, as [`move_words`](crownhead_play::move_words()) splits them.
    pub moves: &'a str,
}

/// The analysis of a position.
#[derive(Clone, Debug)]
pub struct PositionAnalysis {
    /// The game.
    pub game: Game,
    /// Names and letters of the sides.
    pub sides: [SideInfo; 2],
    /// Text of the position.
    pub position: String,
    /// Side to move.
    pub side: Side,
    /// Winner and outcome in a sentence, if the game is over.
    pub end: Option<(Option<Side>, String)>,
    /// Value of the position from a table, if the game is not over.
    pub table: Option<TableValue>,
    /// Depth of the last finished iteration.
    pub depth: u32,
    /// Maximum depth reached (selective depth).
    pub seldepth: u32,
    /// Nodes searched.
    pub nodes: u64,
    /// Time searched.
    pub time: Duration,
    /// Best lines, best first; empty if the game is over.
    pub lines: Vec<Variation>,
}

/// Searches a position. `on_progress` is called after every iteration.
pub fn analyse_position(
    spec: &PositionSpec<'_>,
    request: &AnalysisRequest,
    knowledge: &Knowledge,
    stop: &StopFlag,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<PositionAnalysis, AnalysisError> {
    let session = play_moves(spec).map_err(AnalysisError::InvalidInput)?;
    let session = session.as_ref();
    let mut analysis = PositionAnalysis {
        game: spec.game.clone(),
        sides: spec.game.info().sides,
        position: session.position(),
        side: session.side(),
        end: None,
        table: None,
        depth: 0,
        seldepth: 0,
        nodes: 0,
        time: Duration::ZERO,
        lines: Vec::new(),
    };
    if let Some((outcome, text)) = session.outcome().zip(session.outcome_text()) {
        analysis.end = Some((outcome.winner, text));
        return Ok(analysis);
    }
    analysis.table = session.table_value(knowledge);
    let mut analyst = new_analyst(spec.game, request.engine, knowledge)?;
    let found = analyst.search(session, request.limits, request.lines, stop, on_progress);
    let Some(found) = found else { return Ok(analysis) };
    // Iterations finished before the stop flag was set are valid.
    if stop.is_set() && found.depth == 0 {
        return Err(AnalysisError::Interrupted);
    }
    analysis.depth = found.depth;
    analysis.seldepth = found.seldepth;
    analysis.nodes = found.nodes;
    analysis.time = found.time;
    analysis.lines = found.lines;
    Ok(analysis)
}

/// Plays the moves of a spec. Unlike a recorded game, it must not continue after the end.
fn play_moves(spec: &PositionSpec<'_>) -> Result<Box<dyn Session>, String> {
    let mut session = new_session(spec.game, spec.position).map_err(|error| error.to_string())?;
    for (number, text) in (1..).zip(move_words(spec.moves)) {
        let played = match session.outcome_text() {
            Some(outcome) => Err(format!("the game is over: {outcome}")),
            None => session.replay(text).map_err(|error| error.to_string()),
        };
        played.map_err(|error| format!("move {number}, {}: {error}", truncate(text)))?;
    }
    Ok(session)
}
