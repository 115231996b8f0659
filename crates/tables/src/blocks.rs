//! Files of compressed blocks, each with a checksum of its own: opening a file reads only its
//! header and the list of blocks. `docs/tables.md` describes the format.

use miniz_oxide::inflate::decompress_slice_iter_to_slice;

use crate::FormatError;
use crate::endgame::Counts;
use crate::image::Image;

/// Bytes of the header: magic number (16), version (4), the table's own facts (12), numbers of
/// outcomes (24), length (8).
pub(crate) const HEADER: usize = 64;
/// Offsets of the numbers of won, lost and drawn positions in the header.
const COUNTS: [usize; 3] = [32, 40, 48];
/// Bytes per block in the list of blocks: the end of its bytes, and their checksum.
const LISTED: usize = 8;
/// Bytes of the checksum after the list of blocks.
const CHECKSUM: usize = 4;
/// Bytes of a block before compression.
pub(crate) const BLOCK_BYTES: usize = 4096;

/// An open file of blocks.
pub(crate) struct BlockFile {
    image: Image,
    /// Offset of the first block.
    data: usize,
}

/// Decompresses a block of known length.
fn decompress(bytes: &[u8], length: usize, out: &mut Vec<u8>) -> bool {
    out.resize(length, 0);
    decompress_slice_iter_to_slice(out, std::iter::once(bytes), false, true) == Ok(length)
}

impl BlockFile {
    /// Checks header and list of blocks. The blocks are checked when they are read. `count` reads
    /// the number of blocks from the header; `None` if the header is invalid.
    pub(crate) fn new(
        image: Image,
        (magic, version): (&[u8; 16], u32),
        count: impl FnOnce(&[u8]) -> Option<u64>,
    ) -> Result<BlockFile, FormatError> {
        let bytes = image.bytes();
        if !bytes.starts_with(magic) {
            return Err(FormatError::new("invalid header"));
        }
        let truncated = || FormatError::new(format!("{} bytes: truncated", bytes.len()));
        let header = bytes.get(..HEADER).ok_or_else(truncated)?;
        let found = le_u32(&header[16..20]);
        if found != version {
            return Err(FormatError::new(format!("version {found}, expected {version}")));
        }
        let length = le_u64(&header[56..64]);
        if length != bytes.len() as u64 {
            let message = format!("{} bytes, expected {length}", bytes.len());
            return Err(FormatError::new(message));
        }
        let count = count(header).ok_or_else(|| FormatError::new("invalid header"))?;
        let list_end = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(LISTED)?.checked_add(HEADER))
            .ok_or_else(truncated)?;
        let stored = bytes.get(list_end..list_end + CHECKSUM).ok_or_else(truncated)?;
        let computed = crc32fast::hash(&bytes[..list_end]);
        if le_u32(stored) != computed {
            return Err(FormatError::new("checksum mismatch in the header or the list of blocks"));
        }
        Ok(BlockFile { data: list_end + CHECKSUM, image })
    }

    /// The numbers of outcomes in the header.
    pub(crate) fn counts(&self) -> Counts {
        let [wins, losses, draws] = COUNTS.map(|at| le_u64(&self.image.bytes()[at..at + 8]));
        Counts { wins, losses, draws }
    }

    /// A byte of the header.
    pub(crate) fn header_u8(&self, at: usize) -> u8 {
        self.image.bytes()[at]
    }

    /// Size of the file.
    pub(crate) fn bytes(&self) -> u64 {
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

    /// Decompresses a block of `length` bytes into `out`.
    pub(crate) fn read_block(
        &self,
        number: usize,
        length: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        if decompress(self.block_bytes(number)?, length, out) {
            Ok(())
        } else {
            Err(FormatError::new(format!("invalid data in block {number}")))
        }
    }

    /// Checks every block.
    pub(crate) fn check_blocks(&self) -> Result<(), FormatError> {
        (0..(self.data - HEADER - CHECKSUM) / LISTED)
            .try_for_each(|number| self.block_bytes(number).map(drop))
    }
}

/// Creates a header with the numbers of outcomes, and `facts` of the table after the version.
#[cfg(feature = "fs")]
pub(crate) fn header(
    (magic, version): (&[u8; 16], u32),
    counts: Counts,
    facts: &[u8],
) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..16].copy_from_slice(magic);
    header[16..20].copy_from_slice(&version.to_le_bytes());
    header[20..20 + facts.len()].copy_from_slice(facts);
    for (at, number) in COUNTS.into_iter().zip([counts.wins, counts.losses, counts.draws]) {
        header[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
    header
}

/// Builds a file from a header, whose length is filled in, and the compressed blocks.
#[cfg(feature = "fs")]
pub(crate) fn build<'a>(
    mut header: [u8; HEADER],
    blocks: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
) -> Vec<u8> {
    let data: usize = blocks.clone().map(<[u8]>::len).sum();
    let length = HEADER + blocks.len() * LISTED + CHECKSUM + data;
    header[56..].copy_from_slice(&(length as u64).to_le_bytes());
    let mut image = Vec::with_capacity(length);
    image.extend(header);
    let mut end = 0;
    for bytes in blocks.clone() {
        end += bytes.len() as u32;
        image.extend(end.to_le_bytes());
        image.extend(crc32fast::hash(bytes).to_le_bytes());
    }
    image.extend(crc32fast::hash(&image).to_le_bytes());
    for bytes in blocks {
        image.extend(bytes);
    }
    image
}

/// Replaces values that are never looked up by the value before, which compresses best.
#[cfg(feature = "fs")]
pub(crate) fn fill<T: Copy + Default>(values: Vec<Option<T>>) -> impl Iterator<Item = T> {
    let mut last = values.iter().flatten().next().copied().unwrap_or_default();
    values.into_iter().map(move |value| {
        last = value.unwrap_or(last);
        last
    })
}

/// Compresses a block.
#[cfg(feature = "fs")]
pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    /// Of 10.
    const LEVEL: u8 = 9;
    miniz_oxide::deflate::compress_to_vec(bytes, LEVEL)
}

fn le_u32(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

fn le_u64(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
