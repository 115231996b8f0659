//! Settings of the terminal that outlive the program: the theme, in the user's data directory.

use std::io;
use std::path::PathBuf;

use crownhead_files::{data_dir, write_atomic};

use crate::screen::Theme;

fn path() -> Option<PathBuf> {
    data_dir().map(|folder| folder.join("theme"))
}

/// Returns the saved theme, or the default.
pub fn load_theme() -> Theme {
    let text = path().and_then(|path| std::fs::read_to_string(path).ok());
    text.and_then(|text| Theme::from_code(text.trim())).unwrap_or_default()
}

/// Saves the theme.
pub fn save_theme(theme: Theme) -> io::Result<()> {
    let Some(path) = path() else { return Ok(()) };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    write_atomic(&path, &format!("{}\n", theme.code()))
}
