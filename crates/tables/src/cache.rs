//! Where tables are stored.

use std::path::PathBuf;

pub use crownhead_files::cache_dir;

/// Path of the Chinese checkers solo table; it need not exist.
pub fn solo_path() -> Option<PathBuf> {
    cache_dir().map(|dir| dir.join("chinese-checkers-solo.table"))
}
