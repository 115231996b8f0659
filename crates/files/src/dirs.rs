//! The cache and data directories of this user.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where to look for a directory: our own variable first, then the XDG variable, then the system's
/// default.
struct StandardDir {
    /// Variable that names the directory itself.
    variable: &'static str,
    /// XDG variable that names the parent directory.
    xdg: &'static str,
    /// Variable that names the parent directory on Windows.
    windows: &'static str,
    /// Parent directory under the home directory on macOS.
    macos: &'static str,
    /// Parent directory under the home directory elsewhere.
    unix: &'static str,
}

const CACHE: StandardDir = StandardDir {
    variable: "CROWNHEAD_CACHE",
    xdg: "XDG_CACHE_HOME",
    windows: "LOCALAPPDATA",
    macos: "Library/Caches",
    unix: ".cache",
};

const DATA: StandardDir = StandardDir {
    variable: "CROWNHEAD_DATA",
    xdg: "XDG_DATA_HOME",
    windows: "APPDATA",
    macos: "Library/Application Support",
    unix: ".local/share",
};

/// Directory for files that can be rebuilt, such as endgame tables. It need not exist. `None` if
/// neither `CROWNHEAD_CACHE` nor the system names one.
pub fn cache_dir() -> Option<PathBuf> {
    CACHE.find(|name| std::env::var_os(name), std::env::home_dir())
}

/// Directory for files that cannot be rebuilt, such as saved games. It need not exist. `None` if
/// neither `CROWNHEAD_DATA` nor the system names one.
pub fn data_dir() -> Option<PathBuf> {
    DATA.find(|name| std::env::var_os(name), std::env::home_dir())
}

impl StandardDir {
    fn find(
        &self,
        variable: impl Fn(&str) -> Option<OsString>,
        home: Option<PathBuf>,
    ) -> Option<PathBuf> {
        // An empty variable counts as unset.
        let path_in = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(dir) = path_in(self.variable) {
            return Some(dir);
        }
        // The XDG specification says to ignore relative paths.
        let absolute = |dir: Option<PathBuf>| dir.filter(|dir| dir.is_absolute());
        let parent = absolute(path_in(self.xdg)).or_else(|| {
            if cfg!(windows) {
                return absolute(path_in(self.windows));
            }
            let inside = if cfg!(target_os = "macos") { self.macos } else { self.unix };
            absolute(home).map(|home| home.join(inside))
        });
        parent.map(|dir| dir.join("crownhead"))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn cache(variables: &[(&str, &str)], home: Option<&str>) -> Option<PathBuf> {
        let variable = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        CACHE.find(variable, home.map(PathBuf::from))
    }

    #[test]
    fn own_variable_precedes_xdg_variable_precedes_home() {
        let own = ("CROWNHEAD_CACHE", "tables");
        let xdg = ("XDG_CACHE_HOME", "/cache");
        assert_eq!(cache(&[own, xdg], Some("/home/me")), Some("tables".into()));
        assert_eq!(cache(&[xdg], Some("/home/me")), Some("/cache/crownhead".into()));
        let in_home = cache(&[], Some("/home/me")).unwrap();
        assert!(in_home.starts_with("/home/me") && in_home.ends_with("crownhead"), "{in_home:?}");
    }

    #[test]
    fn empty_and_relative_variables_count_as_unset() {
        let home = cache(&[], Some("/home/me"));
        assert_eq!(cache(&[("CROWNHEAD_CACHE", "")], Some("/home/me")), home);
        assert_eq!(cache(&[("XDG_CACHE_HOME", "cache")], Some("/home/me")), home);
        assert_eq!(cache(&[], Some("")), None);
        assert_eq!(cache(&[], None), None);
    }
}
