//! The bytes of a solo table: a header, four bits for each placement, a checksum.
//!
//! | bytes | content |
//! |---|---|
//! | 16 | `CROWNHEAD SOLO` and two zero bytes |
//! | 4 | version, 1 |
//! | 4 | number of placements, 74,974,368 |
//! | 40 | zero |
//! | 37,487,184 | turns, two placements per byte, the lower index in the lower four bits |
//! | 4 | CRC-32 of all preceding bytes |
//!
//! Numbers are little-endian. The checksum covers every byte, so a damaged table is never used.

use super::index::PLACEMENTS;
use crate::FormatError;

const MAGIC: [u8; 16] = *b"CROWNHEAD SOLO\0\0";
const VERSION: u32 = 1;
pub(super) const HEADER: usize = 64;
pub(super) const DATA: usize = PLACEMENTS / 2;
pub(super) const CHECKSUM: usize = 4;
pub(super) const FILE_BYTES: usize = HEADER + DATA + CHECKSUM;

// Two placements share a byte, and none is left over.
const _: () = assert!(PLACEMENTS.is_multiple_of(2));

/// Writes a table to `image` from the turns of all placements, in the order of their indices.
pub(super) fn encode(image: &mut [u8], mut turns: impl Iterator<Item = u8>) {
    let (body, checksum) = image.split_at_mut(HEADER + DATA);
    body[..16].copy_from_slice(&MAGIC);
    body[16..20].copy_from_slice(&VERSION.to_le_bytes());
    body[20..24].copy_from_slice(&(PLACEMENTS as u32).to_le_bytes());
    body[24..HEADER].fill(0);
    for pair in &mut body[HEADER..] {
        let mut four_bits = || turns.next().unwrap_or(0) & 15;
        *pair = four_bits() | four_bits() << 4;
    }
    checksum.copy_from_slice(&crc32fast::hash(body).to_le_bytes());
}

/// Checks magic, version and length. `header` holds the first [`HEADER`] bytes, or all if there are
/// fewer.
pub(super) fn check_header(header: &[u8], length: u64) -> Result<(), FormatError> {
    if !header.starts_with(&MAGIC) {
        return Err(FormatError::new("invalid header"));
    }
    if let Some(version) = header.get(16..20)
        && version != VERSION.to_le_bytes()
    {
        let version = version.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
        return Err(FormatError::new(format!("version {version}, expected {VERSION}")));
    }
    if length != FILE_BYTES as u64 {
        return Err(FormatError::new(format!("{length} bytes, expected {FILE_BYTES}")));
    }
    Ok(())
}

pub(super) fn check_checksum(stored: [u8; CHECKSUM], computed: u32) -> Result<(), FormatError> {
    let stored = u32::from_le_bytes(stored);
    if stored != computed {
        let message = format!("checksum mismatch: stored {stored:08x}, computed {computed:08x}");
        return Err(FormatError::new(message));
    }
    Ok(())
}

/// Checks a table in memory.
pub(super) fn check(image: &[u8]) -> Result<(), FormatError> {
    check_header(&image[..image.len().min(HEADER)], image.len() as u64)?;
    let (body, checksum) = image.split_at(HEADER + DATA);
    // The length is right, so the checksum is there.
    check_checksum(checksum.try_into().unwrap_or_default(), crc32fast::hash(body))
}
