//! Where the program keeps what cannot be made again: games.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder for what the program keeps; it need not exist. `CROWNHEAD_DATA` names it; otherwise it
/// is `crownhead` in `XDG_DATA_HOME`, or else in the user's `.local/share` (`Library/Application
/// Support` on macOS, the application data on Windows). `None` if there is none of these.
pub fn data_dir() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    if let Some(folder) = named("CROWNHEAD_DATA") {
        return Some(folder.into());
    }
    let absolute = |folder: Option<PathBuf>| folder.filter(|folder| folder.is_absolute());
    let system = absolute(named("XDG_DATA_HOME").map(PathBuf::from)).or_else(|| {
        if cfg!(windows) {
            return absolute(named("APPDATA").map(PathBuf::from));
        }
        let inside =
            if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
        absolute(std::env::home_dir()).map(|home| home.join(inside))
    });
    system.map(|folder| folder.join("crownhead"))
}
