//! Generation: a breadth-first search over all placements, from the filled target camp.
//!
//! Without an opponent every move is reversible, so distances from the camp are distances to it.
//! Each pass finds the next level from the current one:
//!
//! - **Forward**, while many placements are unknown: every placement of the level marks its
//!   neighbours.
//! - **Backward**, once fewer placements are unknown than the level has: every unknown placement
//!   looks for a neighbour in the level, and most find one soon.
//!
//! The camp is symmetric about the long diagonal, so only one placement of each mirrored pair is
//! expanded, and both are marked.
//!
//! Threads share an array with one byte per placement. Two threads may mark the same placement, but
//! only with the same value, so relaxed atomics suffice.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crownhead_rules::chinese_checkers::CAMPS;
use crownhead_rules::{Bits, ChineseCheckers, Side};

use super::index::{FIRST_TERMS, PIECES, PLACEMENTS, mirror, next, rank, unrank};
use crate::parallel::each_batch;
use crate::{Progress, TableError};

/// Entry of a placement that is not reached yet.
const UNKNOWN: u8 = u8::MAX;

/// Placements per batch: large enough that fetching a batch costs nothing, small enough that
/// threads end together and progress is frequent.
const BATCH: usize = 1 << 14;

/// Fills the empty `turns` with an entry for each placement. Its capacity must suffice.
pub(super) fn generate(
    turns: &mut Vec<AtomicU8>,
    threads: usize,
    progress: &Progress<'_>,
) -> Result<(), TableError> {
    turns.resize_with(PLACEMENTS, || AtomicU8::new(UNKNOWN));
    let bfs = Bfs { turns, known: AtomicU64::new(0), progress };
    bfs.known.store(bfs.mark(CAMPS[1], 0), Relaxed);
    let mut in_level = 1;
    let mut level = 0;
    while in_level > 0 {
        let known = bfs.known.load(Relaxed);
        let pass = Pass { level, backward: PLACEMENTS as u64 - known < in_level };
        bfs.run(pass, threads)?;
        in_level = bfs.known.load(Relaxed) - known;
        level += 1;
    }
    Ok(())
}

/// Finds the next level.
#[derive(Clone, Copy)]
struct Pass {
    level: u8,
    backward: bool,
}

struct Bfs<'a> {
    turns: &'a [AtomicU8],
    known: AtomicU64,
    progress: &'a Progress<'a>,
}

impl Bfs<'_> {
    fn run(&self, pass: Pass, threads: usize) -> Result<(), TableError> {
        let flow = each_batch(threads, PLACEMENTS as u64, BATCH as u64, |range| {
            let found = self.batch(pass, range.start as usize, range.end as usize);
            let known = self.known.fetch_add(found, Relaxed) + found;
            (self.progress)(known, PLACEMENTS as u64)
        });
        if flow.is_break() { Err(TableError::Cancelled) } else { Ok(()) }
    }

    /// Expands the placements `first..end` and returns how many became known.
    fn batch(&self, pass: Pass, first: usize, end: usize) -> u64 {
        let wanted = if pass.backward { UNKNOWN } else { pass.level };
        let (mut at, mut pieces) = (first, unrank(first));
        let mut found = 0;
        for (index, entry) in (first..end).zip(&self.turns[first..end]) {
            if entry.load(Relaxed) != wanted {
                continue;
            }
            // Stepping is faster than unranking, except over long gaps.
            if index - at > 32 {
                (at, pieces) = (index, unrank(index));
            }
            while at < index {
                (at, pieces) = (at + 1, next(pieces));
            }
            if mirror(pieces) < pieces {
                continue;
            }
            if !pass.backward {
                found += self.mark_neighbours(pieces, pass.level + 1);
            } else if self.has_neighbour(pieces, pass.level) {
                found += self.mark(pieces, pass.level + 1);
            }
        }
        found
    }

    fn mark_neighbours(&self, pieces: u64, level: u8) -> u64 {
        let mut found = 0;
        any_neighbour(pieces, |index, placement| {
            if self.turns[index].load(Relaxed) == UNKNOWN {
                found += self.mark(placement, level);
            }
            false
        });
        found
    }

    fn has_neighbour(&self, pieces: u64, level: u8) -> bool {
        any_neighbour(pieces, |index, _| self.turns[index].load(Relaxed) == level)
    }

    /// Marks a placement and its mirror image, and returns how many of them were unknown.
    fn mark(&self, pieces: u64, level: u8) -> u64 {
        let mut found = 0;
        for placement in [pieces, mirror(pieces)] {
            if let Some(index) = rank(placement, Side::First) {
                let before = self.turns[index].swap(level, Relaxed);
                found += u64::from(before == UNKNOWN);
            }
        }
        found
    }
}

/// Calls `test` with the index and the placement after each move until it returns true.
#[inline(always)]
fn any_neighbour(pieces: u64, mut test: impl FnMut(usize, u64) -> bool) -> bool {
    for from in Bits(pieces) {
        let rest = pieces & !(1 << from);
        let sums = sums_around(rest);
        for to in Bits(ChineseCheckers::destinations(pieces, from)) {
            let before = (rest & ((1 << to) - 1)).count_ones() as usize;
            let index = sums[before] + FIRST_TERMS[before][to as usize];
            if test(index as usize, rest | 1 << to) {
                return true;
            }
        }
    }
    false
}

/// Index terms of five pieces, summed, by how many of them precede the sixth.
#[inline(always)]
fn sums_around(rest: u64) -> [u32; PIECES] {
    let mut sums = [0; PIECES];
    for (i, cell) in Bits(rest).enumerate().take(PIECES - 1) {
        // With `before` pieces before the sixth, piece i follows the sixth if i >= before.
        for (before, sum) in sums.iter_mut().enumerate() {
            *sum += FIRST_TERMS[i + usize::from(i >= before)][cell as usize];
        }
    }
    sums
}
