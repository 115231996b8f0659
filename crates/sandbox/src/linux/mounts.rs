//! The file system that a program sees in namespaces: that of the machine, read-only, with an empty
//! scratch folder and a `/proc` of its own.

#![allow(unsafe_code)] // system calls

use std::ffi::{CStr, CString, c_long};

use super::launch::Orders;
use super::syscalls::{Failed, Step, call, close, done, open};

/// A path that is brought into the new mount namespace.
pub(super) struct Place {
    pub(super) path: CString,
    /// The folders around it that must be made, the outermost first.
    pub(super) parents: Vec<CString>,
    pub(super) kind: PlaceKind,
    pub(super) is_writable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceKind {
    Folder,
    File,
    /// A folder that need only be there.
    Empty,
}

/// More are not brought in.
pub(super) const MOST_PLACES: usize = 16;

/// Everything becomes read-only; the scratch folder is empty, and gone with the namespace.
pub(super) fn mounts(orders: &Orders) -> Result<(), Failed> {
    let mut trees = [-1; MOST_PLACES];
    take_trees(orders, true, &mut trees)?;
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        users: u64,
    }
    const READ_ONLY: u64 = 1;
    let attributes =
        Attributes { set: READ_ONLY, clear: 0, propagation: libc::MS_PRIVATE, users: 0 };
    call!(
        Step::Mounts,
        libc::SYS_mount_setattr,
        libc::AT_FDCWD as c_long,
        c"/".as_ptr(),
        RECURSIVE,
        &raw const attributes,
        size_of::<Attributes>()
    )?;
    take_trees(orders, false, &mut trees)?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    mount(c"tmpfs", &orders.scratch, flags, &orders.scratch_options)?;
    for (place, tree) in orders.places.iter().zip(trees) {
        for parent in &place.parents {
            // Most are there.
            let _ = make_folder(parent);
        }
        let path = place.path.as_ptr();
        if place.kind == PlaceKind::File {
            if let Ok(fd) = open(Step::Mounts, &place.path, libc::O_CREAT | libc::O_RDONLY) {
                close(fd);
            }
        } else {
            let _ = make_folder(&place.path);
        }
        if tree >= 0 {
            let here = libc::AT_FDCWD as c_long;
            let empty = c"".as_ptr();
            call!(Step::Mounts, libc::SYS_move_mount, tree, empty, here, path, FROM_DESCRIPTOR)?;
            close(tree);
        }
    }
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC | libc::MS_RDONLY;
    // The keeper is nobody's business: its command line is ours.
    mount(c"proc", c"/proc", flags, c"hidepid=4")
}

const RECURSIVE: c_long = 0x8000;
const FROM_DESCRIPTOR: c_long = 4;
const CLONED: c_long = 1;

/// Copies of the places that can be written, or of the others.
fn take_trees(orders: &Orders, writable: bool, trees: &mut [c_long]) -> Result<(), Failed> {
    for (place, tree) in orders.places.iter().zip(trees) {
        if place.is_writable == writable && place.kind != PlaceKind::Empty {
            let flags = CLONED | RECURSIVE | libc::O_CLOEXEC as c_long;
            let here = libc::AT_FDCWD as c_long;
            *tree = call!(Step::Mounts, libc::SYS_open_tree, here, place.path.as_ptr(), flags)?;
        }
    }
    Ok(())
}

fn make_folder(path: &CStr) -> Result<c_long, Failed> {
    let here = libc::AT_FDCWD as c_long;
    call!(Step::Mounts, libc::SYS_mkdirat, here, path.as_ptr(), 0o700 as c_long)
}

fn mount(kind: &CStr, path: &CStr, flags: libc::c_ulong, options: &CStr) -> Result<(), Failed> {
    let name = kind.as_ptr();
    call!(Step::Mounts, libc::SYS_mount, name, path.as_ptr(), name, flags, options.as_ptr())?;
    Ok(())
}
