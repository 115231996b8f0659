//! Raw system calls, for code that must not use the standard library: it runs in a process that
//! shares our memory, or between `fork` and `exec`. Nothing here allocates, locks or panics.

#![allow(unsafe_code)] // system calls

use std::ffi::{CStr, c_int, c_long, c_void};
use std::ptr::null;

/// Step of a new process between `clone` and `exec`, reported if it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub(super) enum LaunchStep {
    /// The program runs.
    Done = 0,
    /// The program has ended, or there was none to start.
    Exited,
    Namespaces,
    IdMaps,
    Mounts,
    Network,
    Processes,
    Cgroup,
    Descriptors,
    Limits,
    Folder,
    Landlock,
    Seccomp,
    Exec,
}

/// Each step with its description, for "… failed".
const STEPS: [(LaunchStep, &str); 14] = [
    (LaunchStep::Done, "starting the program"),
    (LaunchStep::Exited, "starting the program"),
    (LaunchStep::Namespaces, "creating namespaces"),
    (LaunchStep::IdMaps, "mapping the user into the namespace"),
    (LaunchStep::Mounts, "mounting the file system"),
    (LaunchStep::Network, "setting up the network"),
    (LaunchStep::Processes, "creating processes"),
    (LaunchStep::Cgroup, "entering the control group"),
    (LaunchStep::Descriptors, "passing on file descriptors"),
    (LaunchStep::Limits, "setting resource limits"),
    (LaunchStep::Folder, "entering the folder"),
    (LaunchStep::Landlock, "Landlock"),
    (LaunchStep::Seccomp, "seccomp"),
    (LaunchStep::Exec, "executing the program"),
];

impl LaunchStep {
    /// Returns the step that a process reported by number.
    pub(super) fn from_raw(raw: i32) -> Option<LaunchStep> {
        STEPS.iter().map(|(step, _)| *step).find(|step| *step as i32 == raw)
    }

    pub(super) fn describe(self) -> &'static str {
        STEPS.iter().find(|(step, _)| *step == self).map_or("", |(_, text)| text)
    }
}

/// The step that failed, and the errno.
pub(super) type StepError = (LaunchStep, i32);

/// Zero or null as an argument: system calls take whole machine words.
pub(super) const NIL: c_long = 0;

/// Turns the return value of a system call into a `Result`.
pub(super) fn check(step: LaunchStep, returned: c_long) -> Result<c_long, StepError> {
    match returned {
        // SAFETY: the pointer is to the errno of the calling thread and always valid. A process
        // that shares our memory shares it with the thread that started it, which waits meanwhile
        // and looks at no errno.
        -1 => Err((step, unsafe { *libc::__errno_location() })),
        value => Ok(value),
    }
}

/// Makes a system call as part of a [`LaunchStep`].
macro_rules! call {
    ($step:expr, $number:expr $(, $argument:expr)*) => {
        // SAFETY: every use passes the arguments that the manual page of the call demands: numbers,
        // and pointers to values that live during the call.
        check($step, unsafe { libc::syscall($number $(, $argument)*) })
    };
}

pub(super) use call;

pub(super) fn open(step: LaunchStep, path: &CStr, flags: c_int) -> Result<c_long, StepError> {
    let flags = (flags | libc::O_CLOEXEC) as c_long;
    call!(step, libc::SYS_openat, libc::AT_FDCWD as c_long, path.as_ptr(), flags, 0o600 as c_long)
}

pub(super) fn close(fd: c_long) {
    let _ = call!(LaunchStep::Done, libc::SYS_close, fd);
}

/// Ends this process at once.
pub(super) fn exit_now() -> ! {
    // SAFETY: the call ends this process and has no other effect.
    unsafe { libc::syscall(libc::SYS_exit_group, NIL) };
    loop {
        std::hint::spin_loop();
    }
}

/// Version of the kernel's Landlock ABI; 0 without Landlock.
pub(super) fn landlock_abi() -> u32 {
    const LANDLOCK_CREATE_RULESET_VERSION: c_long = 1;
    let (attributes, flags) = (null::<c_void>(), LANDLOCK_CREATE_RULESET_VERSION);
    let number = libc::SYS_landlock_create_ruleset;
    let version = call!(LaunchStep::Landlock, number, attributes, NIL, flags);
    version.map_or(0, |version| version as u32)
}

/// Allows `access` to everything beneath `path` in a Landlock ruleset.
pub(super) fn landlock_add_path(
    ruleset: c_long,
    path: &CStr,
    access: u64,
) -> Result<(), StepError> {
    /// `struct landlock_path_beneath_attr`
    #[repr(C, packed)]
    struct PathBeneath {
        allowed_access: u64,
        parent_fd: i32,
    }
    const LANDLOCK_RULE_PATH_BENEATH: c_long = 1;
    let fd = open(LaunchStep::Landlock, path, libc::O_PATH)?;
    let rule = PathBeneath { allowed_access: access, parent_fd: fd as i32 };
    let (kind, rule) = (LANDLOCK_RULE_PATH_BENEATH, &raw const rule);
    call!(LaunchStep::Landlock, libc::SYS_landlock_add_rule, ruleset, kind, rule, NIL)?;
    close(fd);
    Ok(())
}
