//! The file of a slice.
//!
//! `docs/tables.md` describes it. Values are stored in compressed blocks, each with a checksum of
//! its own, so that opening a file reads only its header and the list of blocks.

use super::MAX_PIECES;
use super::slice::Slice;
use super::value::{DRAW, is_win};
use crate::FormatError;
use crate::blocks::{BLOCK_BYTES, BlockFile};
use crate::image::Image;

pub(super) const MAGIC: [u8; 16] = *b"CROWNHEAD ENDS\0\0";
pub(super) const VERSION: u32 = 1;

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
    /// Adds a position with an outcome above, below or equal to 0.
    pub(crate) fn add_sign(&mut self, outcome: i8) {
        match outcome {
            0 => self.draws += 1,
            1.. => self.wins += 1,
            _ => self.losses += 1,
        }
    }

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
    blocks: BlockFile,
    pub(super) slice: Slice,
    pub(super) has_distances: bool,
    /// Maximum number of plies to the end of the game; 0 if distances are not stored.
    pub(super) longest: u8,
    /// Maximum number of plies to the next capture or man's move; 0 if distances are not stored.
    pub(super) longest_progress: u8,
    pub(super) counts: Counts,
}

/// Streams of a file, in their order.
pub(super) const fn streams(distances: bool) -> &'static [Stream] {
    if distances { &[Stream::Ends, Stream::Progress] } else { &[Stream::Outcomes] }
}

/// The slice of a header.
fn slice(header: &[u8]) -> Option<Slice> {
    let slice = Slice {
        own_men: header[20],
        own_kings: header[21],
        opponent_men: header[22],
        opponent_kings: header[23],
    };
    let counts = [header[20..22].iter(), header[22..24].iter()];
    let mut counts =
        counts.map(|side| side.map(|&count| u32::from(count)).sum::<u32>()).into_iter();
    counts.all(|count| (1..MAX_PIECES.into()).contains(&count)).then_some(slice)
}

impl SliceFile {
    /// Checks header and list of blocks. The blocks are checked when they are read.
    pub(super) fn new(image: Image) -> Result<SliceFile, FormatError> {
        let mut found = None;
        let blocks = BlockFile::new(image, (&MAGIC, VERSION), |header| {
            let slice = slice(header).filter(|_| matches!(header[24], 1 | 2))?;
            found = Some(slice);
            let blocks = |stream: &Stream| slice.size().div_ceil(stream.positions());
            Some(streams(header[24] == 2).iter().map(blocks).sum())
        })?;
        let slice = found.ok_or_else(|| FormatError::new("invalid header"))?;
        let counts = blocks.counts();
        let has_distances = blocks.header_u8(24) == 2;
        let [longest, longest_progress] = [25, 26].map(|at| blocks.header_u8(at));
        Ok(SliceFile { blocks, slice, has_distances, longest, longest_progress, counts })
    }

    /// The stream of values: plies to the end, or outcomes.
    pub(super) const fn ends(&self) -> Stream {
        if self.has_distances { Stream::Ends } else { Stream::Outcomes }
    }

    /// Size of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.bytes()
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
        let positions = (size - block * stream.positions()).min(stream.positions());
        let length = match stream {
            Stream::Outcomes => positions.div_ceil(4),
            Stream::Ends | Stream::Progress => positions,
        };
        self.blocks.read_block((before + block) as usize, length as usize, out)
    }

    /// Checks every block.
    pub(super) fn check_blocks(&self) -> Result<(), FormatError> {
        self.blocks.check_blocks()
    }
}
