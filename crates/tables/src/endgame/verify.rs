//! Verification: derives stored values again from those after each move.

use crownhead_rules::checkers::MoverBoard;

use super::format::Stream;
use super::slice::dependencies;
use super::value::{DRAW, NO_MOVE, Stored, before, better, is_loss, is_win, outcome, resolve};
use super::{Boards, EndgameTable, GAME, Slice, key};
use crate::verify::{Found, Part, Sliced, VerifyRange};
use crate::{FormatError, Progress, TableError, Verification, Verified};

impl EndgameTable {
    /// Checks every byte.
    ///
    /// # Errors
    /// Names the slice and the place of the first damage.
    pub fn check(&self) -> Result<(), TableError> {
        crate::verify::check(self)
    }

    /// Checks every byte, and derives values again from those of the moves: all values of small
    /// slices, and random blocks of the others.
    ///
    /// # Errors
    /// Names the slice and the place, or the position, of the first error.
    pub fn verify(
        &self,
        verification: &Verification,
        progress: &Progress<'_>,
    ) -> Result<Verified, TableError> {
        for slice in self.slices() {
            let mut needed = dependencies(slice).into_iter().chain([slice.swapped()]);
            if let Some(slice) = needed.find(|&slice| self.files[key(slice)].is_none()) {
                return Err(TableError::MissingSlice { game: GAME, slice });
            }
        }
        crate::verify::verify(self, verification, progress)
    }
}

impl Sliced for EndgameTable {
    const GAME: &'static str = GAME;

    fn parts(&self) -> Vec<Part> {
        let mut slices: Vec<Slice> = self.slices().collect();
        slices.sort_by_key(|&slice| (slice.pieces(), slice));
        let part = |slice: Slice| {
            let file = self.files[key(slice)].as_ref()?;
            let size = slice.size();
            Some(Part { slice, size, stored: size, counts: file.counts })
        };
        slices.into_iter().filter_map(part).collect()
    }

    fn check_slice(&self, slice: Slice) -> Result<(), FormatError> {
        self.files[key(slice)].iter().try_for_each(|file| file.check_blocks())
    }

    fn verify_slice(&self, slice: Slice) -> VerifyRange<'_> {
        let boards = Boards::new(slice);
        Box::new(move |range| {
            let mut found = Found::default();
            boards.each(range, |index, board| self.verify_position(index, board, &mut found));
            found
        })
    }
}

impl EndgameTable {
    fn verify_position(&self, index: u64, board: MoverBoard, found: &mut Found) {
        found.positions += 1;
        let Some((value, progress)) = self.derive(board) else {
            return found.wrong(board, "value missing");
        };
        found.counts.add(value);
        // Positions with captures are not stored.
        if board.has_capture() {
            return;
        }
        let slice = Slice::of(board);
        let Some(file) = &self.files[key(slice)] else { return };
        let stored = self.stored(slice, index);
        let is_right = if file.has_distances {
            let stored_progress = self.cached(file, Stream::Progress, index);
            stored == Some(value) && (value == DRAW || stored_progress == Some(progress))
        } else {
            stored == Some(outcome(value))
        };
        if !is_right {
            found.wrong(board, "wrong value");
        }
    }

    /// Value and progress of a position by its moves.
    fn derive(&self, board: MoverBoard) -> Option<(u8, u8)> {
        let mut best = Some(NO_MOVE);
        let mut children = Vec::new();
        board.each_move(true, |mv| {
            let after = board.after(mv);
            let value = resolve(self, after);
            children.push((mv, after, value));
            best = best.and_then(|best| Some(better(best, before(value?))));
        });
        let value = best?;
        let file = self.files[key(Slice::of(board))].as_ref()?;
        if value == DRAW || !file.has_distances {
            return Some((value, DRAW));
        }
        // Plies plus 1, as stored. Without a move the game is over.
        let mut progress = NO_MOVE;
        for (mv, after, after_value) in children {
            let keeps_win = is_win(value) && after_value.is_some_and(is_loss);
            if is_win(value) && !keeps_win {
                continue;
            }
            let is_man = mv.kind() & 1 == 0;
            let plies = if mv.is_capture() || is_man { 2 } else { self.progress(after)? as u8 + 2 };
            progress = match is_win(value) {
                true if progress != NO_MOVE => progress.min(plies),
                _ => progress.max(plies),
            };
        }
        Some((value, progress))
    }
}
