//! Verification: derives stored values again from those one ply later.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crownhead_rules::Bits;
use crownhead_rules::checkers::{MoverBoard, squares};

use super::format::{Counts, Stream};
use super::value::{DRAW, NO_MOVE, Stored, before, better, is_loss, is_win, outcome, resolve};
use super::{Boards, EndgameTable, Slice, key};
use crate::blocks::BLOCK_BYTES;
use crate::parallel::each_batch;
use crate::{Progress, TableError};

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

/// Result of a verification without errors.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Verified {
    /// Number of slices.
    pub slices: u64,
    /// Number of positions.
    pub positions: u64,
}

/// Positions per unit of work.
const BATCH: u64 = BLOCK_BYTES as u64;

impl EndgameTable {
    /// Checks every byte, and derives values again from those of the moves: all values of small
    /// slices, and random blocks of the others.
    ///
    /// # Errors
    /// Names the slice and the place, or the position, of the first error.
    pub fn verify(
        &self,
        verification: &Verification,
        progress: &Progress<'_>,
    ) -> Result<Verified, TableError> {
        let mut slices: Vec<Slice> = self.slices().collect();
        slices.sort_by_key(|&slice| (slice.pieces(), slice));
        let is_complete = |slice: Slice| slice.pieces() <= verification.complete_pieces;
        let count = |slice: Slice| match slice.size().div_ceil(BATCH) {
            batches if is_complete(slice) => batches,
            batches => verification.blocks.min(batches),
        };
        let total = slices.iter().map(|&slice| count(slice)).sum::<u64>() * BATCH;
        let done = AtomicU64::new(0);
        let mut verified = Verified::default();
        for slice in slices {
            let wrong = |what: String| TableError::Wrong { slice, what };
            let Some(file) = &self.files[key(slice)] else { continue };
            file.check_blocks().map_err(|error| TableError::Damaged { slice, error })?;
            let boards = Boards::new(slice);
            let batches = slice.size().div_ceil(BATCH);
            let sums = Mutex::new((Counts::default(), 0, None));
            let flow = each_batch(verification.threads, count(slice), 1, |range| {
                let batch = match is_complete(slice) {
                    true => range.start,
                    false => {
                        mix(verification.seed ^ mix(key(slice) as u64) ^ range.start) % batches
                    }
                };
                let first = batch * BATCH;
                let result = self.verify_range(&boards, first..slice.size().min(first + BATCH));
                if let Ok(mut sums) = sums.lock() {
                    sums.0 += result.0;
                    sums.1 += result.1;
                    if sums.2.is_none() {
                        sums.2 = result.2;
                    }
                }
                progress(done.fetch_add(BATCH, Relaxed) + BATCH, total)
            });
            let (counts, positions, error) = match sums.into_inner() {
                Ok(sums) => sums,
                Err(poisoned) => poisoned.into_inner(),
            };
            if let Some(error) = error {
                return Err(wrong(error));
            }
            if flow.is_break() {
                return Err(TableError::Cancelled);
            }
            if is_complete(slice) && counts != file.counts {
                let message = format!("{counts:?} instead of {:?}", file.counts);
                return Err(wrong(message));
            }
            verified.slices += 1;
            verified.positions += positions;
        }
        Ok(verified)
    }

    /// Verifies a range of a slice. Returns the numbers of outcomes and positions, and the first
    /// error.
    fn verify_range(
        &self,
        boards: &Boards,
        range: std::ops::Range<u64>,
    ) -> (Counts, u64, Option<String>) {
        let (mut counts, mut positions, mut error) = (Counts::default(), 0, None);
        boards.each(range, |index, board| {
            positions += 1;
            let derived = self.derive(board);
            match derived {
                Some((value, _)) => counts.add(value),
                None => error = error.take().or_else(|| Some(describe(board, "value missing"))),
            }
            // Positions with captures are not stored.
            if board.has_capture() {
                return;
            }
            let Some((value, progress)) = derived else { return };
            let slice = boards.slice();
            let Some(file) = &self.files[key(slice)] else { return };
            let stored = self.stored(slice, index);
            let is_right = if file.has_distances {
                let stored_progress = self.cached(file, Stream::Progress, index);
                stored == Some(value) && (value == DRAW || stored_progress == Some(progress))
            } else {
                stored == Some(outcome(value))
            };
            if !is_right && error.is_none() {
                error = Some(describe(board, "wrong value"));
            }
        });
        (counts, positions, error)
    }

    /// Value and progress of a position by its moves.
    fn derive(&self, board: MoverBoard) -> Option<(u8, u8)> {
        let mut best = Some(NO_MOVE);
        let mut children = Vec::new();
        board.each_move(true, |mv| {
            let after = board.after(mv);
            let value = resolve(self, after);
            children.push((mv, after, value));
            best = best.and_then(|best| Some(better(best, before(value?))));
        });
        let value = best?;
        let file = self.files[key(Slice::of(board))].as_ref()?;
        if value == DRAW || !file.has_distances {
            return Some((value, DRAW));
        }
        // Plies plus 1, as stored. Without a move the game is over.
        let mut progress = NO_MOVE;
        for (mv, after, after_value) in children {
            let keeps_win = is_win(value) && after_value.is_some_and(is_loss);
            if is_win(value) && !keeps_win {
                continue;
            }
            let is_man = mv.kind() & 1 == 0;
            let plies = if mv.is_capture() || is_man { 2 } else { self.progress(after)? as u8 + 2 };
            progress = match is_win(value) {
                true if progress != NO_MOVE => progress.min(plies),
                _ => progress.max(plies),
            };
        }
        Some((value, progress))
    }
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

impl Verification {
    /// All slices with up to four pieces, and some blocks of the others.
    pub fn new(threads: usize) -> Verification {
        Verification { complete_pieces: 4, blocks: 16, seed: 1, threads }
    }
}
