//! Launching a program: the parent's side, and the restrictions that a process applies to itself.
//!
//! There are two new processes. The first is [init](super::init), the second the program.

#![allow(unsafe_code)] // no safe library has `clone` with namespaces

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

use super::init::{FIRST_FREE_FD, InitContext, LISTENER_FD, STACK_SIZE, init_main};
use super::plan::LaunchPlan;
use super::syscalls::{LaunchStep, NIL, StepError, call, check};
use super::users;

/// A program that was started.
pub(super) struct Launched {
    /// Init.
    pub(super) pid: Pid,
    /// Standard input, output and error.
    pub(super) pipes: [File; 3],
    /// Listener in the program's own network, if it has one.
    pub(super) listener: Option<OwnedFd>,
    /// Pipe on which init reports how the program ended.
    pub(super) report: File,
    /// Stack of init, which must outlive it.
    pub(super) stack: Vec<u8>,
}

/// Why a program was not started.
pub(super) struct LaunchError {
    pub(super) step: LaunchStep,
    pub(super) source: io::Error,
}

impl LaunchError {
    fn new(step: LaunchStep, source: impl Into<io::Error>) -> LaunchError {
        LaunchError { step, source: source.into() }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.step.describe(), self.source)
    }
}

/// Starts a program. It is killed when the calling thread exits.
pub(super) fn launch(plan: &LaunchPlan) -> Result<Launched, LaunchError> {
    let no_descriptor = |error: io::Error| LaunchError::new(LaunchStep::Descriptors, error);
    let pipe = || io::pipe().map_err(no_descriptor);
    let ((stdin_end, stdin), (stdout, stdout_end)) = (pipe()?, pipe()?);
    let ((stderr, stderr_end), (report, report_end)) = (pipe()?, pipe()?);
    // Moved out of the way of the numbers that they get in the new process.
    let move_up = |fd: &dyn AsFd| {
        let moved = rustix::io::fcntl_dupfd_cloexec(fd.as_fd(), FIRST_FREE_FD);
        moved.map_err(|error| no_descriptor(error.into()))
    };
    let child_ends =
        [move_up(&stdin_end)?, move_up(&stdout_end)?, move_up(&stderr_end)?, move_up(&report_end)?];
    let ruleset = plan.ruleset.as_ref().map(|fd| move_up(fd)).transpose()?;
    let cgroup = plan.cgroup.as_ref().map(|cgroup| move_up(&cgroup.dir_fd)).transpose()?;
    drop((stdin_end, stdout_end, stderr_end, report_end));
    let (argv, environment) = (pointers(&plan.argv), pointers(&plan.environment));
    let mut stack = Vec::<u8>::with_capacity(2 * STACK_SIZE);
    // SAFETY: both offsets are at most the capacity of the allocation.
    let (middle, top) =
        unsafe { (stack.as_mut_ptr().add(STACK_SIZE), stack.as_mut_ptr().add(2 * STACK_SIZE)) };
    let align = |end: *mut u8| end.map_addr(|address| address & !15).cast::<c_void>();
    let [stdin_fd, stdout_fd, stderr_fd, report_fd] = child_ends.each_ref().map(AsRawFd::as_raw_fd);
    let [ruleset_fd, cgroup_fd] =
        [&ruleset, &cgroup].map(|fd| fd.as_ref().map_or(-1, AsRawFd::as_raw_fd));
    let context = InitContext {
        plan,
        argv: argv.as_ptr(),
        environment: environment.as_ptr(),
        descriptors: [stdin_fd, stdout_fd, stderr_fd, report_fd, ruleset_fd, cgroup_fd],
        program_stack: align(middle),
        program_error: Cell::new(None),
        maps_written: AtomicU32::new(0),
    };
    const NAMESPACES: c_int =
        libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
    let flags = libc::CLONE_VM
        | if plan.has_namespaces { NAMESPACES } else { 0 }
        | plan.port.map_or(0, |_| libc::CLONE_NEWNET)
        | libc::SIGCHLD;
    let argument = (&raw const context).cast_mut().cast::<c_void>();
    // No signal handler of ours may run in init, which shares our memory, nor in this thread before
    // the report: until then both share an errno.
    let mask = block_signals();
    // SAFETY: `init_main` makes system calls only. It uses `context`, which lives until its first
    // report is read below, and its own stack, which the caller keeps until init has exited.
    let pid = unsafe { libc::clone(init_main, align(top), flags, argument) };
    let error = io::Error::last_os_error();
    // `Pid` panics on negative numbers.
    let Some(pid) = Pid::from_raw(pid.max(0)) else {
        set_signal_mask(&mask);
        return Err(LaunchError::new(LaunchStep::Namespaces, error));
    };
    drop((child_ends, ruleset, cgroup));
    if plan.has_user {
        let [uid_map, gid_map] = [&plan.uid_map, &plan.gid_map].map(|map| users::text(map));
        if let Err(error) = users::write_maps(pid, uid_map, gid_map) {
            stop(pid);
            set_signal_mask(&mask);
            return Err(LaunchError::new(LaunchStep::IdMaps, error));
        }
        context.maps_written.store(1, Ordering::Release);
        let (word, wake, count) =
            (context.maps_written.as_ptr(), libc::FUTEX_WAKE as c_long, 1 as c_long);
        let _ = call!(LaunchStep::IdMaps, libc::SYS_futex, word, wake, count);
    }
    let mut report = File::from(OwnedFd::from(report));
    let mut record = [0; 8];
    let received = report.read_exact(&mut record);
    let listener = plan.port.filter(|_| received.is_ok()).map(|_| fetch_listener(pid)).transpose();
    set_signal_mask(&mask);
    let (step, errno) = decode_report(record);
    let error = match (received, step, listener) {
        (Ok(()), LaunchStep::Done, Ok(listener)) => {
            if plan.has_user {
                // A process that changes its user makes its memory, which is ours, undumpable.
                let (option, on) = (libc::PR_SET_DUMPABLE as c_long, 1 as c_long);
                let _ = call!(LaunchStep::Done, libc::SYS_prctl, option, on, NIL, NIL, NIL);
            }
            let pipes = [OwnedFd::from(stdin), OwnedFd::from(stdout), OwnedFd::from(stderr)];
            return Ok(Launched { pid, pipes: pipes.map(File::from), listener, report, stack });
        }
        (Ok(()), LaunchStep::Done, Err(error)) => LaunchError::new(LaunchStep::Network, error),
        (Ok(()), _, _) => LaunchError::new(step, io::Error::from_raw_os_error(errno)),
        (Err(error), _, _) => LaunchError::new(LaunchStep::Namespaces, error),
    };
    stop(pid);
    Err(error)
}

/// Kills init and waits for it: its stack is freed next.
fn stop(init: Pid) {
    let _ = rustix::process::kill_process(init, Signal::KILL);
    let wait = || rustix::process::waitpid(Some(init), WaitOptions::empty());
    while matches!(wait(), Err(Errno::INTR)) {}
}

/// Runs `action` while no signal handler of ours can run in this thread, or in a process that it
/// creates.
pub(super) fn with_signals_blocked<T>(action: impl FnOnce() -> T) -> T {
    let mask = block_signals();
    let result = action();
    set_signal_mask(&mask);
    result
}

/// Null-terminated array of pointers, as `execve` takes it.
fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([null()]).collect()
}

/// Duplicates init's listener into this process.
fn fetch_listener(init: Pid) -> rustix::io::Result<OwnedFd> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
    let init = pidfd_open(init, PidfdFlags::empty())?;
    pidfd_getfd(init, LISTENER_FD, PidfdGetfdFlags::empty())
}

/// Decodes a report of init: a step, and an errno or wait status.
fn decode_report(record: [u8; 8]) -> (LaunchStep, i32) {
    let [a, b, c, d, e, f, g, h] = record;
    let step = LaunchStep::from_raw(i32::from_ne_bytes([a, b, c, d]));
    (step.unwrap_or(LaunchStep::Namespaces), i32::from_ne_bytes([e, f, g, h]))
}

/// Reads the raw wait status of the program, if init has reported it.
pub(super) fn read_exit_status(report: &mut File) -> Option<i32> {
    let mut record = [0; 8];
    report.read_exact(&mut record).ok()?;
    let (step, status) = decode_report(record);
    (step == LaunchStep::Exited).then_some(status)
}

/// Blocks all signals in this thread, and returns the previous mask.
fn block_signals() -> libc::sigset_t {
    // SAFETY: `sigset_t` is plain data, both sets are valid for writes, and the calls cannot fail
    // with these arguments.
    unsafe {
        let (mut all, mut previous) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut previous);
        previous
    }
}

fn set_signal_mask(mask: &libc::sigset_t) {
    // SAFETY: `mask` is an initialised set, and the previous mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, null_mut()) };
}

/// Applies resource limits, Landlock and seccomp to this process.
pub(super) fn confine(plan: &LaunchPlan, ruleset: c_long) -> Result<(), StepError> {
    /// `struct sock_fprog`
    #[repr(C)]
    struct FilterProgram {
        length: u16,
        instructions: *const seccompiler::sock_filter,
    }
    const SECCOMP_SET_MODE_FILTER: c_long = 1;
    const SIGNAL_SET_SIZE: c_long = 8;
    let (one, null) = (1 as c_long, null::<c_void>());
    for (resource, limit) in &plan.rlimits {
        let limit = libc::rlimit64 { rlim_cur: *limit, rlim_max: *limit };
        let (resource, limit) = (*resource as c_long, &raw const limit);
        call!(LaunchStep::Limits, libc::SYS_prlimit64, NIL, resource, limit, null)?;
    }
    let option = libc::PR_SET_NO_NEW_PRIVS as c_long;
    call!(LaunchStep::Seccomp, libc::SYS_prctl, option, one, NIL, NIL, NIL)?;
    if plan.ruleset.is_some() {
        call!(LaunchStep::Landlock, libc::SYS_landlock_restrict_self, ruleset, NIL)?;
    }
    let no_signals = 0_u64;
    let (how, mask) = (libc::SIG_SETMASK as c_long, &raw const no_signals);
    call!(LaunchStep::Processes, libc::SYS_rt_sigprocmask, how, mask, null, SIGNAL_SET_SIZE)?;
    if let Some(filter) = &plan.filter {
        let program = FilterProgram { length: filter.len() as u16, instructions: filter.as_ptr() };
        let (operation, program) = (SECCOMP_SET_MODE_FILTER, &raw const program);
        call!(LaunchStep::Seccomp, libc::SYS_seccomp, operation, NIL, program)?;
    }
    Ok(())
}

/// Gives a command a session of its own. Its processes can then never join our process group.
pub(crate) fn new_session(command: &mut Command) {
    // SAFETY: the closure makes one system call and does not allocate.
    unsafe { command.pre_exec(|| rustix::process::setsid().map(drop).map_err(io::Error::from)) };
}

/// Drops all capabilities of root permanently.
pub(super) fn drop_capabilities() -> Result<(), StepError> {
    // SECBIT_NOROOT, SECBIT_NO_SETUID_FIXUP, SECBIT_NO_CAP_AMBIENT_RAISE and their locks, and
    // SECBIT_KEEP_CAPS_LOCKED. Root may lack the right to set them, as in many containers; then
    // no_new_privs has the same effect.
    const SECURE_BITS: c_long = 0xef;
    let option = libc::PR_SET_SECUREBITS as c_long;
    let _ = call!(LaunchStep::Limits, libc::SYS_prctl, option, SECURE_BITS, NIL, NIL, NIL);
    const LINUX_CAPABILITY_VERSION_3: u32 = 0x2008_0522;
    let (header, no_capabilities) = ([LINUX_CAPABILITY_VERSION_3, 0], [0_u32; 6]);
    let (header, no_capabilities) = (header.as_ptr(), no_capabilities.as_ptr());
    call!(LaunchStep::Limits, libc::SYS_capset, header, no_capabilities)?;
    Ok(())
}
