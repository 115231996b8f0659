//! Building the table: a breadth-first search from the filled camp over all placements.
//!
//! Without an opponent every turn can be taken back, so the distances from the camp are the
//! distances to it. All placements of a level are found before the next level is begun:
//!
//! - **Forward**, while the next level is not yet most of what is left: every placement of the
//!   level marks its neighbours.
//! - **Backward**, once fewer placements are unknown than the level has: every unknown placement
//!   looks for one neighbour in the level, and most find it soon.
//!
//! The camp is its own mirror image at the long diagonal, so one placement of each mirrored pair
//! is worked on and both are marked.
//!
//! Threads share one array, a byte for each placement. Two may mark the same placement, but only
//! with the same value, so no order between them is needed.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

use crownhead_rules::chinese_checkers::CAMPS;
use crownhead_rules::{Bits, ChineseCheckers, Side};

use super::index::{FIRST_TERMS, PIECES, PLACEMENTS, mirror, next, rank, unrank};
use crate::TableError;

/// Who is told how many placements are known of how many, and may say that this is enough.
pub type Progress<'a> = dyn Fn(u64, u64) -> ControlFlow<()> + Sync + 'a;

/// Not reached yet.
const UNKNOWN: u8 = u8::MAX;

/// How many placements a thread takes at a time: enough that taking costs nothing, few enough that
/// threads end together and progress is told often.
const BATCH: usize = 1 << 14;

/// Fills the empty `turns`, whose memory is there, with an entry for each placement.
pub(super) fn generate(
    turns: &mut Vec<AtomicU8>,
    threads: usize,
    progress: &Progress<'_>,
) -> Result<(), TableError> {
    turns.resize_with(PLACEMENTS, || AtomicU8::new(UNKNOWN));
    let search = Bfs { turns, known: AtomicU64::new(0), stopped: AtomicBool::new(false), progress };
    search.known.store(search.mark(CAMPS[1], 0), Relaxed);
    let mut in_level = 1;
    let mut level = 0;
    while in_level > 0 {
        let known = search.known.load(Relaxed);
        let step = Pass { level, backward: PLACEMENTS as u64 - known < in_level };
        search.run(step, threads.max(1));
        if search.stopped.load(Relaxed) {
            return Err(TableError::Cancelled);
        }
        in_level = search.known.load(Relaxed) - known;
        level += 1;
    }
    Ok(())
}

/// From one level to the next.
#[derive(Clone, Copy)]
struct Pass {
    level: u8,
    backward: bool,
}

struct Bfs<'a> {
    turns: &'a [AtomicU8],
    known: AtomicU64,
    stopped: AtomicBool,
    progress: &'a Progress<'a>,
}

impl Bfs<'_> {
    fn run(&self, step: Pass, threads: usize) {
        let batch = AtomicUsize::new(0);
        let work = || {
            while !self.stopped.load(Relaxed) {
                let first = batch.fetch_add(BATCH, Relaxed);
                if first >= PLACEMENTS {
                    break;
                }
                let found = self.batch(step, first, PLACEMENTS.min(first + BATCH));
                let known = self.known.fetch_add(found, Relaxed) + found;
                if (self.progress)(known, PLACEMENTS as u64).is_break() {
                    self.stopped.store(true, Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // Where no thread can be started, the others do the work.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    /// Works on the placements `first..end` and says how many became known.
    fn batch(&self, step: Pass, first: usize, end: usize) -> u64 {
        let wanted = if step.backward { UNKNOWN } else { step.level };
        let (mut at, mut pieces) = (first, unrank(first));
        let mut found = 0;
        for (number, entry) in (first..end).zip(&self.turns[first..end]) {
            if entry.load(Relaxed) != wanted {
                continue;
            }
            // Stepping is quick, but not over long gaps.
            if number - at > 32 {
                (at, pieces) = (number, unrank(number));
            }
            while at < number {
                (at, pieces) = (at + 1, next(pieces));
            }
            if mirror(pieces) < pieces {
                continue;
            }
            if !step.backward {
                found += self.mark_neighbours(pieces, step.level + 1);
            } else if self.has_neighbour(pieces, step.level) {
                found += self.mark(pieces, step.level + 1);
            }
        }
        found
    }

    fn mark_neighbours(&self, pieces: u64, level: u8) -> u64 {
        let mut found = 0;
        any_neighbour(pieces, |number, placement| {
            if self.turns[number].load(Relaxed) == UNKNOWN {
                found += self.mark(placement, level);
            }
            false
        });
        found
    }

    fn has_neighbour(&self, pieces: u64, level: u8) -> bool {
        any_neighbour(pieces, |number, _| self.turns[number].load(Relaxed) == level)
    }

    /// Marks a placement and its mirror image, and says how many of them were unknown.
    fn mark(&self, pieces: u64, level: u8) -> u64 {
        let mut found = 0;
        for placement in [pieces, mirror(pieces)] {
            if let Some(number) = rank(placement, Side::First) {
                let before = self.turns[number].swap(level, Relaxed);
                found += u64::from(before == UNKNOWN);
            }
        }
        found
    }
}

/// Asks about the number and the placement after each turn, until the answer is yes.
#[inline(always)]
fn any_neighbour(pieces: u64, mut ask: impl FnMut(usize, u64) -> bool) -> bool {
    for from in Bits(pieces) {
        let rest = pieces & !(1 << from);
        let sums = sums_around(rest);
        for to in Bits(ChineseCheckers::destinations(pieces, from)) {
            let before = (rest & ((1 << to) - 1)).count_ones() as usize;
            let number = sums[before] + FIRST_TERMS[before][to as usize];
            if ask(number as usize, rest | 1 << to) {
                return true;
            }
        }
    }
    false
}

/// What five pieces add to the number of a placement, by how many of them lie before the sixth.
#[inline(always)]
fn sums_around(rest: u64) -> [u32; PIECES] {
    let mut sums = [0; PIECES];
    for (i, cell) in Bits(rest).enumerate().take(PIECES - 1) {
        // With `before` pieces before the sixth, piece i has the sixth before it if i >= before.
        for (before, sum) in sums.iter_mut().enumerate() {
            *sum += FIRST_TERMS[i + usize::from(i >= before)][cell as usize];
        }
    }
    sums
}
