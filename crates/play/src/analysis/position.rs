//! One position: its best lines.

use std::time::Duration;

use crownhead_rules::{Game, Side, SideInfo};
use crownhead_search::{GameVisitor, HasEngine, Knowledge, SearchRequest, StopFlag, visit};

use super::{AnalysisError, AnalysisRequest, Progress, Variation, variations};

/// A position as a person names it.
#[derive(Clone, Copy, Debug)]
pub struct PositionSpec<'a> {
    /// The game.
    pub game: &'a Game,
    /// The text of a position, if it is not the start.
    pub position: Option<&'a str>,
    /// Moves that are played first, with blanks between them.
    pub moves: &'a str,
}

/// What was found about a position.
#[derive(Clone, Debug)]
pub struct PositionAnalysis {
    /// The game.
    pub game: Game,
    /// How its sides are called.
    pub sides: [SideInfo; 2],
    /// The position.
    pub position: String,
    /// Who is to move.
    pub side: Side,
    /// How the game ended, if it is over: who won, and a sentence.
    pub end: Option<(Option<Side>, String)>,
    /// The depth of the last finished iteration.
    pub depth: u32,
    /// The longest line looked at.
    pub deepest: u32,
    /// Positions looked at.
    pub nodes: u64,
    /// Time it took.
    pub time: Duration,
    /// The best lines, the best first; none if the game is over.
    pub lines: Vec<Variation>,
}

/// Lines are not shown longer: what a search says about plies so far away is mostly chance.
const LONGEST: usize = 24;

/// Searches a position. `heard` is told of every finished iteration.
pub fn analyse_position(
    place: &PositionSpec<'_>,
    request: &AnalysisRequest,
    knowledge: &Knowledge,
    stop: &StopFlag,
    heard: &mut dyn FnMut(&Progress),
) -> Result<PositionAnalysis, AnalysisError> {
    visit(place.game, Examination { place, request, knowledge, stop, heard })
}

struct Examination<'a> {
    place: &'a PositionSpec<'a>,
    request: &'a AnalysisRequest,
    knowledge: &'a Knowledge,
    stop: &'a StopFlag,
    heard: &'a mut dyn FnMut(&Progress),
}

impl GameVisitor for Examination<'_> {
    type Output = Result<PositionAnalysis, AnalysisError>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
        let Examination { place, request, knowledge, stop, heard } = self;
        let mut position = match place.position {
            Some(text) => P::parse_position(text, options)
                .map_err(|error| AnalysisError::BadInput(error.to_string()))?,
            None => P::start(options),
        };
        let mut past = Vec::new();
        for (number, text) in (1..).zip(place.moves.split_whitespace()) {
            let refused = |why: String| {
                let shown: String = text.chars().take(40).collect();
                AnalysisError::BadInput(format!("move {number}, {shown}: {why}"))
            };
            if let Some(outcome) = position.outcome(&past) {
                return Err(refused(format!("the game is over: {}", position.describe(outcome))));
            }
            let mv =
                position.parse_recorded_move(text).map_err(|error| refused(error.to_string()))?;
            past.push(position.key());
            position.play(mv);
        }
        let mut analysis = PositionAnalysis {
            game: place.game.clone(),
            sides: P::SIDES,
            position: position.format_position(),
            side: position.side(),
            end: None,
            depth: 0,
            deepest: 0,
            nodes: 0,
            time: Duration::ZERO,
            lines: Vec::new(),
        };
        if let Some(outcome) = position.outcome(&past) {
            analysis.end = Some((outcome.winner, position.describe(outcome)));
            return Ok(analysis);
        }
        let mut engine = P::new_engine(request.settings, knowledge)
            .map_err(|error| AnalysisError::NoMemory(error.to_string()))?;
        let task = SearchRequest {
            position: &position,
            history_keys: &past,
            limits: request.limits,
            multipv: request.lines.max(1),
        };
        let report = engine.search(task, stop, &mut |report| {
            heard(&Progress::new((0, 1), &position, report, LONGEST));
        });
        // What was found before the flag was raised is as good as ever.
        if stop.is_set() && report.depth == 0 {
            return Err(AnalysisError::Interrupted);
        }
        analysis.depth = report.depth;
        analysis.deepest = report.seldepth;
        analysis.nodes = report.nodes;
        analysis.time = report.time;
        analysis.lines = variations(&position, &report.lines, LONGEST);
        Ok(analysis)
    }
}
