//! The evaluation of a position, in points or as a forced result, and the expected score.

use crownhead_records::EvalScore;
use crownhead_rules::{Side, SideInfo};
use crownhead_search::{DRAW, Score, WIN, plies_to_end};

/// Points that change the odds of winning by a factor of e.
const LOGISTIC_SCALE: f64 = 100.0;

/// Evaluation of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eval {
    /// Estimate in points, from the view of the side that moves first in the game.
    Points(Score),
    /// A forced win.
    Win {
        /// The winner.
        winner: Side,
        /// Plies to the end; 0 if the game is over.
        plies: u32,
    },
    /// The game is over and drawn.
    Drawn,
}

impl Eval {
    /// Converts a score from the view of the side to move.
    pub fn new(score: Score, side: Side) -> Eval {
        match plies_to_end(score) {
            Some(plies) => {
                let winner = if score > 0 { side } else { side.other() };
                Eval::Win { winner, plies: plies.unsigned_abs() }
            }
            None => Eval::Points(if side == Side::First { score } else { -score }),
        }
    }

    /// Score from the view of a side.
    pub fn score_for(self, side: Side) -> Score {
        match self {
            Eval::Points(points) if side == Side::First => points,
            Eval::Points(points) => -points,
            Eval::Win { winner, plies } if winner == side => WIN - plies as Score,
            Eval::Win { plies, .. } => -WIN + plies as Score,
            Eval::Drawn => DRAW,
        }
    }

    /// Evaluation of a position whose best move leads to a position with this evaluation.
    pub fn one_ply_up(self) -> Eval {
        match self {
            Eval::Points(_) => self,
            Eval::Win { winner, plies } => Eval::Win { winner, plies: plies + 1 },
            Eval::Drawn => Eval::Points(0),
        }
    }

    /// Evaluation after the best move of a position with this evaluation.
    pub fn one_ply_down(self) -> Eval {
        match self {
            Eval::Win { winner, plies } => Eval::Win { winner, plies: plies.saturating_sub(1) },
            Eval::Points(_) | Eval::Drawn => self,
        }
    }

    /// Score for game files.
    pub fn record(self) -> EvalScore {
        match self {
            Eval::Points(points) => EvalScore::Points(points),
            Eval::Win { winner, plies } => {
                let moves = plies.div_ceil(2).try_into().unwrap_or(i32::MAX);
                EvalScore::WinIn(if winner == Side::First { moves } else { -moves })
            }
            Eval::Drawn => EvalScore::Points(0),
        }
    }

    /// Expected score of the side that moves first in the game.
    pub fn expected_score(self) -> f64 {
        match self {
            Eval::Points(points) => 1.0 / (1.0 + (-f64::from(points) / LOGISTIC_SCALE).exp()),
            Eval::Win { winner: Side::First, .. } => 1.0,
            Eval::Win { winner: Side::Second, .. } => 0.0,
            Eval::Drawn => 0.5,
        }
    }

    /// Expected score of a side.
    pub fn expected_for(self, side: Side) -> f64 {
        match side {
            Side::First => self.expected_score(),
            Side::Second => 1.0 - self.expected_score(),
        }
    }

    /// Returns whether a side prefers this evaluation: a quicker win, a later loss.
    pub fn is_better_for(self, side: Side, other: Eval) -> bool {
        let speed = |eval: Eval| match eval {
            Eval::Win { winner, plies } if winner == side => -i64::from(plies),
            Eval::Win { plies, .. } => plies.into(),
            _ => 0,
        };
        let (a, b) = (self.expected_for(side), other.expected_for(side));
        a > b || a == b && speed(self) > speed(other)
    }

    /// Formats the evaluation: `+0.35`, `Black wins in 4` (moves of the winner), `Black has won`,
    /// `drawn`.
    pub fn text(self, sides: &[SideInfo; 2]) -> String {
        match self {
            Eval::Points(0) => "0.00".to_string(),
            Eval::Points(points) => format!("{:+.2}", f64::from(points) / 100.0),
            Eval::Win { winner, plies: 0 } => format!("{} has won", sides[winner.index()].name),
            Eval::Win { winner, plies } => {
                format!("{} wins in {}", sides[winner.index()].name, plies.div_ceil(2))
            }
            Eval::Drawn => "drawn".to_string(),
        }
    }
}
