//! The hash table: what is known of positions that come up again, shared by all threads without
//! locks.
//!
//! An entry is two words, the second holding the knowledge, the first the position's key XORed with
//! it. If two threads write one entry at once and leave a mixture, the XOR no longer gives the key,
//! and the entry counts as absent (Hyatt and Mann's trick). Four entries fill a cache line and are
//! the places where a position may stand.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::score::MAX_EVAL;
use crate::{MAX_PLY, Score};

/// What a stored score says about the true one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    Lower = 1,
    Upper = 2,
    Exact = 3,
}

/// What the table knows of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) score: Score,
    pub(crate) static_eval: Score,
    pub(crate) depth: i32,
    pub(crate) bound: Bound,
    /// The place of the best move among the legal ones.
    pub(crate) best_index: Option<u8>,
}

#[repr(align(64))]
struct Bucket([AtomicU64; 8]);

/// The table. With no memory it remembers nothing and works all the same.
pub(crate) struct TranspositionTable {
    buckets: Vec<Bucket>,
    generation: AtomicU8,
}

const GENERATIONS: u8 = 32;

impl TranspositionTable {
    /// A table of so many megabytes; none if there is no memory for it.
    pub(crate) fn new(megabytes: usize) -> Option<TranspositionTable> {
        let len = megabytes.checked_mul(1 << 20)? / size_of::<Bucket>();
        let mut buckets = Vec::new();
        buckets.try_reserve_exact(len).ok()?;
        advise_huge_pages(buckets.spare_capacity_mut());
        buckets.resize_with(len, || Bucket(Default::default()));
        Some(TranspositionTable { buckets, generation: AtomicU8::new(0) })
    }

    /// Entries written before now count as old.
    pub(crate) fn new_search(&self) {
        let age = self.generation.load(Relaxed);
        self.generation.store((age + 1) % GENERATIONS, Relaxed);
    }

    pub(crate) fn clear(&self) {
        self.buckets.iter().flat_map(|bucket| &bucket.0).for_each(|word| word.store(0, Relaxed));
        self.generation.store(0, Relaxed);
    }

    /// The bucket of a key: the key's high bits scaled to the number of buckets, so that any size
    /// will do.
    #[inline(always)]
    fn bucket(&self, key: u64) -> Option<&Bucket> {
        let index = (u128::from(key) * self.buckets.len() as u128) >> 64;
        self.buckets.get(index as usize)
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
        let age = self.generation.load(Relaxed);
        // The same position, else the least worth keeping: shallow and old.
        let mut place = 0;
        let mut least = i32::MAX;
        let mut best = entry.best_index;
        for index in 0..4 {
            let data = words[2 * index + 1].load(Relaxed);
            if words[2 * index].load(Relaxed) ^ data == key {
                let depth = depth_of(data);
                if entry.bound != Bound::Exact
                    && depth > entry.depth + 3
                    && generation_of(data) == age
                {
                    return;
                }
                place = index;
                if best.is_none() {
                    best = best_index_of(data);
                }
                break;
            }
            let years = (age + GENERATIONS - generation_of(data)) % GENERATIONS;
            let worth = if data == 0 { i32::MIN } else { depth_of(data) - 6 * i32::from(years) };
            if worth < least {
                (least, place) = (worth, index);
            }
        }
        let data = pack(Entry { best_index: best, ..entry }, age, ply);
        words[2 * place].store(key ^ data, Relaxed);
        words[2 * place + 1].store(data, Relaxed);
    }

    /// How full the table is, in thousandths, by a sample.
    pub(crate) fn hashfull(&self) -> u32 {
        let age = self.generation.load(Relaxed);
        let sample = self.buckets.iter().take(250);
        let total = 4 * sample.len();
        let words = sample.flat_map(|bucket| bucket.0.iter().skip(1).step_by(2));
        let full = words.map(|word| word.load(Relaxed));
        let full = full.filter(|&data| data != 0 && generation_of(data) == age).count();
        (1000 * full).checked_div(total).unwrap_or(0) as u32
    }
}

/// Asks for large pages before the memory is first touched. The table is read at random, and with
/// small pages the processor looks up the address first, in memory again: a search of English
/// checkers is about a tenth slower.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn advise_huge_pages<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    const PAGE: usize = 4096;
    let start = (memory.as_mut_ptr() as usize).next_multiple_of(PAGE);
    let end = memory.as_mut_ptr_range().end as usize / PAGE * PAGE;
    if start < end {
        // SAFETY: whole pages within memory that is ours alone; the advice changes neither what is
        // in it nor who may use it. If it is not taken, nothing is lost.
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn large_pages<T>(_: &mut [std::mem::MaybeUninit<T>]) {}

// The word: score 16 bits, guess 16, depth 8, bound 2, age 5, whether there is a best move 1, its
// place 8. The bound is never 0, so neither is the word.

fn pack(entry: Entry, age: u8, ply: usize) -> u64 {
    let score = match entry.score {
        // Wins are stored as seen from this position, not from the root.
        score if score > MAX_EVAL => score + ply as Score,
        score if score < -MAX_EVAL => score - ply as Score,
        score => score,
    };
    u64::from(score as i16 as u16)
        | u64::from(entry.static_eval as i16 as u16) << 16
        | u64::from(entry.depth.clamp(0, 255) as u8) << 32
        | (entry.bound as u64) << 40
        | u64::from(age) << 42
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
    let guess = Score::from((data >> 16) as u16 as i16);
    Some(Entry {
        score,
        static_eval: guess,
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
    fn an_entry_comes_back_as_it_went_in() {
        let table = TranspositionTable::new(1).unwrap();
        for (score, guess, best) in [(17, -40, Some(3)), (-29_990, 7, None), (29_995, 0, Some(255))]
        {
            let entry = Entry {
                score,
                static_eval: guess,
                depth: 9,
                bound: Bound::Lower,
                best_index: best,
            };
            table.store(0x1234_5678_9abc_def0, 4, entry);
            let found = table.probe(0x1234_5678_9abc_def0, 4).unwrap();
            assert_eq!((found.score, found.static_eval, found.depth), (score, guess, 9));
            assert_eq!(found.bound, Bound::Lower);
            table.store(
                0x1234_5678_9abc_def0,
                4,
                Entry { bound: Bound::Exact, best_index: best, ..entry },
            );
        }
        assert!(table.probe(1, 0).is_none());
    }

    #[test]
    fn a_win_found_further_down_is_nearer_from_there() {
        let table = TranspositionTable::new(1).unwrap();
        let score = crate::WIN - 10; // ten plies from the root, seven from the node at ply 3
        table.store(
            5,
            3,
            Entry { score, static_eval: 0, depth: 9, bound: Bound::Exact, best_index: None },
        );
        assert_eq!(table.probe(5, 1).map(|entry| entry.score), Some(crate::WIN - 8));
    }

    #[test]
    fn a_mixture_of_two_writes_is_no_entry() {
        let table = TranspositionTable::new(1).unwrap();
        let entry =
            Entry { score: 1, static_eval: 1, depth: 1, bound: Bound::Exact, best_index: None };
        table.store(99, 0, entry);
        let Bucket(words) = table.bucket(99).unwrap();
        words[1].store(words[1].load(Relaxed) ^ 1, Relaxed);
        assert!(table.probe(99, 0).is_none());
    }

    #[test]
    fn a_table_of_no_size_remembers_nothing() {
        let table = TranspositionTable::new(0).unwrap();
        let entry =
            Entry { score: 1, static_eval: 1, depth: 1, bound: Bound::Exact, best_index: None };
        table.store(99, 0, entry);
        assert!(table.probe(99, 0).is_none());
        assert!(TranspositionTable::new(usize::MAX).is_none());
    }
}
