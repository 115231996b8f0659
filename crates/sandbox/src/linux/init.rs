//! Init: parent of a program, and process 1 of its PID namespace if it has one.
//!
//! Init sets up the namespaces, starts the program, waits for it, reports how it ended, and exits.
//! All processes of the namespace end with it, whatever they did to escape. The kernel kills init
//! when we exit, even by SIGKILL. Without namespaces, init adopts the program's orphans, and kills
//! the process group, which no process can leave, when the program or we have ended.
//!
//! Init shares our memory, so that nothing is copied, neither when it is created nor when we write
//! later. It must not allocate, lock or panic: it only makes system calls, on a stack of its own.
//! Its child confines itself and then executes the program.

#![allow(unsafe_code)] // runs in memory that is shared with another process

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long, c_void};
use std::os::fd::{BorrowedFd, RawFd};
use std::ptr::null;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions};

use super::launch::{confine, drop_capabilities};
use super::plan::{LaunchPlan, SANDBOX_UID};
use super::syscalls::{
    LaunchStep, NIL, StepError, call, check, close, exit_now, landlock_add_path, open,
};
use super::{mounts, network};

// Descriptors of init, after the standard streams.
const REPORT_FD: c_int = 3;
const RULESET_FD: c_int = 4;
const CGROUP_FD: c_int = 5;
pub(super) const LISTENER_FD: c_int = 6;
const SIGNAL_FD: c_int = 7;
/// Descriptors from here on are not used by init.
pub(super) const FIRST_FREE_FD: c_int = 8;

/// Bytes of the kernel's set of signals.
const SIGNAL_SET_SIZE: c_long = 8;

/// Size of init's stack and of its child's, in bytes. A few hundred are used: nothing on them
/// recurses or has large variables, so there is no guard page.
pub(super) const STACK_SIZE: usize = 128 * 1024;

/// Data of init and its child. Lives until init has reported that the program runs.
pub(super) struct InitContext<'a> {
    pub(super) plan: &'a LaunchPlan,
    pub(super) argv: *const *const c_char,
    pub(super) environment: *const *const c_char,
    /// Standard input, output and error, report, ruleset, control group; -1 if there is none.
    pub(super) descriptors: [RawFd; 6],
    /// Upper end of the stack of init's child.
    pub(super) program_stack: *mut c_void,
    /// Why init's child did not execute the program.
    pub(super) program_error: Cell<Option<StepError>>,
    /// 1 once we have written the id maps, for a program with a user of its own.
    pub(super) maps_written: AtomicU32,
}

/// Entry point of init. Never returns.
pub(super) extern "C" fn init_main(argument: *mut c_void) -> c_int {
    // SAFETY: `argument` is the context that `launch` passed to `clone`, and which it keeps
    // until it has read the first report.
    let context = unsafe { &*argument.cast::<InitContext<'_>>() };
    let has_namespaces = context.plan.has_namespaces;
    match prepare(context).and_then(|()| start_program(context)) {
        Ok(program) => {
            report_step(LaunchStep::Done, 0);
            // From here on `context` may be gone.
            init_loop(program, has_namespaces)
        }
        Err((step, errno)) => {
            report_step(step, errno);
            exit_now()
        }
    }
}

/// Waits for the program, and reaps its orphans meanwhile. Calls of rustix do not touch the errno
/// that we share.
fn init_loop(program: c_int, has_namespaces: bool) -> c_int {
    let mut options = WaitOptions::empty();
    loop {
        if !has_namespaces {
            options = WaitOptions::NOHANG;
            if !wait_child_signal() {
                let _ = rustix::process::kill_current_process_group(Signal::KILL);
            }
        }
        loop {
            match rustix::process::wait(options) {
                Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == program => {
                    report_step(LaunchStep::Exited, status.as_raw());
                    if !has_namespaces {
                        let _ = rustix::process::kill_current_process_group(Signal::KILL);
                    }
                    exit_now()
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => exit_now(),
            }
        }
    }
}

/// Waits until a child has ended. Returns false if our process has ended: it held the other end of
/// the report.
fn wait_child_signal() -> bool {
    // SAFETY: both descriptors stay open as long as init lives.
    let [report, signals] = [REPORT_FD, SIGNAL_FD].map(|fd| unsafe { BorrowedFd::borrow_raw(fd) });
    let mut fds = [
        PollFd::from_borrowed_fd(report, PollFlags::empty()),
        PollFd::from_borrowed_fd(signals, PollFlags::IN),
    ];
    let _ = rustix::event::poll(&mut fds, None);
    let is_alive = !fds[0].revents().contains(PollFlags::ERR);
    if fds[1].revents().contains(PollFlags::IN) {
        // Clears the signal. Its details do not matter.
        let _ = rustix::io::read(signals, &mut [0; 128]);
    }
    is_alive
}

/// Reports a step with an errno or wait status.
fn report_step(step: LaunchStep, value: i32) {
    let ([a, b, c, d], [e, f, g, h]) = ((step as i32).to_ne_bytes(), value.to_ne_bytes());
    // SAFETY: the descriptor stays open as long as init lives.
    let report = unsafe { BorrowedFd::borrow_raw(REPORT_FD) };
    let _ = rustix::io::write(report, &[a, b, c, d, e, f, g, h]);
}

/// Sets up this process and its namespaces.
fn prepare(context: &InitContext<'_>) -> Result<(), StepError> {
    use LaunchStep::{Descriptors, Namespaces, Processes};
    let plan = context.plan;
    reset_signal_handlers();
    if plan.has_namespaces {
        let (option, signal) = (libc::PR_SET_PDEATHSIG as c_long, libc::SIGKILL as c_long);
        call!(Processes, libc::SYS_prctl, option, signal, NIL, NIL, NIL)?;
    }
    let (option, name) = (libc::PR_SET_NAME as c_long, c"crownhead-bot".as_ptr());
    call!(Processes, libc::SYS_prctl, option, name, NIL, NIL, NIL)?;
    // With autogroup scheduling, each session is a scheduling group. On a busy machine it gets a
    // fair share of the CPU, but a bot that needs only microseconds waits longer for its turn.
    call!(Namespaces, libc::SYS_setsid)?;
    for (fd, target) in context.descriptors.into_iter().zip(0..) {
        let flags = if target < REPORT_FD { 0 } else { libc::O_CLOEXEC };
        let target = target as c_long;
        match fd {
            0.. => {
                call!(Descriptors, libc::SYS_dup3, fd as c_long, target, flags as c_long)?;
            }
            // A descriptor of our process has this number.
            _ => close(target),
        }
    }
    let (first, last) = ((CGROUP_FD + 1) as c_long, (FIRST_FREE_FD - 1) as c_long);
    call!(Descriptors, libc::SYS_close_range, first, last, NIL)?;
    exit_if_orphaned()?;
    match plan.has_namespaces {
        true => prepare_namespaces(context)?,
        false => prepare_without_namespaces()?,
    }
    let (first, last) = (FIRST_FREE_FD as c_long, u32::MAX as c_long);
    call!(Descriptors, libc::SYS_close_range, first, last, NIL)?;
    Ok(())
}

fn prepare_namespaces(context: &InitContext<'_>) -> Result<(), StepError> {
    let plan = context.plan;
    if plan.has_user {
        wait_for_id_maps(&context.maps_written);
    } else {
        write_id_maps(plan)?;
    }
    set_pid_max(plan)?;
    if let Some(port) = plan.port {
        network::listen(port, LISTENER_FD)?;
    }
    mounts::set_up(plan)
}

fn wait_for_id_maps(maps_written: &AtomicU32) {
    while maps_written.load(Ordering::Acquire) == 0 {
        let (word, wait, expected) =
            (maps_written.as_ptr(), libc::FUTEX_WAIT as c_long, 0 as c_long);
        let timeout = null::<c_void>();
        let _ = call!(LaunchStep::IdMaps, libc::SYS_futex, word, wait, expected, timeout);
    }
}

/// Exits if our process ended before the signal for its death was set: nobody reads the report
/// then.
fn exit_if_orphaned() -> Result<(), StepError> {
    let mut report = libc::pollfd { fd: REPORT_FD, events: 0, revents: 0 };
    let (fds, count) = (&raw mut report, 1 as c_long);
    let no_wait = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let (timeout, mask) = (&raw const no_wait, null::<c_void>());
    call!(LaunchStep::Processes, libc::SYS_ppoll, fds, count, timeout, mask, NIL)?;
    if report.revents & libc::POLLERR != 0 {
        exit_now();
    }
    Ok(())
}

/// Adopts orphans, and creates the descriptor on which the end of a child is signalled.
fn prepare_without_namespaces() -> Result<(), StepError> {
    use LaunchStep::{Descriptors, Processes};
    let (option, is_subreaper) = (libc::PR_SET_CHILD_SUBREAPER as c_long, 1 as c_long);
    call!(Processes, libc::SYS_prctl, option, is_subreaper, NIL, NIL, NIL)?;
    let child_ended = 1_u64 << (libc::SIGCHLD - 1);
    let (new, mask, flags) = (-1 as c_long, &raw const child_ended, libc::SFD_CLOEXEC as c_long);
    let fd = call!(Descriptors, libc::SYS_signalfd4, new, mask, SIGNAL_SET_SIZE, flags)?;
    let (target, flags) = (SIGNAL_FD as c_long, libc::O_CLOEXEC as c_long);
    call!(Descriptors, libc::SYS_dup3, fd, target, flags)?;
    close(fd);
    Ok(())
}

fn reset_signal_handlers() {
    // The kernel's `struct sigaction` with the default handler and nothing else.
    let default = [0_u64; 4];
    for signal in 1..=64 {
        let (signal, action, old) = (signal as c_long, default.as_ptr(), null::<c_void>());
        // Fails for SIGKILL and SIGSTOP, which never have a handler.
        let _ = call!(
            LaunchStep::Processes,
            libc::SYS_rt_sigaction,
            signal,
            action,
            old,
            SIGNAL_SET_SIZE
        );
    }
}

/// Maps the user into the user namespace.
fn write_id_maps(plan: &LaunchPlan) -> Result<(), StepError> {
    for (file, text) in [
        (c"/proc/self/setgroups", c"deny"),
        (c"/proc/self/uid_map", &plan.uid_map),
        (c"/proc/self/gid_map", &plan.gid_map),
    ] {
        let fd = open(LaunchStep::IdMaps, file, libc::O_WRONLY)?;
        let length = text.count_bytes();
        call!(LaunchStep::IdMaps, libc::SYS_write, fd, text.as_ptr(), length)?;
        close(fd);
    }
    Ok(())
}

/// Sets the highest process id in the namespace.
fn set_pid_max(plan: &LaunchPlan) -> Result<(), StepError> {
    if let Some(max) = &plan.pid_max {
        let fd = open(LaunchStep::Processes, c"/proc/sys/kernel/pid_max", libc::O_WRONLY)?;
        call!(LaunchStep::Processes, libc::SYS_write, fd, max.as_ptr(), max.count_bytes())?;
        close(fd);
    }
    Ok(())
}

/// Adds the scratch directory and the program's part of `/proc` to the ruleset, now that they
/// exist.
fn add_landlock_rules(plan: &LaunchPlan) -> Result<(), StepError> {
    if plan.ruleset.is_some() {
        let ruleset = RULESET_FD as c_long;
        landlock_add_path(ruleset, &plan.scratch_dir, plan.scratch_access)?;
        landlock_add_path(ruleset, plan.proc, plan.proc_access)?;
    }
    Ok(())
}

/// Makes the kernel kill this process first if the machine runs out of memory. We share our memory
/// with it, but a process that suspends its parent until it executes changes only itself.
fn prefer_as_oom_victim() -> Result<(), StepError> {
    let fd = open(LaunchStep::Limits, c"/proc/self/oom_score_adj", libc::O_WRONLY)?;
    let highest = c"1000";
    let length = highest.count_bytes();
    call!(LaunchStep::Limits, libc::SYS_write, fd, highest.as_ptr(), length)?;
    close(fd);
    Ok(())
}

/// Gives up root in the namespace, with all groups and rights.
fn become_bot_user() -> Result<(), StepError> {
    let (step, id) = (LaunchStep::IdMaps, SANDBOX_UID as c_long);
    call!(step, libc::SYS_setgroups, NIL, null::<c_void>())?;
    call!(step, libc::SYS_setresgid, id, id, id)?;
    call!(step, libc::SYS_setresuid, id, id, id)?;
    Ok(())
}

/// Creates the second process, waits until it executes the program, and returns its id.
fn start_program(context: &InitContext<'_>) -> Result<c_int, StepError> {
    /// `struct clone_args`. Unlike `clone`, `clone3` can create a process in a control group;
    /// moving it there later takes ten times as long as everything else.
    #[repr(C)]
    #[derive(Default)]
    struct CloneArgs {
        flags: u64,
        pidfd: u64,
        child_tid: u64,
        parent_tid: u64,
        exit_signal: u64,
        stack: u64,
        stack_size: u64,
        tls: u64,
        set_tid: u64,
        set_tid_size: u64,
        cgroup: u64,
    }
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    // The upper end is aligned, so the lower end may be a few bytes inside of the allocation.
    let stack_size = STACK_SIZE - 16;
    let [.., cgroup_fd] = context.descriptors;
    let has_cgroup = cgroup_fd >= 0;
    let args = CloneArgs {
        flags: (libc::CLONE_VM | libc::CLONE_VFORK) as u64
            | if has_cgroup { CLONE_INTO_CGROUP } else { 0 },
        exit_signal: libc::SIGCHLD as u64,
        stack: (context.program_stack.addr() - stack_size) as u64,
        stack_size: stack_size as u64,
        cgroup: if has_cgroup { CGROUP_FD as u64 } else { 0 },
        ..CloneArgs::default()
    };
    let step = if has_cgroup { LaunchStep::Cgroup } else { LaunchStep::Processes };
    let argument: *const InitContext<'_> = context;
    let pid: c_long;
    // SAFETY: for this process it is a system call, which clobbers no more than declared. The child
    // calls `program_main`, which makes system calls only and never returns. It runs on a stack
    // that nobody else uses, and this process is suspended until the child has executed or exited.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            "syscall", "test rax, rax", "jnz 2f", "mov rdi, r13", "call r12", "ud2", "2:",
            inlateout("rax") libc::SYS_clone3 => pid,
            in("rdi") &raw const args, in("rsi") size_of::<CloneArgs>(),
            in("r12") program_main, in("r13") argument,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            "svc 0", "cbnz x0, 2f", "mov x0, x10", "blr x9", "brk 1", "2:",
            inlateout("x0") &raw const args => pid,
            in("x1") size_of::<CloneArgs>(), in("x8") libc::SYS_clone3,
            in("x9") program_main, in("x10") argument,
        );
    }
    if pid < 0 {
        return Err((step, -pid as i32));
    }
    if let Some(error) = context.program_error.get() {
        return Err(error);
    }
    // The standard streams are the program's alone, so that they close when it exits.
    call!(LaunchStep::Descriptors, libc::SYS_close_range, NIL, 2 as c_long, NIL)?;
    close(RULESET_FD as c_long);
    close(CGROUP_FD as c_long);
    Ok(pid as c_int)
}

/// Entry point of init's child: confines itself and executes the program.
extern "C" fn program_main(context: *const InitContext<'_>) -> ! {
    // SAFETY: init, which is suspended meanwhile, passed a pointer to its context.
    let context = unsafe { &*context };
    let plan = context.plan;
    let execute = || {
        // Not essential: some systems do not allow it.
        let _ = prefer_as_oom_victim();
        if plan.has_namespaces {
            mounts::protect_proc()?;
        }
        if plan.has_user {
            become_bot_user()?;
        }
        call!(LaunchStep::Folder, libc::SYS_chdir, plan.folder.as_ptr())?;
        add_landlock_rules(plan)?;
        if plan.is_root && !plan.has_namespaces {
            drop_capabilities()?;
        }
        confine(plan, RULESET_FD as c_long)?;
        let Some(program) = &plan.program else { return Err((LaunchStep::Exited, 0)) };
        let (argv, environment) = (context.argv, context.environment);
        call!(LaunchStep::Exec, libc::SYS_execve, program.as_ptr(), argv, environment)
    };
    context.program_error.set(execute().err());
    exit_now()
}
