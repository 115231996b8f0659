//! The file system of a program in namespaces: that of the machine, read-only, with an empty
//! scratch directory and a `/proc` of its own.

#![allow(unsafe_code)] // system calls

use std::ffi::{CStr, CString, c_long};
use std::os::fd::{AsRawFd, OwnedFd};

use super::plan::LaunchPlan;
use super::syscalls::{LaunchStep, StepError, call, check, close, open};

/// A path that is made available in the new mount namespace.
pub(super) struct BindMount {
    pub(super) path: CString,
    /// Directories above it that must be created, outermost first.
    pub(super) parents: Vec<CString>,
    pub(super) kind: MountKind,
    pub(super) is_writable: bool,
    /// Copy of its mount, if it was opened before the new process was created.
    pub(super) tree: Option<OwnedFd>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MountKind {
    Directory,
    File,
    /// A directory that must exist but stays empty.
    Empty,
}

/// Maximum number of bind mounts; more are ignored.
pub(super) const MAX_BIND_MOUNTS: usize = 32;

const AT_RECURSIVE: c_long = 0x8000;
const MOVE_MOUNT_F_EMPTY_PATH: c_long = 4;
pub(super) const OPEN_TREE_CLONE: c_long = 1;
pub(super) const MOUNT_ATTR_RDONLY: u64 = 1;
const CURRENT_DIR: c_long = libc::AT_FDCWD as c_long;

/// `struct mount_attr`
#[repr(C)]
pub(super) struct MountAttributes {
    pub(super) attr_set: u64,
    pub(super) attr_clr: u64,
    pub(super) propagation: u64,
    pub(super) userns_fd: u64,
}

/// Makes everything read-only, and mounts the scratch directory, the bind mounts and `/proc`.
pub(super) fn set_up(plan: &LaunchPlan) -> Result<(), StepError> {
    let mut trees = [-1; MAX_BIND_MOUNTS];
    // Trees that are opened before everything becomes read-only stay writable.
    open_trees(plan, true, &mut trees)?;
    let attributes = MountAttributes {
        attr_set: MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    call!(
        LaunchStep::Mounts,
        libc::SYS_mount_setattr,
        CURRENT_DIR,
        c"/".as_ptr(),
        AT_RECURSIVE,
        &raw const attributes,
        size_of::<MountAttributes>()
    )?;
    open_trees(plan, false, &mut trees)?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    mount(c"tmpfs", &plan.scratch_dir, flags, &plan.scratch_options)?;
    for hidden in &plan.hidden {
        mount(c"tmpfs", hidden, flags, c"size=1m,mode=755")?;
    }
    for (bind, tree) in plan.bind_mounts.iter().zip(trees) {
        for parent in &bind.parents {
            // Most exist already.
            let _ = create_dir(parent);
        }
        if bind.kind == MountKind::File {
            if let Ok(fd) = open(LaunchStep::Mounts, &bind.path, libc::O_CREAT | libc::O_RDONLY) {
                close(fd);
            }
        } else {
            let _ = create_dir(&bind.path);
        }
        if tree >= 0 {
            let (empty, path, flags) = (c"".as_ptr(), bind.path.as_ptr(), MOVE_MOUNT_F_EMPTY_PATH);
            call!(LaunchStep::Mounts, libc::SYS_move_mount, tree, empty, CURRENT_DIR, path, flags)?;
            close(tree);
        }
    }
    for file in &plan.masked {
        mask(file)?;
    }
    // Hides init, which has our command line.
    mount(c"proc", c"/proc", PROC_FLAGS, c"hidepid=4")
}

const PROC_FLAGS: libc::c_ulong = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;

/// Makes `/proc` read-only.
pub(super) fn protect_proc() -> Result<(), StepError> {
    let flags = PROC_FLAGS | libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY;
    mount(c"proc", c"/proc", flags, c"")
}

/// Opens copies of the mounts of those bind mounts that are writable, or of those that are not.
fn open_trees(plan: &LaunchPlan, writable: bool, trees: &mut [c_long]) -> Result<(), StepError> {
    for (bind, tree) in plan.bind_mounts.iter().zip(trees) {
        if let Some(opened) = &bind.tree {
            *tree = opened.as_raw_fd().into();
        } else if bind.is_writable == writable && bind.kind != MountKind::Empty {
            let flags = OPEN_TREE_CLONE | AT_RECURSIVE | libc::O_CLOEXEC as c_long;
            let path = bind.path.as_ptr();
            *tree = call!(LaunchStep::Mounts, libc::SYS_open_tree, CURRENT_DIR, path, flags)?;
        }
    }
    Ok(())
}

/// Covers a file with `/dev/null`. Does nothing if it is not visible anyway.
fn mask(file: &CStr) -> Result<(), StepError> {
    let step = LaunchStep::Mounts;
    match open(step, file, libc::O_PATH) {
        Ok(fd) => close(fd),
        Err(_) => return Ok(()),
    }
    let (source, file) = (c"/dev/null".as_ptr(), file.as_ptr());
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC as c_long;
    let tree = call!(step, libc::SYS_open_tree, CURRENT_DIR, source, flags)?;
    let (empty, flags) = (c"".as_ptr(), MOVE_MOUNT_F_EMPTY_PATH);
    call!(step, libc::SYS_move_mount, tree, empty, CURRENT_DIR, file, flags)?;
    close(tree);
    Ok(())
}

fn create_dir(path: &CStr) -> Result<c_long, StepError> {
    call!(LaunchStep::Mounts, libc::SYS_mkdirat, CURRENT_DIR, path.as_ptr(), 0o755 as c_long)
}

fn mount(kind: &CStr, path: &CStr, flags: libc::c_ulong, options: &CStr) -> Result<(), StepError> {
    let (kind, path, options) = (kind.as_ptr(), path.as_ptr(), options.as_ptr());
    call!(LaunchStep::Mounts, libc::SYS_mount, kind, path, kind, flags, options)?;
    Ok(())
}
