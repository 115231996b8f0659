//! The solo table of Chinese checkers: how many turns a player alone on the board needs.
//!
//! [`index`] numbers the placements, [`generate`] computes the turns, `file` keeps them on disk; this
//! module is the table in memory and looking things up in it.

mod file;
mod generate;
mod index;

use std::fmt;
use std::path::Path;

use crownhead_rules::Side;
use memmap2::{Mmap, MmapMut};

use crate::{TableError, solo_path};
pub use generate::Progress;

/// For each placement of six pieces, the least number of own turns to fill the target.
///
/// The entries are for blue, whose target is red's camp; red's placements are looked up turned by
/// half a turn.
pub struct SoloTable {
    /// The file as it is or would be on disk: four bits for each placement, behind a header. A
    /// table that has just been built lies in memory of its own, an opened one in its file.
    image: Mmap,
}

impl SoloTable {
    /// How many placements the table has.
    pub const PLACEMENTS: u64 = index::PLACEMENTS as u64;

    /// How many bytes its file has.
    pub const FILE_BYTES: u64 = file::FILE_BYTES as u64;

    /// No placement needs more turns.
    pub const MAX_TURNS: u8 = 15;

    /// Computes the table. `progress` is called from all threads, again and again.
    ///
    /// # Errors
    /// If there is no memory for it, or `progress` asked to stop.
    pub fn generate(threads: usize, progress: &Progress<'_>) -> Result<SoloTable, TableError> {
        let no_memory = || TableError::OutOfMemory {
            megabytes: (index::PLACEMENTS + file::FILE_BYTES) / 1_000_000,
        };
        let mut image = MmapMut::map_anon(file::FILE_BYTES).map_err(|_| no_memory())?;
        let mut turns = Vec::new();
        turns.try_reserve_exact(index::PLACEMENTS).map_err(|_| no_memory())?;
        generate::generate(&mut turns, threads, progress)?;
        file::encode(&mut image, turns.into_iter().map(|entry| entry.into_inner()));
        let image = image.make_read_only().map_err(|_| no_memory())?;
        Ok(SoloTable { image })
    }

    /// Opens a table's file after checking every byte of it.
    ///
    /// The file is mapped, not copied: all processes that use it share one copy, and it stays
    /// usable when the file is replaced, as [`SoloTable::save`] does, or removed. It must not be cut
    /// short in place, which is why it is saved read-only.
    ///
    /// # Errors
    /// If there is no such file, it cannot be read, or it is not a whole table of this version.
    pub fn open(path: impl AsRef<Path>) -> Result<SoloTable, TableError> {
        file::open(path.as_ref()).map(|image| SoloTable { image })
    }

    /// Opens the table where [`solo_path`] says it is kept; `None` if it has not been built.
    ///
    /// # Errors
    /// As [`SoloTable::open`], but for a missing file.
    pub fn open_default() -> Result<Option<SoloTable>, TableError> {
        let Some(path) = solo_path() else { return Ok(None) };
        match SoloTable::open(path) {
            Err(TableError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// Writes the table to a file, which appears there whole or not at all; a file that was there is
    /// replaced. Folders that are missing are made.
    ///
    /// # Errors
    /// If something cannot be written; then nothing is left behind.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TableError> {
        file::save(path.as_ref(), &self.image)
    }

    /// How many turns `side` needs to fill its target from this placement with no opponent on the
    /// board. Bit 0 of `pieces` is cell `11`; `None` if there are not exactly six.
    #[inline]
    pub fn turns(&self, pieces: u64, side: Side) -> Option<u8> {
        let number = index::rank(pieces, side)?;
        let pair = self.image.get(file::HEADER + number / 2)?;
        Some(pair >> (number % 2 * 4) & 15)
    }

    /// How many placements need 0, 1, 2, … turns.
    pub fn histogram(&self) -> [u64; SoloTable::MAX_TURNS as usize + 1] {
        let mut pairs = [0; 256];
        for &pair in &self.image[file::HEADER..][..file::DATA] {
            pairs[usize::from(pair)] += 1;
        }
        let mut counts = [0; _];
        for (pair, count) in pairs.into_iter().enumerate() {
            counts[pair & 15] += count;
            counts[pair >> 4] += count;
        }
        counts
    }
}

impl fmt::Debug for SoloTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SoloTable").finish_non_exhaustive()
    }
}
