//! Pruning margins and depths per game, and the reduction table.

use crate::Score;

/// Parameters of the selective search, tuned per game by matches.
#[derive(Clone, Copy, Debug)]
pub struct SearchParams {
    /// Reverse futility margin, in points per ply of depth.
    pub rfp_margin: Score,
    /// Maximum depth of futility pruning; 0 disables it.
    pub futility_depth: i32,
    /// Futility margin: base, and points per ply of depth.
    pub futility_margin: (Score, Score),
    /// Maximum depth of late move pruning; 0 disables it.
    pub lmp_depth: i32,
    /// Number of moves that late move pruning keeps: base, and factor of the squared depth.
    pub lmp_count: (usize, usize),
}

impl SearchParams {
    /// The most careful pruning, adequate for every game.
    pub const DEFAULT: SearchParams = SearchParams {
        rfp_margin: 90,
        futility_depth: 0,
        futility_margin: (0, 0),
        lmp_depth: 0,
        lmp_count: (0, 0),
    };

    /// Whether late move pruning skips the quiet move at `index` and all later ones.
    #[inline(always)]
    pub(crate) fn lmp_skips(&self, depth: i32, index: usize) -> bool {
        let (base, factor) = self.lmp_count;
        depth <= self.lmp_depth && index >= base + factor * (depth * depth) as usize
    }

    /// Whether futility pruning skips quiet moves: even with the margin they stay below `alpha`.
    #[inline(always)]
    pub(crate) fn futility_skips(&self, depth: i32, static_eval: Score, alpha: Score) -> bool {
        let (base, per_ply) = self.futility_margin;
        depth <= self.futility_depth && static_eval + base + per_ply * depth <= alpha
    }
}

/// Late move reductions by depth and move index, in plies: about 0.5 + ln(depth)·ln(index)/2.2,
/// rounded down.
pub(crate) static REDUCTIONS: [[u8; 64]; 64] = {
    let mut table = [[0; 64]; 64];
    let mut depth = 1;
    while depth < 64 {
        let mut index = 1;
        while index < 64 {
            let product = LN_TIMES_100[depth] * LN_TIMES_100[index + 1];
            table[depth][index] = ((50 * 220 + product) / (220 * 100)) as u8;
            index += 1;
        }
        depth += 1;
    }
    table
};

/// 100·ln(n), rounded down: the number of times that n can be divided by (almost) 1.01.
const LN_TIMES_100: [u64; 65] = {
    let mut table = [0; 65];
    let (mut count, mut power, mut n) = (0, 1_000_000_000, 1);
    while n < table.len() {
        while power + power / 100 <= n as u64 * 1_000_000_000 {
            power += power / 100;
            count += 1;
        }
        table[n] = count;
        n += 1;
    }
    table
};
