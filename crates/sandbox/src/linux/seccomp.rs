//! The system calls that a program may not make. They fail, as if the user had no right to: runtimes
//! try much that they can do without.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use super::Wall;

/// What nobody may do.
const NEVER: &[libc::c_long] = &[
    // Sockets: `socket` is below. Without one there is nothing to bind or to connect, but a socket
    // pair could be turned elsewhere.
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // The file tree.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // It would tell the names of files that others use.
    libc::SYS_inotify_add_watch,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Keyrings and new namespaces (and `clone`, below).
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Memory that nobody counts, and what outlives a process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    // Parts of the kernel that no bot needs and that have had holes.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_personality,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_syslog,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // A larger share of the processors.
    libc::SYS_setpriority,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_ioprio_set,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// What Landlock does not see, and what a mount namespace would forbid: changing the modes, owners
/// and times of files that cannot be written.
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

/// The newest system call that was looked at when this list was made (`mseal`). What came later, and
/// the numbers of the x32 system calls, are unknown to programs: they must be able to do without.
const NEWEST: u32 = 462;

/// The flags of `clone` that make namespaces.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

#[cfg(target_arch = "x86_64")]
const ARCH: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCH: TargetArch = TargetArch::aarch64;

/// The filters of a program. They are made once for each kind of wall.
pub(super) fn filters(wall: &Wall) -> Result<Vec<BpfProgram>, String> {
    let told = |error: seccompiler::BackendError| format!("no filter of system calls: {error}");
    let denied = denied(wall).map_err(told)?;
    let denial = SeccompAction::Errno(libc::EPERM as u32);
    let denied = SeccompFilter::new(denied, SeccompAction::Allow, denial, ARCH).map_err(told)?;
    // The C library then takes `clone`, whose flags can be looked at.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let absence = SeccompAction::Errno(libc::ENOSYS as u32);
    let unknown = SeccompFilter::new(unknown, SeccompAction::Allow, absence, ARCH).map_err(told)?;
    let compiled = [denied, unknown].map(BpfProgram::try_from);
    let mut filters = vec![newest()];
    for filter in compiled {
        filters.push(filter.map_err(told)?);
    }
    Ok(filters)
}

/// A filter that knows no system call after the newest.
fn newest() -> BpfProgram {
    let step = |code: u32, jt: u8, k: u32| sock_filter { code: code as u16, jt, jf: 0, k };
    let refused = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    vec![
        // The number of the system call is the first word.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 1, NEWEST),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        step(libc::BPF_RET | libc::BPF_K, 0, refused),
    ]
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn denied(wall: &Wall) -> Result<Rules, seccompiler::BackendError> {
    let mut denied: Rules = NEVER.iter().map(|call| (*call, Vec::new())).collect();
    if !wall.has_namespaces {
        // So long all its processes are in one group, they can be found and ended.
        denied.insert(libc::SYS_setsid, Vec::new());
        denied.insert(libc::SYS_setpgid, Vec::new());
        if !wall.is_build {
            denied.extend(METADATA.iter().map(|call| (*call, Vec::new())));
        }
    }
    let rule = |argument: u8, op: Op, value: u64| {
        let condition = SeccompCondition::new(argument, Width::Dword, op, value)?;
        SeccompRule::new(vec![condition])
    };
    let kind = 0xf;
    let stream = libc::SOCK_STREAM as u64;
    match wall.port {
        None => {
            denied.insert(libc::SYS_socket, Vec::new());
            denied.insert(libc::SYS_connect, Vec::new());
        }
        // Which port it reaches is Landlock's to say, which knows TCP only.
        Some(_) => {
            let family = rule(0, Op::Ne, libc::AF_INET as u64)?;
            let kinds = (0..=kind).filter(|number| *number != stream);
            let kinds = kinds.map(|number| rule(1, Op::MaskedEq(kind), number));
            let mut rules = vec![family, rule(2, Op::Gt, libc::IPPROTO_TCP as u64)?];
            rules.extend(kinds.collect::<Result<Vec<_>, _>>()?);
            denied.insert(libc::SYS_socket, rules);
        }
    }
    // Datagrams of a pair could be sent elsewhere. (To a Unix socket, raw is datagrams too.) What is
    // connected stays: Rust starts other programs with the help of such a pair.
    let packets = libc::SOCK_SEQPACKET as u64;
    let kinds = (0..=kind).filter(|number| *number != stream && *number != packets);
    let mut pairs = vec![rule(0, Op::Ne, libc::AF_UNIX as u64)?];
    for number in kinds {
        pairs.push(rule(1, Op::MaskedEq(kind), number)?);
    }
    denied.insert(libc::SYS_socketpair, pairs);
    // Sending can connect, past Landlock's rules for connecting.
    let connecting = libc::MSG_FASTOPEN as u64;
    for (call, argument) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)]
    {
        denied.insert(call, vec![rule(argument, Op::MaskedEq(connecting), connecting)?]);
    }
    let flags = NAMESPACES.map(|flag| flag as u64);
    let flags = flags.map(|flag| rule(0, Op::MaskedEq(flag), flag));
    denied.insert(libc::SYS_clone, flags.into_iter().collect::<Result<_, _>>()?);
    // Limits of others are not its to change.
    denied.insert(libc::SYS_prlimit64, vec![rule(0, Op::Ne, 0)?]);
    Ok(denied)
}
