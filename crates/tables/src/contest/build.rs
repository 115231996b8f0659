//! Builds the table in a folder, one pair of slices after the other.
//!
//! A slice is a file that appears complete or not at all, so an interrupted build continues with
//! the first missing pair.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::format::{MAGIC, VERSION};
use super::index::Layout;
use super::solve::{Context, Values, allocate, solve};
use super::{ContestTable, GAME, KEYS, MIN_PIECES, key, open_slice, slice};
use crate::blocks::{self, BLOCK_BYTES};
use crate::endgame::{Counts, Slice};
use crate::file::{self, slice_path};
use crate::parallel::map;
use crate::{Progress, TableError};

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// Folder of the table.
    pub folder: &'a Path,
    /// Maximum number of men.
    pub pieces: u8,
    /// Number of threads.
    pub threads: usize,
    /// Maximum memory in bytes.
    pub memory: u64,
    /// Whether to rebuild existing slices.
    pub force: bool,
}

/// Pairs of slices that differ in the side to move only, in the order of the build.
fn pairs(pieces: u8) -> impl Iterator<Item = Vec<Slice>> {
    (1..=pieces / 2).map(move |men| {
        let (one, other) = (slice(men, pieces - men), slice(pieces - men, men));
        if one == other { vec![one] } else { vec![one, other] }
    })
}

/// Number of positions, which is also the number of bytes of memory for their values.
fn size(slices: &[Slice]) -> u64 {
    slices.iter().map(|&slice| Layout::of(slice).size()).sum()
}

/// Memory that a pair needs, in bytes: for its values and those of what it depends on.
fn memory(pair: &[Slice], needed: &[&Vec<Slice>]) -> u64 {
    size(pair) + needed.iter().map(|pair| size(pair)).sum::<u64>()
}

/// Whether captures lead from one pair to the other, in the same game.
fn leads_to(from: &[Slice], to: &[Slice]) -> bool {
    to.iter().any(|to| to.own_men <= from[0].own_men && to.opponent_men <= from[0].opponent_men)
}

impl Build<'_> {
    /// Builds the slices that are missing or damaged, and opens the table. All threads call
    /// `progress` repeatedly, with numbers of positions.
    ///
    /// # Errors
    /// If files cannot be read or written, memory is short, another program builds the same table,
    /// or `progress` cancelled the build.
    pub fn run(&self, progress: &Progress<'_>) -> Result<ContestTable, TableError> {
        let _lock = file::prepare_folder(self.folder)?;
        let pairs: Vec<Vec<Slice>> = (MIN_PIECES..=self.pieces).flat_map(pairs).collect();
        let total = pairs.iter().map(|pair| size(pair)).sum();
        let needed = |number: usize| -> Vec<&Vec<Slice>> {
            pairs[..number].iter().filter(|to| leads_to(&pairs[number], to)).collect()
        };
        let is_built: Vec<bool> =
            pairs.iter().map(|pair| !self.force && self.is_complete(pair)).collect();
        let unbuilt = (0..pairs.len()).filter(|&number| !is_built[number]);
        let largest = unbuilt.map(|number| (memory(&pairs[number], &needed(number)), number)).max();
        if let Some((bytes, number)) = largest.filter(|(bytes, _)| *bytes > self.memory) {
            return Err(TableError::memory_limit(pairs[number][0], bytes, self.memory));
        }
        let done = AtomicU64::new(0);
        let mut solved: Vec<Option<Values>> = (0..KEYS).map(|_| None).collect();
        for (number, pair) in pairs.iter().enumerate() {
            let before = done.load(Relaxed);
            if !is_built[number] {
                let needed = needed(number);
                self.load(&needed, pair, &mut solved, progress, (before, total))?;
                let tick = |count| progress(done.fetch_add(count, Relaxed) + count, total);
                self.solve(pair, &mut solved, &tick)?;
            }
            done.store(before + size(pair), Relaxed);
            if progress(before + size(pair), total).is_break() {
                return Err(TableError::Cancelled);
            }
        }
        ContestTable::open(self.folder)
    }

    /// Whether the files of a pair exist and are undamaged.
    fn is_complete(&self, pair: &[Slice]) -> bool {
        let is_valid = |&slice: &Slice| {
            open_slice(self.folder, slice).is_ok_and(|file| file.check_blocks().is_ok())
        };
        pair.iter().all(is_valid)
    }

    /// Loads the values of the pairs that `pair` depends on. Drops others if it needs the memory.
    fn load(
        &self,
        needed: &[&Vec<Slice>],
        pair: &[Slice],
        solved: &mut [Option<Values>],
        progress: &Progress<'_>,
        (done, total): (u64, u64),
    ) -> Result<(), TableError> {
        let bytes = memory(pair, needed);
        let keys: Vec<usize> =
            needed.iter().flat_map(|pair| pair.iter().copied()).map(key).collect();
        let unneeded = (0..KEYS).filter(|key| !keys.contains(key));
        let unneeded: Vec<usize> = unneeded.filter(|&key| solved[key].is_some()).collect();
        let spare: u64 =
            unneeded.iter().filter_map(|&key| solved[key].as_ref()).map(|v| v.len() as u64).sum();
        if bytes + spare > self.memory {
            unneeded.into_iter().for_each(|key| solved[key] = None);
        }
        for pair in needed {
            if pair.iter().all(|&slice| solved[key(slice)].is_some()) {
                continue;
            }
            for &slice in *pair {
                solved[key(slice)] = Some(self.read(slice)?);
            }
            let tick = |_| progress(done, total);
            let context = Context { solved, threads: self.threads, tick: &tick };
            solve(pair, true, &context)?;
        }
        Ok(())
    }

    /// Reads the stored values of a slice.
    fn read(&self, slice: Slice) -> Result<Values, TableError> {
        let file = open_slice(self.folder, slice)?;
        let mut values = allocate(slice)?;
        let stored = Layout::of(slice).stored() as usize;
        let mut block = Vec::new();
        for (number, values) in (0..).zip(values[..stored].chunks_mut(BLOCK_BYTES)) {
            file.read_block(number, &mut block).map_err(|error| TableError::Corrupt {
                path: slice_path(self.folder, slice),
                game: GAME,
                error,
            })?;
            for (value, &byte) in values.iter_mut().zip(&block) {
                *value.get_mut() = byte as i8;
            }
        }
        Ok(values)
    }

    fn solve(
        &self,
        pair: &[Slice],
        solved: &mut [Option<Values>],
        tick: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
    ) -> Result<(), TableError> {
        for &slice in pair {
            solved[key(slice)] = Some(allocate(slice)?);
        }
        solve(pair, false, &Context { solved, threads: self.threads, tick })?;
        for &slice in pair {
            if let Some(values) = &solved[key(slice)] {
                let image = encode(slice, values, self.threads);
                file::save(&slice_path(self.folder, slice), &image)?;
            }
            if slice.pieces() == self.pieces {
                // Nothing depends on it.
                solved[key(slice)] = None;
            }
        }
        Ok(())
    }
}

/// Builds the file of a slice.
fn encode(slice: Slice, values: &Values, threads: usize) -> Vec<u8> {
    let layout = Layout::of(slice);
    let length = BLOCK_BYTES as u64;
    let blocks = map(threads, layout.stored().div_ceil(length), |block| {
        let first = block * length;
        let range = first..layout.stored().min(first + length);
        let mut known = Vec::with_capacity(BLOCK_BYTES);
        layout.each(range, |index, men| {
            let value = values[index as usize].load(Relaxed);
            known.push((!men.board().has_capture()).then_some(value));
        });
        blocks::compress(&blocks::fill(known).map(|value| value as u8).collect::<Vec<_>>())
    });
    let mut counts = Counts::default();
    for value in values {
        counts.add_sign(value.load(Relaxed));
    }
    let facts = [slice.own_men, slice.opponent_men];
    let header = blocks::header((&MAGIC, VERSION), counts, &facts);
    blocks::build(header, blocks.iter().map(|block| &block[..]))
}
