//! Builds the table in a folder, one pair of slices after the other.
//!
//! A slice is a file that appears complete or not at all, so an interrupted build continues with
//! the first missing pair.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::slice::dependencies;
use super::solve::{self, Context, slices};
use super::value::{DRAW, after_captures, outcome};
use super::values::{Known, Values, memory};
use super::{Boards, EndgameTable, GAME, MAX_PIECES, MIN_PIECES, Slice, encode, open_slice};
use crate::file::{self, slice_path};
use crate::parallel::each_batch;
use crate::{Progress, TableError};

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// Folder of the table.
    pub folder: &'a Path,
    /// Maximum number of pieces.
    pub pieces: u8,
    /// Maximum number of pieces with distances, at most
    /// [`MAX_DISTANCE_PIECES`](super::MAX_DISTANCE_PIECES).
    pub distance_pieces: u8,
    /// Number of threads.
    pub threads: usize,
    /// Maximum memory in bytes.
    pub memory: u64,
    /// Whether to rebuild existing slices.
    pub force: bool,
}

impl Build<'_> {
    /// Builds the slices that are missing or damaged, also damaged ones with more pieces, and opens
    /// the table. All threads call `progress` repeatedly, with numbers of positions.
    ///
    /// # Errors
    /// If files cannot be read or written, memory is short, another program builds the same table,
    /// or `progress` cancelled the build.
    pub fn run(&self, progress: &Progress<'_>) -> Result<EndgameTable, TableError> {
        let pairs = (MIN_PIECES..=MAX_PIECES).flat_map(Slice::pairs);
        let pairs = pairs.filter(|&pair| pair.pieces() <= self.pieces || self.is_damaged(pair));
        self.run_pairs(pairs.collect(), progress)
    }

    /// Builds one slice, with the other side to move too, and what it depends on.
    ///
    /// # Errors
    /// See [`run`](Build::run).
    pub fn run_slice(
        &self,
        slice: Slice,
        progress: &Progress<'_>,
    ) -> Result<EndgameTable, TableError> {
        let mut needed = vec![slice, slice.swapped()];
        let mut next = 0;
        while let Some(&slice) = needed.get(next) {
            for found in dependencies(slice) {
                if !needed.contains(&found) {
                    needed.push(found);
                }
            }
            next += 1;
        }
        let pairs = (MIN_PIECES..=slice.pieces()).flat_map(Slice::pairs);
        let pairs = pairs.filter(|pair| needed.contains(pair) || needed.contains(&pair.swapped()));
        self.run_pairs(pairs.collect(), progress)
    }

    fn run_pairs(
        &self,
        pairs: Vec<Slice>,
        progress: &Progress<'_>,
    ) -> Result<EndgameTable, TableError> {
        let _lock = file::prepare_folder(self.folder)?;
        let positions = |pair: Slice| slices(pair).iter().map(|slice| slice.size()).sum::<u64>();
        let total: u64 = pairs.iter().map(|&pair| positions(pair)).sum();
        let is_built: Vec<bool> =
            pairs.iter().map(|&pair| !self.force && self.is_complete(pair)).collect();
        let unbuilt = pairs.iter().zip(&is_built).filter(|(_, is_built)| !**is_built);
        self.check_memory(unbuilt.map(|(&pair, _)| pair))?;
        let mut done = 0;
        let mut known = Known::new();
        for (pair, is_built) in pairs.into_iter().zip(is_built) {
            if !is_built {
                self.load(&mut known, pair)?;
                self.solve(pair, &mut known, &|solved| {
                    progress((done + solved).min(total), total)
                })?;
            }
            done += positions(pair);
            if progress(done, total).is_break() {
                return Err(TableError::Cancelled);
            }
        }
        EndgameTable::open(self.folder)
    }

    const fn has_distances(&self, slice: Slice) -> bool {
        slice.pieces() <= self.distance_pieces
    }

    /// Whether the files of a pair exist and are undamaged.
    fn is_complete(&self, pair: Slice) -> bool {
        slices(pair).into_iter().all(|slice| {
            open_slice(self.folder, slice).is_ok_and(|file| {
                file.has_distances == self.has_distances(slice) && file.check_blocks().is_ok()
            })
        })
    }

    /// Whether a file of a pair exists and is damaged.
    fn is_damaged(&self, pair: Slice) -> bool {
        let mut paths = slices(pair).into_iter().map(|slice| slice_path(self.folder, slice));
        paths.any(|path| path.exists()) && !self.is_complete(pair)
    }

    /// Memory that a pair needs, in bytes: for its positions, and for the values of what it depends
    /// on.
    fn memory_of(&self, pair: Slice) -> u64 {
        let distances = self.has_distances(pair);
        let bytes = |slice: &Slice| memory(slice.size(), distances);
        solve::memory_of_pair(pair, self.threads, distances)
            + dependencies(pair).iter().map(bytes).sum::<u64>()
    }

    /// Fails before the first pair if one of them needs more memory than allowed.
    fn check_memory(&self, pairs: impl Iterator<Item = Slice>) -> Result<(), TableError> {
        let largest = pairs.map(|pair| (self.memory_of(pair), pair)).max();
        match largest {
            Some((needed, slice)) if needed > self.memory => {
                Err(TableError::memory_limit(slice, needed, self.memory))
            }
            _ => Ok(()),
        }
    }

    /// Loads what a pair depends on. Drops the rest if it needs the memory.
    fn load(&self, known: &mut Known, pair: Slice) -> Result<(), TableError> {
        let distances = self.has_distances(pair);
        let needed = dependencies(pair);
        let own = solve::memory_of_pair(pair, self.threads, distances);
        let bytes = |slice: &Slice| memory(slice.size(), distances);
        if !distances {
            known.forget_distances(&needed)?;
        }
        let missing: Vec<_> =
            needed.iter().copied().filter(|&slice| !known.contains(slice)).collect();
        if own + known.bytes() + missing.iter().map(bytes).sum::<u64>() > self.memory {
            known.keep(&needed);
        }
        for slice in missing {
            let values = self.read(known, slice, distances)?;
            known.insert(slice, values);
        }
        Ok(())
    }

    /// Reads the values of a slice, and derives those of positions with a capture.
    fn read(&self, known: &Known, slice: Slice, distances: bool) -> Result<Values, TableError> {
        let file = open_slice(self.folder, slice)?;
        let stream = file.ends();
        let values = Values::new(slice.size(), distances)?;
        let boards = Boards::new(slice);
        let error = Mutex::new(None);
        let flow =
            each_batch(self.threads, slice.size().div_ceil(stream.positions()), 1, |range| {
                let number = range.start;
                let first = number * stream.positions();
                let mut block = Vec::new();
                let result = file.read_block(stream, number, &mut block).map_err(|error| {
                    let path = slice_path(self.folder, slice);
                    TableError::Corrupt { path, game: GAME, error }
                });
                let result = result.and_then(|()| {
                    let range = first..slice.size().min(first + stream.positions());
                    let mut found = vec![DRAW; (range.end - range.start) as usize];
                    let mut is_known = true;
                    boards.each(range, |index, board| {
                        let value = match board.has_capture() {
                            true => after_captures(board, |after| known.value(after)),
                            false => stream.value(&block, index),
                        };
                        is_known &= value.is_some();
                        let value = value.unwrap_or(DRAW);
                        found[(index - first) as usize] =
                            if distances { value } else { outcome(value) };
                    });
                    values.set(first, found.into_iter());
                    if is_known { Ok(()) } else { Err(TableError::MissingSlices) }
                });
                match result {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(found) => {
                        if let Ok(mut error) = error.lock() {
                            *error = Some(found);
                        }
                        ControlFlow::Break(())
                    }
                }
            });
        match error.into_inner() {
            Ok(Some(error)) => Err(error),
            _ if flow.is_break() => Err(TableError::Cancelled),
            _ => Ok(values),
        }
    }

    fn solve(
        &self,
        pair: Slice,
        known: &mut Known,
        progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
    ) -> Result<(), TableError> {
        let distances = self.has_distances(pair);
        let solved = AtomicU64::new(0);
        let tick = |count| progress(solved.fetch_add(count, Relaxed) + count);
        let context = Context { known, threads: self.threads, distances, tick: &tick };
        for (slice, solved) in slices(pair).into_iter().zip(solve::solve(pair, &context)?) {
            let image = encode::encode(&Boards::new(slice), &solved, self.threads);
            file::save(&slice_path(self.folder, slice), &image)?;
            known.insert(slice, solved.ends);
        }
        Ok(())
    }
}
