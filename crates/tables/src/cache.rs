//! Where tables are kept: the folder that the system has for things a program can make again.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder for tables; it need not exist. `CROWNHEAD_CACHE` names it; otherwise it is `crownhead`
/// in `XDG_CACHE_HOME`, or else in the user's `.cache` (`Library/Caches` on macOS, the local
/// application data on Windows). `None` if there is none of these.
pub fn cache_dir() -> Option<PathBuf> {
    choose(|name| std::env::var_os(name), std::env::home_dir())
}

/// The file of the solo table of Chinese checkers; it need not exist.
pub fn solo_path() -> Option<PathBuf> {
    cache_dir().map(|folder| folder.join("chinese-checkers-solo.table"))
}

fn choose(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    // An empty variable is as good as none.
    let named = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = named("CROWNHEAD_CACHE") {
        return Some(folder);
    }
    // A relative one would depend on where the program is started; the XDG specification says to
    // ignore it.
    let absolute = |folder: Option<PathBuf>| folder.filter(|folder| folder.is_absolute());
    let system = absolute(named("XDG_CACHE_HOME")).or_else(|| {
        if cfg!(windows) {
            return absolute(named("LOCALAPPDATA"));
        }
        let inside = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        absolute(home).map(|home| home.join(inside))
    });
    system.map(|folder| folder.join("crownhead"))
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
    fn the_variable_of_our_own_comes_first_then_the_systems_then_the_home() {
        let own = ("CROWNHEAD_CACHE", "tables");
        let system = ("XDG_CACHE_HOME", "/cache");
        assert_eq!(chosen(&[own, system], Some("/home/me")), Some("tables".into()));
        assert_eq!(chosen(&[system], Some("/home/me")), Some("/cache/crownhead".into()));
        let of_home = chosen(&[], Some("/home/me")).unwrap();
        assert!(of_home.starts_with("/home/me") && of_home.ends_with("crownhead"), "{of_home:?}");
    }

    #[test]
    fn empty_and_relative_variables_count_as_none() {
        let home = chosen(&[], Some("/home/me"));
        assert_eq!(chosen(&[("CROWNHEAD_CACHE", "")], Some("/home/me")), home);
        assert_eq!(chosen(&[("XDG_CACHE_HOME", "cache")], Some("/home/me")), home);
        assert_eq!(chosen(&[], Some("")), None);
        assert_eq!(chosen(&[], None), None);
    }
}
