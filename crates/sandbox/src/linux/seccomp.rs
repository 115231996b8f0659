//! System calls that a program may make; all others fail with `EPERM`. They do not kill the
//! program: runtimes try many calls that they can do without.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_long};

use libc::*;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use super::plan::Confinement;

/// System calls that are allowed whatever their arguments.
#[rustfmt::skip] // one call per line would take 200 lines
const ALLOWED: &[c_long] = &[
    // Reading and writing.
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv,
    SYS_pwritev, SYS_preadv2, SYS_pwritev2, SYS_lseek, SYS_sendfile, SYS_copy_file_range,
    SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_truncate, SYS_fallocate,
    SYS_close, SYS_close_range, SYS_dup, SYS_dup3, SYS_pipe2, SYS_eventfd2,
    // The file tree.
    SYS_openat, SYS_openat2, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs,
    SYS_faccessat, SYS_faccessat2, SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir,
    SYS_readlinkat, SYS_mkdirat, SYS_mknodat, SYS_linkat, SYS_symlinkat, SYS_unlinkat,
    SYS_renameat, SYS_renameat2, SYS_umask, SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr,
    SYS_listxattr, SYS_llistxattr, SYS_flistxattr,
    // Waiting.
    SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait,
    SYS_epoll_pwait2, SYS_signalfd4, SYS_timerfd_create, SYS_timerfd_settime,
    SYS_timerfd_gettime, SYS_futex, SYS_futex_waitv, SYS_nanosleep, SYS_clock_nanosleep,
    SYS_getitimer, SYS_setitimer,
    // Memory.
    SYS_brk, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_mincore,
    SYS_msync, SYS_mlock, SYS_mlock2, SYS_munlock, SYS_mlockall, SYS_munlockall,
    SYS_get_mempolicy, SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect, SYS_mseal,
    // Own processes and threads.
    SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_kill,
    SYS_tkill, SYS_tgkill, SYS_pidfd_open, SYS_pidfd_send_signal, SYS_getpid, SYS_getppid,
    SYS_gettid, SYS_getpgid, SYS_getsid, SYS_set_tid_address, SYS_set_robust_list,
    SYS_get_robust_list, SYS_rseq, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam,
    SYS_sched_getscheduler, SYS_sched_getattr, SYS_sched_get_priority_max,
    SYS_sched_get_priority_min, SYS_sched_rr_get_interval, SYS_getpriority, SYS_getrlimit,
    SYS_setrlimit, SYS_getrusage, SYS_getcpu, SYS_capget,
    // Signals.
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending,
    SYS_rt_sigtimedwait, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_rt_sigsuspend,
    SYS_sigaltstack, SYS_restart_syscall,
    // Information.
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid,
    SYS_getgroups, SYS_uname, SYS_sysinfo, SYS_times, SYS_clock_gettime, SYS_clock_getres,
    SYS_gettimeofday, SYS_getrandom,
    // Connected sockets. `socket`, `socketpair` and the calls that send are handled below.
    SYS_shutdown, SYS_getsockname, SYS_getpeername, SYS_setsockopt, SYS_getsockopt,
    SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg,
    // `futex_wake`, `futex_wait` and `futex_requeue`; `map_shadow_stack`.
    454, 455, 456, 453,
];

/// Further system calls of x86-64: older forms of the calls above.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const ALLOWED_HERE: &[c_long] = &[
    SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_getdents, SYS_readlink, SYS_mkdir,
    SYS_mknod, SYS_rmdir, SYS_link, SYS_symlink, SYS_unlink, SYS_rename, SYS_dup2, SYS_pipe,
    SYS_eventfd, SYS_poll, SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_signalfd, SYS_fork,
    SYS_vfork, SYS_getpgrp, SYS_pause, SYS_alarm, SYS_time, SYS_arch_prctl,
];
/// Further system calls of ARM64: none.
#[cfg(target_arch = "aarch64")]
const ALLOWED_HERE: &[c_long] = &[];

/// System calls of builds, which may have locks, sessions and job control. During a game, a lock on
/// a file of the machine would block others, and a bot is frozen by a signal to its process group.
const BUILD: &[c_long] = &[SYS_flock, SYS_setsid, SYS_setpgid];

/// System calls that change modes, owners, times and attributes of files. Landlock does not control
/// them; in a mount namespace the read-only file system does.
const METADATA: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    452, // fchmodat2
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Operations of `fcntl`. Not among them: leases and notifications, which block or watch other
/// users of a file; signals for a file; larger pipes, whose memory nobody counts.
const FCNTL: &[c_int] = &[
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETLK,
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_GETLK,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
    libc::F_GETPIPE_SZ,
    libc::F_GET_SEALS,
    1027, // F_DUPFD_QUERY
];

/// Operations of `ioctl`: non-blocking mode, what can be read, close-on-exec, and whether a
/// descriptor is a terminal.
const IOCTL: &[u64] = &[
    0x5421,      // FIONBIO
    0x541b,      // FIONREAD
    0x5450,      // FIONCLEX
    0x5451,      // FIOCLEX
    0x5401,      // TCGETS
    0x802c_542a, // TCGETS2
    0x540f,      // TIOCGPGRP
    0x5413,      // TIOCGWINSZ
];

/// Not defined by `libc` for musl.
const PR_GET_SPECULATION_CTRL: c_int = 52;

/// Options of `prctl`; `PR_SET_PDEATHSIG` is handled below. Not among them: a process that is not
/// dumpable hides its memory from the monitor, and a subreaper keeps orphans.
const PRCTL: &[c_int] = &[
    libc::PR_GET_PDEATHSIG,
    libc::PR_GET_DUMPABLE,
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_GET_SECCOMP,
    libc::PR_CAPBSET_READ,
    libc::PR_SET_TIMERSLACK,
    libc::PR_GET_TIMERSLACK,
    libc::PR_GET_CHILD_SUBREAPER,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_GET_TID_ADDRESS,
    libc::PR_SET_THP_DISABLE,
    libc::PR_GET_THP_DISABLE,
    PR_GET_SPECULATION_CTRL,
    libc::PR_SET_VMA,
    #[cfg(target_arch = "aarch64")]
    libc::PR_SVE_GET_VL,
    #[cfg(target_arch = "aarch64")]
    libc::PR_GET_TAGGED_ADDR_CTRL,
    #[cfg(target_arch = "aarch64")]
    libc::PR_PAC_RESET_KEYS,
];

/// Advice for `fadvise64`. It does not include `POSIX_FADV_DONTNEED`, which drops a file from the
/// cache, so that others have to wait for the disk.
const FADVICE: &[c_int] = &[
    libc::POSIX_FADV_NORMAL,
    libc::POSIX_FADV_RANDOM,
    libc::POSIX_FADV_SEQUENTIAL,
    libc::POSIX_FADV_WILLNEED,
    libc::POSIX_FADV_NOREUSE,
];

/// System calls that send a signal, each with the argument that is its number. In a game SIGCONT
/// is refused: processes that keep sending it to each other would wake each other while the bot is
/// being frozen.
const SIGNALS: &[(c_long, u8)] = &[
    (SYS_kill, 1),
    (SYS_tkill, 1),
    (SYS_tgkill, 2),
    (SYS_rt_sigqueueinfo, 1),
    (SYS_rt_tgsigqueueinfo, 2),
    (SYS_pidfd_send_signal, 1),
];

/// Commands of `membarrier` that concern only the calling process: query, expedited, and their
/// registrations.
const MEMBARRIER: &[c_int] = &[0, 8, 16, 32, 64];

/// Highest system call number that was reviewed for these lists (`mseal`). Higher numbers,
/// including those of the x32 ABI, fail with `ENOSYS`, as on an older kernel.
const MAX_SYSCALL: u32 = 462;

/// System calls that fail with `ENOSYS`, so that programs use an older one. The flags of `clone3`
/// are behind a pointer; without it the C library uses `clone`. A timer of `timer_create` could
/// send SIGCONT to a frozen bot. Programs that find no `flock` do without locks.
const MISSING: &[c_long] = &[SYS_clone3, SYS_timer_create, SYS_flock];

/// Flags of `clone` that no program may use: those that create namespaces, and those that give the
/// new process another parent or tracer.
const CLONE_FLAGS: c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_PARENT
    | libc::CLONE_PTRACE
    | libc::CLONE_UNTRACED;

/// Bits of the flags of `clone` with the signal that the parent gets when the process ends. SIGCONT
/// would wake a frozen parent.
const EXIT_SIGNAL_MASK: u64 = 0xff;

#[cfg(target_arch = "x86_64")]
const ARCH: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCH: TargetArch = TargetArch::aarch64;

/// Compiles the filter of a program.
pub(super) fn filter(confinement: &Confinement) -> Result<BpfProgram, String> {
    let failed = |error: seccompiler::BackendError| format!("cannot compile a filter: {error}");
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let rules = allowed_calls(confinement).map_err(failed)?;
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, ARCH).map_err(failed)?;
    let mut program = missing_calls(confinement);
    program.extend(BpfProgram::try_from(filter).map_err(failed)?);
    Ok(program)
}

/// Start of a filter: rejects [`MISSING`] system calls and those above [`MAX_SYSCALL`] with
/// `ENOSYS`.
fn missing_calls(confinement: &Confinement) -> BpfProgram {
    let instruction = |code: u32, jt: u8, k: u32| sock_filter { code: code as u16, jt, jf: 0, k };
    let is_missing = |call: &&c_long| !confinement.is_build || !BUILD.contains(call);
    let missing: Vec<_> = MISSING.iter().filter(is_missing).collect();
    // The number of the system call is the first word of the data.
    let mut program = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    // Instructions between a comparison and the rejection: later comparisons and one jump.
    let mut distance = missing.len() as u8 + 1;
    program.push(instruction(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, distance, MAX_SYSCALL));
    for call in missing {
        distance -= 1;
        let compare = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        program.push(instruction(compare, distance, *call as u32));
    }
    program.push(instruction(libc::BPF_JMP | libc::BPF_JA, 0, 1));
    let reject = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    program.push(instruction(libc::BPF_RET | libc::BPF_K, 0, reject));
    program
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Rules for allowed calls: no rule allows all uses, otherwise each rule allows some arguments.
///
/// Arguments are compared in their low 32 bits, as the kernel does: it ignores the others.
fn allowed_calls(confinement: &Confinement) -> Result<Rules, seccompiler::BackendError> {
    let calls = [ALLOWED, ALLOWED_HERE].concat();
    let mut allowed: Rules = calls.into_iter().map(|call| (call, Vec::new())).collect();
    if confinement.is_build {
        allowed.extend(BUILD.iter().map(|call| (*call, Vec::new())));
        if !confinement.has_namespaces {
            // A program's processes can be found and killed as long as they stay in one group.
            allowed.retain(|call, _| ![SYS_setsid, SYS_setpgid].contains(call));
        }
    }
    if confinement.has_namespaces || confinement.is_build {
        allowed.extend(METADATA.iter().map(|call| (*call, Vec::new())));
    }
    let condition =
        |argument: u8, op: Op, value: u64| SeccompCondition::new(argument, Width::Dword, op, value);
    let one_of = |argument: u8, values: &[u64]| {
        let rule = |value: &u64| SeccompRule::new(vec![condition(argument, Op::Eq, *value)?]);
        values.iter().map(rule).collect::<Result<Vec<_>, _>>()
    };
    let one_of_ints = |argument: u8, values: &[c_int]| {
        one_of(argument, &values.iter().map(|value| *value as u64).collect::<Vec<_>>())
    };
    allowed.insert(SYS_fcntl, one_of_ints(1, FCNTL)?);
    allowed.insert(SYS_ioctl, one_of(1, IOCTL)?);
    let mut prctl = one_of_ints(0, PRCTL)?;
    let not_continue = |argument: u8| condition(argument, Op::Ne, libc::SIGCONT as u64);
    if !confinement.is_build {
        for (call, argument) in SIGNALS {
            allowed.insert(*call, vec![SeccompRule::new(vec![not_continue(*argument)?])?]);
        }
    }
    // The signal that a process gets when its parent ends.
    let on_parents_end = condition(0, Op::Eq, libc::PR_SET_PDEATHSIG as u64)?;
    prctl.push(SeccompRule::new(vec![on_parents_end, not_continue(1)?])?);
    allowed.insert(SYS_prctl, prctl);
    allowed.insert(SYS_membarrier, one_of_ints(0, MEMBARRIER)?);
    allowed.insert(SYS_fadvise64, one_of_ints(3, FADVICE)?);
    // The kernel keeps shared memory without a file as long as any page of it is mapped, and no
    // count shows the rest. Private memory and mapped files are counted.
    let lacks = |argument: u8, flag: c_int| {
        SeccompRule::new(vec![condition(argument, Op::MaskedEq(flag as u64), 0)?])
    };
    let private_or_file = vec![lacks(3, libc::MAP_SHARED)?, lacks(3, libc::MAP_ANONYMOUS)?];
    allowed.insert(SYS_mmap, private_or_file);
    // Only for the calling process.
    allowed.insert(SYS_prlimit64, one_of(0, &[0])?);
    // A thread must share the descriptors of its process, so that the memory behind them can be
    // counted.
    let [is_process, is_thread] = [0, libc::CLONE_THREAD | libc::CLONE_FILES];
    let clone = |exit_signal: c_int, kind: c_int| {
        let kind_mask = (libc::CLONE_THREAD | kind) as u64;
        SeccompRule::new(vec![
            condition(0, Op::MaskedEq(CLONE_FLAGS as u64), 0)?,
            condition(0, Op::MaskedEq(EXIT_SIGNAL_MASK), exit_signal as u64)?,
            condition(0, Op::MaskedEq(kind_mask), kind as u64)?,
        ])
    };
    let clones = [(libc::SIGCHLD, is_process), (0, is_process), (0, is_thread)];
    let clones = clones.into_iter().map(|(exit_signal, kind)| clone(exit_signal, kind));
    allowed.insert(SYS_clone, clones.collect::<Result<_, _>>()?);
    // Connected types only: the datagram sockets of a pair could be connected elsewhere (raw Unix
    // sockets are datagram sockets too). Rust's `Command` uses a pair.
    const TYPE_MASK: u64 = 0xf;
    let socket = |family: c_int, kind: c_int, protocol: c_int| {
        SeccompRule::new(vec![
            condition(0, Op::Eq, family as u64)?,
            condition(1, Op::MaskedEq(TYPE_MASK), kind as u64)?,
            condition(2, Op::Eq, protocol as u64)?,
        ])
    };
    let pairs =
        [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(|kind| socket(libc::AF_UNIX, kind, 0));
    allowed.insert(SYS_socketpair, pairs.into_iter().collect::<Result<_, _>>()?);
    if confinement.port.is_some() {
        // TCP only: Landlock restricts the port, and knows no other protocol.
        let tcp = [0, libc::IPPROTO_TCP].map(|kind| socket(libc::AF_INET, libc::SOCK_STREAM, kind));
        allowed.insert(SYS_socket, tcp.into_iter().collect::<Result<_, _>>()?);
        allowed.insert(SYS_connect, Vec::new());
    }
    // Sending with TCP Fast Open connects without Landlock's check.
    allowed.insert(SYS_sendto, vec![lacks(3, libc::MSG_FASTOPEN)?]);
    if confinement.port.is_some() {
        // Programs without a port have only pipes and pairs of sockets. A message through such a
        // pair could carry descriptors, and nobody counts those in transit.
        allowed.insert(SYS_sendmsg, vec![lacks(2, libc::MSG_FASTOPEN)?]);
        allowed.insert(SYS_sendmmsg, vec![lacks(3, libc::MSG_FASTOPEN)?]);
    }
    Ok(allowed)
}
