//! System calls that a program may not make. They fail with `EPERM` instead of killing the program:
//! runtimes try many calls that they can do without.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use super::plan::Confinement;

/// System calls that are denied whatever their arguments.
const DENIED: &[libc::c_long] = &[
    // Sockets. `socket` itself is handled below; these also stop what could be done with the
    // sockets of a pair.
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
    // Mounts and the file tree.
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
    // Would reveal the names of files that others use.
    libc::SYS_inotify_add_watch,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Keyrings, and namespaces (for `clone`, see below).
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Memory that the monitor does not count, and objects that outlive a process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    // Parts of the kernel with a history of vulnerabilities that no program here needs.
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
    // Administration.
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
    // A larger share of the CPUs.
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

/// Highest system call number that was reviewed for these lists (`mseal`). Higher numbers,
/// including those of the x32 ABI, fail with `ENOSYS`, as on an older kernel.
const MAX_SYSCALL: u32 = 462;

/// Flags of `clone` that create namespaces.
const NAMESPACE_FLAGS: [libc::c_int; 7] = [
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

/// Compiles the filters of a program.
pub(super) fn filters(confinement: &Confinement) -> Result<Vec<BpfProgram>, String> {
    let failed = |error: seccompiler::BackendError| format!("cannot compile filters: {error}");
    let filter = |rules: Rules, errno: i32| {
        let action = SeccompAction::Errno(errno as u32);
        SeccompFilter::new(rules, SeccompAction::Allow, action, ARCH).and_then(BpfProgram::try_from)
    };
    let denied = denied_calls(confinement).and_then(|rules| filter(rules, libc::EPERM));
    // Without `clone3` the C library uses `clone`, whose flags a filter can inspect.
    let clone3 = filter(Rules::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS);
    Ok(vec![unknown_calls(), denied.map_err(failed)?, clone3.map_err(failed)?])
}

/// Filter that rejects system calls above [`MAX_SYSCALL`].
fn unknown_calls() -> BpfProgram {
    let instruction = |code: u32, jt: u8, k: u32| sock_filter { code: code as u16, jt, jf: 0, k };
    let reject = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    vec![
        // The number of the system call is the first word of the data.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 1, MAX_SYSCALL),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        instruction(libc::BPF_RET | libc::BPF_K, 0, reject),
    ]
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Rules for denied calls: no rule denies all uses, otherwise each rule denies some arguments.
fn denied_calls(confinement: &Confinement) -> Result<Rules, seccompiler::BackendError> {
    let mut denied: Rules = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    if !confinement.has_namespaces {
        // A program's processes can be found and killed as long as they stay in one group.
        denied.insert(libc::SYS_setsid, Vec::new());
        denied.insert(libc::SYS_setpgid, Vec::new());
        if !confinement.is_build {
            denied.extend(METADATA.iter().map(|call| (*call, Vec::new())));
        }
    }
    let rule = |argument: u8, op: Op, value: u64| {
        let condition = SeccompCondition::new(argument, Width::Dword, op, value)?;
        SeccompRule::new(vec![condition])
    };
    let type_mask = 0xf;
    let stream = libc::SOCK_STREAM as u64;
    match confinement.port {
        None => {
            denied.insert(libc::SYS_socket, Vec::new());
            denied.insert(libc::SYS_connect, Vec::new());
        }
        // TCP only: Landlock restricts the port, and knows no other protocol.
        Some(_) => {
            let family = rule(0, Op::Ne, libc::AF_INET as u64)?;
            let types = (0..=type_mask).filter(|kind| *kind != stream);
            let types = types.map(|kind| rule(1, Op::MaskedEq(type_mask), kind));
            let mut rules = vec![family, rule(2, Op::Gt, libc::IPPROTO_TCP as u64)?];
            rules.extend(types.collect::<Result<Vec<_>, _>>()?);
            denied.insert(libc::SYS_socket, rules);
        }
    }
    // The datagram sockets of a pair could be connected elsewhere (raw Unix sockets are datagram
    // sockets too). Connected types are allowed: Rust's `Command` uses such a pair.
    let packets = libc::SOCK_SEQPACKET as u64;
    let types = (0..=type_mask).filter(|kind| *kind != stream && *kind != packets);
    let mut pairs = vec![rule(0, Op::Ne, libc::AF_UNIX as u64)?];
    for kind in types {
        pairs.push(rule(1, Op::MaskedEq(type_mask), kind)?);
    }
    denied.insert(libc::SYS_socketpair, pairs);
    // Sending with TCP Fast Open connects without Landlock's check.
    let fast_open = libc::MSG_FASTOPEN as u64;
    for (call, argument) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)]
    {
        denied.insert(call, vec![rule(argument, Op::MaskedEq(fast_open), fast_open)?]);
    }
    let flags = NAMESPACE_FLAGS.map(|flag| flag as u64);
    let flags = flags.map(|flag| rule(0, Op::MaskedEq(flag), flag));
    denied.insert(libc::SYS_clone, flags.into_iter().collect::<Result<_, _>>()?);
    // Limits of other processes.
    denied.insert(libc::SYS_prlimit64, vec![rule(0, Op::Ne, 0)?]);
    Ok(denied)
}
