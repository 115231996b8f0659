//! Best lines of a position.

use std::time::Duration;

use crownhead_play::{Session, TypedSession, move_words, truncate};
use crownhead_rules::{Game, Side, SideInfo, TableValue};
use crownhead_search::{
    GameVisitor, HasEngine, Knowledge, SearchRequest, Searchable, StopFlag, visit,
};

use crate::{AnalysisError, AnalysisRequest, Progress, Variation, variations};

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

/// Maximum number of moves per line. Later moves of a line are mostly noise.
const MAX_LINE_MOVES: usize = 24;

/// Searches a position. `on_progress` is called after every iteration.
pub fn analyse_position(
    spec: &PositionSpec<'_>,
    request: &AnalysisRequest,
    knowledge: &Knowledge,
    stop: &StopFlag,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<PositionAnalysis, AnalysisError> {
    visit(spec.game, PositionVisitor { spec, request, knowledge, stop, on_progress })
}

struct PositionVisitor<'a> {
    spec: &'a PositionSpec<'a>,
    request: &'a AnalysisRequest,
    knowledge: &'a Knowledge,
    stop: &'a StopFlag,
    on_progress: &'a mut dyn FnMut(&Progress),
}

impl GameVisitor for PositionVisitor<'_> {
    type Output = Result<PositionAnalysis, AnalysisError>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
        let PositionVisitor { spec, request, knowledge, stop, on_progress } = self;
        let session = play_moves::<P>(spec, options).map_err(AnalysisError::InvalidInput)?;
        let position = session.current();
        let mut analysis = PositionAnalysis {
            game: spec.game.clone(),
            sides: P::SIDES,
            position: position.format_position(),
            side: position.side(),
            end: None,
            table: None,
            depth: 0,
            seldepth: 0,
            nodes: 0,
            time: Duration::ZERO,
            lines: Vec::new(),
        };
        if let Some(outcome) = session.outcome() {
            analysis.end = Some((outcome.winner, position.describe(outcome)));
            return Ok(analysis);
        }
        analysis.table = knowledge.value(position);
        let mut engine = P::new_engine(request.engine, knowledge)
            .map_err(|error| AnalysisError::OutOfMemory(error.to_string()))?;
        let search_request = SearchRequest {
            position,
            history_keys: session.history_keys(),
            limits: request.limits,
            multipv: request.lines.max(1),
        };
        let report = engine.search(search_request, stop, &mut |report| {
            on_progress(&Progress::new((0, 1), position, report, MAX_LINE_MOVES));
        });
        // Iterations finished before the stop flag was set are valid.
        if stop.is_set() && report.depth == 0 {
            return Err(AnalysisError::Interrupted);
        }
        analysis.depth = report.depth;
        analysis.seldepth = report.seldepth;
        analysis.nodes = report.nodes;
        analysis.time = report.time;
        analysis.lines = variations(position, &report.lines, MAX_LINE_MOVES);
        Ok(analysis)
    }
}

/// Plays the moves of a spec. Unlike a recorded game, it must not continue after the end.
fn play_moves<P: Searchable>(
    spec: &PositionSpec<'_>,
    options: &P::Options,
) -> Result<TypedSession<P>, String> {
    let position = match spec.position {
        Some(text) => P::parse_position(text, options).map_err(|error| error.to_string())?,
        None => P::start(options),
    };
    let mut session = TypedSession::<P>::new(spec.game.clone(), position);
    for (number, text) in (1..).zip(move_words(spec.moves)) {
        let played = match session.outcome_text() {
            Some(outcome) => Err(format!("the game is over: {outcome}")),
            None => session.replay(text).map_err(|error| error.to_string()),
        };
        played.map_err(|error| format!("move {number}, {}: {error}", truncate(text)))?;
    }
    Ok(session)
}
