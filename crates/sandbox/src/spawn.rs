//! Starting a program, and the handle to it while it runs.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use crate::monitor::CpuRule;
use crate::platform::{self, ChildGuard};
use crate::{
    DiskWatch, Isolation, IsolationStatus, Limits, ScratchDir, UsageMeter, procfs, reaper,
};

/// A program to start.
pub struct SpawnRequest<'a> {
    /// Executable file, or a name to look up in `PATH`.
    pub program: &'a Path,
    /// Name and arguments of the program.
    pub argv: &'a [String],
    /// Working directory.
    pub folder: &'a Path,
    /// Whether all of `folder` belongs to the program, or only the files that `argv` names.
    pub owns_folder: bool,
    /// Further files and directories that the program may read.
    pub extra_paths: &'a [PathBuf],
    /// Whether this is a build, which may write to what belongs to the program.
    pub is_build: bool,
    /// If set, the only directory that a build may write to.
    pub build_output: Option<&'a Path>,
    /// Requested isolation.
    pub isolation: Isolation,
    /// Resource limits, ignored without isolation.
    pub limits: Limits,
    /// Whether the program may run between its turns.
    pub ponder: bool,
    /// TCP port of 127.0.0.1 that the program may connect to.
    pub port: Option<u16>,
}

/// A running program.
///
/// With isolation the process is an init and the program is its child; otherwise the process is the
/// program itself.
pub struct Child {
    /// Id of the process, of its process group and of its session.
    pub pid: Pid,
    /// Main thread of the program itself, if known.
    pub program: Option<Pid>,
    /// Write end of the standard input.
    pub stdin: Option<File>,
    /// Read end of the standard output.
    pub stdout: Option<File>,
    /// Read end of the standard error.
    pub stderr: Option<File>,
    /// Listener on the requested port, if the program has a network of its own.
    pub listener: Option<TcpListener>,
    /// Usage of the program, and the reason if it was killed for it.
    pub meter: Arc<UsageMeter>,
    guard: Option<ChildGuard>,
    is_reaped: bool,
}

/// A process that was just started.
pub(crate) struct Started {
    pub(crate) pid: Pid,
    pub(crate) pipes: [File; 3],
    pub(crate) listener: Option<TcpListener>,
    pub(crate) guard: Option<ChildGuard>,
}

/// Starts a program.
///
/// # Errors
/// The error of the operating system if the program cannot be started, or a description if
/// isolation is required but unavailable.
pub fn spawn(request: &SpawnRequest<'_>) -> io::Result<Child> {
    ScratchDir::remove_stale();
    if request.isolation == Isolation::Require {
        IsolationStatus::detect(Isolation::Require).map_err(io::Error::other)?;
    }
    let is_isolated = request.isolation != Isolation::Off;
    let start = || if is_isolated { platform::spawn(request) } else { spawn_unconfined(request) };
    let Started { pid, pipes, listener, guard } = reaper::register(start)?;
    let has_init = guard.as_ref().is_some_and(ChildGuard::has_init);
    let cgroup = guard.as_ref().and_then(ChildGuard::cgroup);
    let scratch_dir = guard.as_ref().and_then(ChildGuard::scratch_dir);
    let disk = scratch_dir.map(|dir| DiskWatch::new(dir, request.limits.disk));
    let limits = is_isolated.then_some(request.limits);
    let [stdin, stdout, stderr] = pipes.map(Some);
    let cpu_rule = match (request.is_build, request.ponder) {
        // Builds have a timeout instead.
        (true, _) => CpuRule::None,
        (false, true) => CpuRule::Always,
        (false, false) => CpuRule::OwnTurns,
    };
    Ok(Child {
        pid,
        program: if has_init { procfs::first_child(pid) } else { Some(pid) },
        stdin,
        stdout,
        stderr,
        listener,
        meter: UsageMeter::new(pid, has_init, cgroup, disk, limits, cpu_rule),
        guard,
        is_reaped: false,
    })
}

impl Child {
    /// Sends a signal to the process and its group. Does nothing once the process was reaped.
    pub fn signal(&self, signal: Signal) {
        if !self.is_reaped {
            reaper::signal(self.pid, signal);
        }
    }

    /// Whether the process has exited. It stays a zombie until it is reaped, so its id is not
    /// reused.
    pub fn has_exited(&self) -> bool {
        if self.is_reaped {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.pid), options), Ok(None) | Err(Errno::INTR))
    }

    /// Whether [`reap`](Child::reap) was called.
    pub fn is_reaped(&self) -> bool {
        self.is_reaped
    }

    /// Reaps the process if it has exited, and kills the orphans it left. From now on its usage is
    /// not monitored and its id may be reused. Returns how the program ended, if known; `None` also
    /// if called a second time.
    pub fn reap(&mut self) -> Option<ExitStatus> {
        if self.is_reaped {
            return None;
        }
        self.is_reaped = true;
        self.meter.detach();
        let reaped = waitpid(Some(self.pid), WaitOptions::NOHANG).ok().flatten();
        reaper::unregister(self.pid);
        let reported = self.guard.as_mut().and_then(ChildGuard::exit_status);
        let status = reported.or_else(|| reaped.map(|(_, status)| status.as_raw()));
        status.map(ExitStatus::from_raw)
    }
}

/// Starts a program without isolation, in a process group of its own.
pub(crate) fn spawn_unconfined(request: &SpawnRequest<'_>) -> io::Result<Started> {
    let mut command = command(request.program, request);
    platform::new_session(&mut command);
    start_command(command)
}

/// The command that runs `program` as requested.
fn command(program: &Path, request: &SpawnRequest<'_>) -> Command {
    let mut command = Command::new(program);
    command.args(request.argv.iter().skip(1)).current_dir(request.folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts a command whose standard streams are pipes.
fn start_command(mut command: Command) -> io::Result<Started> {
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(io::Error::other("the standard streams are not pipes"));
    };
    let pipes = [OwnedFd::from(stdin), OwnedFd::from(stdout), OwnedFd::from(stderr)];
    Ok(Started { pid, pipes: pipes.map(File::from), listener: None, guard: None })
}
