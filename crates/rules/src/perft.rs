//! Counting the leaves of the move tree: the check of every move generator, and its speed.
//!
//! A finished game has no children. Counts are of distinct moves, the moves that `legal_moves`
//! gives.
//!
//! A game brings its fastest way of counting as [`Perft::leaves`]. That way does not look at the
//! counters and repetitions that may end a game, so it is used only as deep as none of them can,
//! the [`Perft::horizon`]; beyond it the tree is walked position by position.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::Position;
use crate::cpu::{self, Work};

/// What a game adds to be counted fast.
pub trait Perft: Position {
    /// How deep a tree below this position no counter and no repetition can cut.
    fn horizon(&self) -> u32;

    /// Whether the board itself has ended the game, so that its moves must be left out.
    fn decided(&self) -> bool;

    /// The number of moves, of a position that is not [`decided`](Perft::decided).
    fn count_moves(&self) -> u64;

    /// The number of moves after all moves, of a position that is not decided.
    fn count_replies(&self) -> u64;

    /// The number of leaves `depth` plies below, for a depth within the
    /// [`horizon`](Perft::horizon): the last ply's moves are counted, not played.
    fn leaves(&self, depth: u32) -> u64 {
        if depth > 0 && self.decided() {
            return 0;
        }
        match depth {
            0 => 1,
            1 => self.count_moves(),
            2 => self.count_replies(),
            _ => {
                let mut total = 0;
                self.each_move(|mv| total += self.after(mv).leaves(depth - 1));
                total
            }
        }
    }
}

/// How to count.
#[derive(Clone, Copy, Default)]
pub struct Counter<'a> {
    /// Plays every move of the last ply on a position of its own, key included, instead of only
    /// counting it.
    pub play_all: bool,
    /// Remembers counts of positions that come up again.
    pub table: Option<&'a CountTable>,
    /// How many threads share the work; 0 counts as 1.
    pub threads: usize,
}

impl Counter<'_> {
    /// The number of leaves `depth` plies below `position`; `u64::MAX` if there are that many or
    /// more. `past` holds the keys of the positions before it, for the rules that ask for
    /// repetition.
    pub fn count<P: Perft>(&self, position: &P, depth: u32, past: &[u64]) -> u64 {
        if self.threads <= 1 || depth < 3 {
            return self.below(position, depth, &mut past.to_vec());
        }
        // Subtrees of very different size: many more of them than threads, taken by whoever is
        // free.
        let mut frontier = vec![(position.clone(), past.to_vec())];
        let mut left = depth;
        while left > 2 && !frontier.is_empty() && frontier.len() < 256 * self.threads {
            frontier =
                frontier.iter().flat_map(|(position, past)| children(position, past)).collect();
            left -= 1;
        }
        let next = AtomicUsize::new(0);
        let total = Mutex::new(0u64);
        let work = || {
            let mut sum = 0u64;
            while let Some((position, past)) = frontier.get(next.fetch_add(1, Ordering::Relaxed)) {
                sum = sum.saturating_add(self.below(position, left, &mut past.clone()));
            }
            // A thread that panicked has left a number behind all the same.
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            *total = total.saturating_add(sum);
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads {
                // Where the system gives no more threads, fewer do the work.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        total.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn below<P: Perft>(&self, position: &P, depth: u32, past: &mut Vec<u64>) -> u64 {
        if depth == 0 {
            return 1;
        }
        if depth <= position.horizon() {
            return match self.table {
                Some(table) => self.remembered(position, depth, table),
                None if self.play_all => played(position, depth),
                None => position.leaves(depth),
            };
        }
        if position.outcome(past).is_some() {
            return 0;
        }
        past.push(position.key());
        let mut total = 0u64;
        position.each_move(|mv| {
            total = total.saturating_add(self.below(&position.after(mv), depth - 1, past));
        });
        past.pop();
        total
    }

    fn remembered<P: Perft>(&self, position: &P, depth: u32, table: &CountTable) -> u64 {
        // Shallower subtrees are counted faster than they are looked up.
        if depth < 3 {
            return if self.play_all { played(position, depth) } else { position.leaves(depth) };
        }
        if position.decided() {
            return 0;
        }
        if let Some(count) = table.get(position.key(), depth) {
            return count;
        }
        let mut total = 0u64;
        position.each_move(|mv| {
            total = total.saturating_add(self.remembered(&position.after(mv), depth - 1, table));
        });
        table.put(position.key(), depth, total);
        total
    }
}

/// The positions one ply further and the keys of the positions before them; none after the end of
/// the game.
fn children<P: Perft>(position: &P, past: &[u64]) -> Vec<(P, Vec<u64>)> {
    if position.outcome(past).is_some() {
        return Vec::new();
    }
    let past: Vec<_> = past.iter().copied().chain([position.key()]).collect();
    let mut children = Vec::new();
    position.each_move(|mv| children.push((position.after(mv), past.clone())));
    children
}

fn played<P: Perft>(position: &P, depth: u32) -> u64 {
    if depth == 1 {
        return cpu::bits(PlayLeaves(position));
    }
    if position.decided() {
        return 0;
    }
    let mut total = 0;
    position.each_move(|mv| total += played(&position.after(mv), depth - 1));
    total
}

/// Plays every move of a position.
struct PlayLeaves<'a, P>(&'a P);

impl<P: Perft> Work for PlayLeaves<'_, P> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let mut total = 0;
        if !self.0.decided() {
            self.0.each_move(|mv| {
                black_box(&self.0.after(mv));
                total += 1;
            });
        }
        total
    }
}

/// Counts of subtrees by key and depth, shared by threads without locks.
///
/// Two words an entry: the count, and the key mixed with the depth and the count. An entry torn by
/// two writers does not match any key, so it reads as a miss.
pub struct CountTable {
    entries: Vec<[AtomicU64; 2]>,
}

impl CountTable {
    /// A table of at most so many megabytes (at least one entry); `None` if there is no memory for
    /// it.
    pub fn new(megabytes: usize) -> Option<CountTable> {
        let wanted = megabytes.saturating_mul(1 << 20) / 16;
        let len = 1 << wanted.checked_ilog2().unwrap_or(0);
        let mut entries = Vec::new();
        entries.try_reserve_exact(len).ok()?;
        entries.resize_with(len, Default::default);
        Some(CountTable { entries })
    }

    fn entry(&self, key: u64, depth: u32) -> (&[AtomicU64; 2], u64) {
        // The multiplication spreads the depth over all bits, so that two depths of one position do
        // not compete for a place; the lowest bit is set so that an empty entry matches
        // nothing.
        let mixed = (key ^ u64::from(depth).wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1;
        let at = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 20;
        (&self.entries[at as usize & (self.entries.len() - 1)], mixed)
    }

    fn get(&self, key: u64, depth: u32) -> Option<u64> {
        let (entry, mixed) = self.entry(key, depth);
        let count = entry[0].load(Ordering::Relaxed);
        (entry[1].load(Ordering::Relaxed) == mixed ^ count).then_some(count)
    }

    fn put(&self, key: u64, depth: u32, count: u64) {
        let (entry, mixed) = self.entry(key, depth);
        entry[0].store(count, Ordering::Relaxed);
        entry[1].store(mixed ^ count, Ordering::Relaxed);
    }
}
