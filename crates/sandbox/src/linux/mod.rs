//! Isolation on Linux: namespaces, Landlock, seccomp, resource limits, control groups.
//!
//! [`detect`] finds out which mechanisms work. [`plan`] prepares a launch with [`paths`],
//! [`landlock`] and [`seccomp`], and [`launch`] carries it out. In namespaces, [`init`] is the
//! first process, and sets up [`mounts`] and a [`network`]. [`cgroup`] adds a control group where
//! the user may create one.

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

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};

pub(crate) use self::cgroup::Cgroup;
pub(crate) use self::detect::{has_network, mechanisms};
pub(crate) use self::launch::new_session;
use self::plan::{Confinement, LaunchPlan, OwnPaths, c_string};
use self::syscalls::LaunchStep;
use crate::spawn::{Started, command, start_command};
use crate::{ScratchDir, SpawnRequest};

/// Resources that live as long as a program.
pub(crate) struct ChildGuard {
    /// Pipe from which init's reports are read, and the stack on which init runs.
    init: Option<(File, Vec<u8>)>,
    cgroup: Option<Arc<Cgroup>>,
    _scratch_dir: Option<ScratchDir>,
}

impl ChildGuard {
    /// Raw wait status of the program, once init has exited; `None` without init.
    pub(crate) fn exit_status(&mut self) -> Option<i32> {
        self.init.as_mut().and_then(|(report, _)| launch::read_exit_status(report))
    }

    /// Whether the child process is the init of a PID namespace.
    pub(crate) fn has_init(&self) -> bool {
        self.init.is_some()
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
    let mut plan = LaunchPlan::new(request, confinement, Some(&program), &own_paths)?;
    plan.cgroup = Cgroup::new(&request.limits)?.map(Arc::new);
    match has_namespaces {
        true => spawn_in_namespaces(plan),
        false => spawn_without_namespaces(request, &program, plan),
    }
}

fn spawn_in_namespaces(plan: LaunchPlan) -> io::Result<Started> {
    let cgroup = plan.cgroup.clone();
    let launched = on_spawner_thread(move || launch::in_namespaces(&plan))?;
    let launched = launched.map_err(|error| match error.step {
        LaunchStep::Exec | LaunchStep::Folder => error.source,
        // Running out of descriptors is our fault: keep the errno so that the caller can tell.
        LaunchStep::Descriptors => error.source,
        _ => io::Error::other(error.to_string()),
    })?;
    let init = Some((launched.report, launched.stack));
    Ok(Started {
        pid: launched.pid,
        pipes: launched.pipes,
        listener: launched.listener.map(TcpListener::from),
        guard: Some(ChildGuard { init, cgroup, _scratch_dir: None }),
    })
}

fn spawn_without_namespaces(
    request: &SpawnRequest<'_>,
    program: &Path,
    mut plan: LaunchPlan,
) -> io::Result<Started> {
    let scratch_dir = ScratchDir::new()?;
    let cgroup = plan.cgroup.clone();
    plan.scratch_dir = c_string(scratch_dir.path().as_ref())?;
    plan.proc = c"/proc/self".into();
    let mut command = command(program, request);
    command.env_clear().envs(paths::environment(scratch_dir.path()));
    launch::confine_command(&mut command, plan);
    let started = on_spawner_thread(move || start_command(command))??;
    let guard = ChildGuard { init: None, cgroup, _scratch_dir: Some(scratch_dir) };
    Ok(Started { guard: Some(guard), ..started })
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
