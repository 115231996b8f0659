//! Decompressed blocks, shared by the threads of a search.

use std::sync::Mutex;

use crate::FormatError;
use crate::blocks::BLOCK_BYTES;

/// Number of blocks: at most 32 MB.
const SLOTS: usize = (32 << 20) / BLOCK_BYTES;

/// Each block has one slot where it may be; a newer block with the same slot replaces it.
pub(crate) struct Cache(Vec<Mutex<Slot>>);

#[derive(Default)]
struct Slot {
    /// The caller's key, plus 1; 0 for an empty slot.
    key: u64,
    /// The block; empty if it is damaged.
    bytes: Vec<u8>,
}

impl Cache {
    pub(crate) fn new() -> Cache {
        Cache((0..SLOTS).map(|_| Mutex::default()).collect())
    }

    /// Calls `get` with the block that has this key, or with an empty one if `read` fails.
    #[inline]
    pub(crate) fn with_block<T>(
        &self,
        key: u64,
        read: impl FnOnce(&mut Vec<u8>) -> Result<(), FormatError>,
        get: impl FnOnce(&[u8]) -> T,
    ) -> T {
        // The upper bits of the product depend on all bits of the key.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let slot = (hash * SLOTS as u64) >> 32;
        // A panic elsewhere leaves a slot consistent: its key is set last.
        let mut slot = match self.0[slot as usize].lock() {
            Ok(slot) => slot,
            Err(poisoned) => poisoned.into_inner(),
        };
        if slot.key != key + 1 {
            slot.key = 0;
            if read(&mut slot.bytes).is_err() {
                slot.bytes.clear();
            }
            slot.key = key + 1;
        }
        get(&slot.bytes)
    }
}
