//! Decompressed blocks, shared by the threads of a search.

use std::sync::Mutex;

use super::format::{BLOCK_BYTES, SliceFile, Stream};

/// Number of blocks: at most 32 MB.
const SLOTS: usize = (32 << 20) / BLOCK_BYTES;

/// Each block has one slot where it may be; a newer block with the same slot replaces it.
pub(super) struct Cache(Vec<Mutex<Slot>>);

#[derive(Default)]
struct Slot {
    /// Slice, stream and block, plus 1; 0 for an empty slot.
    key: u64,
    /// The block; empty if it is damaged.
    bytes: Vec<u8>,
}

impl Cache {
    pub(super) fn new() -> Cache {
        Cache((0..SLOTS).map(|_| Mutex::default()).collect())
    }

    /// Value of a position without a capture; `None` if its block is damaged.
    #[inline]
    pub(super) fn value(
        &self,
        file: &SliceFile,
        slice_key: usize,
        stream: Stream,
        index: u64,
    ) -> Option<u8> {
        let block = stream.block(index);
        let key = (slice_key as u64) << 48 | u64::from(stream == Stream::Progress) << 47 | block;
        // The upper bits of the product depend on all bits of the key.
        let slot = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        // A panic elsewhere leaves a slot consistent: its key is set last.
        let mut slot = match self.0[slot as usize % SLOTS].lock() {
            Ok(slot) => slot,
            Err(poisoned) => poisoned.into_inner(),
        };
        if slot.key != key + 1 {
            slot.key = 0;
            if file.read_block(stream, block, &mut slot.bytes).is_err() {
                slot.bytes.clear();
            }
            slot.key = key + 1;
        }
        stream.value(&slot.bytes, index)
    }
}
