//! Judgements and accuracy.
//!
//! Points compare moves of one position, but do not measure how bad a mistake was: a man decides an
//! even game and changes nothing in a won one. So moves are judged by expected scores, from 0 for a
//! loss to 1 for a win.

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
pub(crate) fn is_lost(expected: f64) -> bool {
    expected <= DECIDED_BELOW
}

impl Judgement {
    /// All judgements, the mildest first.
    pub const ALL: [Judgement; 3] = [Judgement::Inaccuracy, Judgement::Mistake, Judgement::Blunder];

    /// Judges a move by the expected scores of the best move and of the move played.
    pub(crate) fn new(best: f64, played: f64) -> Option<Judgement> {
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
pub(crate) fn accuracy(losses: impl IntoIterator<Item = f64>) -> Option<f64> {
    mean(losses.into_iter().map(|loss| (-ACCURACY_DECAY * loss).exp()))
}

/// Returns the mean; `None` without numbers.
pub(crate) fn mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
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
pub(crate) struct MoveLoss {
    /// Expected score that the move gave away.
    pub(crate) loss: f64,
    /// Whether the move is marked as an inaccuracy, a mistake or a blunder.
    pub(crate) is_marked: bool,
}

/// Returns the index of the move at which the game turned, from the expected scores of all
/// positions and the losses of all moves.
///
/// This is the marked move that changed the expected score most. If no move is marked, it is the
/// costliest move from the last even position to the last change of the standing; `None` if the
/// standing never changed.
pub(crate) fn turning_point(expected: &[f64], moves: &[MoveLoss]) -> Option<usize> {
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
