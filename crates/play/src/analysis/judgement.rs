//! Expected scores, judgements and accuracy.
//!
//! Points compare moves of one position, but do not measure how bad a mistake was: a man decides an
//! even game and changes nothing in a won one. So moves are judged by expected scores, from 0 for a
//! loss to 1 for a win.

use crownhead_records::EvalScore;
use crownhead_rules::{Side, SideInfo};
use crownhead_search::{Score, plies_to_end};

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
    pub(crate) fn new(score: Score, side: Side) -> Eval {
        match plies_to_end(score) {
            Some(plies) => {
                let winner = if score > 0 { side } else { side.other() };
                Eval::Win { winner, plies: plies.unsigned_abs() }
            }
            None => Eval::Points(if side == Side::First { score } else { -score }),
        }
    }

    /// Evaluation of a position whose best move leads to a position with this evaluation.
    pub(super) fn one_ply_up(self) -> Eval {
        match self {
            Eval::Points(_) => self,
            Eval::Win { winner, plies } => Eval::Win { winner, plies: plies + 1 },
            Eval::Drawn => Eval::Points(0),
        }
    }

    /// Evaluation after the best move of a position with this evaluation.
    pub(crate) fn one_ply_down(self) -> Eval {
        match self {
            Eval::Win { winner, plies } => Eval::Win { winner, plies: plies.saturating_sub(1) },
            Eval::Points(_) | Eval::Drawn => self,
        }
    }

    /// Score for game files.
    pub(crate) fn record(self) -> EvalScore {
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
    pub(super) fn is_better_for(self, side: Side, other: Eval) -> bool {
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

/// How bad a move was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Judgement {
    /// `?!`
    Inaccuracy,
    /// `?`
    Mistake,
    /// `??`
    Blunder,
}

/// Minimum loss of expected score for each judgement.
const JUDGEMENT_THRESHOLDS: [(f64, Judgement); 3] =
    [(0.25, Judgement::Blunder), (0.12, Judgement::Mistake), (0.05, Judgement::Inaccuracy)];
/// Expected score of the losing side at or below which a game is decided. Moves in a decided game
/// are not judged.
const DECIDED_BELOW: f64 = 0.1;

/// Returns whether a side with this expected score has already lost.
pub(super) fn is_lost(expected: f64) -> bool {
    expected <= DECIDED_BELOW
}

impl Judgement {
    /// All judgements, the mildest first.
    pub const ALL: [Judgement; 3] = [Judgement::Inaccuracy, Judgement::Mistake, Judgement::Blunder];

    /// Judges a move by the expected scores of the best move and of the move played.
    pub(super) fn new(best: f64, played: f64) -> Option<Judgement> {
        if is_lost(best) || played >= 1.0 - DECIDED_BELOW {
            return None;
        }
        JUDGEMENT_THRESHOLDS
            .iter()
            .find(|(loss, _)| best - played >= *loss)
            .map(|(_, judgement)| *judgement)
    }

    /// Annotation symbol.
    pub const fn symbol(self) -> &'static str {
        match self {
            Judgement::Inaccuracy => "?!",
            Judgement::Mistake => "?",
            Judgement::Blunder => "??",
        }
    }

    /// Numeric annotation glyph (NAG) in PDN.
    pub const fn nag(self) -> u8 {
        match self {
            Judgement::Inaccuracy => 6,
            Judgement::Mistake => 2,
            Judgement::Blunder => 4,
        }
    }

    /// The stable external word.
    pub const fn code(self) -> &'static str {
        match self {
            Judgement::Inaccuracy => "inaccuracy",
            Judgement::Mistake => "mistake",
            Judgement::Blunder => "blunder",
        }
    }
}

/// Decay rate of the accuracy with the loss.
const ACCURACY_DECAY: f64 = 5.0;

/// Returns the mean accuracy of moves with these losses, 0 to 1; `None` without moves.
pub(super) fn accuracy(losses: impl IntoIterator<Item = f64>) -> Option<f64> {
    mean(losses.into_iter().map(|loss| (-ACCURACY_DECAY * loss).exp()))
}

/// Returns the mean; `None` without numbers.
pub(super) fn mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for number in numbers {
        sum += number;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// Expected score from which a side is winning.
const WINNING: f64 = 0.7;

/// Returns the standing of the side that moves first: 1 winning, 0 neither, -1 losing.
fn standing(expected: f64) -> i32 {
    i32::from(expected >= WINNING) - i32::from(expected <= 1.0 - WINNING)
}

/// What [`turning_point`] needs to know about a move.
#[derive(Clone, Copy)]
pub(super) struct MoveLoss {
    /// Expected score that the move gave away.
    pub(super) loss: f64,
    /// Whether the move is marked as an inaccuracy, a mistake or a blunder.
    pub(super) is_marked: bool,
}

/// Returns the index of the move at which the game turned, from the expected scores of all positions
/// and the losses of all moves.
///
/// This is the marked move that changed the expected score most. If no move is marked, it is the
/// costliest move from the last even position to the last change of the standing; `None` if the
/// standing never changed.
pub(super) fn turning_point(expected: &[f64], moves: &[MoveLoss]) -> Option<usize> {
    let swing = |at: usize| (expected[at + 1] - expected[at]).abs();
    let marked = (0..moves.len()).filter(|&at| moves[at].is_marked);
    if let Some(at) = marked.max_by(|&a, &b| swing(a).total_cmp(&swing(b))) {
        return Some(at);
    }
    let last = standing(*expected.last()?);
    let change = expected.iter().rposition(|&value| standing(value) != last)?;
    let is_even = |&value: &f64| match last {
        1 => value <= 0.5,
        -1 => value >= 0.5,
        _ => false,
    };
    let from = expected[..=change].iter().rposition(is_even).unwrap_or(change);
    (from..=change).max_by(|&a, &b| {
        // The greatest loss; among equal losses, the greatest swing.
        let loss = moves[a].loss.total_cmp(&moves[b].loss);
        loss.then(swing(a).total_cmp(&swing(b)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgement_depends_on_expected_score_and_ignores_decided_games() {
        assert_eq!(Judgement::new(0.5, 0.46), None);
        assert_eq!(Judgement::new(0.5, 0.44), Some(Judgement::Inaccuracy));
        assert_eq!(Judgement::new(0.5, 0.3), Some(Judgement::Mistake));
        assert_eq!(Judgement::new(0.5, 0.2), Some(Judgement::Blunder));
        assert_eq!(Judgement::new(0.1, 0.0), None, "already lost");
        assert_eq!(Judgement::new(1.0, 0.9), None, "still won");
    }

    fn moves(losses: &[f64], marked: &[usize]) -> Vec<MoveLoss> {
        let is_marked = |at| marked.contains(&at);
        let numbered = losses.iter().enumerate();
        numbered.map(|(at, &loss)| MoveLoss { loss, is_marked: is_marked(at) }).collect()
    }

    #[test]
    fn turning_point_without_marked_moves_is_the_costliest_since_the_last_even_position() {
        let turning_point =
            |expected: &[f64], losses: &[f64]| turning_point(expected, &moves(losses, &[]));
        assert_eq!(turning_point(&[0.5, 0.5, 0.55], &[0.0, 0.0]), None, "always even");
        assert_eq!(turning_point(&[0.9, 0.5, 0.9, 0.95], &[0.4, 0.4, 0.0]), Some(1));
        assert_eq!(turning_point(&[0.5, 0.9, 0.5], &[0.4, 0.4]), Some(1), "a missed win");
        let slide = [0.5, 0.6, 0.62, 0.75, 0.9];
        assert_eq!(turning_point(&slide, &[0.1, 0.0, 0.05, 0.15]), Some(0));
        assert_eq!(turning_point(&[0.5], &[]), None);
        assert_eq!(turning_point(&[0.9, 0.8], &[0.0]), None, "won from the start");
    }

    #[test]
    fn turning_point_is_the_marked_move_with_the_greatest_change() {
        // An unmarked move changed as much as the mistake, and later.
        let expected = [0.5, 0.8, 0.85, 0.6, 0.95];
        assert_eq!(turning_point(&expected, &moves(&[0.3, 0.0, 0.2, 0.35], &[0, 2])), Some(0));
        // The standing at the end was never in doubt, but a mistake is marked.
        assert_eq!(turning_point(&[0.5, 0.35, 0.5], &moves(&[0.15, 0.15], &[1])), Some(1));
    }
}
