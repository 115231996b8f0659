//! Solves a pair of slices: the same men with either side to move.
//!
//! Men only go forward, so a position of a level has its value from the level below and from slices
//! with fewer men, and one pass over the levels is enough.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicI8, Ordering::Relaxed};

use super::index::Layout;
use super::key;
use super::value::derive;
use crate::TableError;
use crate::endgame::{Slice, zeros};
use crate::parallel::each_batch;

/// Positions per batch.
const BATCH: u64 = 1 << 14;

/// Values of all positions of a slice, by index.
pub(super) type Values = Vec<AtomicI8>;

/// What to solve a pair with.
pub(super) struct Context<'a> {
    /// Values by [`key`]: those of the slices that the pair depends on, and its own.
    pub(super) solved: &'a [Option<Values>],
    pub(super) threads: usize,
    /// Called repeatedly, with the number of positions visited since the last call.
    pub(super) tick: &'a (dyn Fn(u64) -> ControlFlow<()> + Sync),
}

/// Memory for the values of a slice; draws, at first.
pub(super) fn allocate(slice: Slice) -> Result<Values, TableError> {
    zeros(Layout::of(slice).size())
}

/// Computes the values of a pair of slices; with `has_stored` only those that are not in its files.
pub(super) fn solve(
    pair: &[Slice],
    has_stored: bool,
    context: &Context<'_>,
) -> Result<(), TableError> {
    let levels = pair.iter().map(|&slice| Layout::of(slice).levels()).max().unwrap_or(0);
    let missing = AtomicBool::new(false);
    for level in 0..levels {
        for &slice in pair {
            let layout = Layout::of(slice);
            let Some(values) = &context.solved[key(slice)] else {
                return Err(TableError::MissingSlices);
            };
            let range = layout.level(level);
            let flow = each_batch(context.threads, range.end - range.start, BATCH, |batch| {
                let batch = range.start + batch.start..range.start + batch.end;
                let count = batch.end - batch.start;
                layout.each(batch, |index, men| {
                    let board = men.board();
                    if has_stored && index < layout.stored() && !board.has_capture() {
                        return;
                    }
                    let value = derive(board, |after| {
                        let slice = after.slice();
                        let index = Layout::of(slice).index(after);
                        let values = context.solved[key(slice)].as_ref()?;
                        Some(values.get(index as usize)?.load(Relaxed))
                    });
                    match value {
                        Some(value) => values[index as usize].store(value, Relaxed),
                        None => missing.store(true, Relaxed),
                    }
                });
                (context.tick)(count)
            });
            if flow.is_break() {
                return Err(TableError::Cancelled);
            }
        }
    }
    if missing.into_inner() { Err(TableError::MissingSlices) } else { Ok(()) }
}
