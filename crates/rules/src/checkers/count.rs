//! Counting the leaves of a move tree of checkers without playing the last ply.
//!
//! The parents of the leaves are not counted one by one: they are gathered in a [`Batch`] and counted many at a
//! time by [`Batch::flush`], whose loop has no branch, so that the compiler turns it into vector code. Three
//! observations make that possible:
//! - Quiet moves are pop-counts of shifted boards, and so are first jumps. Which of the two applies is a select, not a branch.
//! - A man jumps forward only, at most three times. Its chains form a tree with one leaf per first jump plus one for each
//!   fork, a square on which both forward jumps go on; forks are pop-counts too.
//! - Only a king that can jump needs a search. Boards with one are counted apart.
//!
//! The loop is compiled for several processors and the best one is chosen at run time.

use super::generate::{Jumps, Pieces, king_row, step_ahead};
use super::squares::{SQUARES, ahead, behind};
use super::{Checkers, Variant};
use crate::{MoveList, Perft, Position, Side};

/// How many boards are counted at once: enough to fill vectors, few enough to stay in the first-level cache.
const BATCH: usize = 128;

/// Boards with the same side to move, waiting to have their moves counted.
struct Batch<const PATHS: bool> {
    own: [u64; BATCH],
    other: [u64; BATCH],
    kings: [u64; BATCH],
    len: usize,
    total: u64,
    /// Which loop suits this processor.
    level: Level,
    /// Whether men are crowned at all.
    crowning: bool,
}

impl<const PATHS: bool> Batch<PATHS> {
    fn new(crowning: bool) -> Self {
        let zero = [0; BATCH];
        Batch {
            own: zero,
            other: zero,
            kings: zero,
            len: 0,
            total: 0,
            level: Level::detect(),
            crowning,
        }
    }

    /// Adds the leaves `depth` plies below `pieces`; side to move is `FIRST`, `depth` at least 1.
    fn add<const FIRST: bool>(&mut self, pieces: Pieces, depth: u32) {
        if depth <= 1 {
            return self.wait::<FIRST>(pieces);
        }
        let crowned = if self.crowning { king_row(FIRST) } else { 0 };
        if pieces.jumpers::<FIRST>() != 0 {
            pieces.captures::<FIRST, PATHS>(crowned, &mut |mv| {
                self.child::<FIRST>(pieces.after(mv), depth - 1);
            });
        } else if depth == 2 && pieces.own & pieces.kings == 0 {
            self.wait_for_steps::<FIRST>(pieces, crowned);
        } else {
            let mut steps = MoveList::new();
            pieces.steps::<FIRST>(crowned, &mut steps);
            for mv in steps {
                self.child::<FIRST>(pieces.after(mv), depth - 1);
            }
        }
    }

    #[inline(always)]
    fn child<const FIRST: bool>(&mut self, pieces: Pieces, depth: u32) {
        match (FIRST, depth) {
            (true, 1) => self.wait::<false>(pieces),
            (false, 1) => self.wait::<true>(pieces),
            (true, _) => self.add::<false>(pieces, depth),
            (false, _) => self.add::<true>(pieces, depth),
        }
    }

    #[inline(always)]
    fn wait<const FIRST: bool>(&mut self, pieces: Pieces) {
        let at = self.room(FIRST);
        self.own[at] = pieces.own;
        self.other[at] = pieces.other;
        self.kings[at] = pieces.kings;
        self.len = at + 1;
    }

    /// [`wait`](Batch::wait) for every child of a board where men step. They are written eight at a time whether there are eight or
    /// not, because the processor foresees a loop of fixed length and stumbles over the end of any other.
    #[inline(always)]
    fn wait_for_steps<const FIRST: bool>(&mut self, pieces: Pieces, crowned: u64) {
        let mut steps = pieces.steps_ahead::<FIRST>(pieces.empty());
        while steps != 0 {
            let at = self.room(!FIRST);
            let count = steps.count_ones().min(8);
            let own = &mut self.own[at..at + 8];
            let other = &mut self.other[at..at + 8];
            let kings = &mut self.kings[at..at + 8];
            for i in 0..8 {
                let (from, to) = step_ahead::<FIRST>(steps.trailing_zeros());
                own[i] = pieces.other;
                other[i] = pieces.own ^ (from | to);
                kings[i] = pieces.kings | to & crowned;
                steps &= steps.wrapping_sub(1);
            }
            self.len = at + count as usize;
        }
    }

    /// Where the next eight boards can go.
    #[inline(always)]
    fn room(&mut self, first: bool) -> usize {
        if self.len > BATCH - 8 {
            self.flush(first);
        }
        self.len.min(BATCH - 8)
    }

    /// Counts what is waiting.
    #[cold]
    #[inline(never)]
    fn flush(&mut self, first: bool) {
        let boards = Boards {
            own: &self.own[..self.len],
            other: &self.other[..self.len],
            kings: &self.kings[..self.len],
        };
        self.total += if first {
            self.level.count::<true, PATHS>(boards)
        } else {
            self.level.count::<false, PATHS>(boards)
        };
        self.len = 0;
    }
}

/// The boards of a batch, one array for each kind of piece.
#[derive(Clone, Copy)]
struct Boards<'a> {
    own: &'a [u64],
    other: &'a [u64],
    kings: &'a [u64],
}

/// The number of moves of one board, and the kings whose captures it leaves out.
#[inline(always)]
fn count_one<const FIRST: bool>(own: u64, other: u64, kings: u64) -> (u64, u64) {
    let empty = SQUARES & !(own | other);
    let kings = own & kings;
    let jumps = Jumps::of::<FIRST>(other, empty);
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

#[inline(always)]
fn count_all<const FIRST: bool, const PATHS: bool>(boards: Boards<'_>) -> u64 {
    let mut total = 0;
    let mut searched = [0u64; BATCH];
    let mut any = 0;
    let rows = boards.own.iter().zip(boards.other).zip(boards.kings).zip(&mut searched);
    for (((&own, &other), &kings), searched) in rows {
        let (moves, jumping) = count_one::<FIRST>(own, other, kings);
        total += if jumping == 0 { moves } else { 0 };
        *searched = jumping;
        any |= jumping;
    }
    if any != 0 {
        for (index, _) in searched.iter().enumerate().filter(|(_, jumping)| **jumping != 0) {
            let (own, other, kings) = (boards.own[index], boards.other[index], boards.kings[index]);
            total += count_search::<FIRST, PATHS>(Pieces { own, other, kings });
        }
    }
    total
}

/// The number of captures where a king can capture.
#[cold]
#[inline(never)]
fn count_search<const FIRST: bool, const PATHS: bool>(pieces: Pieces) -> u64 {
    let mut moves = 0;
    pieces.captures::<FIRST, PATHS>(0, &mut |_| moves += 1);
    moves
}

/// What the processor offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The same loop for several processors. `unsafe` gains a factor here (`cargo bench -p crownhead-rules`, groups
/// `perft/english`): without it the loop could only be compiled for the oldest x86-64, which has no pop-count at all.
#[allow(unsafe_code)]
mod dispatch {
    use super::{Boards, Level, count_all};

    impl Level {
        pub(super) fn detect() -> Level {
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vpopcntdq")
                {
                    return Level::Avx512;
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                    return Level::Avx2;
                }
            }
            Level::Plain
        }

        pub(super) fn count<const FIRST: bool, const PATHS: bool>(self, boards: Boards<'_>) -> u64 {
            match self {
                Level::Plain => count_all::<FIRST, PATHS>(boards),
                // SAFETY: `detect` gives these levels only on processors with these features.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { count_avx2::<FIRST, PATHS>(boards) },
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { count_avx512::<FIRST, PATHS>(boards) },
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    fn count_avx2<const FIRST: bool, const PATHS: bool>(boards: Boards<'_>) -> u64 {
        count_all::<FIRST, PATHS>(boards)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512vpopcntdq,popcnt")]
    fn count_avx512<const FIRST: bool, const PATHS: bool>(boards: Boards<'_>) -> u64 {
        count_all::<FIRST, PATHS>(boards)
    }
}

fn leaves<V: Variant, const PATHS: bool>(position: &Checkers<V>, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut batch = Batch::<PATHS>::new(position.rules.kings);
    match position.side {
        Side::First => batch.add::<true>(position.view(), depth),
        Side::Second => batch.add::<false>(position.view(), depth),
    }
    // The side to move alternates, so the parents of the leaves have the root's side at odd depths.
    batch.flush((position.side == Side::First) == (depth % 2 == 1));
    batch.total
}

impl<V: Variant> Perft for Checkers<V> {
    fn horizon(&self) -> u32 {
        let idle = self.idle.longest();
        let plies = u32::from(self.rules.draw_plies).saturating_sub(idle);
        // No position before an advance or a capture can come up again, and after it a position can come
        // up for the third time only eight plies after the first.
        if self.rules.repetition { plies.min(8u32.saturating_sub(idle)) } else { plies }
    }

    fn decided(&self) -> bool {
        false // a side without a move is lost, but it has no children to leave out
    }

    fn leaves(&self, depth: u32) -> u64 {
        leaves::<V, false>(self, depth)
    }
}

/// Counts as most published tables of English checkers do: a capture once for every path with the same
/// start, end and captured pieces.
pub fn perft_paths<V: Variant>(position: &Checkers<V>, depth: u32) -> u64 {
    paths_below(position, depth, &mut Vec::new())
}

/// What [`Counter`](crate::perft::Counter) does for distinct moves: beyond the horizon, position by position.
fn paths_below<V: Variant>(position: &Checkers<V>, depth: u32, past: &mut Vec<u64>) -> u64 {
    if depth <= position.horizon() {
        return leaves::<V, true>(position, depth);
    }
    if position.outcome(past).is_some() {
        return 0;
    }
    past.push(position.key);
    let mut total = 0;
    let mut visit = |mv| total += paths_below(&position.after(mv), depth - 1, past);
    if position.must_capture() == 0 {
        let mut steps = MoveList::new();
        position.legal_moves(&mut steps);
        steps.into_iter().for_each(visit);
    } else if position.side == Side::First {
        position.view().captures::<true, true>(position.crowned(), &mut visit);
    } else {
        position.view().captures::<false, true>(position.crowned(), &mut visit);
    }
    past.pop();
    total
}
