//! From scores to words: expected results, losses, marks, accuracy.
//!
//! A search's points are good for comparing moves of one position, not for telling how bad a
//! mistake was: a man less decides an even game and changes nothing in a won one. So all judging is
//! done in expected results, 0 for a loss to 1 for a win.

use crownhead_rules::{Side, SideInfo};
use crownhead_search::{Score, plies_to_end};

/// Points that make an even game one of odds e to 1.
const POINTS: f64 = 100.0;

/// What a position is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eval {
    /// An estimate in points, seen by the player who moves first in the game.
    Points(Score),
    /// A forced win.
    Win {
        /// Who wins.
        winner: Side,
        /// In so many plies; 0 if the game is over.
        plies: u32,
    },
    /// The game is over and drawn.
    Drawn,
}

impl Eval {
    /// What a score means that the search gave to the side to move.
    pub(super) fn new(score: Score, side: Side) -> Eval {
        match plies_to_end(score) {
            Some(plies) => {
                let winner = if score > 0 { side } else { side.other() };
                Eval::Win { winner, plies: plies.unsigned_abs() }
            }
            None => Eval::Points(if side == Side::First { score } else { -score }),
        }
    }

    /// The worth of a position, when this is the worth of the one after its best move.
    pub(super) fn one_ply_up(self) -> Eval {
        match self {
            Eval::Points(_) => self,
            Eval::Win { winner, plies } => Eval::Win { winner, plies: plies + 1 },
            Eval::Drawn => Eval::Points(0),
        }
    }

    /// The expected result of the player who moves first in the game.
    pub fn expected_score(self) -> f64 {
        match self {
            Eval::Points(points) => 1.0 / (1.0 + (-f64::from(points) / POINTS).exp()),
            Eval::Win { winner: Side::First, .. } => 1.0,
            Eval::Win { winner: Side::Second, .. } => 0.0,
            Eval::Drawn => 0.5,
        }
    }

    /// The expected result of a player.
    pub fn expected_by(self, side: Side) -> f64 {
        match side {
            Side::First => self.expected_score(),
            Side::Second => 1.0 - self.expected_score(),
        }
    }

    /// Whether a player would rather have this: a quick win, a late loss.
    pub(super) fn is_better_for(self, side: Side, other: Eval) -> bool {
        let speed = |worth: Eval| match worth {
            Eval::Win { winner, plies } if winner == side => -i64::from(plies),
            Eval::Win { plies, .. } => plies.into(),
            _ => 0,
        };
        let (this, that) = (self.expected_by(side), other.expected_by(side));
        this > that || this == that && speed(self) > speed(other)
    }

    /// In words: `+0.35`, `Black wins in 4`, `Black has won`, `drawn`. A win is counted in moves of
    /// the winner.
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

/// How bad a move was, if it was bad.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Judgement {
    /// `?!`
    Inaccuracy,
    /// `?`
    Mistake,
    /// `??`
    Blunder,
}

/// Least losses of expected result that are marked.
const MARKED: [(f64, Judgement); 3] =
    [(0.25, Judgement::Blunder), (0.12, Judgement::Mistake), (0.05, Judgement::Inaccuracy)];
/// A game is decided where one side's expected result is at most this: how it is then won or lost
/// is nobody's mistake.
const DECIDED: f64 = 0.1;

/// Whether a player who expects so much has nothing left to lose.
pub(super) fn is_lost(expected: f64) -> bool {
    expected <= DECIDED
}

impl Judgement {
    /// All marks, the mildest first.
    pub const ALL: [Judgement; 3] = [Judgement::Inaccuracy, Judgement::Mistake, Judgement::Blunder];

    /// The mark of a move, by what its player could expect of the best move and of this one.
    pub(super) fn new(best: f64, played: f64) -> Option<Judgement> {
        if is_lost(best) || played >= 1.0 - DECIDED {
            return None;
        }
        MARKED.iter().find(|(loss, _)| best - played >= *loss).map(|(_, mark)| *mark)
    }

    /// The sign behind a move.
    pub const fn sign(self) -> &'static str {
        match self {
            Judgement::Inaccuracy => "?!",
            Judgement::Mistake => "?",
            Judgement::Blunder => "??",
        }
    }

    /// Its number among PDN's annotations.
    pub const fn nag(self) -> u8 {
        match self {
            Judgement::Inaccuracy => 6,
            Judgement::Mistake => 2,
            Judgement::Blunder => 4,
        }
    }

    /// In a word.
    pub const fn word(self) -> &'static str {
        match self {
            Judgement::Inaccuracy => "inaccuracy",
            Judgement::Mistake => "mistake",
            Judgement::Blunder => "blunder",
        }
    }
}

/// How fast a loss of expected result takes accuracy away.
const STRICTNESS: f64 = 5.0;

/// The accuracy of moves that lost so much each, 0 to 1; there is none without moves.
pub(super) fn accuracy(losses: impl IntoIterator<Item = f64>) -> Option<f64> {
    mean(losses.into_iter().map(|loss| (-STRICTNESS * loss).exp()))
}

/// The mean of some numbers, if there are any.
pub(super) fn mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for number in numbers {
        sum += number;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// Above this a side is taken to be winning.
const WINNING: f64 = 0.7;

/// The standing of the player who moves first: 1 winning, 0 neither, -1 losing.
fn standing(expected: f64) -> i32 {
    i32::from(expected >= WINNING) - i32::from(expected <= 1.0 - WINNING)
}

/// The move at which a game turned for good, by the expected results of all its positions and the
/// losses of its moves; none if it ended as it had stood from the beginning.
///
/// The last standing was taken up for good somewhere. If somebody is winning in the end, the other
/// was last even somewhere before that, and the costliest move between is the one.
pub(super) fn turning_point(expected: &[f64], losses: &[f64]) -> Option<usize> {
    let last = standing(*expected.last()?);
    let stays = expected.iter().rposition(|&value| standing(value) != last)?;
    let even = |&value: &f64| match last {
        1 => value <= 0.5,
        -1 => value >= 0.5,
        _ => false,
    };
    let from = expected[..=stays].iter().rposition(even).unwrap_or(stays);
    let change = |at: usize| (expected[at + 1] - expected[at]).abs();
    (from..=stays).max_by(|&a, &b| {
        // What a move lost; among moves that lost nothing, how far the game moved.
        let loss = losses[a].total_cmp(&losses[b]);
        loss.then(change(a).total_cmp(&change(b)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_by_the_expected_result_and_spare_decided_games() {
        assert_eq!(Judgement::new(0.5, 0.46), None);
        assert_eq!(Judgement::new(0.5, 0.44), Some(Judgement::Inaccuracy));
        assert_eq!(Judgement::new(0.5, 0.3), Some(Judgement::Mistake));
        assert_eq!(Judgement::new(0.5, 0.2), Some(Judgement::Blunder));
        assert_eq!(Judgement::new(0.1, 0.0), None, "it was lost already");
        assert_eq!(Judgement::new(1.0, 0.9), None, "it is won still");
    }

    #[test]
    fn a_game_turns_where_it_was_last_even() {
        let none = |count| vec![0.0; count];
        assert_eq!(turning_point(&[0.5, 0.5, 0.55], &none(2)), None, "it stayed even");
        assert_eq!(turning_point(&[0.9, 0.5, 0.9, 0.95], &[0.4, 0.4, 0.0]), Some(1));
        assert_eq!(turning_point(&[0.5, 0.9, 0.5], &[0.4, 0.4]), Some(1), "a win thrown away");
        let slide = [0.5, 0.6, 0.62, 0.75, 0.9];
        assert_eq!(turning_point(&slide, &[0.1, 0.0, 0.05, 0.15]), Some(0));
        assert_eq!(turning_point(&[0.5], &[]), None);
        assert_eq!(turning_point(&[0.9, 0.8], &[0.0]), None, "won from the beginning");
    }
}
