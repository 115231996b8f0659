//! Isolation on Linux: namespaces, Landlock, seccomp, resource limits, control groups.
//!
//! [`detect`] finds out which mechanisms work. [`plan`] prepares a launch with [`paths`],
//! [`landlock`] and [`seccomp`], and [`launch`] carries it out. [`init`] is the first process. In
//! namespaces it sets up [`mounts`] and a [`network`]. [`cgroup`] adds a control group where the
//! user may create one.

mod cgroup;
mod detect;
mod init;
mod landlock;
mod launch;
mod mounts;
mod network;
mod paths;
mod plan;
mod seccomp;
mod syscalls;
mod users;

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};

pub(crate) use self::cgroup::Cgroup;
pub(crate) use self::detect::{bot_user_in, bot_users, has_network, mechanisms};
pub(crate) use self::launch::new_session;
use self::plan::{Confinement, LaunchPlan, OwnPaths};
use self::syscalls::LaunchStep;
use self::users::BotUser;
use crate::spawn::Started;
use crate::{ScratchDir, SpawnRequest};

/// Resources that live as long as a program.
pub(crate) struct ChildGuard {
    /// Pipe from which init's reports are read.
    report: File,
    /// Stack on which init runs.
    _stack: Vec<u8>,
    cgroup: Option<Arc<Cgroup>>,
    scratch_dir: Option<ScratchDir>,
    _user: Option<BotUser>,
}

impl ChildGuard {
    /// Raw wait status of the program, once init has exited; `None` if init was killed.
    pub(crate) fn exit_status(&mut self) -> Option<i32> {
        launch::read_exit_status(&mut self.report)
    }

    /// Whether the child process is an init, and the program its child.
    pub(crate) fn has_init(&self) -> bool {
        true
    }

    /// Scratch directory of the program, if it is on the machine's disk.
    pub(crate) fn scratch_dir(&self) -> Option<&Path> {
        self.scratch_dir.as_ref().map(ScratchDir::path)
    }

    /// Control group of the program, if it has one.
    pub(crate) fn cgroup(&self) -> Option<Arc<Cgroup>> {
        self.cgroup.clone()
    }
}

/// Starts a program with every mechanism that the machine offers.
pub(crate) fn spawn(request: &SpawnRequest<'_>) -> io::Result<Started> {
    let has_namespaces = detect::namespaces().is_ok();
    let confinement =
        Confinement { has_namespaces, is_build: request.is_build, port: request.port };
    let program = match request.program.components().count() {
        0 | 1 => paths::find_in_path(&request.program.to_string_lossy())
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?,
        _ => request.program.to_path_buf(),
    };
    let own_paths = OwnPaths::new(request, &program);
    let scratch_dir = if has_namespaces { None } else { Some(ScratchDir::new()?) };
    let scratch_path = scratch_dir.as_ref().map_or(Path::new(paths::SCRATCH_DIR), ScratchDir::path);
    let user = match has_namespaces && detect::bot_users().is_ok() {
        true => Some(BotUser::new().map_err(io::Error::other)?),
        false => None,
    };
    let new_plan = |user: Option<&BotUser>| {
        LaunchPlan::new(request, confinement, Some(&program), &own_paths, scratch_path, user)
    };
    // Not every file system can map its owners.
    let mut plan = match new_plan(user.as_ref()) {
        Err(_) if user.is_some() => new_plan(None)?,
        plan => plan?,
    };
    let cgroup = Cgroup::new(&request.limits)?.map(Arc::new);
    plan.cgroup.clone_from(&cgroup);
    let launched = on_spawner_thread(move || launch::launch(&plan))?;
    let launched = launched.map_err(|error| match error.step {
        LaunchStep::Exec | LaunchStep::Folder => error.source,
        // Running out of descriptors is our fault: keep the errno so that the caller can tell.
        LaunchStep::Descriptors => error.source,
        _ => io::Error::other(error.to_string()),
    })?;
    Ok(Started {
        pid: launched.pid,
        pipes: launched.pipes,
        listener: launched.listener.map(TcpListener::from),
        guard: Some(ChildGuard {
            report: launched.report,
            _stack: launched.stack,
            cgroup,
            scratch_dir,
            _user: user,
        }),
    })
}

/// Runs `start` on a thread that lives as long as this process. The kernel kills a program when the
/// thread that started it exits.
///
/// # Errors
/// Fails if the thread could not be created.
fn on_spawner_thread<T: Send + 'static>(
    start: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    type Job = Box<dyn FnOnce() + Send>;
    static SPAWNER: OnceLock<Option<Mutex<mpsc::Sender<Job>>>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new().name("spawner".into());
        let thread = thread.spawn(move || jobs.into_iter().for_each(|job| job()));
        thread.ok().map(|_| Mutex::new(sender))
    });
    let (sender, receiver) = mpsc::channel();
    if let Some(jobs) = spawner {
        let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = jobs.send(Box::new(move || _ = sender.send(start())));
    }
    receiver.recv().map_err(|_| io::Error::other("cannot create a thread to start programs from"))
}
