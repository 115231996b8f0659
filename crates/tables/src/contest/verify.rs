//! Verification: derives stored values again from those after each move.

use super::index::{Layout, Men};
use super::value::derive;
use super::{ContestTable, GAME, MIN_PIECES, key, slices};
use crate::endgame::Slice;
use crate::verify::{Found, Part, Sliced, VerifyRange};
use crate::{FormatError, Progress, TableError, Verification, Verified};

impl ContestTable {
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
        crate::verify::verify(self, verification, progress)
    }

    fn verify_position(&self, index: u64, men: Men, found: &mut Found) {
        found.positions += 1;
        let board = men.board();
        let Some(value) = derive(board, |after| self.resolve(after)) else {
            return found.wrong(board, "value missing");
        };
        found.counts.add_sign(value);
        let slice = men.slice();
        let is_stored = index < Layout::of(slice).stored() && !board.has_capture();
        if is_stored && self.stored(slice, index) != Some(value) {
            found.wrong(board, "wrong value");
        }
    }
}

impl Sliced for ContestTable {
    const GAME: &'static str = GAME;

    fn parts(&self) -> Vec<Part> {
        let slices = (MIN_PIECES..=self.pieces).flat_map(slices);
        let part = |slice: Slice| {
            let layout = Layout::of(slice);
            let counts = self.files[key(slice)].as_ref()?.counts;
            Some(Part { slice, size: layout.size(), stored: layout.stored(), counts })
        };
        slices.filter_map(part).collect()
    }

    fn check_slice(&self, slice: Slice) -> Result<(), FormatError> {
        self.files[key(slice)].iter().try_for_each(|file| file.check_blocks())
    }

    fn verify_slice(&self, slice: Slice) -> VerifyRange<'_> {
        let layout = Layout::of(slice);
        Box::new(move |range| {
            let mut found = Found::default();
            layout.each(range, |index, men| self.verify_position(index, men, &mut found));
            found
        })
    }
}
