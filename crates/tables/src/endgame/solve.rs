//! Retrograde analysis of a pair of slices: the same pieces with either side to move.
//!
//! First every position is visited once. Its captures and crownings lead to slices that are
//! solved already; their best value is *pending* until the analysis reaches its distance. Its
//! other moves stay in the pair and are counted.
//!
//! Then the analysis proceeds ply by ply. The predecessors of a lost position are won, one ply
//! later. A predecessor of a won position has one undecided move less; when none is left it is
//! lost, unless a pending loss takes longer. What is undecided at the end is drawn.
//!
//! A position takes a word of 32 bits: value (see [`value`](super::value)), pending value, number
//! of undecided moves. Threads change it with atomic operations that do not depend on the order.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};

use crownhead_rules::Bits;
use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::checkers::squares::SQUARES;

use super::slice::{Boards, Slice};
use super::value::{
    DRAW, MAX, NO_MOVE, Stored, before, better, is_loss, is_win, outcome, resolve, resolve_captures,
};
use crate::TableError;
use crate::parallel::each_batch;

/// Number of undecided moves of a position that cannot be lost.
const NEVER_LOST: u32 = 255;

/// Positions per batch.
const BATCH: u64 = 1 << 13;

/// Memory of the analysis for each position, in bytes: the word and the two results.
pub(super) const BYTES_PER_POSITION: u64 = 6;

/// A pair of slices; one slice, if both sides have the same pieces.
pub(super) struct Pair {
    boards: Vec<Boards>,
}

/// Values of all positions of a slice, by index.
pub(super) struct Solved {
    /// See [`value`](super::value).
    pub(super) ends: Vec<u8>,
    /// Plies to the next capture or man's move while the winner keeps the win, plus 1; 0 for a
    /// draw. Empty if only the outcome is known.
    pub(super) progress: Vec<u8>,
}

/// What to solve a pair with.
pub(super) struct Context<'a> {
    /// Values of the slices that the pair depends on.
    pub(super) stored: &'a dyn Stored,
    pub(super) threads: usize,
    /// Whether to compute distances, not only outcomes.
    pub(super) distances: bool,
    /// Called repeatedly, with the number of positions looked at since the last call.
    pub(super) tick: &'a (dyn Fn(u64) -> ControlFlow<()> + Sync),
}

/// Words of the positions of a pair.
struct Words<'a> {
    pair: &'a Pair,
    words: Vec<Vec<AtomicU32>>,
    /// Largest initial value, pending or not.
    max_initial: AtomicU8,
    /// A position for which values are missing.
    missing: AtomicBool,
}

const fn word(value: u8, pending: u8, undecided: u32) -> u32 {
    value as u32 | (pending as u32) << 8 | undecided << 16
}

impl Pair {
    pub(super) fn new(slice: Slice) -> Pair {
        let other = Some(slice.swapped()).filter(|&other| other != slice);
        Pair { boards: [Some(slice), other].into_iter().flatten().map(Boards::new).collect() }
    }

    pub(super) fn boards(&self) -> &[Boards] {
        &self.boards
    }

    /// Position in `boards` of the slice with the other side to move.
    fn other(&self, side: usize) -> usize {
        (side + 1) % self.boards.len()
    }

    /// Solves the pair. The order is that of [`boards`](Pair::boards).
    pub(super) fn solve(&self, context: &Context<'_>) -> Result<Vec<Solved>, TableError> {
        let words = Words::new(self)?;
        words.look_at_all(context, |_, board| words.ends_word(context, board))?;
        words.propagate(context, true, |_, _, value| is_loss(value))?;
        let ends = words.values()?;
        if !context.distances {
            let outcome = |value: &mut u8| *value = outcome(*value);
            let solved = ends.into_iter().map(|mut ends| {
                ends.iter_mut().for_each(outcome);
                Solved { ends, progress: Vec::new() }
            });
            return Ok(solved.collect());
        }
        words.look_at_all(context, |(side, index), board| {
            words.progress_word(context, &ends, (side, index), board)
        })?;
        words.propagate(context, false, |side, index, _| is_loss(ends[side][index as usize]))?;
        let progress = words.values()?;
        let solved = ends.into_iter().zip(progress);
        Ok(solved.map(|(ends, progress)| Solved { ends, progress }).collect())
    }
}

/// Whether a man moves, for a value of [`Move::kind`](crownhead_rules::checkers::Move::kind).
const fn is_man_move(kind: usize) -> bool {
    kind & 1 == 0
}

/// Whether a man becomes a king.
const fn is_crowning(kind: usize) -> bool {
    kind & 3 == 2
}

impl<'a> Words<'a> {
    fn new(pair: &'a Pair) -> Result<Words<'a>, TableError> {
        let mut words = Vec::new();
        for boards in &pair.boards {
            let size = boards.slice().size() as usize;
            let mut of_slice: Vec<AtomicU32> = Vec::new();
            let megabytes = size * BYTES_PER_POSITION as usize / 1_000_000;
            let reserved = of_slice.try_reserve_exact(size);
            reserved.map_err(|_| TableError::OutOfMemory { megabytes })?;
            of_slice.resize_with(size, AtomicU32::default);
            words.push(of_slice);
        }
        Ok(Words { pair, words, max_initial: AtomicU8::new(0), missing: AtomicBool::new(false) })
    }

    /// Sets the words of all positions.
    fn look_at_all(
        &self,
        context: &Context<'_>,
        initial: impl Fn((usize, u64), MoverBoard) -> u32 + Sync,
    ) -> Result<(), TableError> {
        self.max_initial.store(0, Relaxed);
        for (side, boards) in self.pair.boards.iter().enumerate() {
            let flow = each_batch(context.threads, boards.slice().size(), BATCH, |range| {
                let count = range.end - range.start;
                let mut max_initial = 0;
                boards.each(range, |index, board| {
                    let word = initial((side, index), board);
                    max_initial = max_initial.max((word >> 8) as u8).max(word as u8);
                    self.words[side][index as usize].store(word, Relaxed);
                });
                self.max_initial.fetch_max(max_initial, Relaxed);
                (context.tick)(count)
            });
            if flow.is_break() {
                return Err(TableError::Cancelled);
            }
        }
        if self.missing.load(Relaxed) {
            return Err(TableError::MissingSlices);
        }
        Ok(())
    }

    /// Initial word of a position, to compute plies to the end of the game.
    fn ends_word(&self, context: &Context<'_>, board: MoverBoard) -> u32 {
        let known = |value: Option<u8>| match value {
            Some(value) if context.distances => value,
            Some(value) => outcome(value),
            None => {
                self.missing.store(true, Relaxed);
                DRAW
            }
        };
        if board.has_capture() {
            return word(DRAW, known(resolve_captures(context.stored, board)), 0);
        }
        let (mut undecided, mut pending) = (0, NO_MOVE);
        board.each_move(true, |mv| {
            if is_crowning(mv.kind()) {
                let after = known(resolve(context.stored, board.after(mv)));
                pending = better(pending, before(after));
            } else {
                undecided += 1;
            }
        });
        if is_loss(pending) {
            // With undecided moves the loss waits for them.
            let pending = if undecided > 0 && pending == NO_MOVE { DRAW } else { pending };
            word(DRAW, pending, undecided)
        } else {
            word(DRAW, pending, NEVER_LOST)
        }
    }

    /// Initial word of a position, to compute plies to the next capture or man's move.
    fn progress_word(
        &self,
        context: &Context<'_>,
        ends: &[Vec<u8>],
        (side, index): (usize, u64),
        board: MoverBoard,
    ) -> u32 {
        let end = ends[side][index as usize];
        if end == DRAW {
            return word(DRAW, DRAW, NEVER_LOST);
        }
        let now = before(NO_MOVE);
        if board.has_capture() {
            return word(now, DRAW, NEVER_LOST);
        }
        let other = self.pair.other(side);
        let slice = self.pair.boards[other].slice();
        let (mut king_moves, mut makes_progress) = (0, false);
        board.each_move(true, |mv| {
            if !is_man_move(mv.kind()) {
                king_moves += 1;
            } else if is_loss(end) {
                makes_progress = true;
            } else {
                let after = board.after(mv);
                makes_progress |= if is_crowning(mv.kind()) {
                    resolve(context.stored, after).is_some_and(is_loss)
                } else {
                    is_loss(ends[other][slice.index(after) as usize])
                };
            }
        });
        match (is_loss(end), makes_progress) {
            (true, true) if king_moves == 0 => word(now, DRAW, NEVER_LOST),
            (true, false) if king_moves == 0 => word(NO_MOVE, DRAW, NEVER_LOST),
            (true, _) => word(DRAW, DRAW, king_moves),
            (false, true) => word(now, DRAW, NEVER_LOST),
            (false, false) => word(DRAW, DRAW, NEVER_LOST),
        }
    }

    /// Proceeds ply by ply. `men` says whether moves of men are taken back too; `is_lost` receives
    /// slice, index and value of a decided position.
    fn propagate(
        &self,
        context: &Context<'_>,
        men: bool,
        is_lost: impl Fn(usize, u64, u8) -> bool + Sync,
    ) -> Result<(), TableError> {
        for value in NO_MOVE..=MAX {
            let found = AtomicBool::new(false);
            for (side, boards) in self.pair.boards.iter().enumerate() {
                let other = self.pair.other(side);
                let slice = self.pair.boards[other].slice();
                let flow = each_batch(context.threads, boards.slice().size(), BATCH, |range| {
                    let mut cursor = boards.cursor();
                    let mut any = false;
                    for index in range {
                        let entry = &self.words[side][index as usize];
                        if !decide(entry, value) {
                            continue;
                        }
                        any = true;
                        let Some(board) = cursor.board(index) else { continue };
                        let lost = is_lost(side, index, value);
                        each_predecessor(board, men, |predecessor| {
                            let index = slice.index(predecessor) as usize;
                            mark_predecessor(&self.words[other][index], value, lost);
                        });
                    }
                    if any {
                        found.store(true, Relaxed);
                    }
                    (context.tick)(0)
                });
                if flow.is_break() {
                    return Err(TableError::Cancelled);
                }
            }
            let found = found.into_inner();
            if found && value == MAX {
                return Err(TableError::TooLong);
            }
            if !found && value >= self.max_initial.load(Relaxed) {
                break;
            }
        }
        Ok(())
    }

    /// Copies the values out of the words.
    fn values(&self) -> Result<Vec<Vec<u8>>, TableError> {
        let values = self.words.iter().map(|words| {
            let mut values = Vec::new();
            let megabytes = words.len() * BYTES_PER_POSITION as usize / 1_000_000;
            let reserved = values.try_reserve_exact(words.len());
            reserved.map_err(|_| TableError::OutOfMemory { megabytes })?;
            values.extend(words.iter().map(|word| word.load(Relaxed) as u8));
            Ok(values)
        });
        values.collect()
    }
}

/// Returns whether a position has this value, after deciding it if the value is pending and due.
#[inline(always)]
fn decide(entry: &AtomicU32, value: u8) -> bool {
    let word = entry.load(Relaxed);
    if word as u8 == value {
        return true;
    }
    let is_due =
        word as u8 == DRAW && (word >> 8) as u8 == value && (is_win(value) || word >> 16 == 0);
    if is_due {
        entry.fetch_or(value.into(), Relaxed);
    }
    is_due
}

/// Updates a position that has a move to a position decided with this value.
#[inline(always)]
fn mark_predecessor(entry: &AtomicU32, value: u8, lost: bool) {
    let word = entry.load(Relaxed);
    if word as u8 != DRAW {
        return;
    }
    // All threads that get here at this ply write the same value.
    if lost {
        entry.fetch_or(before(value).into(), Relaxed);
    } else if word >> 16 != NEVER_LOST {
        let word = entry.fetch_sub(1 << 16, Relaxed);
        if word >> 16 == 1 && (word >> 8) as u8 <= before(value) {
            entry.fetch_or(before(value).into(), Relaxed);
        }
    }
}

/// Calls `visit` with every position from which a move that is neither a capture nor a crowning
/// leads to `board`: a king's move, and with `men` a man's move too.
#[inline(always)]
fn each_predecessor(board: MoverBoard, men: bool, mut visit: impl FnMut(MoverBoard)) {
    let MoverBoard { own, opponent, kings } = board;
    let empty = SQUARES & !(own | opponent);
    let mut take_back = |from: u64, to: u64, is_king: bool| {
        if to & empty == 0 {
            return;
        }
        let predecessor = MoverBoard {
            own,
            opponent: opponent ^ from ^ to,
            kings: if is_king { kings ^ from ^ to } else { kings },
        };
        let predecessor = predecessor.turned();
        // With a capture, the move would have been illegal.
        if !predecessor.has_capture() {
            visit(predecessor);
        }
    };
    for king in Bits(opponent & kings) {
        let from = 1 << king;
        for to in [from << 4, from << 5, from >> 4, from >> 5] {
            take_back(from, to, true);
        }
    }
    if men {
        // The opponent's men move toward the lower bits.
        for man in Bits(opponent & !kings) {
            let from = 1 << man;
            for to in [from << 4, from << 5] {
                take_back(from, to, false);
            }
        }
    }
}
