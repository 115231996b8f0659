//! The file of a slice. `docs/tables.md` describes it.

use super::index::Layout;
use super::{KEYS, MAX_PIECES, key, slice};
use crate::FormatError;
use crate::blocks::{BLOCK_BYTES, BlockFile};
use crate::endgame::{Counts, Slice};
use crate::image::Image;

pub(super) const MAGIC: [u8; 16] = *b"CROWNHEAD MEN\0\0\0";
pub(super) const VERSION: u32 = 1;

/// Block of a value, and its place there.
#[inline(always)]
pub(super) const fn block(index: u64) -> (u64, usize) {
    (index / BLOCK_BYTES as u64, (index % BLOCK_BYTES as u64) as usize)
}

/// The open file of a slice.
pub(super) struct SliceFile {
    blocks: BlockFile,
    pub(super) slice: Slice,
    /// Outcomes of all positions with ten plies left before the draw.
    pub(super) counts: Counts,
}

impl SliceFile {
    /// Checks header and list of blocks. The blocks are checked when they are read.
    pub(super) fn new(image: Image) -> Result<SliceFile, FormatError> {
        let mut found = None;
        let blocks = BlockFile::new(image, (&MAGIC, VERSION), |header| {
            let [own, opponent] = [header[20], header[21]];
            let is_valid = own > 0 && opponent > 0 && own.saturating_add(opponent) <= MAX_PIECES;
            let slice = is_valid.then(|| slice(own, opponent))?;
            found = Some(slice);
            Some(Layout::of(slice).stored().div_ceil(BLOCK_BYTES as u64))
        })?;
        let slice = found.ok_or_else(|| FormatError::new("invalid header"))?;
        debug_assert!(key(slice) < KEYS);
        Ok(SliceFile { counts: blocks.counts(), blocks, slice })
    }

    /// Size of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.bytes()
    }

    /// Decompresses a block into `out`.
    pub(super) fn read_block(&self, block: u64, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let stored = Layout::of(self.slice).stored();
        let length = (stored - block * BLOCK_BYTES as u64).min(BLOCK_BYTES as u64);
        self.blocks.read_block(block as usize, length as usize, out)
    }

    /// Checks every block.
    pub(super) fn check_blocks(&self) -> Result<(), FormatError> {
        self.blocks.check_blocks()
    }
}
