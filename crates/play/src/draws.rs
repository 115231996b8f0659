//! When a computer agrees on a draw with a person.

use crownhead_search::Score;

/// Before so many plies a level game is no draw yet.
const YOUNG: usize = 40;
/// Whoever has declined a draw does not think about it again for so many plies.
const PATIENCE: usize = 10;
/// A disadvantage that a computer is glad to get away from.
const WORSE: Score = -40;

/// Whether a computer accepts a draw after so many plies, by what the position is worth to it. Without
/// a score it does not know what it would give away.
pub fn accepts_draw(own: Option<Score>, plies: usize) -> bool {
    own.is_some_and(|own| own <= WORSE || (own <= 0 && plies >= YOUNG))
}

/// Whether a computer is willing to think about an offer at all, if it last declined one after
/// `declined` plies.
pub fn considers_offer(declined: Option<usize>, plies: usize) -> bool {
    declined.is_none_or(|ply| plies.abs_diff(ply) >= PATIENCE)
}
