//! The endgame table of English checkers: exact values of all positions with few pieces.

#[cfg(feature = "fs")]
mod build;
#[cfg(feature = "fs")]
mod encode;
mod format;
#[cfg(feature = "fs")]
mod kings;
#[cfg(feature = "fs")]
mod placements;
mod slice;
#[cfg(feature = "fs")]
mod solve;
mod value;
#[cfg(feature = "fs")]
mod values;
mod verify;

use std::cmp::Ordering;
use std::fmt;
#[cfg(feature = "fs")]
use std::path::Path;

use crownhead_rules::checkers::{Checkers, MoverBoard, Variant};
use crownhead_rules::{English, Notation, Probe, Side, TableValue};

#[cfg(feature = "fs")]
pub use build::Build;
pub use format::Counts;
pub use slice::{Boards, Cursor, Slice, SliceError};
#[cfg(feature = "fs")]
pub(crate) use values::zeros;

use crate::FormatError;
use crate::cache::Cache;
use crate::image::Image;
#[cfg(feature = "fs")]
use crate::{
    TableError,
    file::{expect_folder, slice_path},
};
use format::{SliceFile, Stream};
use value::{DRAW, Stored, is_win};

/// Id of the game.
const GAME: &str = English::ID;

/// Minimum number of pieces of a table.
pub const MIN_PIECES: u8 = 2;
/// Maximum number of pieces of a table.
pub const MAX_PIECES: u8 = 7;
/// Maximum number of pieces with distances; with more, only the outcome is stored.
pub const MAX_DISTANCE_PIECES: u8 = 5;

/// Values of all positions with at most [`pieces`](EndgameTable::pieces) pieces, and of some slices
/// with more, if no draw counter ends the game.
pub struct EndgameTable {
    /// By [`key`].
    files: Vec<Option<SliceFile>>,
    pieces: u8,
    /// Maximum number of pieces of a slice.
    max_pieces: u8,
    distance_pieces: u8,
    /// Maximum number of plies to the end of the game, in the slices with distances.
    longest: u32,
    /// Maximum number of plies to the next capture or man's move, in the slices with distances.
    longest_progress: u32,
    cache: Cache,
}

/// Value of a position for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndgameValue {
    /// `Greater` is a win, `Less` a loss.
    pub outcome: Ordering,
    /// Plies to the end of the game, if one side can force it and distances are stored.
    pub plies: Option<u32>,
    /// Plies in which the winner can force a capture or a man's move that keeps the win, or the end
    /// of the game; known when `plies` is.
    pub progress: Option<u32>,
}

/// Values of the positions with the same number of pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PiecesSummary {
    /// Number of pieces.
    pub pieces: u8,
    /// Numbers of positions, with one side to move.
    pub counts: Counts,
    /// Maximum number of plies to the end of the game, if distances are stored.
    pub longest: Option<u32>,
    /// Size of the files.
    pub bytes: u64,
}

/// Index of a slice in [`EndgameTable::files`].
#[inline(always)]
const fn key(slice: Slice) -> usize {
    let Slice { own_men, own_kings, opponent_men, opponent_kings } = slice;
    (own_men as usize & 7) << 9
        | (own_kings as usize & 7) << 6
        | (opponent_men as usize & 7) << 3
        | opponent_kings as usize & 7
}

const KEYS: usize = 1 << 12;

/// Opens the file of a slice.
#[cfg(feature = "fs")]
fn open_slice(folder: &Path, slice: Slice) -> Result<SliceFile, TableError> {
    crate::file::open_slice(folder, slice, GAME, SliceFile::new, |file| file.slice)
}

impl EndgameTable {
    /// Opens the table in a folder, with all slices that it has. Checks headers and lists of
    /// blocks; [`check`](EndgameTable::check) checks the rest.
    ///
    /// # Errors
    /// If the folder or its slices are missing, or a file is not a complete slice of this version.
    #[cfg(feature = "fs")]
    pub fn open(folder: impl AsRef<Path>) -> Result<EndgameTable, TableError> {
        let folder = folder.as_ref();
        expect_folder(folder, GAME)?;
        let mut table = EndgameTable::empty();
        for slice in (MIN_PIECES..=MAX_PIECES).flat_map(Slice::all) {
            if slice_path(folder, slice).exists() {
                table.insert(open_slice(folder, slice)?);
            }
        }
        if table.max_pieces == 0 {
            let error = std::io::ErrorKind::NotFound.into();
            return Err(TableError::io(folder, "open", error));
        }
        table.find_complete();
        Ok(table)
    }

    /// Creates a table from the bytes of the files of its slices, and checks headers and lists of
    /// blocks.
    ///
    /// # Errors
    /// If one of them is not a complete slice of this version.
    pub fn from_bytes(files: Vec<Vec<u8>>) -> Result<EndgameTable, FormatError> {
        let mut table = EndgameTable::empty();
        for bytes in files {
            table.insert(SliceFile::new(Image::Memory(bytes))?);
        }
        table.find_complete();
        Ok(table)
    }

    fn empty() -> EndgameTable {
        let files = (0..KEYS).map(|_| None).collect();
        EndgameTable {
            files,
            pieces: 0,
            max_pieces: 0,
            distance_pieces: 0,
            longest: 0,
            longest_progress: 0,
            cache: Cache::new(),
        }
    }

    fn insert(&mut self, file: SliceFile) {
        let slice = file.slice;
        if slice.pieces() <= MAX_PIECES {
            self.max_pieces = self.max_pieces.max(slice.pieces());
            self.files[key(slice)] = Some(file);
        }
    }

    /// Finds the numbers of pieces of which the table has all slices.
    fn find_complete(&mut self) {
        for pieces in MIN_PIECES..=MAX_PIECES {
            let slices = Slice::all(pieces);
            let files: Vec<_> =
                slices.iter().filter_map(|&slice| self.files[key(slice)].as_ref()).collect();
            if files.len() < slices.len() {
                return;
            }
            self.pieces = pieces;
            let follows = self.distance_pieces == pieces - 1 || pieces == MIN_PIECES;
            if follows && files.iter().all(|file| file.has_distances) {
                self.distance_pieces = pieces;
                for file in files {
                    self.longest = self.longest.max(file.longest.into());
                    self.longest_progress = self.longest_progress.max(file.longest_progress.into());
                }
            }
        }
    }

    /// Maximum number of pieces with which the table contains all positions.
    pub fn pieces(&self) -> u8 {
        self.pieces
    }

    /// The slices that the table contains.
    pub fn slices(&self) -> impl Iterator<Item = Slice> {
        self.files.iter().flatten().map(|file| file.slice)
    }

    /// Maximum number of plies to the end of the game, in the slices with distances.
    pub fn longest(&self) -> u32 {
        self.longest
    }

    /// Size of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().flatten().map(SliceFile::bytes).sum()
    }

    /// Numbers of outcomes of a slice, and the size of its file.
    pub fn slice_summary(&self, slice: Slice) -> Option<(Counts, u64)> {
        let file = self.files.get(key(slice))?.as_ref()?;
        Some((file.counts, file.bytes()))
    }

    /// The values by number of pieces, as far as they are complete.
    pub fn summary(&self) -> Vec<PiecesSummary> {
        let summary = |pieces| {
            let mut summary =
                PiecesSummary { pieces, counts: Counts::default(), longest: Some(0), bytes: 0 };
            for slice in Slice::all(pieces) {
                let Some(file) = &self.files[key(slice)] else { continue };
                summary.counts += file.counts;
                summary.bytes += file.bytes();
                let longest = summary.longest.filter(|_| file.has_distances);
                summary.longest = longest.map(|longest| longest.max(file.longest.into()));
            }
            summary
        };
        (MIN_PIECES..=self.pieces).map(summary).collect()
    }

    /// Whether the table holds under the rules of a position: with kings. Without them, men that
    /// reach the last row would be stuck there.
    pub fn is_for<V: Variant>(position: &Checkers<V>) -> bool {
        position.has_kings()
    }

    /// Value of a position; `None` if the table does not contain it. Damaged blocks count as
    /// missing.
    pub fn value(&self, board: MoverBoard) -> Option<EndgameValue> {
        let pieces = self.count(board)?;
        let value = value::resolve(self, board)?;
        let outcome = match value {
            DRAW => Ordering::Equal,
            value if is_win(value) => Ordering::Greater,
            _ => Ordering::Less,
        };
        let has_distance = pieces <= self.distance_pieces && value != DRAW;
        let plies = has_distance.then(|| u32::from(value) - 1);
        let progress = plies.and_then(|_| self.progress(board));
        Some(EndgameValue { outcome, plies, progress })
    }

    /// Number of pieces of a position, if the table may contain it.
    #[inline(always)]
    fn count(&self, board: MoverBoard) -> Option<u8> {
        let pieces = (board.own | board.opponent).count_ones() as u8;
        (pieces <= self.max_pieces && board.own != 0 && board.opponent != 0).then_some(pieces)
    }

    /// Plies to the next capture or man's move, of a position that is not drawn.
    fn progress(&self, board: MoverBoard) -> Option<u32> {
        if board.has_capture() {
            return Some(1);
        }
        let slice = Slice::of(board);
        let file = self.files[key(slice)].as_ref()?;
        let value = self.cached(file, Stream::Progress, slice.index(board))?;
        u32::from(value).checked_sub(1)
    }
}

impl EndgameTable {
    /// Value of a position without a capture; `None` if its block is damaged.
    #[inline]
    fn cached(&self, file: &SliceFile, stream: Stream, index: u64) -> Option<u8> {
        let (slice_key, block) = (key(file.slice) as u64, stream.block(index));
        let key = slice_key << 48 | u64::from(stream == Stream::Progress) << 47 | block;
        let read = |bytes: &mut Vec<u8>| file.read_block(stream, block, bytes);
        self.cache.with_block(key, read, |bytes| stream.value(bytes, index))
    }
}

impl Stored for EndgameTable {
    #[inline]
    fn stored(&self, slice: Slice, index: u64) -> Option<u8> {
        let file = self.files[key(slice)].as_ref()?;
        self.cached(file, file.ends(), index)
    }
}

impl<V: Variant> Probe<Checkers<V>> for EndgameTable {
    fn probe(&self, position: &Checkers<V>) -> Option<TableValue> {
        self.probe_in_game(position, u32::MAX)
    }

    /// A win counts if it takes fewer plies than each counter has left. If a man's move and a
    /// capture both reset the counter, it also counts if the next of them comes in time: the
    /// counter then starts again, and no win of the table needs as many plies between two of them.
    fn probe_in_game(&self, position: &Checkers<V>, plies_left: u32) -> Option<TableValue> {
        let pieces = position.pieces(Side::First) | position.pieces(Side::Second);
        if pieces.count_ones() > self.max_pieces.into() || !EndgameTable::is_for(position) {
            return None;
        }
        let EndgameValue { outcome, plies, progress } = self.value(position.mover_board())?;
        let restarts =
            position.has_joint_draw_counter() && self.longest_progress < position.draw_plies();
        let is_proved = |plies: &u32| {
            *plies < plies_left || restarts && progress.is_some_and(|plies| plies < plies_left)
        };
        Some(match (outcome, plies.filter(is_proved)) {
            (Ordering::Equal, _) => TableValue::Draw,
            (Ordering::Greater, Some(plies)) => TableValue::Win { plies },
            (Ordering::Less, Some(plies)) => TableValue::Loss { plies },
            (Ordering::Greater, None) => TableValue::AtLeastDraw { plies },
            (Ordering::Less, None) => TableValue::AtMostDraw { plies },
        })
    }
}

impl fmt::Debug for EndgameTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndgameTable").field("pieces", &self.pieces).finish_non_exhaustive()
    }
}
