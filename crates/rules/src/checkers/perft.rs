//! Counting the leaves of a move tree of checkers without playing the last ply.
//!
//! The parents of the leaves are not counted one by one: they are gathered in a [`Batch`] and
//! counted many at a time by [`Batch::flush`], whose loop has no branch, so that the compiler turns
//! it into vector code. Three observations make that possible:
//! - Quiet moves are pop-counts of shifted boards, and so are first jumps. Which of the two applies
//!   is a select, not a branch.
//! - A man jumps forward only, at most three times. Its chains form a tree with one leaf per first
//!   jump plus one for each fork, a square on which both forward jumps go on; forks are pop-counts
//!   too.
//! - Only a king that can jump needs a search. Boards with one are counted apart.
//!
//! The loop runs in [`cpu::vectors`].

use super::movegen::{Jumps, Pieces, king_row};
use super::squares::{SQUARES, ahead, behind};
use super::{Checkers, Move, Variant};
use crate::cell::Bits;
use crate::cpu::{self, Kernel};
use crate::{BulkPerft, MoveList, Position, Side};

/// How many boards are counted at once: enough to fill vectors, few enough to stay in the
/// first-level cache.
const BATCH: usize = 512;
/// How many boards are written at once.
const STORE_WIDTH: usize = 6;

/// Boards with the same side to move, waiting to have their moves counted.
struct Batch<const PATHS: bool> {
    own: [u64; BATCH],
    opponent: [u64; BATCH],
    kings: [u64; BATCH],
    len: usize,
    total: u64,
    /// Whether men are crowned at all.
    crowning: bool,
}

impl<const PATHS: bool> Batch<PATHS> {
    fn new(crowning: bool) -> Self {
        let zero = [0; BATCH];
        Batch { own: zero, opponent: zero, kings: zero, len: 0, total: 0, crowning }
    }

    /// Adds the leaves `depth` plies below `pieces`; side to move is `FIRST`, `depth` at least 1.
    fn add<const FIRST: bool>(&mut self, pieces: Pieces, depth: u32) {
        match depth {
            0 | 1 => self.push(FIRST, pieces),
            2 => cpu::with_bmi(Expand::<FIRST, 2, PATHS> { batch: self, pieces }),
            3 => cpu::with_bmi(Expand::<FIRST, 3, PATHS> { batch: self, pieces }),
            _ => pieces.moves::<FIRST, PATHS>(self.crowned(FIRST), |mv| {
                let child = pieces.after(mv);
                if FIRST {
                    self.add::<false>(child, depth - 1);
                } else {
                    self.add::<true>(child, depth - 1);
                }
            }),
        }
    }

    fn crowned(&self, first: bool) -> u64 {
        if self.crowning { king_row(first) } else { 0 }
    }

    /// Adds the children of a board, the parents of leaves.
    #[inline(always)]
    fn expand<const FIRST: bool>(&mut self, pieces: Pieces) {
        let (empty, crowned) = (pieces.empty(), self.crowned(FIRST));
        let by4 = pieces.own & behind::<FIRST, 4>(empty);
        let by5 = pieces.own & behind::<FIRST, 5>(empty);
        let jumps = Jumps::new::<FIRST>(pieces.opponent, empty);
        let jump4 = pieces.own & jumps.ahead4;
        let jump5 = pieces.own & jumps.ahead5;
        let landing = ahead::<FIRST, 8>(jump4) | ahead::<FIRST, 10>(jump5);
        let stepping = ahead::<FIRST, 4>(by4) | ahead::<FIRST, 5>(by5);
        let kings = pieces.own & pieces.kings;
        if kings | jump4 | jump5 | stepping & crowned == 0 {
            self.push_steps(!FIRST, pieces, by4, ahead::<FIRST, 4>);
            self.push_steps(!FIRST, pieces, by5, ahead::<FIRST, 5>);
        } else if kings | landing & (jumps.ahead() | crowned) == 0 && landing != 0 {
            self.push_jumps(!FIRST, pieces, jump4, ahead::<FIRST, 4>);
            self.push_jumps(!FIRST, pieces, jump5, ahead::<FIRST, 5>);
        } else {
            pieces.moves::<FIRST, PATHS>(crowned, |mv| self.push(!FIRST, pieces.after(mv)));
        }
    }

    /// Puts a board with this side to move in line.
    #[inline(always)]
    fn push(&mut self, first: bool, pieces: Pieces) {
        let at = self.reserve(first);
        self.own[at] = pieces.own;
        self.opponent[at] = pieces.opponent;
        self.kings[at] = pieces.kings;
        self.len = at + 1;
    }

    /// [`wait`](Batch::wait) after each step of the men `from` in one direction. Six boards are
    /// written at a time whether there are six or not, because the processor foresees a loop
    /// of fixed length and stumbles over the end of any other.
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

    /// [`wait`](Batch::wait) after each single jump of the men `from` in one direction.
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

    /// Where the next [`ROOM`] boards can go.
    #[inline(always)]
    fn reserve(&mut self, first: bool) -> usize {
        if self.len > BATCH - STORE_WIDTH {
            self.flush(first);
        }
        self.len.min(BATCH - STORE_WIDTH)
    }

    /// Counts what is waiting.
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

/// The boards of a batch, one array for each kind of piece.
#[derive(Clone, Copy)]
struct Boards<'a> {
    own: &'a [u64],
    opponent: &'a [u64],
    kings: &'a [u64],
}

/// The number of moves of one board, and the kings whose captures it leaves out.
#[inline(always)]
fn count_board<const FIRST: bool>(own: u64, other: u64, kings: u64) -> (u64, u64) {
    let empty = SQUARES & !(own | other);
    let kings = own & kings;
    let jumps = Jumps::new::<FIRST>(other, empty);
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
    // Forks after the second jump; a third is a man's last.
    moves += (ahead::<FIRST, 8>(land4 & jumps.ahead4) & fork).count_ones();
    moves += (ahead::<FIRST, 10>(land4 & jumps.ahead5) & fork).count_ones();
    moves += (ahead::<FIRST, 8>(land5 & jumps.ahead4) & fork).count_ones();
    moves += (ahead::<FIRST, 10>(land5 & jumps.ahead5) & fork).count_ones();
    (u64::from(moves), kings & jumps.any())
}

/// Counts the moves of all boards together.
struct CountAll<'a, const FIRST: bool, const PATHS: bool>(Boards<'a>);

impl<const FIRST: bool, const PATHS: bool> Kernel for CountAll<'_, FIRST, PATHS> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let boards = self.0;
        let mut total = 0;
        let mut searched = [0u64; BATCH];
        let mut any = 0;
        let rows = boards.own.iter().zip(boards.opponent).zip(boards.kings).zip(&mut searched);
        for (((&own, &other), &kings), searched) in rows {
            let (moves, jumping) = count_board::<FIRST>(own, other, kings);
            total += if jumping == 0 { moves } else { 0 };
            *searched = jumping;
            any |= jumping;
        }
        if any != 0 {
            for (index, _) in searched.iter().enumerate().filter(|(_, jumping)| **jumping != 0) {
                let (own, other, kings) =
                    (boards.own[index], boards.opponent[index], boards.kings[index]);
                total += count_with_king_captures::<FIRST, PATHS>(Pieces {
                    own,
                    opponent: other,
                    kings,
                });
            }
        }
        total
    }
}

/// Expands a board two or three plies above the leaves.
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
        pieces.moves::<FIRST, PATHS>(batch.crowned(FIRST), |mv| children.push(pieces.after(mv)));
        for &child in &children {
            if FIRST {
                batch.expand::<false>(child);
            } else {
                batch.expand::<true>(child);
            }
        }
    }
}

/// The number of captures where a king can capture.
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
    // The side to move alternates, so the parents of the leaves have the root's side at odd depths.
    batch.flush((position.side == Side::First) == (depth % 2 == 1));
    batch.total
}

impl<V: Variant> Checkers<V> {
    /// Hands every move to `visit`, a capture once for every way round.
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
        let (rules, idle) = (self.rules.unpack(), self.draw_counters.max());
        let plies = u32::from(rules.draw_plies).saturating_sub(idle);
        // No position before an advance or a capture can come up again, and after it a position can
        // come up for the third time only eight plies after the first.
        if rules.repetition { plies.min(8u32.saturating_sub(idle)) } else { plies }
    }

    fn board_ends_game(&self) -> bool {
        false // a side without a move is lost, but it has no children to leave out
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
}

/// Counts as most published tables of English checkers do: a capture once for every path with the
/// same start, end and captured pieces.
pub fn perft_paths<V: Variant>(position: &Checkers<V>, depth: u32) -> u64 {
    count_paths_below(position, depth, &mut Vec::new())
}

/// The count of [`perft_paths`] behind each move, all its paths together; `depth` is at least 1.
pub fn divide_paths<V: Variant>(position: &Checkers<V>, depth: u32) -> Vec<(Move, u64)> {
    let mut divided: Vec<(Move, u64)> = Vec::new();
    if position.outcome(&[]).is_some() {
        return divided;
    }
    position.each_path(|mv| {
        let nodes = count_paths_below(&position.after(mv), depth - 1, &mut vec![position.key]);
        match divided.iter_mut().find(|(known, _)| *known == mv) {
            Some((_, sum)) => *sum = sum.saturating_add(nodes),
            None => divided.push((mv, nodes)),
        }
    });
    divided
}

/// What [`Counter`](crate::perft::Counter) does for distinct moves: beyond the horizon, position by
/// position.
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
