//! Looking at positions and at finished games: what each move was worth, and what would have been
//! better.
//!
//! `examine` looks at a position, `analyse` at a recorded game. Both give plain data with texts
//! and boards in it; [`text`], [`json`], [`pdn`] and [`html`] each make one format of it and know
//! nothing of rules or of the search. What a mark and an accuracy mean is settled in
//! `judgement.rs` and told in `docs/analysis.md`.

mod game;
pub mod html;
pub mod json;
mod judgement;
pub mod pdn;
mod position;
pub mod text;

use std::time::Duration;

use crownhead_records::RecordError;
use crownhead_rules::{Cell, Notation, Side};
use crownhead_search::{EngineConfig, PvLine, SearchLimits, SearchReport, Searchable};

pub use game::{End, GameAnalysis, MoveAnalysis, MoveVerdict, SideSummary, analyse_game};
pub use judgement::{Eval, Judgement};
pub use position::{PositionAnalysis, PositionSpec, analyse_position};

/// How to search.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnalysisRequest {
    /// When the search of one position ends.
    pub limits: SearchLimits,
    /// Threads and memory.
    pub settings: EngineConfig,
    /// How many best lines to find for a position; 0 is taken as 1.
    pub lines: usize,
}

/// The analysis of a file of games.
#[derive(Clone, Debug)]
pub struct FileAnalysis {
    /// What the file is called.
    pub file: String,
    /// When the search of one position ended.
    pub limits: SearchLimits,
    /// The games, in the order of the file.
    pub games: Vec<GameAnalysis>,
    /// The games that could not be read.
    pub errors: Vec<RecordError>,
}

/// Why there is no analysis.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The flag was raised before it was finished.
    #[error("the analysis was interrupted")]
    Interrupted,
    /// There is no memory for the hash table.
    #[error("{0}")]
    NoMemory(String),
    /// A position or a move is refused.
    #[error("{0}")]
    BadInput(String),
}

/// A move on the board, and the board after it.
#[derive(Clone, Debug)]
pub struct MoveStep {
    /// The move.
    pub text: String,
    /// The cells it touches down on; none for a pass.
    pub path: Vec<Cell>,
    /// The cells it takes pieces from.
    pub captures: Vec<Cell>,
    /// The letters of the 64 cells after it.
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

/// A line that could be played.
#[derive(Clone, Debug)]
pub struct Variation {
    /// What the position it starts from is worth if it is played.
    pub worth: Eval,
    /// The moves.
    pub steps: Vec<MoveStep>,
}

impl Variation {
    /// At most `longest` moves of a line.
    fn new<P: Notation>(position: &P, moves: &[P::Move], worth: Eval, longest: usize) -> Variation {
        let mut position = position.clone();
        let step = |&mv| {
            let step = MoveStep::new(&position, mv);
            position.play(mv);
            step
        };
        Variation { worth, steps: moves.iter().take(longest).map(step).collect() }
    }

    /// The texts of its moves with blanks between, at most `longest` of them.
    pub fn moves_text(&self, longest: usize) -> String {
        let mut text: Vec<_> =
            self.steps.iter().take(longest).map(|step| step.text.as_str()).collect();
        if self.steps.len() > longest {
            text.push("…");
        }
        text.join(" ")
    }
}

/// How far an analysis is, for somebody who waits.
#[derive(Debug)]
pub struct Progress {
    /// Positions done and to be done.
    pub positions: (usize, usize),
    /// The depth of the last finished iteration.
    pub depth: u32,
    /// The longest line looked at.
    pub deepest: u32,
    /// Positions the search looked at.
    pub nodes: u64,
    /// Time the search took.
    pub time: Duration,
    /// How full the hash table is, in thousandths.
    pub fullness: u32,
    /// The best lines.
    pub lines: Vec<Variation>,
}

impl Progress {
    fn new<P: Searchable>(
        positions: (usize, usize),
        position: &P,
        report: &SearchReport<P>,
        longest: usize,
    ) -> Progress {
        Progress {
            positions,
            depth: report.depth,
            deepest: report.seldepth,
            nodes: report.nodes,
            time: report.time,
            fullness: report.hashfull,
            lines: variations(position, &report.lines, longest),
        }
    }
}

/// The lines that a search found.
fn variations<P: Searchable>(position: &P, lines: &[PvLine<P>], longest: usize) -> Vec<Variation> {
    let side = position.side();
    let variation = |line: &PvLine<P>| {
        Variation::new(position, &line.moves, Eval::new(line.score, side), longest)
    };
    lines.iter().map(variation).collect()
}

/// The worth of a position whose game is over.
fn ended(winner: Option<Side>) -> Eval {
    winner.map_or(Eval::Drawn, |winner| Eval::Win { winner, plies: 0 })
}
