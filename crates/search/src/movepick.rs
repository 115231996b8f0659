//! Scores and picks moves.

/// A move to be tried.
#[derive(Clone, Copy)]
pub(crate) struct ScoredMove<M> {
    pub(crate) mv: M,
    /// How early to try it.
    pub(crate) score: i32,
    /// Its place in the order of generation, which is what the hash table keeps of it. (All places
    /// from 255 on are one; a wrong guess costs time and nothing else.)
    pub(crate) index: u8,
}

/// Brings the highest ranked of the moves to the front.
#[inline(always)]
pub(crate) fn pick_best<M: Copy>(moves: &mut [ScoredMove<M>]) {
    let mut best = 0;
    for index in 1..moves.len() {
        if moves[index].score > moves[best].score {
            best = index;
        }
    }
    if best > 0 {
        moves.swap(0, best);
    }
}
