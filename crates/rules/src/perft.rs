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
use crate::cpu::{self, Kernel};

/// What a game adds to be counted fast.
pub trait BulkPerft: Position {
    /// How deep a tree below this position no counter and no repetition can cut.
    fn max_bulk_depth(&self) -> u32;

    /// Whether the board itself has ended the game, so that its moves must be left out.
    fn board_ends_game(&self) -> bool;

    /// The number of moves, of a position that is not [`decided`](Perft::decided).
    fn count_moves(&self) -> u64;

    /// The number of moves after all moves, of a position that is not decided.
    fn count_two_plies(&self) -> u64;

    /// The number of leaves `depth` plies below, for a depth within the
    /// [`horizon`](Perft::horizon): the last ply's moves are counted, not played.
    fn bulk_leaves(&self, depth: u32) -> u64 {
        if depth > 0 && self.board_ends_game() {
            return 0;
        }
        match depth {
            0 => 1,
            1 => self.count_moves(),
            2 => self.count_two_plies(),
            _ => {
                let mut total = 0;
                self.each_move(|mv| total += self.after(mv).bulk_leaves(depth - 1));
                total
            }
        }
    }
}

/// How to count.
#[derive(Clone, Copy)]
pub struct PerftOptions<'a> {
    /// Counts the moves of the last plies without playing them; otherwise every move is played on a
    /// position of its own, key included.
    pub bulk: bool,
    /// Remembers counts of positions that come up again.
    pub hash: Option<&'a PerftHash>,
    /// How many threads share the work; 0 counts as 1.
    pub threads: usize,
}

impl Default for PerftOptions<'_> {
    fn default() -> Self {
        PerftOptions { bulk: true, hash: None, threads: 1 }
    }
}

impl PerftOptions<'_> {
    /// The number of leaves `depth` plies below `position`; `u64::MAX` if there are that many or
    /// more. `past` holds the keys of the positions before it, for the rules that ask for
    /// repetition.
    pub fn count<P: BulkPerft>(&self, position: &P, depth: u32, past: &[u64]) -> u64 {
        if self.threads <= 1 || depth < 3 {
            return self.count_subtree(position, depth, &mut past.to_vec());
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
                sum = sum.saturating_add(self.count_subtree(position, left, &mut past.clone()));
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

    fn count_subtree<P: BulkPerft>(&self, position: &P, depth: u32, past: &mut Vec<u64>) -> u64 {
        if depth == 0 {
            return 1;
        }
        if depth <= position.max_bulk_depth() {
            return match self.hash {
                Some(table) => self.count_hashed(position, depth, table),
                None if self.bulk => position.bulk_leaves(depth),
                None => count_by_playing(position, depth),
            };
        }
        if position.outcome(past).is_some() {
            return 0;
        }
        past.push(position.key());
        let mut total = 0u64;
        position.each_move(|mv| {
            total = total.saturating_add(self.count_subtree(&position.after(mv), depth - 1, past));
        });
        past.pop();
        total
    }

    fn count_hashed<P: BulkPerft>(&self, position: &P, depth: u32, table: &PerftHash) -> u64 {
        // Shallower subtrees are counted faster than they are looked up.
        if depth < 3 {
            return if self.bulk {
                position.bulk_leaves(depth)
            } else {
                count_by_playing(position, depth)
            };
        }
        if position.board_ends_game() {
            return 0;
        }
        if let Some(count) = table.probe(position.key(), depth) {
            return count;
        }
        let mut total = 0u64;
        position.each_move(|mv| {
            total = total.saturating_add(self.count_hashed(&position.after(mv), depth - 1, table));
        });
        table.store(position.key(), depth, total);
        total
    }
}

/// The positions one ply further and the keys of the positions before them; none after the end of
/// the game.
fn children<P: BulkPerft>(position: &P, past: &[u64]) -> Vec<(P, Vec<u64>)> {
    if position.outcome(past).is_some() {
        return Vec::new();
    }
    let past: Vec<_> = past.iter().copied().chain([position.key()]).collect();
    let mut children = Vec::new();
    position.each_move(|mv| children.push((position.after(mv), past.clone())));
    children
}

fn count_by_playing<P: BulkPerft>(position: &P, depth: u32) -> u64 {
    if depth == 1 {
        return cpu::with_bmi(PlayMoves(position));
    }
    if position.board_ends_game() {
        return 0;
    }
    let mut total = 0;
    position.each_move(|mv| total += count_by_playing(&position.after(mv), depth - 1));
    total
}

/// Plays every move of a position.
struct PlayMoves<'a, P>(&'a P);

impl<P: BulkPerft> Kernel for PlayMoves<'_, P> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let mut total = 0;
        if !self.0.board_ends_game() {
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
pub struct PerftHash {
    entries: Vec<[AtomicU64; 2]>,
}

impl PerftHash {
    /// A table of at most so many megabytes (at least one entry); `None` if there is no memory for
    /// it.
    pub fn new(megabytes: usize) -> Option<PerftHash> {
        let wanted = megabytes.saturating_mul(1 << 20) / 16;
        let len = 1 << wanted.checked_ilog2().unwrap_or(0);
        let mut entries = Vec::new();
        entries.try_reserve_exact(len).ok()?;
        entries.resize_with(len, Default::default);
        Some(PerftHash { entries })
    }

    fn slot(&self, key: u64, depth: u32) -> (&[AtomicU64; 2], u64) {
        // The multiplication spreads the depth over all bits, so that two depths of one position do
        // not compete for a place; the lowest bit is set so that an empty entry matches
        // nothing.
        let mixed = (key ^ u64::from(depth).wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1;
        let at = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 20;
        (&self.entries[at as usize & (self.entries.len() - 1)], mixed)
    }

    fn probe(&self, key: u64, depth: u32) -> Option<u64> {
        let (entry, mixed) = self.slot(key, depth);
        let count = entry[0].load(Ordering::Relaxed);
        (entry[1].load(Ordering::Relaxed) == mixed ^ count).then_some(count)
    }

    fn store(&self, key: u64, depth: u32, count: u64) {
        let (entry, mixed) = self.slot(key, depth);
        entry[0].store(count, Ordering::Relaxed);
        entry[1].store(mixed ^ count, Ordering::Relaxed);
    }
}
