//! Builds the table in a folder, one pair of slices after the other.
//!
//! A slice is a file that appears complete or not at all, so a build that was interrupted continues
//! with the first pair that is not there.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::solve::{BYTES_PER_POSITION, Context, Pair};
use super::value::Stored;
use super::{EndgameTable, GAME, KEYS, MIN_PIECES, Slice, encode, key, open_slice};
use crate::file::{self, slice_path};
use crate::{Progress, TableError};

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// Folder of the table.
    pub folder: &'a Path,
    /// Most pieces.
    pub pieces: u8,
    /// Most pieces with distances: [`MAX_DISTANCE_PIECES`](super::MAX_DISTANCE_PIECES), or fewer.
    pub distance_pieces: u8,
    /// Number of threads.
    pub threads: usize,
    /// Most bytes of memory to use.
    pub memory: u64,
    /// Whether to build slices that are there already.
    pub force: bool,
}

/// Values of the slices that the current pair depends on.
struct Dependencies {
    values: Vec<Option<Vec<u8>>>,
}

impl Stored for Dependencies {
    #[inline]
    fn stored(&self, slice: Slice, index: u64) -> Option<u8> {
        self.values[key(slice)].as_ref()?.get(index as usize).copied()
    }
}

impl Dependencies {
    fn bytes(&self) -> u64 {
        self.values.iter().flatten().map(|values| values.len() as u64).sum()
    }

    /// Loads what a pair depends on. Drops the rest if it needs the memory.
    fn load(&mut self, build: &Build<'_>, pair: Slice) -> Result<(), TableError> {
        let needed = dependencies(pair);
        let own = [pair, pair.swapped()].map(Slice::size);
        let own = if pair == pair.swapped() { own[0] } else { own[0] + own[1] };
        let own = own * BYTES_PER_POSITION;
        let loaded: u64 = needed.iter().map(|slice| slice.size()).sum();
        if own + loaded > build.memory {
            let [needed, allowed] = [own + loaded, build.memory].map(|bytes| bytes / 1_000_000);
            return Err(TableError::MemoryLimit { slice: pair, needed, allowed });
        }
        let is_missing = |slice: &&Slice| self.values[key(**slice)].is_none();
        let missing: u64 = needed.iter().filter(is_missing).map(|slice| slice.size()).sum();
        if own + self.bytes() + missing > build.memory {
            let keys: Vec<usize> = needed.iter().map(|&slice| key(slice)).collect();
            for (key, values) in self.values.iter_mut().enumerate() {
                if !keys.contains(&key) {
                    *values = None;
                }
            }
        }
        for slice in needed {
            if self.values[key(slice)].is_none() {
                let values = open_slice(build.folder, slice)?.read_all().map_err(|error| {
                    let path = slice_path(build.folder, slice);
                    TableError::Corrupt { path, game: GAME, error }
                })?;
                self.values[key(slice)] = Some(values);
            }
        }
        Ok(())
    }
}

/// Slices that captures and crownings of a pair lead to.
fn dependencies(pair: Slice) -> Vec<Slice> {
    let mut found = Vec::new();
    let is_part = |part: Slice, whole: Slice| {
        part.own_men <= whole.own_men
            && part.opponent_men <= whole.opponent_men
            && part.own_men + part.own_kings <= whole.own_men + whole.own_kings
            && part.opponent_men + part.opponent_kings <= whole.opponent_men + whole.opponent_kings
    };
    for pieces in MIN_PIECES..pair.pieces() {
        let slices = Slice::all(pieces).into_iter();
        found.extend(slices.filter(|&part| is_part(part, pair) || is_part(part, pair.swapped())));
    }
    for slice in [pair, pair.swapped()] {
        if let Some(own_men) = slice.own_men.checked_sub(1) {
            found.push(Slice { own_men, own_kings: slice.own_kings + 1, ..slice }.swapped());
        }
    }
    found.sort();
    found.dedup();
    found
}

impl Build<'_> {
    /// Builds the slices that are missing or damaged, and opens the table. All threads call
    /// `progress` repeatedly, with numbers of positions.
    ///
    /// # Errors
    /// If files cannot be read or written, memory is short, another program builds the same table,
    /// or `progress` cancelled the build.
    pub fn run(&self, progress: &Progress<'_>) -> Result<EndgameTable, TableError> {
        let folder = self.folder;
        fs::create_dir_all(folder).map_err(|error| TableError::io(folder, "create", error))?;
        let _lock = file::lock(folder)?;
        file::remove_unfinished(folder);
        let pairs: Vec<Slice> = (MIN_PIECES..=self.pieces).flat_map(Slice::pairs).collect();
        let positions = |pair: Slice| {
            if pair == pair.swapped() { pair.size() } else { 2 * pair.size() }
        };
        let total: u64 = pairs.iter().map(|&pair| positions(pair)).sum();
        let mut done = 0;
        let mut dependencies = Dependencies { values: (0..KEYS).map(|_| None).collect() };
        for pair in pairs {
            let distances = pair.pieces() <= self.distance_pieces;
            if self.force || !self.is_complete(pair, distances) {
                dependencies.load(self, pair)?;
                self.solve(pair, distances, &dependencies, &|looked_at| {
                    progress((done + looked_at).min(total), total)
                })?;
            }
            done += positions(pair);
            if progress(done, total).is_break() {
                return Err(TableError::Cancelled);
            }
        }
        EndgameTable::open(folder)
    }

    /// Whether the files of a pair are there and undamaged.
    fn is_complete(&self, pair: Slice, distances: bool) -> bool {
        [pair, pair.swapped()].into_iter().all(|slice| {
            open_slice(self.folder, slice)
                .is_ok_and(|file| file.has_distances == distances && file.check_blocks().is_ok())
        })
    }

    fn solve(
        &self,
        pair: Slice,
        distances: bool,
        dependencies: &Dependencies,
        progress: &(dyn Fn(u64) -> std::ops::ControlFlow<()> + Sync),
    ) -> Result<(), TableError> {
        let looked_at = AtomicU64::new(0);
        let looks = if distances { 2 } else { 1 };
        let tick = |count| progress((looked_at.fetch_add(count, Relaxed) + count) / looks);
        let pair = Pair::new(pair);
        let context =
            Context { stored: dependencies, threads: self.threads, distances, tick: &tick };
        for (boards, solved) in pair.boards().iter().zip(pair.solve(&context)?) {
            let image = encode::encode(boards, &solved, self.threads);
            file::save(&slice_path(self.folder, boards.slice()), &image)?;
        }
        Ok(())
    }
}
