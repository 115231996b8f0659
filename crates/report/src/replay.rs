//! Games in the compact form that the viewer replays. It knows no rules: it moves pieces along
//! paths.
//!
//! A cell is one character of [`CELLS`]. A move is the cells of its path, then `.` and the cells of
//! the captured pieces, then `=` and pairs of a cell and its letter for everything else that
//! changed, such as a crowned piece. Moves are separated by spaces.

use std::collections::BTreeMap;

use crownhead_analysis::{
    Eval, GameAnalysis, Judgement, MoveStep, MoveVerdict, SideSummary, Variation, text,
};
use crownhead_play::replay::{ReplayedPosition, positions};
use crownhead_rules::{Cell, Game, Side};
use serde::Serialize;

use crate::data::round_to;

/// Characters of the 64 cells, row 1 first.
const CELLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A game to replay.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Replay {
    /// Letters of the 64 cells at the start; `None` for the start position of the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Side to move first: 0 or 1.
    pub side: usize,
    /// Texts of the moves, separated by spaces.
    pub moves: String,
    /// The moves on the board.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub paths: String,
    /// Comments by number of plies played.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub comments: BTreeMap<usize, String>,
    /// Analysis of the moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis: Option<ReplayAnalysis>,
}

/// The analysis of a game to replay. Evaluations are from the view of the side that moves first in
/// the game.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReplayAnalysis {
    /// Evaluations of all positions, as text.
    pub evals: Vec<String>,
    /// Expected scores of all positions, 0 to 1.
    pub expected: Vec<f64>,
    /// A letter per move: `b` best, `f` fine, `o` the only move, `e` after the end, `i` inaccuracy,
    /// `m` mistake, `x` blunder.
    pub verdicts: String,
    /// The marked moves.
    pub mistakes: Vec<Mistake>,
    /// Best lines before a move, by its number of plies, if more than one was requested.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lines: BTreeMap<usize, Vec<Line>>,
    /// Number of plies after the move at which the game turned.
    pub turning_point: Option<usize>,
    /// The turning point in a sentence.
    pub turning_text: String,
    /// How each side played.
    pub sides: [SideAnalysis; 2],
}

/// An inaccuracy, mistake or blunder.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mistake {
    /// Number of plies after it.
    pub ply: usize,
    /// `?!`, `?` or `??`.
    pub mark: &'static str,
    /// What it cost, in a sentence.
    pub text: String,
    /// The better line.
    pub better: Option<Line>,
}

/// A line of moves.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Line {
    /// Evaluation, as text.
    pub eval: String,
    /// Texts of the moves.
    pub moves: String,
    /// The moves on the board.
    pub paths: String,
}

/// How one side played.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SideAnalysis {
    /// Mean accuracy, 0 to 1.
    pub accuracy: Option<f64>,
    /// Mean loss of expected score.
    pub mean_loss: Option<f64>,
    /// Inaccuracies, mistakes and blunders.
    pub judgements: [usize; 3],
    /// Number of moves.
    pub moves: usize,
    /// Number of moves that count for the accuracy.
    pub counted_moves: usize,
}

impl Replay {
    /// Replays a game without analysis. Also returns the positions.
    pub fn new(
        game: &Game,
        start: Option<&str>,
        moves: &[&str],
    ) -> Result<(Replay, Vec<ReplayedPosition>), String> {
        let positions = positions(game, start, moves)?;
        let mut path = PathWriter::new(positions[0].board.to_vec());
        for position in &positions[1..] {
            path.add(&position.path, &position.captures, &position.board);
        }
        let replay = Replay {
            board: start.map(|_| positions[0].board.iter().collect()),
            side: positions[0].side.index(),
            moves: moves.join(" "),
            paths: path.text,
            comments: BTreeMap::new(),
            analysis: None,
        };
        Ok((replay, positions))
    }

    /// Replays an analysed game.
    pub fn from_analysis(analysis: &GameAnalysis) -> Replay {
        let line = &analysis.record.line;
        let mut comments = BTreeMap::new();
        let recorded = line.plies.iter().map(|ply| ply.comment.as_ref());
        for (ply, comment) in std::iter::once(line.comment.as_ref()).chain(recorded).enumerate() {
            if let Some(comment) = comment {
                comments.insert(ply, comment.clone());
            }
        }
        let steps = || analysis.moves.iter().map(|played| &played.step);
        let (moves, paths) = write_steps(&analysis.board, steps());
        Replay {
            board: Some(analysis.board.clone()),
            side: analysis.side.index(),
            moves,
            paths,
            comments,
            analysis: Some(ReplayAnalysis::new(analysis)),
        }
    }
}

impl ReplayAnalysis {
    /// Converts an analysis.
    pub fn new(analysis: &GameAnalysis) -> ReplayAnalysis {
        let evals = || {
            let after = analysis.moves.iter().map(|played| played.after);
            std::iter::once(analysis.eval).chain(after)
        };
        let sides = &analysis.sides;
        let line = |board: &str, variation: &Variation| {
            let (moves, paths) = write_steps(board, variation.steps.iter());
            Line { eval: variation.eval.text(sides), moves, paths }
        };
        let mut board = &analysis.board;
        let (mut verdicts, mut mistakes) = (String::new(), Vec::new());
        let mut lines = BTreeMap::new();
        for (played, ply) in analysis.moves.iter().zip(1..) {
            verdicts.push(verdict_letter(played.verdict));
            if let Some(judgement) = played.verdict.judgement() {
                mistakes.push(Mistake {
                    ply,
                    mark: judgement.symbol(),
                    text: text::verdict_sentence(played),
                    better: played.better.as_ref().map(|better| line(board, better)),
                });
            }
            if !played.lines.is_empty() {
                lines.insert(ply, played.lines.iter().map(|other| line(board, other)).collect());
            }
            board = &played.step.board;
        }
        ReplayAnalysis {
            evals: evals().map(|eval| eval.text(sides)).collect(),
            expected: evals().map(|eval| round_to(eval.expected_score(), 4)).collect(),
            verdicts,
            mistakes,
            lines,
            turning_point: analysis.turning_point.map(|index| index + 1),
            turning_text: text::turning_sentence(analysis),
            sides: analysis.summaries.map(SideAnalysis::new),
        }
    }
}

impl SideAnalysis {
    fn new(summary: SideSummary) -> SideAnalysis {
        SideAnalysis {
            accuracy: summary.accuracy.map(|accuracy| round_to(accuracy, 4)),
            mean_loss: summary.mean_loss.map(|loss| round_to(loss, 4)),
            judgements: summary.judgements,
            moves: summary.moves,
            counted_moves: summary.counted_moves,
        }
    }
}

const fn verdict_letter(verdict: MoveVerdict) -> char {
    match verdict {
        MoveVerdict::AfterTheEnd => 'e',
        MoveVerdict::Forced => 'o',
        MoveVerdict::Best => 'b',
        MoveVerdict::Fine => 'f',
        MoveVerdict::Judged(Judgement::Inaccuracy) => 'i',
        MoveVerdict::Judged(Judgement::Mistake) => 'm',
        MoveVerdict::Judged(Judgement::Blunder) => 'x',
    }
}

/// Formats an evaluation from the view of a side: `+1.20`, `−0.35`, `a win in 4`, `a lost game`.
pub(crate) fn eval_for(eval: Eval, side: Side) -> String {
    match eval {
        Eval::Points(points) => {
            let points = if side == Side::First { points } else { -points };
            let sign = match points {
                0 => "",
                ..0 => "−",
                _ => "+",
            };
            format!("{sign}{:.2}", f64::from(points.abs()) / 100.0)
        }
        Eval::Win { winner, plies } => {
            let [word, past] = if winner == side { ["win", "won"] } else { ["loss", "lost"] };
            match plies.div_ceil(2) {
                0 => format!("a {past} game"),
                moves => format!("a {word} in {moves}"),
            }
        }
        Eval::Drawn => "a draw".into(),
    }
}

/// Writes the moves of a line as texts and as paths.
fn write_steps<'a>(board: &str, steps: impl Iterator<Item = &'a MoveStep>) -> (String, String) {
    let mut texts: Vec<&str> = Vec::new();
    let mut path = PathWriter::new(board.chars().collect());
    for step in steps {
        texts.push(&step.text);
        let after: Vec<char> = step.board.chars().collect();
        path.add(&step.path, &step.captures, &after);
    }
    (texts.join(" "), path.text)
}

/// Writes moves in the compact form.
struct PathWriter {
    board: Vec<char>,
    text: String,
    is_started: bool,
}

impl PathWriter {
    fn new(board: Vec<char>) -> PathWriter {
        PathWriter { board, text: String::new(), is_started: false }
    }

    fn add(&mut self, path: &[Cell], captures: &[Cell], after: &[char]) {
        if std::mem::replace(&mut self.is_started, true) {
            self.text.push(' ');
        }
        self.cells(path.iter().map(|cell| cell.index() as usize));
        if !captures.is_empty() {
            self.text.push('.');
            self.cells(captures.iter().map(|cell| cell.index() as usize));
        }
        if let (Some(from), Some(to)) = (path.first(), path.last()) {
            let piece = std::mem::replace(&mut self.board[from.index() as usize], '.');
            captures.iter().for_each(|cell| self.board[cell.index() as usize] = '.');
            self.board[to.index() as usize] = piece;
        }
        let changed = |&index: &usize| self.board[index] != after[index];
        let changes: Vec<usize> = (0..after.len().min(self.board.len())).filter(changed).collect();
        if !changes.is_empty() {
            self.text.push('=');
        }
        for index in changes {
            self.cells([index].into_iter());
            self.text.push(after[index]);
            self.board[index] = after[index];
        }
    }

    fn cells(&mut self, cells: impl Iterator<Item = usize>) {
        self.text.extend(cells.map(|index| char::from(CELLS[index % 64])));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_from_the_view_of_the_player() {
        let win = |plies| Eval::Win { winner: Side::First, plies };
        assert_eq!(eval_for(win(3), Side::First), "a win in 2");
        assert_eq!(eval_for(win(3), Side::Second), "a loss in 2");
        assert_eq!(eval_for(win(0), Side::Second), "a lost game");
        assert_eq!(eval_for(Eval::Points(-35), Side::Second), "+0.35");
    }

    #[test]
    fn paths_have_captures_and_promotions() {
        let game = "english".parse().unwrap();
        let (replay, _) = Replay::new(&game, Some("W:W6:B9,27"), &["6-1", "9-14", "1-6"]).unwrap();
        assert_eq!((replay.side, replay.moves.as_str()), (1, "6-1 9-14 1-6"));
        // 6 is cell 23, 1 is cell 12, 9 is cell 32, 14 is cell 43.
        assert_eq!(replay.paths, "KB=BW Ra BK");
        let (replay, _) = Replay::new(&game, Some("B:W15,23:B11"), &["11x18x27"]).unwrap();
        assert_eq!(replay.paths, "Vj1.cs");
    }
}
