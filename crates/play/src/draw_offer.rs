//! When a computer accepts a draw offer.

use crownhead_search::Score;

/// Minimum number of plies before a computer accepts a draw in a level position.
const MIN_DRAW_PLIES: usize = 40;
/// Plies after a declined offer during which a computer declines further ones without a search.
const OFFER_COOLDOWN_PLIES: usize = 10;
/// Score at or below which a computer accepts a draw at any time.
const ACCEPT_BELOW: Score = -40;

/// Returns whether a computer accepts a draw after `plies` plies. `score` is the value of the
/// position for the computer; without one it declines.
pub(crate) fn accepts_draw(score: Option<Score>, plies: usize) -> bool {
    score.is_some_and(|score| score <= ACCEPT_BELOW || (score <= 0 && plies >= MIN_DRAW_PLIES))
}

/// Returns whether a computer considers a draw offer at all. `declined_at` is the number of plies
/// when it last declined one.
pub(crate) fn considers_draw(declined_at: Option<usize>, plies: usize) -> bool {
    declined_at.is_none_or(|ply| plies.abs_diff(ply) >= OFFER_COOLDOWN_PLIES)
}
