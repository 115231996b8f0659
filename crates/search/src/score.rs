//! Scores.

/// Value of a position for the side to move.
///
/// 100 points are about a man; in Chinese checkers, about a turn. A forced win in `n` plies is
/// `WIN - n`, a forced loss `-(WIN - n)`.
pub type Score = i32;

/// Score of a game that is won now.
pub const WIN: Score = 30_000;
/// Score of a drawn game.
pub const DRAW: Score = 0;
/// Maximum length of a line, in plies.
pub const MAX_PLY: usize = 192;
/// Maximum static eval. Higher scores are forced wins.
pub(crate) const MAX_EVAL: Score = WIN - 2 * MAX_PLY as Score;

/// Returns the number of plies to a forced end: positive for a win, negative for a loss, `None` if
/// the score is not a forced result.
pub fn plies_to_end(score: Score) -> Option<i32> {
    if score > MAX_EVAL {
        Some(WIN - score)
    } else if score < -MAX_EVAL {
        Some(-WIN - score)
    } else {
        None
    }
}
