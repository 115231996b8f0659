//! Files that a program may read, and its environment.
//!
//! A program may read its own files and the language runtimes. The system's runtimes are in the
//! same places everywhere. Those that a user installed elsewhere (pyenv, nvm, rustup, a virtual
//! environment) are found through `PATH`; only their own directory becomes readable, never the home
//! directory around it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Programs and libraries, readable and executable.
pub(super) const EXECUTABLE: &[&str] = &[
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

/// Settings that programs and libraries read.
pub(super) const READABLE: &[&str] = &[
    "/etc/alternatives",
    "/etc/crypto-policies",
    "/etc/dotnet",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/mono",
    "/etc/pki",
    "/etc/ssl",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

/// Settings for resolving `localhost`, readable for programs that may connect.
pub(super) const RESOLVER: &[&str] =
    &["/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/protocols"];

/// Devices, readable and writable. Not `/dev/zero`: mapped, it is shared memory that cannot be
/// counted.
pub(super) const DEVICES: &[&str] = &["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

/// Facts about the machine, readable where a program has no `/proc` of its own.
pub(super) const PROC_FACTS: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
];

/// Runtimes and compilers to look for in `PATH`.
const RUNTIMES: &[&str] = &[
    "python3", "python", "pypy3", "node", "java", "javac", "cc", "gcc", "c++", "g++", "clang",
    "clang++", "rustc", "cargo", "go", "ruby", "perl", "lua", "ghc", "dotnet", "deno", "bun",
];

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Scratch directory in a mount namespace: where C, Java and most other languages put temporary
/// files by default.
pub(super) const SCRATCH_DIR: &str = "/tmp";

/// Looks up a program in `PATH`.
pub(super) fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from(DEFAULT_PATH));
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| {
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        is_file && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
    })?;
    std::path::absolute(found).ok()
}

/// Files of this program: the one that runs, and the one in `PATH` with the same name.
pub(super) fn own_programs() -> &'static BTreeSet<PathBuf> {
    static FILES: OnceLock<BTreeSet<PathBuf>> = OnceLock::new();
    FILES.get_or_init(|| {
        let running = std::env::current_exe().and_then(|file| file.canonicalize()).ok();
        let name = running.as_ref().and_then(|file| Some(file.file_name()?.to_str()?.to_string()));
        let installed = name.and_then(|name| find_in_path(&name)?.canonicalize().ok());
        running.into_iter().chain(installed).collect()
    })
}

/// Directories of runtimes that are not installed system-wide.
pub(super) fn runtimes() -> &'static BTreeSet<PathBuf> {
    static DIRS: OnceLock<BTreeSet<PathBuf>> = OnceLock::new();
    DIRS.get_or_init(|| {
        let programs = RUNTIMES.iter().filter_map(|name| find_in_path(name));
        let mut dirs: BTreeSet<PathBuf> =
            programs.flat_map(|program| runtime_dirs(&program)).collect();
        // On Debian, each version of Java has its settings in a directory of its own.
        let entries = std::fs::read_dir("/etc").into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        dirs.extend(paths.filter(|path| path.to_string_lossy().starts_with("/etc/java-")));
        dirs
    })
}

/// Paths that a runtime needs: those around its entry in `PATH`, and around the file to which it
/// links.
pub(super) fn runtime_dirs(program: &Path) -> BTreeSet<PathBuf> {
    let mut dirs = BTreeSet::new();
    for file in [Some(program.to_path_buf()), program.canonicalize().ok()].into_iter().flatten() {
        if EXECUTABLE.iter().any(|root| file.starts_with(root)) {
            continue;
        }
        if file.file_name().is_some_and(|name| name == "rustup") {
            dirs.extend(rust_home("RUSTUP_HOME", ".rustup"));
        }
        let Some(dir) = file.parent() else { continue };
        let is_bin = dir.file_name().is_some_and(|name| name == "bin" || name == "shims");
        match dir.parent().filter(|_| is_bin) {
            Some(prefix) if is_private(prefix) => {
                // The rest may be anything: keys, mail, the journal of the tournament.
                dirs.extend(["bin", "lib", "registry"].map(|part| prefix.join(part)));
            }
            Some(prefix) => _ = dirs.insert(prefix.to_path_buf()),
            None if !is_private(dir) => _ = dirs.insert(dir.to_path_buf()),
            None => _ = dirs.insert(file),
        }
    }
    dirs
}

/// Whether a directory may hold private data: a home directory, a directory around it, or one in it
/// where tools also store data.
fn is_private(dir: &Path) -> bool {
    let home = std::env::home_dir().filter(|home| home.parent().is_some());
    let is_in_home = |name: &str| home.as_ref().is_some_and(|home| dir == home.join(name));
    is_too_broad(dir) || is_in_home(".local") || is_in_home(".cargo")
}

/// Whether a directory cannot belong to one program: it contains the home directory or `/tmp`.
fn is_too_broad(dir: &Path) -> bool {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    home.is_some_and(|home| home.starts_with(dir)) || Path::new(SCRATCH_DIR).starts_with(dir)
}

/// Data directory of a Rust tool: the value of `variable`, or `default` in the home directory.
fn rust_home(variable: &str, default: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = named.or_else(|| std::env::home_dir().map(|home| home.join(default)))?;
    home.is_dir().then_some(home)
}

/// Paths that belong to a program.
///
/// If the program owns its folder, that is the folder, whatever its command names: the author of
/// the program wrote the command. Otherwise the user typed the command, and the folders of the
/// files that it names belong to the program. A folder that is too broad never belongs to a
/// program, only the files in it do.
pub(super) fn program_paths(
    folder: &Path,
    owns_folder: bool,
    program: &Path,
    argv: &[String],
) -> Vec<PathBuf> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    if owns_folder && !is_too_broad(&folder) {
        return vec![folder];
    }
    let mut paths = BTreeSet::new();
    let named = argv.iter().skip(1).map(|argument| folder.join(argument));
    for path in [program.to_path_buf()].into_iter().chain(named) {
        let Ok(path) = path.canonicalize() else { continue };
        let is_runtime = EXECUTABLE.iter().any(|root| path.starts_with(root))
            || runtimes().iter().any(|root| path.starts_with(root));
        // Any argument may happen to be the name of a directory, so directories do not count.
        if is_runtime || !path.is_file() || (owns_folder && !path.starts_with(&folder)) {
            continue;
        }
        match path.parent() {
            Some(parent) if !is_too_broad(parent) && !owns_folder => {
                paths.insert(parent.to_path_buf())
            }
            _ => paths.insert(path),
        };
    }
    let is_covered =
        |path: &PathBuf| paths.iter().any(|outer| path != outer && path.starts_with(outer));
    paths.iter().filter(|path| !is_covered(path)).cloned().collect()
}

/// Environment of a program: where to find programs, the language, and the scratch directory.
pub(super) fn environment(scratch_dir: &Path) -> Vec<(OsString, OsString)> {
    let inherited = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME", "PYENV_VERSION"];
    let inherited =
        inherited.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let mut environment: Vec<(OsString, OsString)> = inherited.collect();
    if !environment.iter().any(|(name, _)| name == "PATH") {
        environment.push(("PATH".into(), DEFAULT_PATH.into()));
    }
    for name in ["HOME", "TMPDIR"] {
        environment.push((name.into(), scratch_dir.into()));
    }
    for (name, default) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        environment.extend(rust_home(name, default).map(|home| (name.into(), home.into())));
    }
    // Python would write bytecode beside the sources, which are read-only.
    environment.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
    environment
}
