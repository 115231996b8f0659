//! The file of a slice.
//!
//! `docs/tables.md` describes it. Values are stored in compressed blocks, each with a checksum of
//! its own, so that opening a file reads only its header and the list of blocks.

use miniz_oxide::inflate::decompress_slice_iter_to_slice;

use super::MAX_PIECES;
use super::slice::Slice;
use super::value::{DRAW, is_win};
use crate::FormatError;
use crate::image::Image;

pub(super) const MAGIC: [u8; 16] = *b"CROWNHEAD ENDS\0\0";
pub(super) const VERSION: u32 = 1;
pub(super) const HEADER: usize = 64;
/// Bytes per block in the list of blocks: the end of its bytes, and their checksum.
pub(super) const LISTED: usize = 8;
/// Bytes of the checksum after the list of blocks.
pub(super) const CHECKSUM: usize = 4;
/// Bytes of a block before compression.
pub(super) const BLOCK_BYTES: usize = 4096;

/// Kind of the values in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stream {
    /// Plies to the end of the game, one byte per position.
    Ends,
    /// Plies to the next capture or man's move, one byte per position.
    Progress,
    /// Only the outcome, two bits per position.
    Outcomes,
}

impl Stream {
    /// Number of positions per block.
    pub(super) const fn positions(self) -> u64 {
        match self {
            Stream::Outcomes => 4 * BLOCK_BYTES as u64,
            Stream::Ends | Stream::Progress => BLOCK_BYTES as u64,
        }
    }

    /// Block of a position.
    #[inline(always)]
    pub(super) const fn block(self, index: u64) -> u64 {
        index / self.positions()
    }

    /// Value of a position in its block.
    #[inline(always)]
    pub(super) fn value(self, block: &[u8], index: u64) -> Option<u8> {
        let at = (index % self.positions()) as usize;
        match self {
            Stream::Outcomes => block.get(at / 4).map(|byte| byte >> (at % 4 * 2) & 3),
            Stream::Ends | Stream::Progress => block.get(at).copied(),
        }
    }
}

/// Numbers of won, lost and drawn positions for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Positions that the side to move wins.
    pub wins: u64,
    /// Positions that it loses.
    pub losses: u64,
    /// Drawn positions.
    pub draws: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.wins += other.wins;
        self.losses += other.losses;
        self.draws += other.draws;
    }
}

impl Counts {
    pub(super) fn add(&mut self, value: u8) {
        match value {
            DRAW => self.draws += 1,
            value if is_win(value) => self.wins += 1,
            _ => self.losses += 1,
        }
    }
}

/// The open file of a slice.
pub(super) struct SliceFile {
    image: Image,
    pub(super) slice: Slice,
    pub(super) has_distances: bool,
    /// Most plies to the end of the game; 0 if distances are not stored.
    pub(super) longest: u8,
    /// Most plies to the next capture or man's move; 0 if distances are not stored.
    pub(super) longest_progress: u8,
    pub(super) counts: Counts,
    /// Offset of the first block.
    data: usize,
}

/// Streams of a file, in their order.
pub(super) const fn streams(distances: bool) -> &'static [Stream] {
    if distances { &[Stream::Ends, Stream::Progress] } else { &[Stream::Outcomes] }
}

/// Decompresses a block of known length.
fn decompress(bytes: &[u8], length: usize, out: &mut Vec<u8>) -> bool {
    out.resize(length, 0);
    decompress_slice_iter_to_slice(out, std::iter::once(bytes), false, true) == Ok(length)
}

impl SliceFile {
    /// Checks header and list of blocks. The blocks are checked when they are read.
    pub(super) fn new(image: Image) -> Result<SliceFile, FormatError> {
        let bytes = image.bytes();
        if !bytes.starts_with(&MAGIC) {
            return Err(FormatError::new("invalid header"));
        }
        let truncated = || FormatError::new(format!("{} bytes: truncated", bytes.len()));
        let header = bytes.get(..HEADER).ok_or_else(truncated)?;
        let number = |at: usize| le_u64(&header[at..at + 8]);
        let version = le_u32(&header[16..20]);
        if version != VERSION {
            return Err(FormatError::new(format!("version {version}, expected {VERSION}")));
        }
        if number(56) != bytes.len() as u64 {
            let message = format!("{} bytes, expected {}", bytes.len(), number(56));
            return Err(FormatError::new(message));
        }
        let slice = Slice {
            own_men: header[20],
            own_kings: header[21],
            opponent_men: header[22],
            opponent_kings: header[23],
        };
        let counts = [header[20..22].iter(), header[22..24].iter()];
        let counts = counts.map(|side| side.map(|&count| u32::from(count)).sum::<u32>());
        let is_valid = counts.iter().all(|count| (1..MAX_PIECES.into()).contains(count))
            && matches!(header[24], 1 | 2);
        if !is_valid {
            return Err(FormatError::new("invalid header"));
        }
        let has_distances = header[24] == 2;
        let blocks = |stream: &Stream| slice.size().div_ceil(stream.positions());
        let count: u64 = streams(has_distances).iter().map(blocks).sum();
        let list_end = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(LISTED)?.checked_add(HEADER))
            .ok_or_else(truncated)?;
        let stored = bytes.get(list_end..list_end + CHECKSUM).ok_or_else(truncated)?;
        let computed = crc32fast::hash(&bytes[..list_end]);
        if le_u32(stored) != computed {
            return Err(FormatError::new("checksum mismatch in the header or the list of blocks"));
        }
        let data = list_end + CHECKSUM;
        let counts = Counts { wins: number(32), losses: number(40), draws: number(48) };
        let (longest, longest_progress) = (header[25], header[26]);
        Ok(SliceFile { slice, has_distances, longest, longest_progress, counts, data, image })
    }

    /// The stream of values: plies to the end, or outcomes.
    pub(super) const fn ends(&self) -> Stream {
        if self.has_distances { Stream::Ends } else { Stream::Outcomes }
    }

    /// Size of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.image.bytes().len() as u64
    }

    /// Compressed bytes of a block, checked. The error names the place of the damage.
    fn block_bytes(&self, number: usize) -> Result<&[u8], FormatError> {
        let bytes = self.image.bytes();
        let listed = |number: usize| bytes.get(HEADER + number * LISTED..self.data)?.get(..LISTED);
        let start = match number.checked_sub(1) {
            None => 0,
            Some(previous) => listed(previous).map_or(0, |entry| le_u32(&entry[..4])),
        };
        let entry = listed(number).ok_or_else(|| self.damage("no entry", number, start))?;
        let range = self.data + start as usize..self.data + le_u32(&entry[..4]) as usize;
        let compressed =
            bytes.get(range).ok_or_else(|| self.damage("invalid length", number, start))?;
        if le_u32(&entry[4..]) != crc32fast::hash(compressed) {
            return Err(self.damage("checksum mismatch", number, start));
        }
        Ok(compressed)
    }

    fn damage(&self, what: &str, block: usize, start: u32) -> FormatError {
        let offset = self.data as u64 + u64::from(start);
        FormatError::new(format!("{what} in block {block}, at byte {offset}"))
    }

    /// Decompresses a block into `out`.
    pub(super) fn read_block(
        &self,
        stream: Stream,
        block: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let size = self.slice.size();
        let before = match stream {
            Stream::Progress => size.div_ceil(Stream::Ends.positions()),
            Stream::Ends | Stream::Outcomes => 0,
        };
        let number = (before + block) as usize;
        let compressed = self.block_bytes(number)?;
        let positions = (size - block * stream.positions()).min(stream.positions());
        let length = match stream {
            Stream::Outcomes => positions.div_ceil(4),
            Stream::Ends | Stream::Progress => positions,
        };
        if decompress(compressed, length as usize, out) {
            Ok(())
        } else {
            Err(FormatError::new(format!("invalid data in block {number}")))
        }
    }

    /// Checks every block.
    pub(super) fn check_blocks(&self) -> Result<(), FormatError> {
        (0..(self.data - HEADER - CHECKSUM) / LISTED)
            .try_for_each(|number| self.block_bytes(number).map(drop))
    }

    /// Reads all values.
    #[cfg(feature = "fs")]
    pub(super) fn read_all(&self) -> Result<Vec<u8>, FormatError> {
        let (stream, size) = (self.ends(), self.slice.size());
        let mut values = Vec::with_capacity(size as usize);
        let mut block = Vec::new();
        for number in 0..size.div_ceil(stream.positions()) {
            self.read_block(stream, number, &mut block)?;
            let first = number * stream.positions();
            let range = first..size.min(first + stream.positions());
            values.extend(range.map(|index| stream.value(&block, index).unwrap_or(DRAW)));
        }
        Ok(values)
    }
}

fn le_u32(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

fn le_u64(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
