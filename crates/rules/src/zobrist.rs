//! Zobrist keys, fixed at compile time so that a key is the same in every run and file.

/// Toggled with the side to move.
pub(crate) const SIDE_TO_MOVE: u64 = splitmix(0x6372_6f77_6e68_6561);

/// Returns `N` keys for each side, one per kind of piece and cell.
pub(crate) const fn table<const N: usize>(seed: u64) -> [[u64; N]; 2] {
    let mut table = [[0; N]; 2];
    let mut state = seed;
    let mut at = 0;
    while at < 2 * N {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        table[at / N][at % N] = splitmix(state);
        at += 1;
    }
    table
}

/// The output function of SplitMix64 (Steele, Lea and Flood, 2014).
const fn splitmix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
