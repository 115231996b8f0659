//! The solo table of Chinese checkers: distances of a player alone on the board.

#[cfg(feature = "fs")]
mod file;
mod format;
mod generate;
mod index;

use std::fmt;
#[cfg(feature = "fs")]
use std::path::Path;

use crownhead_rules::{ChineseCheckers, Position, Probe, Side, SoloDistances, TableValue};

use crate::image::Image;
use crate::{FormatError, Progress, TableError};

/// Id of the game.
#[cfg(feature = "fs")]
const GAME: &str = <ChineseCheckers as crownhead_rules::Notation>::ID;

/// Minimum number of turns to the target camp for each placement of six pieces.
///
/// The entries are those of Blue, whose target is Red's camp. Red's placements are looked up on the
/// rotated board.
pub struct SoloTable {
    image: Image,
}

impl SoloTable {
    /// Number of placements.
    pub const PLACEMENTS: u64 = index::PLACEMENTS as u64;

    /// Size of the file in bytes.
    pub const FILE_BYTES: u64 = format::FILE_BYTES as u64;

    /// Maximum distance.
    pub const MAX_TURNS: u8 = 15;

    /// Generates the table. All threads call `progress` repeatedly.
    ///
    /// # Errors
    /// If memory is short, or `progress` cancelled the generation.
    pub fn generate(threads: usize, progress: &Progress<'_>) -> Result<SoloTable, TableError> {
        let megabytes = (index::PLACEMENTS + format::FILE_BYTES) / 1_000_000;
        let out_of_memory = |_| TableError::OutOfMemory { megabytes };
        let mut image = Vec::new();
        image.try_reserve_exact(format::FILE_BYTES).map_err(out_of_memory)?;
        let mut turns = Vec::new();
        turns.try_reserve_exact(index::PLACEMENTS).map_err(out_of_memory)?;
        generate::generate(&mut turns, threads, progress)?;
        image.resize(format::FILE_BYTES, 0);
        format::encode(&mut image, turns.into_iter().map(|entry| entry.into_inner()));
        Ok(SoloTable { image: Image::Memory(image) })
    }

    /// Creates a table from the bytes of its file after checking all of them.
    ///
    /// # Errors
    /// If the bytes are not a complete table of this version.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<SoloTable, FormatError> {
        format::check(&bytes)?;
        Ok(SoloTable { image: Image::Memory(bytes) })
    }

    /// Opens a file after checking every byte.
    ///
    /// The file is mapped, not copied: all processes that use it share one copy, and it stays
    /// usable when the file is replaced (as [`SoloTable::save`] does) or removed. It must not be
    /// truncated in place, which is why it is saved read-only.
    ///
    /// # Errors
    /// If there is no such file, it cannot be read, or it is not a complete table of this version.
    #[cfg(feature = "fs")]
    pub fn open(path: impl AsRef<Path>) -> Result<SoloTable, TableError> {
        file::open(path.as_ref()).map(|image| SoloTable { image: Image::Mapped(image) })
    }

    /// Saves the table atomically: the file appears complete or not at all, and replaces an
    /// existing one. Missing folders are created.
    ///
    /// # Errors
    /// If the file cannot be written; nothing is left behind.
    #[cfg(feature = "fs")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TableError> {
        crate::file::save(path.as_ref(), self.image.bytes())
    }

    /// Minimum number of turns in which `side` fills its target from this placement, with no
    /// opponent on the board. Bit 0 of `pieces` is cell `11`; `None` unless there are exactly six.
    #[inline]
    pub fn turns(&self, pieces: u64, side: Side) -> Option<u8> {
        let index = index::rank(pieces, side)?;
        let pair = self.image.bytes().get(format::HEADER + index / 2)?;
        Some(pair >> (index % 2 * 4) & 15)
    }

    /// Number of placements by distance.
    pub fn histogram(&self) -> [u64; SoloTable::MAX_TURNS as usize + 1] {
        let mut pairs = [0; 256];
        for &pair in &self.image.bytes()[format::HEADER..][..format::DATA] {
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

impl SoloDistances for SoloTable {
    fn turns(&self, pieces: u64, side: Side) -> Option<u8> {
        self.turns(pieces, side)
    }
}

/// Exact values of positions in which one side has no pieces and passes. With pieces of both sides
/// on the board the table proves nothing: they can be jumped over, block, and fill the target.
impl Probe<ChineseCheckers> for SoloTable {
    fn probe(&self, position: &ChineseCheckers) -> Option<TableValue> {
        let mover = position.side();
        // A runner with a distance of 0 would have to leave its target first.
        let plies = |runner: Side| {
            let turns = self.turns(position.pieces(runner), runner).filter(|&turns| turns > 0)?;
            Some(2 * u32::from(turns))
        };
        match (position.pieces(mover), position.pieces(mover.other())) {
            (_, 0) => plies(mover).map(|plies| TableValue::Win { plies: plies - 1 }),
            (0, _) => plies(mover.other()).map(|plies| TableValue::Loss { plies }),
            _ => None,
        }
    }
}

impl fmt::Debug for SoloTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SoloTable").finish_non_exhaustive()
    }
}
