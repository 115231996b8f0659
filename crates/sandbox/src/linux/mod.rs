//! The walls that Linux has: namespaces, Landlock, seccomp, resource limits.
//!
//! [`paths`] says what may be read, [`ruleset`] makes Landlock rules of that, [`filter`] names the system
//! calls that are refused, and [`launch`] starts a program behind all of it, in [`mounts`] and
//! a [`network`] of its own, and in a [control group](cgroup) where there can be one.

mod cgroup;
mod landlock;
mod launch;
mod mounts;
mod network;
mod paths;
mod seccomp;
mod syscalls;

use std::ffi::CString;
use std::io;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};

use rustix::process::Resource;
use seccompiler::BpfProgram;

pub use self::cgroup::Group;
pub(super) use self::launch::set_apart;
use self::launch::{Orders, Refusal};
use self::mounts::{MOST_PLACES, Place, PlaceKind};
use self::syscalls::Step;
use super::{Child, Limits, Mechanism, Scratch, SpawnRequest, command, plain};

/// What the walls depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wall {
    has_namespaces: bool,
    is_build: bool,
    /// A port on this machine that it may connect to.
    port: Option<u16>,
}

/// The files and folders that are a program's own: those that it reads and runs, and those that it
/// writes too.
#[derive(Default)]
struct Own {
    read: Vec<PathBuf>,
    written: Vec<PathBuf>,
}

impl Own {
    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.read.iter().chain(&self.written)
    }
}

/// What keeps a running program's things.
pub(super) struct Kept {
    /// The keeper's report, and the stack it runs on.
    keeper: Option<(std::fs::File, Vec<u8>)>,
    group: Option<Arc<Group>>,
    _scratch: Option<Scratch>,
}

impl Kept {
    /// How the program ended, as the kernel says it; only after the keeper has.
    pub(super) fn end(&mut self) -> Option<i32> {
        self.keeper.as_mut().and_then(|(report, _)| launch::read_end(report))
    }

    /// Whether process 1 of a namespace stands between us and the program.
    pub(super) fn has_keeper(&self) -> bool {
        self.keeper.is_some()
    }

    /// The control group that the program is in.
    pub(super) fn group(&self) -> Option<Arc<Group>> {
        self.group.clone()
    }
}

/// The walls that this machine has.
pub(super) fn layers() -> Vec<Mechanism> {
    let landlock = match landlock::version() {
        0 => Err("the kernel has no Landlock, or it is not switched on (lsm=landlock,…)".into()),
        version @ 1..=5 => Ok(format!("version {version}, which does not stop signals")),
        version => Ok(format!("version {version}")),
    };
    let seccomp = has_seccomp().then(String::new).ok_or("the kernel has no seccomp filters".into());
    let cgroups = cgroup::place().as_ref().map(|place| format!("in {}", place.display()));
    let cgroups = cgroups.map_err(String::clone);
    vec![
        Mechanism::new("namespaces", namespaces().clone().map(|()| String::new())),
        Mechanism::new("landlock", landlock),
        Mechanism::new("seccomp", seccomp),
        Mechanism { is_optional: true, ..Mechanism::new("cgroups", cgroups) },
    ]
}

fn has_seccomp() -> bool {
    Path::new("/proc/sys/kernel/seccomp/actions_avail").exists()
}

/// Whether programs can be started in namespaces; tried once.
fn namespaces() -> &'static Result<(), String> {
    static TRIED: OnceLock<Result<(), String>> = OnceLock::new();
    TRIED.get_or_init(|| trial(None, None))
}

/// Whether they can have a network of their own besides; tried once.
pub(super) fn has_network() -> bool {
    static TRIED: OnceLock<bool> = OnceLock::new();
    *TRIED.get_or_init(|| namespaces().is_ok() && trial(Some(ANY_PORT), None).is_ok())
}

/// A port that nobody uses in a network where nobody is.
const ANY_PORT: u16 = 1024;

/// Makes the namespaces of a program that ends before it begins.
fn trial(port: Option<u16>, group: Option<Arc<Group>>) -> Result<(), String> {
    let wall = Wall { has_namespaces: true, is_build: false, port: None };
    let request = SpawnRequest {
        file: Path::new(""),
        words: &[],
        folder: Path::new("/"),
        is_whole: false,
        others: &[],
        is_build: false,
        made_in: None,
        isolation: super::Isolation::Default,
        limits: Limits::default(),
        port: None,
    };
    let orders =
        orders(&request, wall, None, &Own::default()).map_err(|error| error.to_string())?;
    let orders = Orders { port, group, ..orders };
    match on_starter(move || launch::in_namespaces(&orders)) {
        Ok(Err(refusal)) if refusal.step == Step::Ended => Ok(()),
        Ok(Err(refusal)) => Err(advice(&refusal)),
        Ok(Ok(_)) => Err("the trial did not end".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Why there are no namespaces, and what to do about it.
fn advice(refusal: &Refusal) -> String {
    let advice = match refusal.step {
        Step::Namespaces | Step::Users | Step::Mounts => {
            "; unprivileged user namespaces may be switched off: look at \
             /proc/sys/user/max_user_namespaces, kernel.unprivileged_userns_clone and \
             kernel.apparmor_restrict_unprivileged_userns, or at the settings of the container"
        }
        _ => "",
    };
    format!("{} failed: {}{advice}", refusal.doing(), refusal.error)
}

/// Starts a program behind all walls that there are.
pub(super) fn start(request: &SpawnRequest<'_>) -> io::Result<Child> {
    let has_namespaces = namespaces().is_ok();
    let wall = Wall { has_namespaces, is_build: request.is_build, port: request.port };
    let file = match request.file.components().count() {
        0 | 1 => paths::find(&request.file.to_string_lossy())
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?,
        _ => request.file.to_path_buf(),
    };
    let own = own(request, &file);
    match has_namespaces {
        true => {
            let mut orders = orders(request, wall, Some(&file), &own)?;
            let group = Group::new(&request.limits)?.map(Arc::new);
            orders.group.clone_from(&group);
            let launched = on_starter(move || launch::in_namespaces(&orders))?;
            let launched = launched.map_err(|refusal| match refusal.step {
                Step::Start | Step::Folder => refusal.error,
                // For want of something the bot is not to blame: whoever asks goes by the number.
                Step::Descriptors => refusal.error,
                _ => io::Error::other(format!("{} failed: {}", refusal.doing(), refusal.error)),
            })?;
            let keeper = Some((launched.report, launched.stack));
            let kept = Kept { keeper, group, _scratch: None };
            Ok(Child {
                pid: launched.pid,
                pipes: launched.pipes.map(Some),
                listener: launched.listener.map(TcpListener::from),
                kept: Some(kept),
            })
        }
        false => without_namespaces(request, wall, &file, &own),
    }
}

fn without_namespaces(
    request: &SpawnRequest<'_>,
    wall: Wall,
    file: &Path,
    own: &Own,
) -> io::Result<Child> {
    let scratch = Scratch::new()?;
    let mut orders = orders(request, wall, Some(file), own)?;
    orders.scratch = text(scratch.path().as_os_str())?;
    orders.proc = c"/proc/self".into();
    let group = Group::new(&request.limits)?.map(Arc::new);
    orders.group.clone_from(&group);
    let mut command = command(file, request);
    command.env_clear().envs(paths::environment(scratch.path()));
    launch::confine_command(&mut command, orders);
    let started = on_starter(move || plain(command))??;
    let kept = Kept { keeper: None, group, _scratch: Some(scratch) };
    Ok(Child { kept: Some(kept), ..started })
}

/// Programs end with the thread that started them: this one never ends before we do. None if it could
/// not be had.
fn on_starter<T: Send + 'static>(start: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    type Job = Box<dyn FnOnce() + Send>;
    static STARTER: OnceLock<Option<Mutex<mpsc::Sender<Job>>>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (jobs, todo) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new().name("starter".into());
        let thread = thread.spawn(move || todo.into_iter().for_each(|job| job()));
        thread.ok().map(|_| Mutex::new(jobs))
    });
    let (sender, receiver) = mpsc::channel();
    if let Some(jobs) = starter {
        let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = jobs.send(Box::new(move || _ = sender.send(start())));
    }
    receiver.recv().map_err(|_| io::Error::other("there is no thread to start programs from"))
}

/// What is a program's own.
fn own(request: &SpawnRequest<'_>, file: &Path) -> Own {
    let mut own = paths::own(request.folder, request.is_whole, file, request.words);
    own.extend(request.others.iter().filter_map(|path| path.canonicalize().ok()));
    match (request.is_build, request.made_in) {
        (false, _) => Own { read: own, written: Vec::new() },
        (true, None) => Own { read: Vec::new(), written: own },
        (true, Some(folder)) => {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
            own.retain(|path| !path.starts_with(&folder));
            Own { read: own, written: vec![folder] }
        }
    }
}

/// Makes everything ready that is needed behind the walls.
fn orders(
    request: &SpawnRequest<'_>,
    wall: Wall,
    file: Option<&Path>,
    own: &Own,
) -> io::Result<Orders> {
    let folder = request.folder.canonicalize()?;
    // Only a name is looked for in `PATH`, and only one that the user typed is trusted.
    let is_name = !request.is_whole && request.file.components().count() == 1;
    let homes = file.filter(|_| is_name).map(paths::homes).unwrap_or_default();
    let ruleset = match landlock::version() {
        0 => None,
        _ => landlock::ruleset(&wall, own, homes.clone()).map_err(io::Error::other)?,
    };
    let has_places = wall.has_namespaces;
    let places = if has_places { places(&folder, own, &homes)? } else { Vec::new() };
    let pairs = paths::environment(Path::new(paths::SCRATCH)).into_iter();
    let environment = pairs.map(|(mut pair, value)| {
        pair.push("=");
        pair.push(value);
        text(&pair)
    });
    let disk = request.limits.disk;
    let number = |text: String| CString::new(text).unwrap_or_default();
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    Ok(Orders {
        program: file.map(|file| text(file.as_os_str())).transpose()?,
        words: request.words.iter().map(|word| text(word.as_ref())).collect::<io::Result<_>>()?,
        environment: environment.collect::<io::Result<_>>()?,
        folder: text(folder.as_os_str())?,
        places,
        scratch_options: number(format!("size={disk},nr_inodes={FILES},mode=700")),
        scratch: text(paths::SCRATCH.as_ref())?,
        proc: c"/proc".into(),
        uid_map: number(format!("{USER} {uid} 1")),
        gid_map: number(format!("{USER} {gid} 1")),
        most_pids: has_own_numbers().then(|| number(most_pids(&request.limits).to_string())),
        ruleset,
        scratch_rights: landlock::all_rights(),
        read_rights: landlock::read_rights(),
        filters: filters(&wall)?,
        limits: rlimits(&request.limits, wall),
        group: None,
        port: request.port.filter(|_| has_network()),
        is_root: uid == 0,
    })
}

/// The number that the user has in a namespace.
const USER: u32 = 1000;
/// So many files may be in a scratch folder.
const FILES: u32 = 20_000;

fn text(text: &std::ffi::OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

/// The filters of the wall, made once for most.
fn filters(wall: &Wall) -> io::Result<Vec<BpfProgram>> {
    static MADE: Mutex<Vec<(Wall, Vec<BpfProgram>)>> = Mutex::new(Vec::new());
    if !has_seccomp() {
        return Ok(Vec::new());
    }
    // The port is no business of the filters.
    let wall = Wall { port: wall.port.map(|_| 0), ..*wall };
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, filters)) = made.iter().find(|(other, _)| *other == wall) {
        return Ok(filters.clone());
    }
    let filters = seccomp::filters(&wall).map_err(io::Error::other)?;
    made.push((wall, filters.clone()));
    Ok(filters)
}

/// The limits that the kernel keeps by itself, for each process; where the user may have less, that. Memory,
/// processor time and the number of processes are counted by the [watch](super::watch); what the kernel
/// does here bounds what can happen between two looks.
fn rlimits(limits: &Limits, wall: Wall) -> Vec<(Resource, u64)> {
    let mut rlimits = vec![
        (Resource::Core, 0),
        (Resource::Fsize, limits.disk),
        (Resource::Nofile, limits.files.into()),
        (Resource::Data, limits.memory.saturating_mul(2)),
        (Resource::Memlock, 64 << 10),
    ];
    if wall.has_namespaces {
        // Elsewhere all processes of the user would count.
        let most = u64::from(limits.processes) + SPARE_PROCESSES;
        rlimits.push((Resource::Nproc, most));
    }
    for (what, most) in &mut rlimits {
        let allowed = rustix::process::getrlimit(*what).maximum;
        *most = allowed.map_or(*most, |allowed| allowed.min(*most));
    }
    rlimits
}

/// The highest number that a process or thread may have in a namespace: however busy the machine is,
/// and for root too, whom the other limit does not hold, a bomb ends there.
fn most_pids(limits: &Limits) -> u64 {
    // When it begins again from below the kernel leaves out the first 300: without these, there must be
    // enough for who starts many short processes.
    300 + u64::from(limits.processes) + SPARE_PROCESSES
}

/// Whether process namespaces have a highest number of their own: since Linux 6.14. Before that it was
/// the machine's, which root could change even from within.
fn has_own_numbers() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let name = rustix::system::uname();
        let mut parts = name.release().to_str().unwrap_or_default().split(['.', '-']);
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
        (number(), number()) >= (6, 14)
    })
}

/// So many more than allowed, so that too many are seen and told.
const SPARE_PROCESSES: u64 = 64;

/// What must be brought into a mount namespace: what the scratch folder would cover, and, for a
/// build, what it writes.
fn places(
    folder: &Path,
    own: &Own,
    homes: &std::collections::BTreeSet<PathBuf>,
) -> io::Result<Vec<Place>> {
    let scratch = Path::new(paths::SCRATCH);
    let is_covered = |path: &Path| path.starts_with(scratch) && path != scratch;
    let others = paths::runtimes().iter().chain(homes);
    let kept = own.written.iter().map(|path| (path, true));
    let kept = kept.chain(own.read.iter().chain(others).map(|path| (path, false)));
    let kept = kept.filter(|(path, is_writable)| is_covered(path) || *is_writable);
    let mut places = Vec::new();
    for (path, is_writable) in kept {
        let kind = match path.metadata() {
            Ok(known) if known.is_dir() => PlaceKind::Folder,
            Ok(_) => PlaceKind::File,
            Err(_) => continue,
        };
        places.push(place(path, kind, is_writable)?);
    }
    // It is started there, even if nothing in it is its own.
    if is_covered(folder) && !own.all().any(|path| folder.starts_with(path)) {
        places.push(place(folder, PlaceKind::Empty, false)?);
    }
    places.truncate(MOST_PLACES);
    Ok(places)
}

fn place(path: &Path, kind: PlaceKind, is_writable: bool) -> io::Result<Place> {
    let scratch = Path::new(paths::SCRATCH);
    let parents = path
        .ancestors()
        .skip(1)
        .take_while(|parent| parent.starts_with(scratch) && *parent != scratch);
    let mut parents: Vec<CString> =
        parents.map(|parent| text(parent.as_os_str())).collect::<io::Result<_>>()?;
    parents.reverse();
    Ok(Place { path: text(path.as_os_str())?, parents, kind, is_writable })
}
