//! Everything that a new process needs, prepared before it is created: afterwards nothing may be
//! allocated.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::process::Resource;
use seccompiler::BpfProgram;

use super::cgroup::Cgroup;
use super::mounts::{BindMount, MAX_BIND_MOUNTS, MountKind};
use super::paths::SCRATCH_DIR;
use super::users::{self, BotUser};
use super::{detect, landlock, paths, seccomp};
use crate::{Limits, SpawnRequest, procfs};

/// User and group id that the user has in a namespace. Not 0, so that a program gains no rights in
/// the namespace.
pub(super) const SANDBOX_UID: u32 = 1000;
/// Maximum number of files in a scratch directory.
const MAX_SCRATCH_FILES: u32 = 20_000;
/// Processes that the kernel allows beyond the limit, so that the monitor sees the violation and
/// can report it.
pub(super) const PROCESS_HEADROOM: u64 = 64;
/// Processes that the user may start meanwhile, where they count together with those of a program.
const OTHER_PROCESSES: u64 = 256;
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
        let own = paths::program_paths(folder, owns_folder, program, argv);
        let mut readable: Vec<_> =
            request.extra_paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let writable = match (request.is_build, request.build_output) {
            (true, None) => own,
            (true, Some(output)) => {
                readable.extend(own);
                vec![output.canonicalize().unwrap_or_else(|_| output.to_path_buf())]
            }
            (false, _) => {
                readable.extend(own);
                Vec::new()
            }
        };
        readable.retain(|path| !writable.iter().any(|outer| path.starts_with(outer)));
        OwnPaths { readable, writable }
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
    pub(super) has_namespaces: bool,
    pub(super) bind_mounts: Vec<BindMount>,
    /// Files that the program must not reach.
    pub(super) masked: Vec<CString>,
    /// Directories that the program's user could not enter, replaced by empty ones.
    pub(super) hidden: Vec<CString>,
    pub(super) scratch_dir: CString,
    /// Mount options of the scratch directory.
    pub(super) scratch_options: CString,
    /// Readable part of `/proc`.
    pub(super) proc: &'static CStr,
    /// Whether the program has a user of its own: then we write the id maps, and the program
    /// becomes that user.
    pub(super) has_user: bool,
    pub(super) uid_map: CString,
    pub(super) gid_map: CString,
    /// Highest process id in the namespace, where each namespace has its own.
    pub(super) pid_max: Option<CString>,
    /// Landlock ruleset, and the rights to the two paths that the new process adds to it.
    pub(super) ruleset: Option<OwnedFd>,
    pub(super) scratch_access: u64,
    pub(super) proc_access: u64,
    /// Seccomp filter.
    pub(super) filter: Option<BpfProgram>,
    pub(super) rlimits: Vec<(Resource, u64)>,
    pub(super) cgroup: Option<Arc<Cgroup>>,
    /// Port to listen on in a network of the program's own.
    pub(super) port: Option<u16>,
    /// Whether the user is root. In namespaces its capabilities are lost anyway.
    pub(super) is_root: bool,
}

impl LaunchPlan {
    /// Prepares the launch of `program`, or of a probe if there is none. With namespaces, the
    /// scratch directory is mounted by the new process.
    pub(super) fn new(
        request: &SpawnRequest<'_>,
        confinement: Confinement,
        program: Option<&Path>,
        own_paths: &OwnPaths,
        scratch_dir: &Path,
        user: Option<&BotUser>,
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
        let mut view = FileView::default();
        if confinement.has_namespaces {
            view = FileView::new(&folder, own_paths, &runtime_dirs, user)?;
        }
        // Otherwise a bot could submit this program as its own.
        let masked: io::Result<Vec<CString>> = match request.owns_folder {
            true => paths::own_programs().iter().map(|file| c_string(file.as_ref())).collect(),
            false => Ok(Vec::new()),
        };
        let environment = paths::environment(scratch_dir).into_iter();
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
        let id_map = |own: u32| match user {
            // Init stays root, with rights in the namespace only.
            Some(user) => format!("0 0 1\n{SANDBOX_UID} {} 1", user.id),
            None => format!("{SANDBOX_UID} {own} 1"),
        };
        let owner = match user {
            Some(_) => format!(",uid={SANDBOX_UID},gid={SANDBOX_UID}"),
            None => String::new(),
        };
        Ok(LaunchPlan {
            program: program.map(|program| c_string(program.as_ref())).transpose()?,
            argv: argv.collect::<io::Result<_>>()?,
            environment: environment.collect::<io::Result<_>>()?,
            folder: c_string(folder.as_ref())?,
            bind_mounts: view.bind_mounts,
            hidden: view.hidden,
            has_user: user.is_some(),
            masked: masked?,
            has_namespaces: confinement.has_namespaces,
            scratch_dir: c_string(scratch_dir.as_ref())?,
            scratch_options: format(format!("size={disk},nr_inodes={files},mode=700{owner}"))?,
            proc: if confinement.has_namespaces { c"/proc" } else { c"/proc/self" },
            uid_map: format(id_map(uid))?,
            gid_map: format(id_map(gid))?,
            pid_max: match has_pid_max_per_namespace() {
                true => Some(format(pid_max(limits).to_string())?),
                false => None,
            },
            ruleset,
            scratch_access: landlock::all_access(),
            proc_access: landlock::read_access(),
            filter: filter(confinement)?,
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

/// Returns the seccomp filter, compiled once per kind of confinement; `None` without seccomp.
fn filter(confinement: Confinement) -> io::Result<Option<BpfProgram>> {
    static COMPILED: Mutex<Vec<(Confinement, BpfProgram)>> = Mutex::new(Vec::new());
    if !detect::has_seccomp() {
        return Ok(None);
    }
    // The filter does not depend on the number of the port.
    let confinement = Confinement { port: confinement.port.map(|_| 0), ..confinement };
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, filter)) = compiled.iter().find(|(kind, _)| *kind == confinement) {
        return Ok(Some(filter.clone()));
    }
    let filter = seccomp::filter(&confinement).map_err(io::Error::other)?;
    compiled.push((confinement, filter.clone()));
    Ok(Some(filter))
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
    let processes = u64::from(limits.processes) + PROCESS_HEADROOM;
    rlimits.push(match confinement.has_namespaces {
        true => (Resource::Nproc, processes),
        // Without a user namespace, all processes and threads of the user count.
        false => (Resource::Nproc, procfs::tasks_of_user() + processes + OTHER_PROCESSES),
    });
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

/// The file system as a program sees it.
#[derive(Default)]
struct FileView {
    bind_mounts: Vec<BindMount>,
    hidden: Vec<CString>,
}

impl FileView {
    /// Mounts paths that the scratch directory would hide, and writable paths. For a program with a
    /// user of its own, mounts all its own paths, and hides directories that this user could not
    /// enter.
    fn new(
        folder: &Path,
        own_paths: &OwnPaths,
        runtime_dirs: &BTreeSet<PathBuf>,
        user: Option<&BotUser>,
    ) -> io::Result<FileView> {
        let runtimes: BTreeSet<&PathBuf> = paths::runtimes().iter().chain(runtime_dirs).collect();
        let mut hidden = BTreeSet::from([PathBuf::from(SCRATCH_DIR)]);
        if user.is_some() {
            let paths = own_paths.all().chain(runtimes.iter().copied());
            hidden.extend(paths.filter_map(|path| private_dir(path.ancestors().skip(1))));
            if !own_paths.all().any(|path| folder.starts_with(path)) {
                hidden.extend(private_dir(folder.ancestors()));
            }
        }
        let is_hidden =
            |path: &Path| hidden.iter().any(|dir| path.starts_with(dir) && path != dir.as_path());
        let own = own_paths.writable.iter().map(|path| (path, true, true));
        let own = own.chain(own_paths.readable.iter().map(|path| (path, false, true)));
        let mut mounts = Vec::new();
        for (path, is_writable, is_own) in
            own.chain(runtimes.iter().map(|path| (*path, false, false)))
        {
            let needs_map = is_own && user.is_some();
            if !is_writable && !needs_map && !is_hidden(path) {
                continue;
            }
            let kind = match path.metadata() {
                Ok(metadata) if metadata.is_dir() => MountKind::Directory,
                Ok(_) => MountKind::File,
                Err(_) => continue,
            };
            let mut mount = bind_mount(path, kind, is_writable, &hidden)?;
            if let Some(user) = user {
                let owner = needs_map.then_some(user);
                mount.tree = Some(users::open_tree(path, owner, is_writable)?);
            }
            mounts.push(mount);
        }
        // The working directory must exist even if nothing in it belongs to the program.
        let is_in_hidden = hidden.iter().any(|dir| folder.starts_with(dir));
        if is_in_hidden && !own_paths.all().any(|path| folder.starts_with(path)) {
            mounts.push(bind_mount(folder, MountKind::Empty, false, &hidden)?);
        }
        mounts.truncate(MAX_BIND_MOUNTS);
        hidden.remove(Path::new(SCRATCH_DIR));
        let hidden = hidden.iter().map(|dir| c_string(dir.as_ref()));
        Ok(FileView { bind_mounts: mounts, hidden: hidden.collect::<io::Result<_>>()? })
    }
}

/// The outermost of these directories that only its owner and group may enter.
fn private_dir<'a>(ancestors: impl Iterator<Item = &'a Path>) -> Option<PathBuf> {
    let is_private = |dir: &&Path| {
        let is_root = dir.parent().is_none();
        !is_root && dir.metadata().is_ok_and(|metadata| metadata.mode() & 0o001 == 0)
    };
    // The scratch directory is replaced anyway.
    let is_outside = |dir: &&Path| !dir.starts_with(SCRATCH_DIR);
    ancestors.filter(is_private).filter(is_outside).last().map(Path::to_path_buf)
}

fn bind_mount(
    path: &Path,
    kind: MountKind,
    is_writable: bool,
    hidden: &BTreeSet<PathBuf>,
) -> io::Result<BindMount> {
    let is_missing = |parent: &&Path| {
        hidden.iter().any(|dir| parent.starts_with(dir) && *parent != dir.as_path())
    };
    let parents = path.ancestors().skip(1).take_while(is_missing);
    let mut parents: Vec<CString> =
        parents.map(|parent| c_string(parent.as_ref())).collect::<io::Result<_>>()?;
    parents.reverse();
    Ok(BindMount { path: c_string(path.as_ref())?, parents, kind, is_writable, tree: None })
}
