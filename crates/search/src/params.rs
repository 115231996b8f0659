//! Pruning margins and depths per game.

use crate::Score;

/// What a search leaves out in a game because matches showed that it seldom matters there.
#[derive(Clone, Copy, Debug)]
pub struct SearchParams {
    /// Points a ply of depth: whoever is judged further ahead than that is believed.
    pub rfp_margin: Score,
    /// Up to this depth, quiet moves of a side judged too far behind are left out; 0 for never.
    pub futility_depth: i32,
    /// How far behind is too far: points, and more for every ply of depth.
    pub futility_margin: (Score, Score),
    /// Up to this depth, late quiet moves are left out; 0 for never.
    pub lmp_depth: i32,
    /// Which moves are late: from this place on, and a multiple of the depth's square later.
    pub lmp_count: (usize, usize),
}

impl SearchParams {
    /// The least of it, which does in every game.
    pub const DEFAULT: SearchParams = SearchParams {
        rfp_margin: 90,
        futility_depth: 0,
        futility_margin: (0, 0),
        lmp_depth: 0,
        lmp_count: (0, 0),
    };
}
