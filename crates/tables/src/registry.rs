//! The list of tables: game, name, file, state, and how to generate each.

use std::ops::RangeInclusive;
#[cfg(feature = "fs")]
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crownhead_rules::checkers::EnglishRules;
use crownhead_rules::{ChineseCheckers, Contest, English, Game, Notation};

use crate::{ContestTable, EndgameTable, SoloTable, contest, endgame};
#[cfg(feature = "fs")]
use crate::{Progress, TableError, Verification, Verified};
#[cfg(feature = "fs")]
use crownhead_files::cache_dir;

/// A table that can be built.
#[derive(Debug)]
pub struct TableInfo {
    /// Id of the game.
    pub game: &'static str,
    /// Name of the table.
    pub name: &'static str,
    /// Name of the file in the cache folder, or of the folder there.
    pub file_name: &'static str,
    /// Whether the table is a folder of files.
    pub is_folder: bool,
    /// Size of the file in bytes, or of all files of a build without options.
    pub bytes: u64,
    /// Plural noun for the entries.
    pub entry_name: &'static str,
    /// Rough time to build the table.
    pub build_time: &'static str,
    /// Benefit of the table.
    pub benefit: &'static str,
    /// A larger build with `--pieces`, if it is worth its time.
    pub larger: Option<LargerBuild>,
    /// Numbers of pieces that a build can be limited to, and the default; `None` if the table does
    /// not depend on them.
    pub pieces: Option<(RangeInclusive<u8>, u8)>,
    /// Whether play is weaker without the table in every position of the game.
    pub helps_always: bool,
    /// Whether the plies of a win are exact. Otherwise they are an upper bound.
    pub has_distances: bool,
    /// Whether one slice can be built alone.
    pub builds_slices: bool,
    /// Whether the table holds for the options of the game.
    is_for: fn(options: &str) -> bool,
    #[cfg(feature = "fs")]
    open: fn(&Path) -> Result<Table, TableError>,
    #[cfg(feature = "fs")]
    build: fn(&Path, &BuildOptions, &Progress<'_>) -> Result<Table, TableError>,
}

/// A build with more pieces than the default.
#[derive(Debug)]
pub struct LargerBuild {
    /// Maximum number of pieces.
    pub pieces: u8,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// Rough time to build them.
    pub build_time: &'static str,
    /// Benefit of the additional pieces.
    pub benefit: &'static str,
}

/// How to build a table.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// Number of threads.
    pub threads: usize,
    /// Maximum number of pieces; `None` is the default of the table.
    pub pieces: Option<u8>,
    /// The only slice to build, with what it depends on; for endgame tables.
    pub slice: Option<endgame::Slice>,
    /// Maximum memory in bytes, for tables that can be built with less.
    pub memory: u64,
    /// Whether to rebuild existing parts.
    pub force: bool,
}

/// Every table.
pub static TABLES: &[TableInfo] = &[
    TableInfo {
        game: ChineseCheckers::ID,
        name: "solo",
        file_name: "chinese-checkers-solo.table",
        is_folder: false,
        bytes: SoloTable::FILE_BYTES,
        entry_name: "placements",
        build_time: "less than a minute",
        benefit: "stronger play in all positions",
        larger: None,
        pieces: None,
        helps_always: true,
        has_distances: true,
        builds_slices: false,
        is_for: |_| true,
        #[cfg(feature = "fs")]
        open: |path| SoloTable::open(path).map(Table::from),
        #[cfg(feature = "fs")]
        build: |path, options, progress| {
            let table = SoloTable::generate(options.threads, progress)?;
            table.save(path)?;
            Ok(table.into())
        },
    },
    TableInfo {
        game: English::ID,
        name: "endgames",
        file_name: "english-endgames",
        is_folder: true,
        bytes: ENDGAME_BYTES,
        entry_name: "positions",
        build_time: "less than a minute",
        benefit: "exact play and analysis with up to 5 pieces",
        larger: Some(LargerBuild {
            pieces: 6,
            bytes: ENDGAME_BYTES_6,
            build_time: "a few minutes",
            benefit: "exact outcomes with 6 pieces",
        }),
        pieces: Some((endgame::MIN_PIECES..=endgame::MAX_PIECES, DEFAULT_PIECES)),
        helps_always: false,
        has_distances: true,
        builds_slices: true,
        is_for: |options| holds_for(options, EndgameTable::is_for::<EnglishRules>),
        #[cfg(feature = "fs")]
        open: |path| EndgameTable::open(path).map(Table::from),
        #[cfg(feature = "fs")]
        build: |folder, options, progress| {
            let BuildOptions { threads, pieces, slice, memory, force } = *options;
            let pieces = pieces.unwrap_or(DEFAULT_PIECES);
            let distance_pieces = endgame::MAX_DISTANCE_PIECES;
            let build = endgame::Build { folder, pieces, distance_pieces, threads, memory, force };
            let table = match slice {
                Some(slice) => build.run_slice(slice, progress),
                None => build.run(progress),
            };
            table.map(Table::from)
        },
    },
    TableInfo {
        game: Contest::ID,
        name: "endgames",
        file_name: "contest-endgames",
        is_folder: true,
        bytes: CONTEST_BYTES,
        entry_name: "positions",
        build_time: "a few minutes",
        benefit: "exact play and analysis with up to 8 men",
        larger: None,
        pieces: Some((contest::MIN_PIECES..=contest::MAX_PIECES, contest::MAX_PIECES)),
        helps_always: false,
        has_distances: false,
        builds_slices: false,
        is_for: |options| holds_for(options, ContestTable::is_for),
        #[cfg(feature = "fs")]
        open: |path| ContestTable::open(path).map(Table::from),
        #[cfg(feature = "fs")]
        build: |folder, options, progress| {
            let BuildOptions { threads, pieces, memory, force, .. } = *options;
            let pieces = pieces.unwrap_or(contest::MAX_PIECES);
            let build = contest::Build { folder, pieces, threads, memory, force };
            build.run(progress).map(Table::from)
        },
    },
];

/// Whether a fact about positions holds in a game with these options.
fn holds_for<P: Notation>(options: &str, holds: impl Fn(&P) -> bool) -> bool {
    P::parse_options(options).is_ok_and(|options| holds(&P::start(&options)))
}

/// Size of the endgame table of contest checkers.
const CONTEST_BYTES: u64 = 91_869_616;
/// Maximum number of pieces of an endgame table that is built without `--pieces`.
const DEFAULT_PIECES: u8 = 5;
/// Size of that table.
const ENDGAME_BYTES: u64 = 55_763_758;
/// Size of the table with six pieces.
const ENDGAME_BYTES_6: u64 = 106_465_498;

/// An open table.
#[derive(Clone, Debug)]
pub enum Table {
    /// The solo table of Chinese checkers.
    Solo(Arc<SoloTable>),
    /// The endgame table of English checkers.
    Endgame(Arc<EndgameTable>),
    /// The endgame table of contest checkers.
    Contest(Arc<ContestTable>),
}

impl From<SoloTable> for Table {
    fn from(table: SoloTable) -> Table {
        Table::Solo(Arc::new(table))
    }
}

impl From<EndgameTable> for Table {
    fn from(table: EndgameTable) -> Table {
        Table::Endgame(Arc::new(table))
    }
}

impl From<ContestTable> for Table {
    fn from(table: ContestTable) -> Table {
        Table::Contest(Arc::new(table))
    }
}

impl Table {
    /// Maximum number of pieces of a position in the table, if there is one.
    pub fn pieces(&self) -> Option<u8> {
        match self {
            Table::Solo(_) => None,
            Table::Endgame(table) => Some(table.pieces()),
            Table::Contest(table) => Some(table.pieces()),
        }
    }

    /// Checks every byte, and derives values again from those of the moves.
    ///
    /// # Errors
    /// See [`EndgameTable::verify`].
    #[cfg(feature = "fs")]
    pub fn verify(
        &self,
        verification: &Verification,
        progress: &Progress<'_>,
    ) -> Result<Verified, TableError> {
        match self {
            // Opening it checked every byte.
            Table::Solo(table) => {
                Ok(Verified { slices: 1, positions: table.histogram().iter().sum() })
            }
            Table::Endgame(table) => table.verify(verification, progress),
            Table::Contest(table) => table.verify(verification, progress),
        }
    }

    /// Size of the files.
    pub fn bytes(&self) -> u64 {
        match self {
            Table::Solo(_) => SoloTable::FILE_BYTES,
            Table::Endgame(table) => table.bytes(),
            Table::Contest(table) => table.bytes(),
        }
    }
}

/// State of a table's file.
#[cfg(feature = "fs")]
#[derive(Debug)]
pub enum TableState {
    /// The table can be used.
    Ok(Table),
    /// The file does not exist.
    Absent,
    /// There is a file, but it cannot be used.
    Broken(TableError),
    /// The user has no cache folder.
    NoFolder,
}

#[cfg(feature = "fs")]
impl TableState {
    /// Stable name for scripts: `ok`, `absent` or `broken`.
    pub fn code(&self) -> &'static str {
        match self {
            TableState::Ok(_) => "ok",
            TableState::Absent | TableState::NoFolder => "absent",
            TableState::Broken(_) => "broken",
        }
    }

    /// Why the table is broken or has no folder; `None` if it is usable or merely absent.
    pub fn reason(&self) -> Option<String> {
        match self {
            TableState::Ok(_) | TableState::Absent => None,
            TableState::NoFolder => Some(NO_FOLDER.into()),
            TableState::Broken(error) => Some(error.without_advice()),
        }
    }
}

/// Message for users without a cache folder.
#[cfg(feature = "fs")]
pub const NO_FOLDER: &str = "no cache folder: set CROWNHEAD_CACHE";

impl TableInfo {
    /// Arguments of `crownhead tables build` for a table that contains positions with this many
    /// pieces, and the time it takes; `None` if no build is worth it.
    pub fn build_for(&self, pieces: u8) -> Option<(String, &'static str)> {
        let (_, default) = self.pieces.as_ref()?;
        if pieces <= *default {
            return Some((self.game.into(), self.build_time));
        }
        let LargerBuild { pieces: most, build_time, .. } = self.larger.as_ref()?;
        (pieces <= *most).then(|| (format!("{} --pieces {most}", self.game), *build_time))
    }

    /// Whether the table is one of this game, and holds for its options.
    pub fn is_for(&self, game: &Game) -> bool {
        self.game == game.info().id && (self.is_for)(&game.options_text())
    }

    /// Path of the file, which may not exist; `None` if the user has no cache folder.
    #[cfg(feature = "fs")]
    pub fn path(&self) -> Option<PathBuf> {
        cache_dir().map(|folder| folder.join(self.file_name))
    }

    /// Opens the table at its path. Checks every byte of the solo table, but only headers and lists
    /// of blocks of endgame tables; see [`EndgameTable::check`].
    #[cfg(feature = "fs")]
    pub fn open(&self) -> TableState {
        match self.path() {
            None => TableState::NoFolder,
            Some(path) => match (self.open)(&path) {
                Ok(table) => TableState::Ok(table),
                Err(TableError::Io { error, .. })
                    if error.kind() == std::io::ErrorKind::NotFound =>
                {
                    TableState::Absent
                }
                Err(error) => TableState::Broken(error),
            },
        }
    }

    /// Opens the table and checks every byte.
    #[cfg(feature = "fs")]
    pub fn open_checked(&self) -> TableState {
        let state = self.open();
        let checked = match &state {
            TableState::Ok(Table::Endgame(table)) => table.check(),
            TableState::Ok(Table::Contest(table)) => table.check(),
            _ => Ok(()),
        };
        checked.map_or_else(TableState::Broken, |()| state)
    }

    /// Builds the table and saves it at `path`. All threads call `progress` repeatedly.
    ///
    /// # Errors
    /// If files cannot be read or written, memory is short, or `progress` cancelled the build.
    #[cfg(feature = "fs")]
    pub fn build(
        &self,
        path: &Path,
        options: &BuildOptions,
        progress: &Progress<'_>,
    ) -> Result<Table, TableError> {
        (self.build)(path, options, progress)
    }
}

/// Returns the tables of a game.
pub fn of_game(id: &str) -> impl Iterator<Item = &'static TableInfo> {
    TABLES.iter().filter(move |info| info.game == id)
}

/// Opens the tables of a game. The second part is a warning for the user if one is missing: the
/// program works without it.
#[cfg(feature = "fs")]
pub fn load(id: &str) -> (Vec<Table>, Option<String>) {
    let mut tables = Vec::new();
    let mut warning = None;
    for info in of_game(id) {
        match info.open() {
            TableState::Ok(table) => tables.push(table),
            TableState::Broken(error) => {
                warning = Some(format!("play and analysis are weaker without a table: {error}"));
            }
            TableState::Absent | TableState::NoFolder if !info.helps_always => {}
            TableState::Absent | TableState::NoFolder => {
                warning = Some(format!(
                    "play and analysis are weaker without the {} table; \
                     build it with `crownhead tables build {}`",
                    info.name, info.game
                ));
            }
        }
    }
    (tables, warning)
}
