//! Verification of endgame tables: derives stored values again from those after each move.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crownhead_rules::Bits;
use crownhead_rules::checkers::{MoverBoard, squares};

use crate::blocks::BLOCK_BYTES;
use crate::endgame::{Counts, Slice};
use crate::parallel::each_batch;
use crate::{FormatError, Progress, TableError};

/// How much to verify.
#[derive(Clone, Copy, Debug)]
pub struct Verification {
    /// Slices with up to this many pieces are verified completely.
    pub complete_pieces: u8,
    /// Number of random blocks of each other slice.
    pub blocks: u64,
    /// Seed of the random blocks.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

impl Verification {
    /// All slices with up to four pieces, and some blocks of the others.
    pub fn new(threads: usize) -> Verification {
        Verification { complete_pieces: 4, blocks: 16, seed: 1, threads }
    }
}

/// Result of a verification without errors.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Verified {
    /// Number of slices.
    pub slices: u64,
    /// Number of positions.
    pub positions: u64,
}

/// Result of checking a range of indices.
#[derive(Default)]
pub(crate) struct Found {
    /// Derived outcomes.
    pub(crate) counts: Counts,
    pub(crate) positions: u64,
    /// The first error.
    pub(crate) error: Option<String>,
}

impl Found {
    /// Records the first error: a position and what is wrong with it.
    pub(crate) fn wrong(&mut self, board: MoverBoard, what: &str) {
        if self.error.is_none() {
            self.error = Some(describe(board, what));
        }
    }
}

/// Verifies a range of indices of a slice.
pub(crate) type VerifyRange<'a> = Box<dyn Fn(Range<u64>) -> Found + Sync + 'a>;

/// A slice of a table.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) slice: Slice,
    /// Number of indices.
    pub(crate) size: u64,
    /// Number of indices with stored values, which come first.
    pub(crate) stored: u64,
    /// Outcomes as stored.
    pub(crate) counts: Counts,
}

/// A table of slices.
pub(crate) trait Sliced: Sync {
    /// Id of the game.
    const GAME: &'static str;

    /// All slices.
    fn parts(&self) -> Vec<Part>;

    /// Checks every byte of a slice.
    fn check_slice(&self, slice: Slice) -> Result<(), FormatError>;

    /// Prepares a slice for verification.
    fn verify_slice(&self, slice: Slice) -> VerifyRange<'_>;
}

/// Checks every byte of a table.
pub(crate) fn check<T: Sliced>(table: &T) -> Result<(), TableError> {
    table.parts().into_iter().try_for_each(|Part { slice, .. }| {
        let damaged = |error| TableError::Damaged { game: T::GAME, slice, error };
        table.check_slice(slice).map_err(damaged)
    })
}

/// Positions per unit of work.
const BATCH: u64 = BLOCK_BYTES as u64;

/// Verifies a table.
pub(crate) fn verify<T: Sliced>(
    table: &T,
    verification: &Verification,
    progress: &Progress<'_>,
) -> Result<Verified, TableError> {
    let Verification { complete_pieces, blocks, seed, threads } = *verification;
    let is_complete = |part: &Part| part.slice.pieces() <= complete_pieces;
    let count = |part: &Part| match is_complete(part) {
        true => part.size.div_ceil(BATCH),
        false => blocks.min(part.stored.div_ceil(BATCH)),
    };
    // First, because values are derived from those of other slices.
    check(table)?;
    let parts = table.parts();
    let total = parts.iter().map(count).sum::<u64>() * BATCH;
    let done = AtomicU64::new(0);
    let mut verified = Verified::default();
    for part in parts {
        let slice = part.slice;
        let wrong = |what: String| TableError::Wrong { game: T::GAME, slice, what };
        let verify_range = table.verify_slice(slice);
        let sums = Mutex::new(Found::default());
        let flow = each_batch(threads, count(&part), 1, |range| {
            let (batch, end) = match is_complete(&part) {
                true => (range.start, part.size),
                false => {
                    let random = mix(seed ^ mix(slice.number()) ^ range.start);
                    (random % part.stored.div_ceil(BATCH), part.stored)
                }
            };
            let found = verify_range(batch * BATCH..end.min((batch + 1) * BATCH));
            if let Ok(mut sums) = sums.lock() {
                sums.counts += found.counts;
                sums.positions += found.positions;
                sums.error = sums.error.take().or(found.error);
            }
            progress(done.fetch_add(BATCH, Relaxed) + BATCH, total)
        });
        let Found { counts, positions, error } = match sums.into_inner() {
            Ok(sums) => sums,
            Err(poisoned) => poisoned.into_inner(),
        };
        if let Some(error) = error {
            return Err(wrong(error));
        }
        if flow.is_break() {
            return Err(TableError::Cancelled);
        }
        if is_complete(&part) && counts != part.counts {
            return Err(wrong(format!("{counts:?} instead of {:?}", part.counts)));
        }
        verified.slices += 1;
        verified.positions += positions;
    }
    Ok(verified)
}

/// Names a position and what is wrong with it.
fn describe(board: MoverBoard, what: &str) -> String {
    let list = |pieces: u64| {
        let piece = |bit: u32| {
            let king = if board.kings >> bit & 1 == 1 { "K" } else { "" };
            format!("{king}{}", squares::number(1 << bit))
        };
        Bits(pieces).map(piece).collect::<Vec<_>>().join(",")
    };
    format!("{what} of B:W{}:B{}", list(board.opponent), list(board.own))
}

/// SplitMix64.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
