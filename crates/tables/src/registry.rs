//! The list of tables: game, name, file, state, and how to generate each.

#[cfg(feature = "fs")]
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crownhead_rules::{ChineseCheckers, Notation};

use crate::{Progress, SoloTable, TableError};
#[cfg(feature = "fs")]
use crownhead_files::cache_dir;

/// A table that can be generated.
#[derive(Debug)]
pub struct TableInfo {
    /// Id of the game.
    pub game: &'static str,
    /// Name of the table.
    pub name: &'static str,
    /// Name of the file in the cache folder.
    pub file_name: &'static str,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of entries.
    pub entries: u64,
    /// Plural noun for the entries.
    pub entry_name: &'static str,
    /// Rough time to generate the table.
    pub build_time: &'static str,
    #[cfg(feature = "fs")]
    open: fn(&Path) -> Result<Table, TableError>,
    generate: fn(usize, &Progress<'_>) -> Result<Table, TableError>,
}

/// Every table.
pub static TABLES: &[TableInfo] = &[TableInfo {
    game: ChineseCheckers::ID,
    name: "solo",
    file_name: "chinese-checkers-solo.table",
    bytes: SoloTable::FILE_BYTES,
    entries: SoloTable::PLACEMENTS,
    entry_name: "placements",
    build_time: "less than a minute",
    #[cfg(feature = "fs")]
    open: |path| SoloTable::open(path).map(Table::from),
    generate: |threads, progress| SoloTable::generate(threads, progress).map(Table::from),
}];

/// A table in memory.
#[derive(Clone, Debug)]
pub enum Table {
    /// The solo table of Chinese checkers.
    Solo(Arc<SoloTable>),
}

impl From<SoloTable> for Table {
    fn from(table: SoloTable) -> Table {
        Table::Solo(Arc::new(table))
    }
}

impl Table {
    /// Saves the table; see [`SoloTable::save`].
    #[cfg(feature = "fs")]
    pub fn save(&self, path: &Path) -> Result<(), TableError> {
        match self {
            Table::Solo(table) => table.save(path),
        }
    }

    /// Number of entries by distance.
    pub fn histogram(&self) -> Vec<u64> {
        match self {
            Table::Solo(table) => table.histogram().to_vec(),
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
            TableState::Broken(TableError::Corrupt { error, .. }) => Some(error.to_string()),
            TableState::Broken(error) => Some(error.to_string()),
        }
    }
}

/// Message for users without a cache folder.
#[cfg(feature = "fs")]
pub const NO_FOLDER: &str = "no cache folder: set CROWNHEAD_CACHE";

impl TableInfo {
    /// Path of the file, which may not exist; `None` if the user has no cache folder.
    #[cfg(feature = "fs")]
    pub fn path(&self) -> Option<PathBuf> {
        cache_dir().map(|folder| folder.join(self.file_name))
    }

    /// Opens the table at its path and checks every byte.
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

    /// Generates the table; see [`SoloTable::generate`].
    pub fn generate(&self, threads: usize, progress: &Progress<'_>) -> Result<Table, TableError> {
        (self.generate)(threads, progress)
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
