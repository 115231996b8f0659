//! The endgame table of contest checkers: exact values of all positions with few men, for every
//! number of plies before the draw.

#[cfg(feature = "fs")]
mod build;
mod format;
mod index;
#[cfg(feature = "fs")]
mod solve;
mod value;
mod verify;

use std::fmt;
#[cfg(feature = "fs")]
use std::path::Path;

use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::{Contest, Notation, Probe, TableValue};

#[cfg(feature = "fs")]
pub use build::Build;

use crate::cache::Cache;
use crate::endgame::{Counts, PiecesSummary, Slice};
#[cfg(feature = "fs")]
use crate::file::slice_path;
use crate::image::Image;
use crate::{FormatError, TableError};
use format::SliceFile;
use index::{Layout, Men};
use value::{DRAW_PLIES, derive};

/// Id of the game.
const GAME: &str = Contest::ID;

/// Minimum number of men of a table.
pub const MIN_PIECES: u8 = 2;
/// Maximum number of men of a table.
pub const MAX_PIECES: u8 = 8;

/// Values of all positions with at most [`pieces`](ContestTable::pieces) men, in the game without
/// kings that is drawn after ten plies without a capture.
pub struct ContestTable {
    /// By [`key`].
    files: Vec<Option<SliceFile>>,
    pieces: u8,
    cache: Cache,
}

/// Position of a slice in a list. A side has at most seven men.
#[inline(always)]
const fn key(slice: Slice) -> usize {
    (slice.own_men as usize & 7) << 3 | slice.opponent_men as usize & 7
}

const KEYS: usize = 1 << 6;

const fn slice(own_men: u8, opponent_men: u8) -> Slice {
    Slice { own_men, own_kings: 0, opponent_men, opponent_kings: 0 }
}

/// All slices with this number of men, at least one on each side.
fn slices(pieces: u8) -> Vec<Slice> {
    (1..pieces).map(|own_men| slice(own_men, pieces - own_men)).collect()
}

/// Opens the file of a slice.
#[cfg(feature = "fs")]
fn open_slice(folder: &Path, slice: Slice) -> Result<SliceFile, TableError> {
    crate::file::open_slice(folder, slice, GAME, SliceFile::new, |file| file.slice)
}

impl ContestTable {
    /// Opens the table in a folder: the largest number of men whose slices are complete. Checks
    /// headers and lists of blocks; [`check`](ContestTable::check) checks the rest.
    ///
    /// # Errors
    /// If the folder or its slices are missing, or a file is not a complete slice of this version.
    #[cfg(feature = "fs")]
    pub fn open(folder: impl AsRef<Path>) -> Result<ContestTable, TableError> {
        let folder = folder.as_ref();
        crate::file::expect_folder(folder, GAME)?;
        let mut table = ContestTable::empty();
        for pieces in MIN_PIECES..=MAX_PIECES {
            let slices = slices(pieces);
            if slices.iter().any(|&slice| !slice_path(folder, slice).exists()) {
                break;
            }
            for slice in slices {
                table.files[key(slice)] = Some(open_slice(folder, slice)?);
            }
            table.pieces = pieces;
        }
        if table.pieces == 0 {
            let error = std::io::ErrorKind::NotFound.into();
            return Err(TableError::io(folder, "open", error));
        }
        Ok(table)
    }

    /// Creates a table from the bytes of the files of its slices, and checks headers and lists of
    /// blocks.
    ///
    /// # Errors
    /// If one of them is not a complete slice of this version.
    pub fn from_bytes(files: Vec<Vec<u8>>) -> Result<ContestTable, FormatError> {
        let mut table = ContestTable::empty();
        for bytes in files {
            let file = SliceFile::new(Image::Memory(bytes))?;
            let key = key(file.slice);
            table.files[key] = Some(file);
        }
        let is_complete = |&pieces: &u8| {
            slices(pieces).into_iter().all(|slice| table.files[key(slice)].is_some())
        };
        table.pieces = (MIN_PIECES..=MAX_PIECES).take_while(is_complete).last().unwrap_or(0);
        Ok(table)
    }

    fn empty() -> ContestTable {
        let files = (0..KEYS).map(|_| None).collect();
        ContestTable { files, pieces: 0, cache: Cache::new() }
    }

    /// Maximum number of men of a position in the table.
    pub fn pieces(&self) -> u8 {
        self.pieces
    }

    /// Size of all files.
    pub fn bytes(&self) -> u64 {
        self.summary().iter().map(|summary| summary.bytes).sum()
    }

    /// The values by number of men, with ten plies left before the draw.
    pub fn summary(&self) -> Vec<PiecesSummary> {
        let summary = |pieces| {
            let mut summary =
                PiecesSummary { pieces, counts: Counts::default(), longest: None, bytes: 0 };
            for slice in slices(pieces) {
                let Some(file) = &self.files[key(slice)] else { continue };
                summary.counts += file.counts;
                summary.bytes += file.bytes();
            }
            summary
        };
        (MIN_PIECES..=self.pieces).map(summary).collect()
    }

    /// Checks every byte.
    ///
    /// # Errors
    /// Names the slice and the place of the first damage.
    pub fn check(&self) -> Result<(), TableError> {
        crate::verify::check(self)
    }

    /// Whether the table holds under the rules of a position: without kings, and with a draw after
    /// ten plies.
    pub fn is_for(position: &Contest) -> bool {
        !position.has_kings() && position.draw_plies() == DRAW_PLIES.into()
    }

    /// Value of a position: n if the side to move wins with n or more plies left before the draw,
    /// and draws with fewer; -n if it loses with n or more plies left; 0 if it draws. `None` if the
    /// table does not contain the position, or its block is damaged.
    pub fn value(&self, board: MoverBoard) -> Option<i8> {
        let MoverBoard { own, opponent, kings } = board;
        let pieces = (own | opponent).count_ones();
        if pieces > self.pieces.into() || own == 0 || opponent == 0 || kings != 0 {
            return None;
        }
        self.resolve(Men::of(board))
    }

    /// Value of a position with men on both sides. Stored are the values of positions without a
    /// capture whose level is even; others are derived from those after a move.
    fn resolve(&self, men: Men) -> Option<i8> {
        let board = men.board();
        if !board.has_capture() {
            let slice = men.slice();
            let layout = Layout::of(slice);
            let index = layout.index(men);
            if index < layout.stored() {
                return self.stored(slice, index);
            }
        }
        derive(board, |after| self.resolve(after))
    }

    /// Stored value; `None` if its block is damaged.
    #[inline]
    fn stored(&self, slice: Slice, index: u64) -> Option<i8> {
        let file = self.files[key(slice)].as_ref()?;
        let (block, at) = format::block(index);
        let key = (key(slice) as u64) << 48 | block;
        let read = |bytes: &mut Vec<u8>| file.read_block(block, bytes);
        self.cache.with_block(key, read, |bytes| bytes.get(at).map(|&byte| byte as i8))
    }
}

impl Probe<Contest> for ContestTable {
    fn probe(&self, position: &Contest) -> Option<TableValue> {
        let [plies_left, _] = position.plies_to_draw();
        self.probe_in_game(position, plies_left)
    }

    /// The table is exact for each number of plies left. A result that it knows to be forced never
    /// takes more plies than men can move.
    fn probe_in_game(&self, position: &Contest, plies_left: u32) -> Option<TableValue> {
        if !ContestTable::is_for(position) {
            return None;
        }
        let board = position.mover_board();
        let value = self.value(board)?;
        if u32::from(value.unsigned_abs()) > plies_left {
            return Some(TableValue::Draw);
        }
        let plies = Men::of(board).max_plies(value > 0);
        Some(match value {
            0 => TableValue::Draw,
            1.. => TableValue::Win { plies },
            _ => TableValue::Loss { plies },
        })
    }
}

impl fmt::Debug for ContestTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContestTable").field("pieces", &self.pieces).finish_non_exhaustive()
    }
}
