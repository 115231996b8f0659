//! Retrograde analysis of a pair of slices: the same pieces with either side to move.
//!
//! The analysis takes one placement of men after the other; see [`Placements`]. With the men in
//! their places, only king's moves lead from one undecided position to another. First every
//! position is visited once. Its captures and men's moves lead to values that are known already;
//! the best of them is *pending* until the analysis reaches its distance. Its king's moves are
//! counted.
//!
//! Then the analysis proceeds ply by ply. The predecessors of a lost position are won, one ply
//! later. A predecessor of a won position has one undecided move less; when none is left it is
//! lost, unless a pending loss takes longer. What is undecided at the end is drawn.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crownhead_rules::Bits;
use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::checkers::squares::{BOTTOM_ROW, SQUARES, spread};

use super::kings::{Kings, Moves, Orders};
use super::placements::{Placement, Placements};
use super::slice::Slice;
use super::value::{DRAW, MAX, NO_MOVE, WIN, before, better, is_loss};
use super::values::{Known, Values, memory};
use crate::TableError;
use crate::parallel::each_batch;

/// Number of undecided moves of a position that cannot be lost.
const NEVER_LOST: u8 = u8::MAX;

/// Positions per batch, roughly.
const BATCH: u64 = 1 << 15;

/// Values of all positions of a slice.
pub(super) struct Solved {
    /// See [`value`](super::value).
    pub(super) ends: Values,
    /// Plies to the next capture or man's move while the winner keeps the win, plus 1; 0 for a
    /// draw. `None` if only the outcome is known.
    pub(super) progress: Option<Values>,
}

/// What to solve a pair with.
pub(super) struct Context<'a> {
    /// Values of the slices that the pair depends on.
    pub(super) known: &'a Known,
    pub(super) threads: usize,
    /// Whether to compute distances, not only outcomes.
    pub(super) distances: bool,
    /// Called repeatedly, with the number of positions solved since the last call.
    pub(super) tick: &'a (dyn Fn(u64) -> ControlFlow<()> + Sync),
}

/// A position during the analysis.
#[derive(Clone, Copy, Default)]
struct Entry {
    value: u8,
    /// Value that the position gets when the analysis reaches it, if nothing better comes before.
    pending: u8,
    /// Number of king's moves that are undecided.
    undecided: u8,
    /// See the constants below.
    flags: u8,
}

/// The legal moves are captures.
const CAPTURE: u8 = 1;
/// A man can move.
const MAN_MOVES: u8 = 2;
/// A man's move leads to a position that the opponent loses.
const MAN_WINS: u8 = 4;
/// The position is lost, when progress is computed.
const LOST: u8 = 8;

/// The slices of both sides to move, which are the same if both sides have the same pieces.
pub(super) const fn both(pair: Slice) -> [Slice; 2] {
    [pair, pair.swapped()]
}

/// The slices of a pair, each once.
pub(super) fn slices(pair: Slice) -> Vec<Slice> {
    let mut slices = both(pair).to_vec();
    slices.dedup();
    slices
}

/// Bytes of memory that the analysis of a pair needs, besides the values that it depends on.
pub(super) fn memory_of_pair(pair: Slice, threads: usize, distances: bool) -> u64 {
    let values: u64 = slices(pair).iter().map(|slice| memory(slice.size(), distances)).sum();
    let streams = if distances { 2 } else { 1 };
    // Entries of both sides to move, and a queue of all of them.
    let of_placement = Kings::new(pair).positions() * 2 * (size_of::<Entry>() as u64 + 4);
    let men = pair.own_men + pair.opponent_men;
    let placements_at_once = if men == 0 { 1 } else { threads as u64 };
    streams * values + placements_at_once * of_placement + Placements::memory(pair)
}

/// Solves a pair. The order is that of [`slices`].
pub(super) fn solve(pair: Slice, context: &Context<'_>) -> Result<Vec<Solved>, TableError> {
    let solved = slices(pair).into_iter().map(|slice| {
        let values = || Values::new(slice.size(), context.distances);
        let progress = if context.distances { Some(values()?) } else { None };
        Ok(Solved { ends: values()?, progress })
    });
    let solved: Vec<Solved> = solved.collect::<Result<_, TableError>>()?;
    let placements = Placements::new(pair);
    let kings = Kings::new(pair);
    let analysis = Analysis {
        context,
        slices: both(pair),
        solved: &solved,
        kings: &kings,
        orders: kings.orders(),
        missing: AtomicBool::new(false),
        too_long: AtomicBool::new(false),
    };
    let of_placement = pair.size() / placements.count();
    let batch = (BATCH / of_placement.max(1)).clamp(1, 1 << 10);
    for level in placements.levels() {
        let flow = each_batch(context.threads, level.len() as u64, batch, |range| {
            let (mut work, mut positions) = (Work::default(), 0);
            for &number in &level[range.start as usize..range.end as usize] {
                let placement = placements.get(number);
                match context.distances {
                    true => analysis.solve::<true>(&mut work, &placement),
                    false => analysis.solve::<false>(&mut work, &placement),
                }
                let sides = if placement.is_same_for_both { 1 } else { 2 };
                positions += sides * of_placement;
            }
            (context.tick)(positions)
        });
        if analysis.missing.load(Relaxed) {
            return Err(TableError::MissingSlices);
        }
        if analysis.too_long.load(Relaxed) {
            return Err(TableError::TooLong);
        }
        if flow.is_break() {
            return Err(TableError::Cancelled);
        }
    }
    Ok(solved)
}

/// The analysis of a pair.
struct Analysis<'a> {
    context: &'a Context<'a>,
    slices: [Slice; 2],
    /// One or two slices.
    solved: &'a [Solved],
    kings: &'a Kings,
    orders: Orders,
    /// A value that the analysis depends on is missing.
    missing: AtomicBool,
    /// A value is larger than the largest.
    too_long: AtomicBool,
}

/// The positions with one placement of men. The side to move is 0 or 1; positions are seen from
/// side 0. The index is the number of the set of kings of side 0, times the number of sets of side
/// 1, plus the number of that of side 1. Indices with two kings on one square are not used.
#[derive(Default)]
struct Work {
    /// Kings of each side, by number of their set.
    boards: [Vec<u64>; 2],
    /// King's moves of each side.
    moves: [Moves; 2],
    entries: [Vec<Entry>; 2],
    /// Positions by pending value.
    queue: Vec<Vec<u32>>,
}

/// Bit of a position in the queue: side 1 moves.
const SIDE_1: u32 = 1 << 31;

impl Analysis<'_> {
    /// Solves the positions with one placement of men.
    fn solve<const DISTANCES: bool>(&self, work: &mut Work, placement: &Placement) {
        self.kings.place(placement.men, &mut work.boards, &mut work.moves);
        let positions = self.kings.positions() as usize;
        for entries in &mut work.entries {
            entries.resize(positions, Entry::default());
        }
        work.queue.resize_with(usize::from(MAX) + 1, Vec::new);
        for side in 0..2 {
            self.look_at_all::<DISTANCES>(work, placement, side);
        }
        self.propagate::<DISTANCES>(work, |_, value| is_loss(value));
        self.store(work, placement, |solved| Some(&solved.ends));
        if DISTANCES {
            for side in 0..2 {
                self.start_progress(work, side);
            }
            self.propagate::<DISTANCES>(work, |entry, _| entry.flags & LOST != 0);
            self.store(work, placement, |solved| solved.progress.as_ref());
        }
    }

    /// Calls `visit` with every pair of sets of kings that can be on the board together.
    #[inline(always)]
    fn each_position(&self, mut visit: impl FnMut(usize, usize, usize)) {
        let [own, opponent] = &self.kings.sets;
        for (a, &own) in own.iter().enumerate() {
            let first = a * opponent.len();
            for (b, &opponent) in opponent.iter().enumerate() {
                if own & opponent == 0 {
                    visit(first + b, a, b);
                }
            }
        }
    }

    /// Sets the entries of all positions with this side to move.
    fn look_at_all<const DISTANCES: bool>(
        &self,
        work: &mut Work,
        placement: &Placement,
        side: usize,
    ) {
        let Work { boards, moves, entries, queue } = work;
        let men = placement.men.map(spread);
        let number_of_side = if side == 0 { 0 } else { SIDE_1 };
        self.each_position(|index, a, b| {
            let kings = [boards[0][a], boards[1][b]];
            let board = MoverBoard {
                own: men[0] | kings[0],
                opponent: men[1] | kings[1],
                kings: kings[0] | kings[1],
            };
            let board = if side == 0 { board } else { board.turned() };
            let entry = if board.has_capture() {
                self.look_at_captures::<DISTANCES>(board)
            } else {
                let sets = [self.kings.sets[0][a], self.kings.sets[1][b]];
                let moves = moves[side].of([a, b][side]);
                let undecided = moves.iter().filter(|mv| mv.to & sets[1 - side] == 0).count();
                self.look_at_moves::<DISTANCES>(board, side, undecided as u8)
            };
            if entry.pending != DRAW {
                queue[usize::from(entry.pending)].push(index as u32 | number_of_side);
            }
            entries[side][index] = entry;
        });
    }

    fn known(&self, board: MoverBoard) -> u8 {
        self.context.known.value(board).unwrap_or_else(|| {
            self.missing.store(true, Relaxed);
            DRAW
        })
    }

    /// Entry of a position with a capture.
    fn look_at_captures<const DISTANCES: bool>(&self, board: MoverBoard) -> Entry {
        let mut pending = NO_MOVE;
        board.each_move(true, |mv| {
            let after = self.known(board.after(mv));
            pending = better(pending, previous::<DISTANCES>(after));
        });
        Entry { value: DRAW, pending, undecided: 0, flags: CAPTURE }
    }

    /// Entry of a position without a capture.
    fn look_at_moves<const DISTANCES: bool>(
        &self,
        board: MoverBoard,
        side: usize,
        undecided: u8,
    ) -> Entry {
        let (mut pending, mut flags) = (NO_MOVE, 0);
        let empty = SQUARES & !(board.own | board.opponent);
        for man in Bits(board.own & !board.kings) {
            let from = 1 << man;
            for to in [from << 4, from << 5] {
                if to & empty == 0 {
                    continue;
                }
                let is_crowned = to & BOTTOM_ROW != 0;
                let after = MoverBoard {
                    own: board.own ^ from ^ to,
                    opponent: board.opponent,
                    kings: if is_crowned { board.kings | to } else { board.kings },
                };
                let after = after.turned();
                let value = if is_crowned {
                    self.known(after)
                } else {
                    let other = (1 - side).min(self.solved.len() - 1);
                    self.solved[other].ends.get(self.slices[1 - side].index(after))
                };
                flags |= if is_loss(value) { MAN_MOVES | MAN_WINS } else { MAN_MOVES };
                pending = better(pending, previous::<DISTANCES>(value));
            }
        }
        if !is_loss(pending) {
            return Entry { value: DRAW, pending, undecided: NEVER_LOST, flags };
        }
        // With undecided moves the loss waits for them.
        let waits = undecided > 0 && pending == NO_MOVE;
        Entry { value: DRAW, pending: if waits { DRAW } else { pending }, undecided, flags }
    }

    /// Sets the entries for the plies to the next capture or man's move.
    fn start_progress(&self, work: &mut Work, side: usize) {
        let Work { moves, entries, queue, .. } = work;
        let number_of_side = if side == 0 { 0 } else { SIDE_1 };
        let now = before(NO_MOVE);
        self.each_position(|index, a, b| {
            let sets = [self.kings.sets[0][a], self.kings.sets[1][b]];
            let entry = &mut entries[side][index];
            let Entry { value: end, flags, .. } = *entry;
            let lost = if is_loss(end) { LOST } else { 0 };
            let king_moves = || {
                let moves = moves[side].of([a, b][side]).iter();
                moves.filter(|mv| mv.to & sets[1 - side] == 0).count() as u8
            };
            let (pending, undecided) = if end == DRAW {
                (DRAW, NEVER_LOST)
            } else if flags & CAPTURE != 0 {
                (now, 0)
            } else if lost == 0 {
                (if flags & MAN_WINS != 0 { now } else { DRAW }, NEVER_LOST)
            } else {
                match (king_moves(), flags & MAN_MOVES != 0) {
                    (0, true) => (now, 0),
                    (0, false) => (NO_MOVE, 0),
                    (king_moves, _) => (DRAW, king_moves),
                }
            };
            if pending != DRAW {
                queue[usize::from(pending)].push(index as u32 | number_of_side);
            }
            *entry = Entry { value: DRAW, pending, undecided, flags: flags | lost };
        });
    }

    /// Decides all positions that can be decided. `is_lost` receives a position and its value.
    fn propagate<const DISTANCES: bool>(
        &self,
        work: &mut Work,
        is_lost: impl Fn(&Entry, u8) -> bool,
    ) {
        if DISTANCES {
            for value in NO_MOVE..=MAX {
                self.propagate_value::<DISTANCES>(work, value, &is_lost);
            }
        } else {
            while [NO_MOVE, WIN].iter().any(|&value| !work.queue[usize::from(value)].is_empty()) {
                self.propagate_value::<DISTANCES>(work, NO_MOVE, &is_lost);
                self.propagate_value::<DISTANCES>(work, WIN, &is_lost);
            }
        }
    }

    /// Decides the positions that get this value, and updates their predecessors.
    #[inline(always)]
    fn propagate_value<const DISTANCES: bool>(
        &self,
        work: &mut Work,
        value: u8,
        is_lost: &impl Fn(&Entry, u8) -> bool,
    ) {
        let Work { moves, entries, queue, .. } = work;
        let [own_sets, opponent_sets] = &self.kings.sets;
        let count = opponent_sets.len() as u32;
        let previous = previous::<DISTANCES>(value);
        while let Some(item) = queue[usize::from(value)].pop() {
            let (side, index) = ((item >> 31) as usize, item & !SIDE_1);
            let entry = &mut entries[side][index as usize];
            let lost = is_lost(entry, value);
            let is_due = entry.pending == value && !(lost && entry.undecided != 0);
            if entry.value != DRAW || !is_due {
                continue;
            }
            if DISTANCES && value == MAX {
                self.too_long.store(true, Relaxed);
            }
            entry.value = value;
            let (a, b) = (index / count, index % count);
            // The other side has moved a king to get here.
            let (sets, moves, step, first) = if side == 0 {
                (own_sets[a as usize], moves[1].of(b as usize), 1, index - b)
            } else {
                (opponent_sets[b as usize], moves[0].of(a as usize), count, b)
            };
            let other = 1 - side;
            let other_item = if other == 0 { 0 } else { SIDE_1 };
            for mv in moves.iter().filter(|mv| mv.to & sets == 0) {
                let index = first + mv.set * step;
                let entry = &mut entries[other][index as usize];
                // With a capture, the move would have been illegal.
                if entry.value != DRAW || entry.flags & CAPTURE != 0 {
                    continue;
                }
                let is_new = if lost {
                    let pending = entry.pending;
                    pending == DRAW || pending > previous || is_lost(entry, pending)
                } else if entry.undecided == NEVER_LOST {
                    false
                } else {
                    entry.undecided -= 1;
                    entry.undecided == 0 && entry.pending < previous
                };
                if is_new {
                    entry.pending = previous;
                    queue[usize::from(previous)].push(index | other_item);
                }
            }
        }
    }

    /// Copies the values of the entries to those of the slices.
    fn store<'a>(
        &'a self,
        work: &Work,
        placement: &Placement,
        values: impl Fn(&'a Solved) -> Option<&'a Values>,
    ) {
        let sides = if placement.is_same_for_both { 1 } else { 2 };
        let [own, opponent] = &self.kings.sets;
        for side in 0..sides {
            let Some(values) = values(&self.solved[side.min(self.solved.len() - 1)]) else {
                continue;
            };
            let entries = &work.entries[side];
            let first = placement.numbers[side] * self.kings.distinct;
            if side == 0 {
                let rows = own.iter().zip(entries.chunks_exact(opponent.len()));
                let values_of_side = rows.flat_map(|(&own, entries)| {
                    let row = opponent.iter().zip(entries);
                    row.filter(move |(set, _)| **set & own == 0).map(|(_, entry)| entry.value)
                });
                values.set(first, values_of_side);
            } else {
                // Seen from side 1 the sets have another order.
                let [own_order, order] = &self.orders;
                let values_of_side = order.iter().flat_map(|&b| {
                    let set = opponent[b as usize];
                    let column = own_order.iter().filter(move |&&a| own[a as usize] & set == 0);
                    column.map(move |&a| entries[a as usize * opponent.len() + b as usize].value)
                });
                values.set(first, values_of_side);
            }
        }
    }
}

/// Value of a position with a single move, to a position of this value.
#[inline(always)]
const fn previous<const DISTANCES: bool>(value: u8) -> u8 {
    match value {
        _ if DISTANCES => before(value),
        NO_MOVE => WIN,
        WIN => NO_MOVE,
        _ => DRAW,
    }
}
