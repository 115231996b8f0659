//! Analysis of positions and recorded games, and hints.
//!
//! [`analyse_position`] finds the best lines of a position, [`analyse_game`] judges every move of a
//! game. Both return plain data; [`text`], [`json`] and [`pdn`] format it and know neither rules
//! nor search. `judgement.rs` defines judgements and accuracy, `docs/analysis.md` explains them.

mod analyst;
mod call;
mod game;
mod game_search;
mod hint;
pub mod json;
mod judgement;
pub mod pdn;
mod position;
mod puzzle;
pub mod text;

use std::time::Duration;

use crownhead_records::RecordError;
use crownhead_rules::{Cell, Notation, Side};
use crownhead_search::{PvLine, SearchLimits, SearchReport, Searchable};

pub use analyst::{Analyst, new_analyst};
pub use call::{CallConfig, CallError, CallLimits, SearchCall};
pub use crownhead_play::Eval;
pub use crownhead_search::EngineConfig;
pub use game::{
    GameAnalysis, GameEnd, MoveAnalysis, MoveVerdict, SideSummary, analyse_game, judge_game,
};
pub use game_search::{SearchedGame, search_game};
pub use hint::{
    HINT_PLAYER, Hint, Reason, ReasonKind, hint, hint_reason, hint_reasons, reasons_text,
};
pub use judgement::Judgement;
pub use position::{PositionAnalysis, PositionSpec, analyse_position};
pub use puzzle::{Goal, MAX_GRADE, Puzzle, PuzzleMaker, PuzzleNodes};

/// How to search.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnalysisRequest {
    /// Limits of the search of one position.
    pub limits: SearchLimits,
    /// Threads and memory.
    pub engine: EngineConfig,
    /// Number of best lines per position; 0 means 1.
    pub lines: usize,
}

/// The analysis of a file of games.
#[derive(Clone, Debug)]
pub struct FileAnalysis {
    /// Name of the file.
    pub file: String,
    /// Limits of the search of one position.
    pub limits: SearchLimits,
    /// Games, in file order.
    pub games: Vec<GameAnalysis>,
    /// Games that could not be read.
    pub errors: Vec<RecordError>,
}

/// Why an analysis failed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The stop flag was set.
    #[error("the analysis was interrupted")]
    Interrupted,
    /// Not enough memory for the hash table.
    #[error("{0}")]
    OutOfMemory(String),
    /// A position or a move is invalid.
    #[error("{0}")]
    InvalidInput(String),
}

/// A move and the board after it.
#[derive(Clone, Debug)]
pub struct MoveStep {
    /// Text of the move.
    pub text: String,
    /// Cells it visits; empty for a pass.
    pub path: Vec<Cell>,
    /// Cells of the captured pieces.
    pub captures: Vec<Cell>,
    /// Letters of the 64 cells after it.
    pub board: String,
}

impl MoveStep {
    fn new<P: Notation>(position: &P, mv: P::Move) -> MoveStep {
        MoveStep {
            text: position.format_move(mv),
            path: position.path(mv),
            captures: position.captures(mv),
            board: board_text(&position.after(mv)),
        }
    }
}

fn board_text<P: Notation>(position: &P) -> String {
    position.board().iter().collect()
}

/// A line of moves with its evaluation.
#[derive(Clone, Debug)]
pub struct Variation {
    /// Evaluation of the line.
    pub eval: Eval,
    /// Moves.
    pub steps: Vec<MoveStep>,
}

impl Variation {
    /// Keeps the first `max_moves` moves of a line.
    fn new<P: Notation>(
        position: &P,
        moves: &[P::Move],
        eval: Eval,
        max_moves: usize,
    ) -> Variation {
        let mut position = position.clone();
        let step = |&mv| {
            let step = MoveStep::new(&position, mv);
            position.play(mv);
            step
        };
        Variation { eval, steps: moves.iter().take(max_moves).map(step).collect() }
    }

    /// Returns the first `max_moves` moves, separated by spaces.
    pub fn moves_text(&self, max_moves: usize) -> String {
        let mut texts: Vec<_> =
            self.steps.iter().take(max_moves).map(|step| step.text.as_str()).collect();
        if self.steps.len() > max_moves {
            texts.push("…");
        }
        texts.join(" ")
    }
}

/// Progress of an analysis.
#[derive(Debug)]
pub struct Progress {
    /// Positions done, and positions in total.
    pub positions: (usize, usize),
    /// Depth of the last finished iteration.
    pub depth: u32,
    /// Maximum depth reached (selective depth).
    pub seldepth: u32,
    /// Nodes searched.
    pub nodes: u64,
    /// Nodes decided by a table instead of a search.
    pub table_hits: u64,
    /// Time searched.
    pub time: Duration,
    /// Occupancy of the hash table, in permille.
    pub hashfull: u32,
    /// Best lines.
    pub lines: Vec<Variation>,
}

impl Progress {
    fn new<P: Searchable>(
        positions: (usize, usize),
        position: &P,
        report: &SearchReport<P>,
        max_moves: usize,
    ) -> Progress {
        Progress {
            positions,
            depth: report.depth,
            seldepth: report.seldepth,
            nodes: report.nodes,
            table_hits: report.table_hits,
            time: report.time,
            hashfull: report.hashfull,
            lines: variations(position, &report.lines, max_moves),
        }
    }
}

/// Converts the lines of a search report.
fn variations<P: Searchable>(
    position: &P,
    lines: &[PvLine<P>],
    max_moves: usize,
) -> Vec<Variation> {
    let side = position.side();
    let variation = |line: &PvLine<P>| {
        Variation::new(position, &line.moves, Eval::new(line.score, side), max_moves)
    };
    lines.iter().map(variation).collect()
}

/// Returns the evaluation of a finished game.
fn final_eval(winner: Option<Side>) -> Eval {
    winner.map_or(Eval::Drawn, |winner| Eval::Win { winner, plies: 0 })
}
