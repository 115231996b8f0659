//! The cache folder.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the folder for tables, which may not exist: `CROWNHEAD_CACHE`, else `crownhead` in
/// `XDG_CACHE_HOME`, else in the user's cache folder (`.cache`, `Library/Caches` on macOS,
/// `%LOCALAPPDATA%` on Windows). `None` if the user has none of these.
pub fn cache_dir() -> Option<PathBuf> {
    choose(|name| std::env::var_os(name), std::env::home_dir())
}

fn choose(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    // Empty variables count as unset.
    let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = path("CROWNHEAD_CACHE") {
        return Some(folder);
    }
    // The XDG specification says to ignore relative paths.
    let absolute = |folder: Option<PathBuf>| folder.filter(|folder| folder.is_absolute());
    let user_cache = absolute(path("XDG_CACHE_HOME")).or_else(|| {
        if cfg!(windows) {
            return absolute(path("LOCALAPPDATA"));
        }
        let subfolder = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        absolute(home).map(|home| home.join(subfolder))
    });
    user_cache.map(|folder| folder.join("crownhead"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn chosen(variables: &[(&str, &str)], home: Option<&str>) -> Option<PathBuf> {
        let variable = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        choose(variable, home.map(PathBuf::from))
    }

    #[test]
    fn crownhead_cache_precedes_xdg_cache_home_and_home() {
        let crownhead = ("CROWNHEAD_CACHE", "tables");
        let xdg = ("XDG_CACHE_HOME", "/cache");
        assert_eq!(chosen(&[crownhead, xdg], Some("/home/me")), Some("tables".into()));
        assert_eq!(chosen(&[xdg], Some("/home/me")), Some("/cache/crownhead".into()));
        let in_home = chosen(&[], Some("/home/me")).unwrap();
        assert!(in_home.starts_with("/home/me") && in_home.ends_with("crownhead"), "{in_home:?}");
    }

    #[test]
    fn empty_and_relative_variables_are_ignored() {
        let in_home = chosen(&[], Some("/home/me"));
        assert_eq!(chosen(&[("CROWNHEAD_CACHE", "")], Some("/home/me")), in_home);
        assert_eq!(chosen(&[("XDG_CACHE_HOME", "cache")], Some("/home/me")), in_home);
        assert_eq!(chosen(&[], Some("")), None);
        assert_eq!(chosen(&[], None), None);
    }
}
