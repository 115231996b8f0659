//! Files on disk: atomic writes, and the directories for cached and saved data.

mod atomic_file;
mod dirs;
mod read;

pub use atomic_file::{AtomicFile, write_atomic};
pub use dirs::{cache_dir, data_dir};
pub use read::read_text;
