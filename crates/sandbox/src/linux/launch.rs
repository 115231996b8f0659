//! Starting a program behind walls: the one place that talks to the kernel by itself.
//!
//! In namespaces there are two new processes. The first is the *keeper*: process 1 of a process
//! namespace of its own, whose end is the end of all processes in it, whatever they did to get away. It
//! makes the mounts, starts the program, waits for it, tells how it ended, and ends; and the kernel
//! kills it when we end, even by SIGKILL. It shares our memory, so that nothing is copied, neither
//! now nor when we write later: it must not allocate, lock or panic, only make system calls on a
//! stack of its own. The second is the program, which puts up the other walls and is then replaced by the
//! program's file.
//!
//! Without namespaces the program is our child, and the same walls are put up between `fork` and
//! `exec`.

#![allow(unsafe_code)] // no safe library has `clone` with namespaces

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use rustix::process::{Pid, Resource};
use seccompiler::BpfProgram;

use super::cgroup::Group;
use super::mounts::{Place, mounts};
use super::network;
use super::syscalls::{Failed, NIL, STEPS, Step, call, close, done, open};

/// All that must be known behind the walls, made ready before.
pub(super) struct Orders {
    /// The file to run; none for a trial, which puts up the walls and ends.
    pub(super) program: Option<CString>,
    pub(super) words: Vec<CString>,
    pub(super) environment: Vec<CString>,
    /// Where it is started.
    pub(super) folder: CString,
    /// What is kept of the folder that the scratch folder covers, and what can be written.
    pub(super) places: Vec<Place>,
    /// Options of the file system in the scratch folder.
    pub(super) scratch_options: CString,
    /// The scratch folder.
    pub(super) scratch: CString,
    /// What can be read of `/proc`.
    pub(super) proc: CString,
    pub(super) uid_map: CString,
    pub(super) gid_map: CString,
    /// The highest number of a process in the namespace, where it has its own.
    pub(super) most_pids: Option<CString>,
    pub(super) ruleset: Option<OwnedFd>,
    /// The rights to the scratch folder and to `/proc`.
    pub(super) scratch_rights: u64,
    pub(super) read_rights: u64,
    pub(super) filters: Vec<BpfProgram>,
    pub(super) limits: Vec<(Resource, u64)>,
    /// Its control group, if it gets one.
    pub(super) group: Option<Arc<Group>>,
    /// Where we listen in a network of its own, if it gets one.
    pub(super) port: Option<u16>,
    /// Whether all capabilities are given up; in namespaces they are lost anyway.
    pub(super) is_root: bool,
}

/// A program that was started in namespaces.
pub(super) struct Launched {
    /// The keeper.
    pub(super) pid: Pid,
    pub(super) pipes: [File; 3],
    /// Where it connects to, in a network of its own.
    pub(super) listener: Option<OwnedFd>,
    /// Where the keeper tells how the program ended.
    pub(super) report: File,
    /// The stack of the keeper, which must stay as long as it lives.
    pub(super) stack: Vec<u8>,
}

/// Why a program was not started.
pub(super) struct Refusal {
    pub(super) step: Step,
    pub(super) error: io::Error,
}

impl Refusal {
    fn new(step: Step, error: io::Error) -> Refusal {
        Refusal { step, error }
    }

    /// What was being done, in words.
    pub(super) fn doing(&self) -> &'static str {
        STEPS.iter().find(|(step, _)| *step == self.step).map_or("", |(_, text)| text)
    }
}

/// The numbers that the descriptors have behind the walls.
const REPORT: c_int = 3;
const RULESET: c_int = 4;
const GROUP: c_int = 5;
const LISTENER: c_int = 6;
/// From here on are those that they have before, so that none is in the way of another.
const HIGH: c_int = 8;
/// Each of the two stacks has so many bytes, of which a few hundred are used: nothing on them calls
/// itself or keeps more than a few words, so there is no page to guard their ends.
const STACK: usize = 128 * 1024;

/// What the keeper and the program work from. It lives until the program has been started.
struct Shared<'a> {
    orders: &'a Orders,
    words: *const *const c_char,
    environment: *const *const c_char,
    /// Standard input, output, errors, the report, the ruleset, the control group.
    descriptors: [RawFd; 6],
    stack: *mut c_void,
    failed: Cell<Option<Failed>>,
}

/// Pointers to texts, ended by none.
fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([null()]).collect()
}

/// Starts a program in namespaces. The kernel ends it with the thread that calls this.
pub(super) fn in_namespaces(orders: &Orders) -> Result<Launched, Refusal> {
    let no_pipes = |error: io::Error| Refusal::new(Step::Descriptors, error);
    let pipe = || io::pipe().map_err(no_pipes);
    let ((input_end, input), (output, output_end)) = (pipe()?, pipe()?);
    let ((errors, errors_end), (report, report_end)) = (pipe()?, pipe()?);
    let high = |fd: &dyn AsFd| {
        let moved = rustix::io::fcntl_dupfd_cloexec(fd.as_fd(), HIGH);
        moved.map_err(|error| no_pipes(error.into()))
    };
    let ends = [high(&input_end)?, high(&output_end)?, high(&errors_end)?, high(&report_end)?];
    let ruleset = orders.ruleset.as_ref().map(|fd| high(fd)).transpose()?;
    let group = orders.group.as_ref().map(|group| high(&group.folder)).transpose()?;
    drop((input_end, output_end, errors_end, report_end));
    let (words, environment) = (pointers(&orders.words), pointers(&orders.environment));
    let mut stack = Vec::<u8>::with_capacity(2 * STACK);
    // SAFETY: the offsets are within the allocation, and at its end.
    let (middle, top) =
        unsafe { (stack.as_mut_ptr().add(STACK), stack.as_mut_ptr().add(2 * STACK)) };
    let aligned = |end: *mut u8| end.map_addr(|address| address & !15).cast::<c_void>();
    let [input_fd, output_fd, errors_fd, report_fd] = ends.each_ref().map(AsRawFd::as_raw_fd);
    let [ruleset_fd, group_fd] =
        [&ruleset, &group].map(|fd| fd.as_ref().map_or(-1, AsRawFd::as_raw_fd));
    let shared = Shared {
        orders,
        words: words.as_ptr(),
        environment: environment.as_ptr(),
        descriptors: [input_fd, output_fd, errors_fd, report_fd, ruleset_fd, group_fd],
        stack: aligned(middle),
        failed: Cell::new(None),
    };
    let flags = libc::CLONE_VM
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWIPC
        | orders.port.map_or(0, |_| libc::CLONE_NEWNET)
        | libc::SIGCHLD;
    let argument = (&raw const shared).cast_mut().cast::<c_void>();
    // No handler of ours may run in the keeper, whose memory is ours, nor in this thread before the
    // report: until then both have the place of the last error in common.
    let mask = block_signals();
    // SAFETY: `keeper` makes system calls only and touches nothing but `shared`, which lives until
    // its first report below, and its own stack, which lives as long as it does.
    let pid = unsafe { libc::clone(keeper, aligned(top), flags, argument) };
    let error = io::Error::last_os_error();
    // A negative number is refused here, not in `Pid`, which panics on one.
    let Some(pid) = Pid::from_raw(pid.max(0)) else {
        set_signals(&mask);
        return Err(Refusal::new(Step::Namespaces, error));
    };
    drop((ends, ruleset, group));
    let mut report = File::from(OwnedFd::from(report));
    let mut record = [0; 8];
    let heard = report.read_exact(&mut record);
    let listener = orders.port.filter(|_| heard.is_ok()).map(|_| fetch_listener(pid)).transpose();
    set_signals(&mask);
    let (step, number) = split(record);
    let refusal = match (heard, step, listener) {
        (Ok(()), Step::Done, Ok(listener)) => {
            let pipes = [OwnedFd::from(input), OwnedFd::from(output), OwnedFd::from(errors)];
            return Ok(Launched { pid, pipes: pipes.map(File::from), listener, report, stack });
        }
        (Ok(()), Step::Done, Err(error)) => Refusal::new(Step::Network, error.into()),
        (Ok(()), _, _) => Refusal::new(step, io::Error::from_raw_os_error(number)),
        (Err(error), _, _) => Refusal::new(Step::Namespaces, error),
    };
    // Its stack goes when it has ended, not before.
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    let ended = || rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
    while matches!(ended(), Err(rustix::io::Errno::INTR)) {}
    Err(refusal)
}

/// Our copy of the keeper's listener.
fn fetch_listener(keeper: Pid) -> rustix::io::Result<OwnedFd> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
    let keeper = pidfd_open(keeper, PidfdFlags::empty())?;
    pidfd_getfd(keeper, LISTENER, PidfdGetfdFlags::empty())
}

fn split(record: [u8; 8]) -> (Step, i32) {
    let [a, b, c, d, e, f, g, h] = record;
    let step = i32::from_ne_bytes([a, b, c, d]);
    let step = STEPS.iter().find(|(known, _)| *known as i32 == step);
    (step.map_or(Step::Namespaces, |(step, _)| *step), i32::from_ne_bytes([e, f, g, h]))
}

/// How the program ended, as the kernel says it, if the keeper has told.
pub(super) fn read_end(report: &mut File) -> Option<i32> {
    let mut record = [0; 8];
    report.read_exact(&mut record).ok()?;
    let (step, status) = split(record);
    (step == Step::Ended).then_some(status)
}

fn block_signals() -> libc::sigset_t {
    // SAFETY: both sets are whole and ours; the call fails on no argument that is used here.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    }
}

fn set_signals(mask: &libc::sigset_t) {
    // SAFETY: the set is whole.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, null_mut()) };
}

/// Process 1 of the namespace. It never returns.
extern "C" fn keeper(argument: *mut c_void) -> c_int {
    // SAFETY: it is the pointer that `in_namespaces` gave, which waits for the report.
    let shared = unsafe { &*argument.cast::<Shared<'_>>() };
    match prepare(shared).and_then(|()| fork_program(shared)) {
        Ok(program) => {
            tell(Step::Done, 0);
            // From here on `shared` may be gone.
            keep(program)
        }
        Err((step, number)) => {
            tell(step, number);
            leave()
        }
    }
}

/// Waits for the program and whatever it left behind.
fn keep(program: c_int) -> c_int {
    loop {
        // Its raw system call leaves the errors of the thread alone, which no longer waits.
        match rustix::process::wait(rustix::process::WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == program => {
                tell(Step::Ended, status.as_raw());
                leave()
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => leave(),
        }
    }
}

fn tell(step: Step, number: i32) {
    let ([a, b, c, d], [e, f, g, h]) = ((step as i32).to_ne_bytes(), number.to_ne_bytes());
    // SAFETY: the number is that of the report, open as long as the keeper lives.
    let report = unsafe { std::os::fd::BorrowedFd::borrow_raw(REPORT) };
    let _ = rustix::io::write(report, &[a, b, c, d, e, f, g, h]);
}

fn leave() -> ! {
    // SAFETY: it ends this process, nothing else.
    unsafe { libc::syscall(libc::SYS_exit_group, NIL) };
    loop {
        std::hint::spin_loop();
    }
}

/// Everything that is done before the program is there.
fn prepare(shared: &Shared<'_>) -> Result<(), Failed> {
    use Step::{Descriptors, Namespaces, Processes};
    default_signals();
    let kill = libc::SIGKILL as c_long;
    call!(Processes, libc::SYS_prctl, libc::PR_SET_PDEATHSIG as c_long, kill, NIL, NIL, NIL)?;
    let name = c"crownhead-bot".as_ptr();
    call!(Processes, libc::SYS_prctl, libc::PR_SET_NAME as c_long, name, NIL, NIL, NIL)?;
    // A session of its own is also a group of its own to a scheduler with autogroups: on a busy machine
    // it gets a fair share there, but an answer that takes microseconds waits longer for its turn.
    call!(Namespaces, libc::SYS_setsid)?;
    for (fd, number) in shared.descriptors.into_iter().zip(0..) {
        let flags = if number < REPORT { 0 } else { libc::O_CLOEXEC };
        match fd {
            0.. => {
                let (fd, flags) = (fd as c_long, flags as c_long);
                call!(Descriptors, libc::SYS_dup3, fd, number as c_long, flags)?;
            }
            // What has the number is ours.
            _ => close(number as c_long),
        }
    }
    let others = (GROUP + 1) as c_long;
    call!(Descriptors, libc::SYS_close_range, others, u32::MAX as c_long, NIL)?;
    // If we ended before the signal was asked for, nobody reads the report.
    let mut end = libc::pollfd { fd: REPORT, events: 0, revents: 0 };
    let one = 1 as c_long;
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    call!(Processes, libc::SYS_ppoll, &raw mut end, one, &raw const now, null::<c_void>(), NIL)?;
    if end.revents & libc::POLLERR != 0 {
        leave();
    }
    users(shared.orders)?;
    if let Some(port) = shared.orders.port {
        network::listen(port, LISTENER)?;
    }
    mounts(shared.orders)?;
    rules(shared.orders)
}

fn default_signals() {
    // What the kernel takes for a handler, flags, a restorer and a mask: the default, of no length.
    let default = [0_u64; 4];
    for signal in 1..=64 {
        // Two of them cannot be changed; those are never caught either.
        let _ = call!(
            Step::Processes,
            libc::SYS_rt_sigaction,
            signal as c_long,
            default.as_ptr(),
            null::<c_void>(),
            8 as c_long
        );
    }
}

/// Gives the user a number. It is not 0, so that no program has rights here that its user has not.
fn users(orders: &Orders) -> Result<(), Failed> {
    for (file, text) in [
        (c"/proc/self/setgroups", c"deny"),
        (c"/proc/self/uid_map", &orders.uid_map),
        (c"/proc/self/gid_map", &orders.gid_map),
    ] {
        let fd = open(Step::Users, file, libc::O_WRONLY)?;
        let length = text.count_bytes();
        call!(Step::Users, libc::SYS_write, fd, text.as_ptr(), length)?;
        close(fd);
    }
    if let Some(most) = &orders.most_pids {
        let fd = open(Step::Processes, c"/proc/sys/kernel/pid_max", libc::O_WRONLY)?;
        call!(Step::Processes, libc::SYS_write, fd, most.as_ptr(), most.count_bytes())?;
        close(fd);
    }
    Ok(())
}

/// Adds the scratch folder and `/proc` to the ruleset, now that they are there.
fn rules(orders: &Orders) -> Result<(), Failed> {
    if orders.ruleset.is_none() {
        return Ok(());
    }
    for (path, rights) in
        [(&orders.scratch, orders.scratch_rights), (&orders.proc, orders.read_rights)]
    {
        add_rule(RULESET as c_long, path, rights)?;
    }
    Ok(())
}

fn add_rule(ruleset: c_long, path: &CStr, rights: u64) -> Result<(), Failed> {
    #[repr(C, packed)]
    struct Beneath {
        rights: u64,
        folder: i32,
    }
    const BENEATH: c_long = 1;
    let folder = open(Step::Landlock, path, libc::O_PATH)?;
    let rule = Beneath { rights, folder: folder as i32 };
    call!(Step::Landlock, libc::SYS_landlock_add_rule, ruleset, BENEATH, &raw const rule, NIL)?;
    close(folder);
    Ok(())
}

/// Starts the second process, and waits until it is the program.
fn fork_program(shared: &Shared<'_>) -> Result<c_int, Failed> {
    // What `clone3` takes; the other one cannot make a process in a control group, and entering it later
    // takes the kernel ten times as long as all the rest.
    #[repr(C)]
    #[derive(Default)]
    struct Arguments {
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
    const INTO_GROUP: u64 = 0x2_0000_0000;
    // Its end is aligned, its beginning may be by a few bytes less.
    let size = STACK - 16;
    let has_group = shared.descriptors[5] >= 0;
    let arguments = Arguments {
        flags: (libc::CLONE_VM | libc::CLONE_VFORK) as u64 | if has_group { INTO_GROUP } else { 0 },
        exit_signal: libc::SIGCHLD as u64,
        stack: (shared.stack.addr() - size) as u64,
        stack_size: size as u64,
        cgroup: if has_group { GROUP as u64 } else { 0 },
        ..Arguments::default()
    };
    let step = if has_group { Step::Group } else { Step::Processes };
    let argument: *const Shared<'_> = shared;
    let pid: c_long;
    // SAFETY: `program` makes system calls only and never returns; this process waits until it has its own
    // memory or has ended, and its stack is used by nobody else. To this process it is a system call.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            "syscall", "test rax, rax", "jnz 2f", "mov rdi, r13", "call r12", "ud2", "2:",
            inlateout("rax") libc::SYS_clone3 => pid,
            in("rdi") &raw const arguments, in("rsi") size_of::<Arguments>(), in("r12") program, in("r13") argument,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    // SAFETY: the same.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            "svc 0", "cbnz x0, 2f", "mov x0, x10", "blr x9", "brk 1", "2:",
            inlateout("x0") &raw const arguments => pid,
            in("x1") size_of::<Arguments>(), in("x8") libc::SYS_clone3, in("x9") program, in("x10") argument,
        );
    }
    if pid < 0 {
        return Err((step, -pid as i32));
    }
    if let Some(failed) = shared.failed.get() {
        return Err(failed);
    }
    // The pipes are the program's alone: they end with it.
    call!(Step::Descriptors, libc::SYS_close_range, NIL, 2 as c_long, NIL)?;
    close(RULESET as c_long);
    close(GROUP as c_long);
    Ok(pid as c_int)
}

extern "C" fn program(shared: *const Shared<'_>) -> ! {
    // SAFETY: it is the pointer to what the keeper, which waits, works from.
    let shared = unsafe { &*shared };
    let orders = shared.orders;
    let started = enter_folder(orders).and_then(|()| confine(orders, RULESET as c_long));
    let started = started.and_then(|()| {
        let Some(file) = &orders.program else { return Err((Step::Ended, 0)) };
        let (words, environment) = (shared.words, shared.environment);
        call!(Step::Start, libc::SYS_execve, file.as_ptr(), words, environment)
    });
    shared.failed.set(started.err());
    leave()
}

fn enter_folder(orders: &Orders) -> Result<(), Failed> {
    call!(Step::Folder, libc::SYS_chdir, orders.folder.as_ptr())?;
    Ok(())
}

/// Puts up the walls around this process: limits, Landlock, seccomp.
fn confine(orders: &Orders, ruleset: c_long) -> Result<(), Failed> {
    for (what, most) in &orders.limits {
        let limit = libc::rlimit64 { rlim_cur: *most, rlim_max: *most };
        let none = null::<c_void>();
        let what = *what as c_long;
        call!(Step::Limits, libc::SYS_prlimit64, NIL, what, &raw const limit, none)?;
    }
    let one = 1 as c_long;
    call!(Step::Seccomp, libc::SYS_prctl, libc::PR_SET_NO_NEW_PRIVS as c_long, one, NIL, NIL, NIL)?;
    if orders.ruleset.is_some() {
        call!(Step::Landlock, libc::SYS_landlock_restrict_self, ruleset, NIL)?;
    }
    let no_signals = 0_u64;
    let (how, none) = (libc::SIG_SETMASK as c_long, null::<c_void>());
    let mask = &raw const no_signals;
    call!(Step::Processes, libc::SYS_rt_sigprocmask, how, mask, none, 8 as c_long)?;
    for filter in &orders.filters {
        #[repr(C)]
        struct Program {
            length: u16,
            steps: *const seccompiler::sock_filter,
        }
        let program = Program { length: filter.len() as u16, steps: filter.as_ptr() };
        const FILTER: c_long = 1;
        call!(Step::Seccomp, libc::SYS_seccomp, FILTER, NIL, &raw const program)?;
    }
    Ok(())
}

/// Makes a command put up the walls, those without namespaces, before it becomes the program.
pub(super) fn confine_command(command: &mut Command, orders: Orders) {
    let confine = move || {
        let walls = || -> Result<(), Failed> {
            use Step::{Descriptors, Group, Processes};
            call!(Processes, libc::SYS_setsid)?;
            let (option, signal) = (libc::PR_SET_PDEATHSIG as c_long, libc::SIGKILL as c_long);
            call!(Processes, libc::SYS_prctl, option, signal, NIL, NIL, NIL)?;
            const UNTIL_EXEC: c_long = 4;
            let most = u32::MAX as c_long;
            call!(Descriptors, libc::SYS_close_range, 3 as c_long, most, UNTIL_EXEC)?;
            let ruleset = orders.ruleset.as_ref().map(AsRawFd::as_raw_fd);
            if let Some(ruleset) = ruleset {
                add_rule(ruleset.into(), &orders.scratch, orders.scratch_rights)?;
                add_rule(ruleset.into(), &orders.proc, orders.read_rights)?;
            }
            if let Some(group) = &orders.group {
                let (entrance, text) = (group.entrance.as_raw_fd(), c"0".as_ptr());
                call!(Group, libc::SYS_write, entrance as c_long, text, 1 as c_long)?;
            }
            if orders.is_root {
                drop_rights()?;
            }
            confine(&orders, ruleset.unwrap_or(-1).into())
        };
        walls().map_err(|(_, number)| io::Error::from_raw_os_error(number))
    };
    // SAFETY: the closure makes system calls only, and errors of a number need no memory.
    unsafe { command.pre_exec(confine) };
}

/// Gives a command a session of its own: from there no process can get into our group.
pub(crate) fn set_apart(command: &mut Command) {
    // SAFETY: the closure makes a system call only.
    unsafe { command.pre_exec(|| rustix::process::setsid().map(drop).map_err(io::Error::from)) };
}

/// Root without any right of root, for good.
fn drop_rights() -> Result<(), Failed> {
    // No rights for user 0, nor by changing the user, nor kept, each of them locked. A root that may not
    // say so, as in many containers, is held by there being no new rights.
    const BITS: c_long = 0xef;
    let set = libc::PR_SET_SECUREBITS as c_long;
    let _ = call!(Step::Limits, libc::SYS_prctl, set, BITS, NIL, NIL, NIL);
    const VERSION: u32 = 0x2008_0522;
    let (head, rights) = ([VERSION, 0], [0_u32; 6]);
    call!(Step::Limits, libc::SYS_capset, head.as_ptr(), rights.as_ptr())?;
    Ok(())
}

/// The version of Landlock that the kernel has; 0 for none.
pub(super) fn landlock_version() -> u32 {
    const VERSION: c_long = 1;
    let none = null::<c_void>();
    let version = call!(Step::Landlock, libc::SYS_landlock_create_ruleset, none, NIL, VERSION);
    version.map_or(0, |version| version as u32)
}
