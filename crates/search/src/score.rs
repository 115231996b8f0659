//! What a position is worth to the side to move.

/// A hundred is about a man (a turn, in Chinese checkers); a [`WIN`] less the plies to it is a
/// forced win.
pub type Score = i32;

/// The game is won now.
pub const WIN: Score = 30_000;
/// The game is drawn.
pub const DRAW: Score = 0;
/// No line is longer.
pub const MAX_PLY: usize = 192;
/// No evaluation is as high: beyond are forced wins.
pub(crate) const MAX_EVAL: Score = WIN - 2 * MAX_PLY as Score;

/// Plies to the forced end that a score tells of: positive to a win, negative to a loss.
pub fn plies_to_end(score: Score) -> Option<i32> {
    if score > MAX_EVAL {
        Some(WIN - score)
    } else if score < -MAX_EVAL {
        Some(-WIN - score)
    } else {
        None
    }
}
