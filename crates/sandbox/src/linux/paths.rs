//! Which files a program may read: its own, and the language runtimes. And what it finds in its
//! environment.
//!
//! Runtimes of the system are where every system has them. Those that a user has installed elsewhere
//! (pyenv, nvm, rustup, a virtual environment) are found through `PATH`, and only their own folder
//! is opened, never the home directory around it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Programs and libraries: read and run.
pub(super) const RUN: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
];

/// What they look at: read.
pub(super) const READ: &[&str] = &[
    "/etc/alternatives",
    "/etc/crypto-policies",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/pki",
    "/etc/ssl",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

/// What is needed to know that `localhost` is this machine: read, by whoever may connect to it.
pub(super) const NAMES: &[&str] =
    &["/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/protocols"];

/// Devices: read and write.
pub(super) const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What is true for all processes, where there is no `/proc` of the program's own.
pub(super) const FACTS: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
];

/// The runtimes and compilers that are looked for in `PATH`, for those that are not where the
/// system has its own.
const RUNTIMES: &[&str] = &[
    "python3", "python", "pypy3", "node", "java", "javac", "cc", "gcc", "c++", "g++", "clang",
    "clang++", "rustc", "cargo", "go", "ruby", "perl", "lua", "ghc", "dotnet", "deno", "bun",
];

/// Where `PATH` has a program.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from(DEFAULT_PATH));
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| {
        let is_file = file.metadata().is_ok_and(|known| known.is_file());
        is_file && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
    })?;
    std::path::absolute(found).ok()
}

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Folders outside the system's that runtimes live in.
pub(super) fn runtimes() -> &'static BTreeSet<PathBuf> {
    static FOUND: OnceLock<BTreeSet<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut folders = BTreeSet::new();
        for file in RUNTIMES.iter().filter_map(|name| find(name)) {
            add_homes(&file, &mut folders);
        }
        // Debian has the settings of each Java in a folder of its own.
        let entries = std::fs::read_dir("/etc").into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        folders.extend(paths.filter(|path| path.to_string_lossy().starts_with("/etc/java-")));
        folders
    })
}

/// Adds the folders that a runtime's file needs: where it is named, and where it is.
fn add_homes(file: &Path, folders: &mut BTreeSet<PathBuf>) {
    for file in [Some(file.to_path_buf()), file.canonicalize().ok()].into_iter().flatten() {
        if RUN.iter().any(|root| file.starts_with(root)) {
            continue;
        }
        if file.file_name().is_some_and(|name| name == "rustup") {
            folders.extend(rust_home("RUSTUP_HOME", ".rustup"));
        }
        let Some(folder) = file.parent() else { continue };
        let is_bin = folder.file_name().is_some_and(|name| name == "bin" || name == "shims");
        match folder.parent().filter(|_| is_bin) {
            Some(prefix) if is_private(prefix) => {
                // What else is there may be anything: keys, letters, the contest's journal.
                folders.extend(["bin", "lib", "registry"].map(|part| prefix.join(part)));
            }
            Some(prefix) => _ = folders.insert(prefix.to_path_buf()),
            None if !is_private(folder) => _ = folders.insert(folder.to_path_buf()),
            None => _ = folders.insert(file),
        }
    }
}

/// Whether a folder holds what is nobody's business: a home directory or what is around it, and the
/// folders of programs within it that keep more than programs.
fn is_private(folder: &Path) -> bool {
    let home = std::env::home_dir().filter(|home| home.parent().is_some());
    let within = |name: &str| home.as_ref().is_some_and(|home| folder == home.join(name));
    is_wide(folder) || within(".local") || within(".cargo")
}

/// Whether a folder is too wide to be one bot's own.
fn is_wide(folder: &Path) -> bool {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let is_around = |other: &Path| other.starts_with(folder);
    home.is_some_and(|home| is_around(&home)) || is_around(Path::new(SCRATCH))
}

/// The scratch folder of a program with a mount namespace of its own: what C, Java and most others
/// take for temporary files without being told.
pub(super) const SCRATCH: &str = "/tmp";

/// The home of a tool of Rust.
fn rust_home(variable: &str, usual: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = named.or_else(|| std::env::home_dir().map(|home| home.join(usual)))?;
    home.is_dir().then_some(home)
}

/// What is a program's own. For a bot that is its folder, whatever its file says: that was written by a
/// stranger. For a command that the user typed it is the folders of the files that it names. A
/// home directory is nobody's own: there it is the files alone.
pub(super) fn own(folder: &Path, is_whole: bool, file: &Path, words: &[String]) -> Vec<PathBuf> {
    let mut own = BTreeSet::new();
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    if is_whole && !is_wide(&folder) {
        return vec![folder];
    }
    let named = words.iter().skip(1).map(|word| folder.join(word));
    for path in [file.to_path_buf()].into_iter().chain(named) {
        let Ok(path) = path.canonicalize() else { continue };
        let is_runtime = RUN.iter().any(|root| path.starts_with(root))
            || runtimes().iter().any(|root| path.starts_with(root));
        // A folder that is named is no reason to open it: any word may be the name of one.
        if is_runtime || !path.is_file() || (is_whole && !path.starts_with(&folder)) {
            continue;
        }
        match path.parent() {
            Some(parent) if !is_wide(parent) && !is_whole => own.insert(parent.to_path_buf()),
            _ => own.insert(path),
        };
    }
    // A folder covers what is in it.
    let covered = |path: &PathBuf| own.iter().any(|other| path != other && path.starts_with(other));
    own.iter().filter(|path| !covered(path)).cloned().collect()
}

/// The folders of a runtime that the user named, wherever `PATH` has it.
pub(super) fn homes(file: &Path) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    add_homes(file, &mut folders);
    folders
}

/// The environment of a program: where programs are, the language, and its scratch folder.
pub(super) fn environment(scratch: &Path) -> Vec<(OsString, OsString)> {
    let kept = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME", "PYENV_VERSION"];
    let kept = kept.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let mut environment: Vec<(OsString, OsString)> = kept.collect();
    if !environment.iter().any(|(name, _)| name == "PATH") {
        environment.push(("PATH".into(), DEFAULT_PATH.into()));
    }
    for name in ["HOME", "TMPDIR"] {
        environment.push((name.into(), scratch.into()));
    }
    for (name, usual) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        environment.extend(rust_home(name, usual).map(|home| (name.into(), home.into())));
    }
    // It would be written beside the sources, which it cannot.
    environment.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
    environment
}
