//! The file format of books, and of the scores that making one collects.
//!
//! A header line says what the file is and how it was made. Blocks follow: the number of entries
//! and a CRC-32 of the header line, that number and the entries (four bytes each), then the entries.
//! An entry is a position's key (eight bytes) and a value (two). All numbers are little-endian.
//!
//! In a book, every block but the last is full, so that a missing block is noticed.

/// Bytes of an entry.
pub(super) const ENTRY_BYTES: usize = 10;
const BLOCK_HEADER_BYTES: usize = 8;
/// Maximum number of entries of a block.
pub(super) const BLOCK_ENTRIES: usize = 250;
/// Maximum length of the header line.
const MAX_HEADER_BYTES: usize = 500;

/// A stored entry; see [`Entry`].
pub(super) type EntryBytes = [u8; ENTRY_BYTES];

/// A position's key and a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Entry {
    pub(super) key: u64,
    pub(super) value: u16,
}

impl Entry {
    pub(super) fn decode(bytes: &EntryBytes) -> Entry {
        let [key @ .., low, high] = *bytes;
        Entry { key: u64::from_le_bytes(key), value: u16::from_le_bytes([low, high]) }
    }

    fn encode(self) -> EntryBytes {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..].copy_from_slice(&self.value.to_le_bytes());
        bytes
    }
}

/// Why a file of a book or its scores cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BookError {
    /// The file has another format.
    #[error("not a {0} (version 1)")]
    Header(&'static str),
    /// The file was made with other settings than asked for: its header line.
    #[error("made with other settings: {0}")]
    Settings(String),
    /// A block has a wrong checksum, or its entries are out of order.
    #[error("the block at byte {0} is damaged")]
    Block(usize),
    /// The file ends too early.
    #[error("the block at byte {0} is incomplete or missing")]
    Incomplete(usize),
    /// There is no memory for a search.
    #[error("{0}")]
    OutOfMemory(String),
}

/// Appends blocks with all entries to a file with this header line, which has no line break.
pub(super) fn write_blocks(header: &str, entries: &[Entry], out: &mut Vec<u8>) {
    for entries in entries.chunks(BLOCK_ENTRIES) {
        write_block(header, entries, out);
    }
}

/// Appends a block.
pub(super) fn write_block(header: &str, entries: &[Entry], out: &mut Vec<u8>) {
    let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.encode()).collect();
    let count = (entries.len() as u32).to_le_bytes();
    out.extend_from_slice(&count);
    out.extend_from_slice(&checksum(header, count, &bytes).to_le_bytes());
    out.extend_from_slice(&bytes);
}

fn checksum(header: &str, count: [u8; 4], entries: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header.as_bytes());
    hasher.update(&count);
    hasher.update(entries);
    hasher.finalize()
}

/// Reads the blocks of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockReader<'a> {
    bytes: &'a [u8],
    /// The header line.
    header: &'a str,
    /// Bytes up to the end of the last block read.
    pub(super) position: usize,
}

impl<'a> BlockReader<'a> {
    /// Reads the header line, which starts with `magic` and a space. `kind` is for the error.
    pub(super) fn new(bytes: &'a [u8], magic: &str, kind: &'static str) -> Result<Self, BookError> {
        let end = bytes.iter().take(MAX_HEADER_BYTES).position(|&byte| byte == b'\n');
        let header = end.and_then(|end| std::str::from_utf8(&bytes[..end]).ok());
        let is_right = |text: &&str| {
            text.strip_prefix(magic).is_some_and(|settings| settings.starts_with(' '))
        };
        let header = header.filter(is_right).ok_or(BookError::Header(kind))?;
        Ok(BlockReader { bytes, header, position: header.len() + 1 })
    }

    pub(super) fn header(&self) -> &'a str {
        self.header
    }

    /// Reads the next block; `None` at the end of the file.
    pub(super) fn next_block(&mut self) -> Result<Option<&'a [EntryBytes]>, BookError> {
        let rest = &self.bytes[self.position..];
        if rest.is_empty() {
            return Ok(None);
        }
        let incomplete = BookError::Incomplete(self.position);
        let Some((header, rest)) = rest.split_first_chunk::<BLOCK_HEADER_BYTES>() else {
            return Err(incomplete);
        };
        let [c0, c1, c2, c3, crc @ ..] = *header;
        let count = u32::from_le_bytes([c0, c1, c2, c3]) as usize;
        if count > BLOCK_ENTRIES {
            return Err(BookError::Block(self.position));
        }
        let entries = rest.get(..ENTRY_BYTES * count).ok_or(incomplete)?;
        if checksum(self.header, [c0, c1, c2, c3], entries) != u32::from_le_bytes(crc) {
            return Err(BookError::Block(self.position));
        }
        self.position += BLOCK_HEADER_BYTES + entries.len();
        Ok(Some(entries.as_chunks().0))
    }
}
