//! Everything that a new process needs, prepared before it is created: afterwards nothing may be
//! allocated.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::process::Resource;
use seccompiler::BpfProgram;

use super::cgroup::Cgroup;
use super::mounts::{BindMount, MAX_BIND_MOUNTS, MountKind};
use super::paths::SCRATCH_DIR;
use super::{detect, landlock, paths, seccomp};
use crate::{Limits, SpawnRequest};

/// User and group id that the user has in a namespace. Not 0, so that a program gains no rights in
/// the namespace.
const SANDBOX_UID: u32 = 1000;
/// Maximum number of files in a scratch directory.
const MAX_SCRATCH_FILES: u32 = 20_000;
/// Processes that the kernel allows beyond the limit, so that the monitor sees the violation and
/// can report it.
pub(super) const PROCESS_HEADROOM: u64 = 64;
/// Ids that the kernel does not reuse: when they wrap around, it continues from here.
const RESERVED_PIDS: u64 = 300;

/// Facts that determine the rules for a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Confinement {
    pub(super) has_namespaces: bool,
    pub(super) is_build: bool,
    /// TCP port that the program may connect to.
    pub(super) port: Option<u16>,
}

/// Files and directories that belong to a program.
#[derive(Default)]
pub(super) struct OwnPaths {
    /// May be read and executed.
    pub(super) readable: Vec<PathBuf>,
    /// May also be written.
    pub(super) writable: Vec<PathBuf>,
}

impl OwnPaths {
    pub(super) fn new(request: &SpawnRequest<'_>, program: &Path) -> OwnPaths {
        let SpawnRequest { folder, owns_folder, argv, .. } = *request;
        let mut paths = paths::program_paths(folder, owns_folder, program, argv);
        paths.extend(request.extra_paths.iter().filter_map(|path| path.canonicalize().ok()));
        match (request.is_build, request.build_output) {
            (false, _) => OwnPaths { readable: paths, writable: Vec::new() },
            (true, None) => OwnPaths { readable: Vec::new(), writable: paths },
            (true, Some(output)) => {
                let output = output.canonicalize().unwrap_or_else(|_| output.to_path_buf());
                paths.retain(|path| !path.starts_with(&output));
                OwnPaths { readable: paths, writable: vec![output] }
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.readable.iter().chain(&self.writable)
    }
}

/// Everything that a new process needs.
pub(super) struct LaunchPlan {
    /// File to execute; `None` for a probe, which exits instead.
    pub(super) program: Option<CString>,
    pub(super) argv: Vec<CString>,
    pub(super) environment: Vec<CString>,
    /// Working directory.
    pub(super) folder: CString,
    pub(super) bind_mounts: Vec<BindMount>,
    pub(super) scratch_dir: CString,
    /// Mount options of the scratch directory.
    pub(super) scratch_options: CString,
    /// Readable part of `/proc`.
    pub(super) proc: CString,
    pub(super) uid_map: CString,
    pub(super) gid_map: CString,
    /// Highest process id in the namespace, where each namespace has its own.
    pub(super) pid_max: Option<CString>,
    /// Landlock ruleset, and the rights to the two paths that the new process adds to it.
    pub(super) ruleset: Option<OwnedFd>,
    pub(super) scratch_access: u64,
    pub(super) proc_access: u64,
    /// Seccomp filters.
    pub(super) filters: Vec<BpfProgram>,
    pub(super) rlimits: Vec<(Resource, u64)>,
    pub(super) cgroup: Option<Arc<Cgroup>>,
    /// Port to listen on in a network of the program's own.
    pub(super) port: Option<u16>,
    /// Whether the user is root. In namespaces its capabilities are lost anyway.
    pub(super) is_root: bool,
}

impl LaunchPlan {
    /// Prepares the launch of `program`, or of a probe if there is none.
    pub(super) fn new(
        request: &SpawnRequest<'_>,
        confinement: Confinement,
        program: Option<&Path>,
        own_paths: &OwnPaths,
    ) -> io::Result<LaunchPlan> {
        let folder = request.folder.canonicalize()?;
        // The runtime of a command is trusted if the user typed its name, to be found in `PATH`.
        let is_name = !request.owns_folder && request.program.components().count() == 1;
        let runtime_dirs = program.filter(|_| is_name).map(paths::runtime_dirs).unwrap_or_default();
        let ruleset = match landlock::abi() {
            0 => None,
            _ => landlock::ruleset(&confinement, own_paths, runtime_dirs.clone())
                .map_err(io::Error::other)?,
        };
        let bind_mounts = match confinement.has_namespaces {
            true => bind_mounts(&folder, own_paths, &runtime_dirs)?,
            false => Vec::new(),
        };
        let environment = paths::environment(Path::new(SCRATCH_DIR)).into_iter();
        let environment = environment.map(|(mut pair, value)| {
            pair.push("=");
            pair.push(value);
            c_string(&pair)
        });
        let argv = request.argv.iter().map(|argument| c_string(argument.as_ref()));
        let limits = &request.limits;
        let format = |text: String| c_string(text.as_ref());
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let (disk, files) = (limits.disk, MAX_SCRATCH_FILES);
        Ok(LaunchPlan {
            program: program.map(|program| c_string(program.as_ref())).transpose()?,
            argv: argv.collect::<io::Result<_>>()?,
            environment: environment.collect::<io::Result<_>>()?,
            folder: c_string(folder.as_ref())?,
            bind_mounts,
            scratch_dir: c_string(SCRATCH_DIR.as_ref())?,
            scratch_options: format(format!("size={disk},nr_inodes={files},mode=700"))?,
            proc: c"/proc".into(),
            uid_map: format(format!("{SANDBOX_UID} {uid} 1"))?,
            gid_map: format(format!("{SANDBOX_UID} {gid} 1"))?,
            pid_max: match has_pid_max_per_namespace() {
                true => Some(format(pid_max(limits).to_string())?),
                false => None,
            },
            ruleset,
            scratch_access: landlock::all_access(),
            proc_access: landlock::read_access(),
            filters: filters(confinement)?,
            rlimits: rlimits(limits, confinement),
            cgroup: None,
            port: request.port.filter(|_| detect::has_network()),
            is_root: uid == 0,
        })
    }
}

/// Converts text for the kernel.
pub(super) fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

/// Returns the seccomp filters, compiled once per kind of confinement.
fn filters(confinement: Confinement) -> io::Result<Vec<BpfProgram>> {
    static COMPILED: Mutex<Vec<(Confinement, Vec<BpfProgram>)>> = Mutex::new(Vec::new());
    if !detect::has_seccomp() {
        return Ok(Vec::new());
    }
    // The filters do not depend on the number of the port.
    let confinement = Confinement { port: confinement.port.map(|_| 0), ..confinement };
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, filters)) = compiled.iter().find(|(kind, _)| *kind == confinement) {
        return Ok(filters.clone());
    }
    let filters = seccomp::filters(&confinement).map_err(io::Error::other)?;
    compiled.push((confinement, filters.clone()));
    Ok(filters)
}

/// Limits that the kernel enforces per process, lowered to what the user may set. The monitor
/// counts memory, CPU time and processes of the whole program; these bound what happens between two
/// samples.
fn rlimits(limits: &Limits, confinement: Confinement) -> Vec<(Resource, u64)> {
    let mut rlimits = vec![
        (Resource::Core, 0),
        (Resource::Fsize, limits.disk),
        (Resource::Nofile, limits.files.into()),
        (Resource::Data, limits.memory.saturating_mul(2)),
        (Resource::Memlock, 64 << 10),
    ];
    if confinement.has_namespaces {
        // Without a user namespace, all processes of the user would count.
        rlimits.push((Resource::Nproc, u64::from(limits.processes) + PROCESS_HEADROOM));
    }
    for (resource, limit) in &mut rlimits {
        let max = rustix::process::getrlimit(*resource).maximum;
        *limit = max.map_or(*limit, |max| max.min(*limit));
    }
    rlimits
}

/// Highest process id in the namespace. It stops a fork bomb however busy the machine is, and also
/// if the user is root, to whom the limit on processes does not apply.
fn pid_max(limits: &Limits) -> u64 {
    // A program that starts many short-lived processes must not run out of ids.
    RESERVED_PIDS + u64::from(limits.processes) + PROCESS_HEADROOM
}

/// Whether each PID namespace has its own `pid_max`: since Linux 6.14. Before, it was the
/// machine's, and root could change it even from within a namespace.
fn has_pid_max_per_namespace() -> bool {
    static IS_SUPPORTED: OnceLock<bool> = OnceLock::new();
    *IS_SUPPORTED.get_or_init(|| {
        let name = rustix::system::uname();
        let mut parts = name.release().to_str().unwrap_or_default().split(['.', '-']);
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
        (number(), number()) >= (6, 14)
    })
}

/// Bind mounts of a program: paths that the scratch directory would hide, and writable paths.
fn bind_mounts(
    folder: &Path,
    own_paths: &OwnPaths,
    runtime_dirs: &BTreeSet<PathBuf>,
) -> io::Result<Vec<BindMount>> {
    let is_hidden = |path: &Path| path.starts_with(SCRATCH_DIR) && path != Path::new(SCRATCH_DIR);
    let runtimes = paths::runtimes().iter().chain(runtime_dirs);
    let writable = own_paths.writable.iter().map(|path| (path, true));
    let readable = own_paths.readable.iter().chain(runtimes).map(|path| (path, false));
    let mut mounts = Vec::new();
    for (path, is_writable) in writable.chain(readable) {
        if !is_writable && !is_hidden(path) {
            continue;
        }
        let kind = match path.metadata() {
            Ok(metadata) if metadata.is_dir() => MountKind::Directory,
            Ok(_) => MountKind::File,
            Err(_) => continue,
        };
        mounts.push(bind_mount(path, kind, is_writable)?);
    }
    // The working directory must exist even if nothing in it belongs to the program.
    if is_hidden(folder) && !own_paths.all().any(|path| folder.starts_with(path)) {
        mounts.push(bind_mount(folder, MountKind::Empty, false)?);
    }
    mounts.truncate(MAX_BIND_MOUNTS);
    Ok(mounts)
}

fn bind_mount(path: &Path, kind: MountKind, is_writable: bool) -> io::Result<BindMount> {
    let parents = path
        .ancestors()
        .skip(1)
        .take_while(|parent| parent.starts_with(SCRATCH_DIR) && *parent != Path::new(SCRATCH_DIR));
    let mut parents: Vec<CString> =
        parents.map(|parent| c_string(parent.as_ref())).collect::<io::Result<_>>()?;
    parents.reverse();
    Ok(BindMount { path: c_string(path.as_ref())?, parents, kind, is_writable })
}
