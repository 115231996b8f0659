//! Transposition table, shared by all threads without locks.
//!
//! An entry consists of two words: the data, and the position's key XORed with the data. If two
//! threads write an entry at the same time and mix their words, the XOR does not give the key, and
//! the entry counts as absent (Hyatt and Mann's lockless hashing). Four entries form a bucket of
//! one cache line.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::score::MAX_EVAL;
use crate::{MAX_PLY, Score};

/// Meaning of a stored score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    Lower = 1,
    Upper = 2,
    Exact = 3,
}

/// Result of an earlier search of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) score: Score,
    pub(crate) static_eval: Score,
    pub(crate) depth: i32,
    pub(crate) bound: Bound,
    /// Index of the best move in generation order.
    pub(crate) best_index: Option<u8>,
}

#[repr(align(64))]
struct Bucket([AtomicU64; 8]);

/// The table. A table of size 0 stores nothing.
pub(crate) struct TranspositionTable {
    buckets: Vec<Bucket>,
    generation: AtomicU8,
}

/// Number of searches after which the generation wraps around.
const GENERATIONS: u8 = 32;

impl TranspositionTable {
    /// Allocates a table; `None` if memory is short.
    pub(crate) fn new(megabytes: usize) -> Option<TranspositionTable> {
        let len = megabytes.checked_mul(1 << 20)? / size_of::<Bucket>();
        let mut buckets = Vec::new();
        buckets.try_reserve_exact(len).ok()?;
        advise_huge_pages(buckets.spare_capacity_mut());
        buckets.resize_with(len, || Bucket(Default::default()));
        Some(TranspositionTable { buckets, generation: AtomicU8::new(0) })
    }

    /// Starts a new generation: earlier entries are replaced first.
    pub(crate) fn new_search(&self) {
        let generation = self.generation.load(Relaxed);
        self.generation.store((generation + 1) % GENERATIONS, Relaxed);
    }

    pub(crate) fn clear(&self) {
        self.buckets.iter().flat_map(|bucket| &bucket.0).for_each(|word| word.store(0, Relaxed));
        self.generation.store(0, Relaxed);
    }

    /// Bucket of a key: the key is scaled to the number of buckets, so any size works.
    #[inline(always)]
    fn bucket(&self, key: u64) -> Option<&Bucket> {
        let index = (u128::from(key) * self.buckets.len() as u128) >> 64;
        self.buckets.get(index as usize)
    }

    /// Loads the entries of a key into the cache, so that a probe that follows need not wait for
    /// memory.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: u64) {
        if let Some(bucket) = self.bucket(key) {
            prefetch(bucket);
        }
    }

    #[inline(always)]
    pub(crate) fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        let words = &self.bucket(key)?.0;
        for pair in words.chunks_exact(2) {
            let data = pair[1].load(Relaxed);
            if pair[0].load(Relaxed) ^ data == key && data != 0 {
                return unpack(data, ply);
            }
        }
        None
    }

    #[inline(always)]
    pub(crate) fn store(&self, key: u64, ply: usize, entry: Entry) {
        let Some(Bucket(words)) = self.bucket(key) else { return };
        let generation = self.generation.load(Relaxed);
        // Replace the same position, else the entry with the lowest value: shallow and old.
        let mut slot = 0;
        let mut lowest = i32::MAX;
        let mut best_index = entry.best_index;
        for index in 0..4 {
            let data = words[2 * index + 1].load(Relaxed);
            if words[2 * index].load(Relaxed) ^ data == key {
                let depth = depth_of(data);
                if entry.bound != Bound::Exact
                    && depth > entry.depth + 3
                    && generation_of(data) == generation
                {
                    return;
                }
                slot = index;
                if best_index.is_none() {
                    best_index = best_index_of(data);
                }
                break;
            }
            let searches_ago = (generation + GENERATIONS - generation_of(data)) % GENERATIONS;
            let value =
                if data == 0 { i32::MIN } else { depth_of(data) - 6 * i32::from(searches_ago) };
            if value < lowest {
                (lowest, slot) = (value, index);
            }
        }
        let data = pack(Entry { best_index, ..entry }, generation, ply);
        words[2 * slot].store(key ^ data, Relaxed);
        words[2 * slot + 1].store(data, Relaxed);
    }

    /// Use of the table by the current search, in permille, estimated from a sample.
    pub(crate) fn hashfull(&self) -> u32 {
        let generation = self.generation.load(Relaxed);
        let sample = self.buckets.iter().take(250);
        let total = 4 * sample.len();
        let words = sample.flat_map(|bucket| bucket.0.iter().skip(1).step_by(2));
        let full = words.map(|word| word.load(Relaxed));
        let full = full.filter(|&data| data != 0 && generation_of(data) == generation).count();
        (1000 * full).checked_div(total).unwrap_or(0) as u32
    }
}

/// A search of English checkers spends a third of its time waiting for entries without it.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn prefetch(bucket: &Bucket) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint that neither reads nor writes; every x86-64 processor has it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(bucket).cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch(_: &Bucket) {}

/// Requests huge pages before the memory is first touched. The table is accessed at random, so most
/// accesses miss the TLB with small pages: English checkers is about 10 % slower.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn advise_huge_pages<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    const PAGE: usize = 4096;
    let start = (memory.as_mut_ptr() as usize).next_multiple_of(PAGE);
    let end = memory.as_mut_ptr_range().end as usize / PAGE * PAGE;
    if start < end {
        // SAFETY: the range consists of whole pages inside our own allocation, and the advice
        // changes neither contents nor access rights. Failure is harmless.
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages<T>(_: &mut [std::mem::MaybeUninit<T>]) {}

// Data word: score 16 bits, static eval 16, depth 8, bound 2, generation 5, has-best-move 1, best
// index 8. The bound is never 0, so the word is never 0.

fn pack(entry: Entry, generation: u8, ply: usize) -> u64 {
    let score = match entry.score {
        // Forced results are stored relative to this position, not to the root.
        score if score > MAX_EVAL => score + ply as Score,
        score if score < -MAX_EVAL => score - ply as Score,
        score => score,
    };
    u64::from(score as i16 as u16)
        | u64::from(entry.static_eval as i16 as u16) << 16
        | u64::from(entry.depth.clamp(0, 255) as u8) << 32
        | (entry.bound as u64) << 40
        | u64::from(generation) << 42
        | entry.best_index.map_or(0, |best| 1 << 47 | u64::from(best) << 48)
}

fn unpack(data: u64, ply: usize) -> Option<Entry> {
    let bound = match data >> 40 & 3 {
        1 => Bound::Lower,
        2 => Bound::Upper,
        3 => Bound::Exact,
        _ => return None,
    };
    let ply = ply.min(MAX_PLY) as Score;
    let score = match Score::from(data as u16 as i16) {
        score if score > MAX_EVAL => score - ply,
        score if score < -MAX_EVAL => score + ply,
        score => score,
    };
    let static_eval = Score::from((data >> 16) as u16 as i16);
    Some(Entry {
        score,
        static_eval,
        depth: depth_of(data),
        bound,
        best_index: best_index_of(data),
    })
}

fn depth_of(data: u64) -> i32 {
    (data >> 32 & 0xff) as i32
}

fn generation_of(data: u64) -> u8 {
    (data >> 42 & 31) as u8
}

fn best_index_of(data: u64) -> Option<u8> {
    (data >> 47 & 1 != 0).then_some((data >> 48) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_entries_are_found() {
        let table = TranspositionTable::new(1).unwrap();
        for (score, static_eval, best_index) in
            [(17, -40, Some(3)), (-29_990, 7, None), (29_995, 0, Some(255))]
        {
            let entry = Entry { score, static_eval, depth: 9, bound: Bound::Lower, best_index };
            table.store(0x1234_5678_9abc_def0, 4, entry);
            let found = table.probe(0x1234_5678_9abc_def0, 4).unwrap();
            assert_eq!((found.score, found.static_eval, found.depth), (score, static_eval, 9));
            assert_eq!(found.bound, Bound::Lower);
            table.store(
                0x1234_5678_9abc_def0,
                4,
                Entry { bound: Bound::Exact, best_index, ..entry },
            );
        }
        assert!(table.probe(1, 0).is_none());
    }

    #[test]
    fn win_distance_is_relative_to_the_probing_ply() {
        let table = TranspositionTable::new(1).unwrap();
        let score = crate::WIN - 10; // 10 plies from the root, 7 from the node at ply 3
        table.store(
            5,
            3,
            Entry { score, static_eval: 0, depth: 9, bound: Bound::Exact, best_index: None },
        );
        assert_eq!(table.probe(5, 1).map(|entry| entry.score), Some(crate::WIN - 8));
    }

    #[test]
    fn torn_entry_is_ignored() {
        let table = TranspositionTable::new(1).unwrap();
        let entry =
            Entry { score: 1, static_eval: 1, depth: 1, bound: Bound::Exact, best_index: None };
        table.store(99, 0, entry);
        let Bucket(words) = table.bucket(99).unwrap();
        words[1].store(words[1].load(Relaxed) ^ 1, Relaxed);
        assert!(table.probe(99, 0).is_none());
    }

    #[test]
    fn empty_table_stores_nothing() {
        let table = TranspositionTable::new(0).unwrap();
        let entry =
            Entry { score: 1, static_eval: 1, depth: 1, bound: Bound::Exact, best_index: None };
        table.store(99, 0, entry);
        assert!(table.probe(99, 0).is_none());
        assert!(TranspositionTable::new(usize::MAX).is_none());
    }
}
