//! Bulk counting of checkers positions in vector registers.
//!
//! The parents of the leaves are collected in a [`Batch`], and [`Batch::flush`] counts their moves
//! many boards at a time. Its loop has no branches, so that the compiler vectorises it:
//! - Steps are popcounts of shifted boards, and so are first jumps. Choosing between them is a
//!   select, not a branch.
//! - A man jumps forward, at most three times. Its captures form a tree with one leaf per first
//!   jump plus one per fork, a square from which both forward jumps are possible. Forks are
//!   popcounts too.
//! - Only captures of kings need a search. Boards that have one are counted separately.
//!
//! The loop runs in [`cpu::with_simd`].

use super::movegen::{Jumps, Pieces, king_row};
use super::squares::{SQUARES, ahead, behind};
use super::{Checkers, Move, Variant};
use crate::cell::Bits;
use crate::cpu::{self, Kernel};
use crate::perft::PathPerft;
use crate::{BulkPerft, MoveList, Position, Side};

/// Number of boards counted at once: enough to fill vectors, few enough to stay in the L1 cache.
const BATCH: usize = 512;
/// Number of boards stored at once.
const STORE_WIDTH: usize = 6;

/// Boards with the same side to move whose moves are still to be counted.
struct Batch<const PATHS: bool> {
    own: [u64; BATCH],
    opponent: [u64; BATCH],
    kings: [u64; BATCH],
    len: usize,
    total: u64,
    /// Whether men become kings.
    has_kings: bool,
}

impl<const PATHS: bool> Batch<PATHS> {
    fn new(has_kings: bool) -> Self {
        let zero = [0; BATCH];
        Batch { own: zero, opponent: zero, kings: zero, len: 0, total: 0, has_kings }
    }

    /// Adds the leaves `depth` plies below `pieces`, with `FIRST` to move. `depth` is at least 1.
    fn add<const FIRST: bool>(&mut self, pieces: Pieces, depth: u32) {
        match depth {
            0 | 1 => self.push(FIRST, pieces),
            2 => cpu::with_bmi(Expand::<FIRST, 2, PATHS> { batch: self, pieces }),
            3 => cpu::with_bmi(Expand::<FIRST, 3, PATHS> { batch: self, pieces }),
            _ => pieces.moves::<FIRST, PATHS>(self.crowning_squares(FIRST), |mv| {
                let child = pieces.after(mv);
                if FIRST {
                    self.add::<false>(child, depth - 1);
                } else {
                    self.add::<true>(child, depth - 1);
                }
            }),
        }
    }

    fn crowning_squares(&self, first: bool) -> u64 {
        if self.has_kings { king_row(first) } else { 0 }
    }

    /// Adds the children of a board, which are parents of leaves.
    #[inline(always)]
    fn expand<const FIRST: bool>(&mut self, pieces: Pieces) {
        let (empty, crowning) = (pieces.empty(), self.crowning_squares(FIRST));
        let step4 = pieces.own & behind::<FIRST, 4>(empty);
        let step5 = pieces.own & behind::<FIRST, 5>(empty);
        let jumps = Jumps::new::<FIRST>(pieces.opponent, empty);
        let jump4 = pieces.own & jumps.ahead4;
        let jump5 = pieces.own & jumps.ahead5;
        let landing = ahead::<FIRST, 8>(jump4) | ahead::<FIRST, 10>(jump5);
        let stepping = ahead::<FIRST, 4>(step4) | ahead::<FIRST, 5>(step5);
        let kings = pieces.own & pieces.kings;
        if kings | jump4 | jump5 | stepping & crowning == 0 {
            self.push_steps(!FIRST, pieces, step4, ahead::<FIRST, 4>);
            self.push_steps(!FIRST, pieces, step5, ahead::<FIRST, 5>);
        } else if kings | landing & (jumps.ahead() | crowning) == 0 && landing != 0 {
            self.push_jumps(!FIRST, pieces, jump4, ahead::<FIRST, 4>);
            self.push_jumps(!FIRST, pieces, jump5, ahead::<FIRST, 5>);
        } else {
            pieces.moves::<FIRST, PATHS>(crowning, |mv| self.push(!FIRST, pieces.after(mv)));
        }
    }

    /// Adds a board.
    #[inline(always)]
    fn push(&mut self, first: bool, pieces: Pieces) {
        let at = self.reserve(first);
        self.own[at] = pieces.own;
        self.opponent[at] = pieces.opponent;
        self.kings[at] = pieces.kings;
        self.len = at + 1;
    }

    /// Adds the board after each step of the men `from` in one direction. Always stores
    /// [`STORE_WIDTH`] boards, needed or not: a loop of fixed length has no mispredicted exit.
    #[inline(always)]
    fn push_steps(
        &mut self,
        first: bool,
        pieces: Pieces,
        mut from: u64,
        ahead: impl Fn(u64) -> u64,
    ) {
        while from != 0 {
            let at = self.reserve(first);
            let count = from.count_ones().min(STORE_WIDTH as u32);
            self.own[at..at + STORE_WIDTH].fill(pieces.opponent);
            self.kings[at..at + STORE_WIDTH].fill(pieces.kings);
            for other in &mut self.opponent[at..at + STORE_WIDTH] {
                let man = from & from.wrapping_neg();
                *other = pieces.own ^ man ^ ahead(man);
                from ^= man;
            }
            self.len = at + count as usize;
        }
    }

    /// Adds the board after each single jump of the men `from` in one direction.
    #[inline(always)]
    fn push_jumps(&mut self, first: bool, pieces: Pieces, from: u64, ahead: impl Fn(u64) -> u64) {
        for index in Bits(from) {
            let man = 1 << index;
            let over = ahead(man);
            let own = pieces.opponent ^ over;
            let other = pieces.own ^ man ^ ahead(over);
            self.push(first, Pieces { own, opponent: other, kings: pieces.kings & !over });
        }
    }

    /// Makes room for [`STORE_WIDTH`] boards and returns the index of the first.
    #[inline(always)]
    fn reserve(&mut self, first: bool) -> usize {
        if self.len > BATCH - STORE_WIDTH {
            self.flush(first);
        }
        self.len.min(BATCH - STORE_WIDTH)
    }

    /// Counts the moves of all boards and empties the batch.
    #[cold]
    #[inline(never)]
    fn flush(&mut self, first: bool) {
        let boards = Boards {
            own: &self.own[..self.len],
            opponent: &self.opponent[..self.len],
            kings: &self.kings[..self.len],
        };
        self.total += if first {
            cpu::with_simd(CountAll::<true, PATHS>(boards))
        } else {
            cpu::with_simd(CountAll::<false, PATHS>(boards))
        };
        self.len = 0;
    }
}

/// The boards of a batch as parallel arrays.
#[derive(Clone, Copy)]
struct Boards<'a> {
    own: &'a [u64],
    opponent: &'a [u64],
    kings: &'a [u64],
}

/// Counts the moves of one board, and returns the kings that can capture. If there are any, the
/// count is too low.
#[inline(always)]
fn count_board<const FIRST: bool>(own: u64, opponent: u64, kings: u64) -> (u64, u64) {
    let empty = SQUARES & !(own | opponent);
    let kings = own & kings;
    let jumps = Jumps::new::<FIRST>(opponent, empty);
    let fork = jumps.ahead4 & jumps.ahead5;

    let jump4 = own & jumps.ahead4;
    let jump5 = own & jumps.ahead5;
    let land4 = ahead::<FIRST, 8>(jump4);
    let land5 = ahead::<FIRST, 10>(jump5);
    let captures = jump4 | jump5 != 0;
    let pick = |when_capturing, otherwise| if captures { when_capturing } else { otherwise };
    let mut moves = pick(jump4, ahead::<FIRST, 4>(own) & empty).count_ones();
    moves += pick(jump5, ahead::<FIRST, 5>(own) & empty).count_ones();
    moves += pick(land4 & fork, behind::<FIRST, 4>(kings) & empty).count_ones();
    moves += pick(land5 & fork, behind::<FIRST, 5>(kings) & empty).count_ones();
    // Forks after the second jump. A third jump is a man's last.
    moves += (ahead::<FIRST, 8>(land4 & jumps.ahead4) & fork).count_ones();
    moves += (ahead::<FIRST, 10>(land4 & jumps.ahead5) & fork).count_ones();
    moves += (ahead::<FIRST, 8>(land5 & jumps.ahead4) & fork).count_ones();
    moves += (ahead::<FIRST, 10>(land5 & jumps.ahead5) & fork).count_ones();
    (u64::from(moves), kings & jumps.any())
}

/// Counts the moves of all boards.
struct CountAll<'a, const FIRST: bool, const PATHS: bool>(Boards<'a>);

impl<const FIRST: bool, const PATHS: bool> Kernel for CountAll<'_, FIRST, PATHS> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let boards = self.0;
        let mut total = 0;
        let mut capturing_kings = [0u64; BATCH];
        let mut any = 0;
        let rows =
            boards.own.iter().zip(boards.opponent).zip(boards.kings).zip(&mut capturing_kings);
        for (((&own, &opponent), &kings), capturing) in rows {
            let (moves, capturing_kings) = count_board::<FIRST>(own, opponent, kings);
            total += if capturing_kings == 0 { moves } else { 0 };
            *capturing = capturing_kings;
            any |= capturing_kings;
        }
        if any != 0 {
            for (index, _) in capturing_kings.iter().enumerate().filter(|(_, kings)| **kings != 0) {
                let (own, opponent, kings) =
                    (boards.own[index], boards.opponent[index], boards.kings[index]);
                total += count_with_king_captures::<FIRST, PATHS>(Pieces { own, opponent, kings });
            }
        }
        total
    }
}

/// Expands a board that is two or three plies above the leaves.
struct Expand<'a, const FIRST: bool, const DEPTH: u32, const PATHS: bool> {
    batch: &'a mut Batch<PATHS>,
    pieces: Pieces,
}

impl<const FIRST: bool, const DEPTH: u32, const PATHS: bool> Kernel
    for Expand<'_, FIRST, DEPTH, PATHS>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Expand { batch, pieces } = self;
        if DEPTH == 2 {
            return batch.expand::<FIRST>(pieces);
        }
        let mut children = MoveList::new();
        pieces.moves::<FIRST, PATHS>(batch.crowning_squares(FIRST), |mv| {
            children.push(pieces.after(mv))
        });
        for &child in &children {
            if FIRST {
                batch.expand::<false>(child);
            } else {
                batch.expand::<true>(child);
            }
        }
    }
}

/// Counts the captures of a board where a king can capture.
#[cold]
#[inline(never)]
fn count_with_king_captures<const FIRST: bool, const PATHS: bool>(pieces: Pieces) -> u64 {
    let mut moves = 0;
    pieces.moves::<FIRST, PATHS>(0, |_| moves += 1);
    moves
}

fn count_leaves<V: Variant, const PATHS: bool>(position: &Checkers<V>, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut batch = Batch::<PATHS>::new(position.rules.kings());
    match position.side {
        Side::First => batch.add::<true>(position.pieces_for_mover(), depth),
        Side::Second => batch.add::<false>(position.pieces_for_mover(), depth),
    }
    // At odd depths the side to move at the root is also to move in the parents of the leaves.
    batch.flush((position.side == Side::First) == (depth % 2 == 1));
    batch.total
}

impl<V: Variant> Checkers<V> {
    /// Calls `visit` with every move, captures once per path.
    fn each_path(&self, visit: impl FnMut(Move)) {
        match self.side {
            Side::First => {
                self.pieces_for_mover().moves::<true, true>(self.crowning_squares(), visit)
            }
            Side::Second => {
                self.pieces_for_mover().moves::<false, true>(self.crowning_squares(), visit)
            }
        }
    }
}

impl<V: Variant> BulkPerft for Checkers<V> {
    fn max_bulk_depth(&self) -> u32 {
        let (rules, counter) = (self.rules.unpack(), self.draw_counters.max());
        let plies = u32::from(rules.draw_plies).saturating_sub(counter);
        // A position before an advance or a capture cannot recur, and the third occurrence of a
        // position comes at least eight plies after the first.
        if rules.repetition { plies.min(8u32.saturating_sub(counter)) } else { plies }
    }

    fn board_ends_game(&self) -> bool {
        false // a side without a move has lost, but it has no children anyway
    }

    fn count_moves(&self) -> u64 {
        count_leaves::<V, false>(self, 1)
    }

    fn count_two_plies(&self) -> u64 {
        count_leaves::<V, false>(self, 2)
    }

    fn bulk_leaves(&self, depth: u32) -> u64 {
        count_leaves::<V, false>(self, depth)
    }

    fn path_perft() -> Option<PathPerft<Self>> {
        Some(PathPerft { count: perft_paths, divide: divide_paths })
    }
}

/// Counts leaves as most published tables of English checkers do: captures once per path.
fn perft_paths<V: Variant>(position: &Checkers<V>, depth: u32) -> u64 {
    count_paths_below(position, depth, &mut Vec::new())
}

/// Splits the count of [`perft_paths`] by move, with all paths of a move together. `depth` is at
/// least 1.
fn divide_paths<V: Variant>(position: &Checkers<V>, depth: u32) -> Vec<(Move, u64)> {
    let mut counts: Vec<(Move, u64)> = Vec::new();
    if position.outcome(&[]).is_some() {
        return counts;
    }
    position.each_path(|mv| {
        let nodes = count_paths_below(&position.after(mv), depth - 1, &mut vec![position.key]);
        match counts.iter_mut().find(|(counted, _)| *counted == mv) {
            Some((_, sum)) => *sum = sum.saturating_add(nodes),
            None => counts.push((mv, nodes)),
        }
    });
    counts
}

/// Counts in bulk where the draw rules cannot interfere, else position by position.
fn count_paths_below<V: Variant>(position: &Checkers<V>, depth: u32, past: &mut Vec<u64>) -> u64 {
    if depth <= position.max_bulk_depth() {
        return count_leaves::<V, true>(position, depth);
    }
    if position.outcome(past).is_some() {
        return 0;
    }
    past.push(position.key);
    let mut total = 0u64;
    position.each_path(|mv| {
        total = total.saturating_add(count_paths_below(&position.after(mv), depth - 1, past));
    });
    past.pop();
    total
}
