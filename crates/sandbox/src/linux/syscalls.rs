//! System calls by themselves, for code that runs where nothing of the standard library may: on memory
//! that it shares with us, or between `fork` and `exec`. Nothing here allocates, locks or panics.

#![allow(unsafe_code)] // system calls

use std::ffi::{CStr, c_int, c_long};

/// What was being done when something failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub(super) enum Step {
    Done = 0,
    Ended,
    Namespaces,
    Users,
    Mounts,
    Network,
    Processes,
    Group,
    Descriptors,
    Limits,
    Folder,
    Landlock,
    Seccomp,
    Start,
}

pub(super) const STEPS: [(Step, &str); 14] = [
    (Step::Done, "nothing"),
    (Step::Ended, "the end"),
    (Step::Namespaces, "making namespaces"),
    (Step::Users, "naming the user in a namespace"),
    (Step::Mounts, "making mounts"),
    (Step::Network, "making a network"),
    (Step::Processes, "making processes"),
    (Step::Group, "entering a control group"),
    (Step::Descriptors, "handing over the pipes"),
    (Step::Limits, "setting limits"),
    (Step::Folder, "entering its folder"),
    (Step::Landlock, "Landlock"),
    (Step::Seccomp, "seccomp"),
    (Step::Start, "starting its file"),
];

/// A step that failed, with the number of the error.
pub(super) type Failed = (Step, i32);

/// A system call looks at whole words.
pub(super) const NIL: c_long = 0;
/// What a system call returned, or the number of its error.
pub(super) fn done(step: Step, returned: c_long) -> Result<c_long, Failed> {
    match returned {
        // SAFETY: it points to the number of the last error of the calling thread. Behind the walls
        // that thread waits meanwhile and looks at no errors.
        -1 => Err((step, unsafe { *libc::__errno_location() })),
        other => Ok(other),
    }
}

macro_rules! call {
    ($step:expr, $number:expr $(, $argument:expr)*) => {
        // SAFETY: each call below passes what its manual page asks for: numbers, or pointers to what
        // lives during the call.
        done($step, unsafe { libc::syscall($number $(, $argument)*) })
    };
}

pub(super) use call;

pub(super) fn open(step: Step, path: &CStr, flags: c_int) -> Result<c_long, Failed> {
    let flags = (flags | libc::O_CLOEXEC) as c_long;
    call!(step, libc::SYS_openat, libc::AT_FDCWD as c_long, path.as_ptr(), flags, 0o600 as c_long)
}

pub(super) fn close(fd: c_long) {
    let _ = call!(Step::Done, libc::SYS_close, fd);
}
