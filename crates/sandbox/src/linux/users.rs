//! Users of programs. If we run as root, each running program gets a user and a group of its own,
//! so it owns no file of the machine or of another program.
//!
//! The program's own files belong to somebody else then. Its mounts of them map their owner to the
//! program's user (idmapped mounts), so that private folders work, and what a build writes belongs
//! to the owner of the folder.

#![allow(unsafe_code)] // system calls

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, c_int, c_long, c_void};
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

use super::init::FIRST_FREE_FD;
use super::launch::with_signals_blocked;
use super::mounts::{MOUNT_ATTR_RDONLY, MountAttributes, OPEN_TREE_CLONE};
use super::plan::c_string;
use super::syscalls::NIL;

/// Environment variable with the range of ids, as in `61184-61999`.
const VARIABLE: &str = "CROWNHEAD_BOT_UIDS";
/// Default range. No distribution assigns these ids.
const DEFAULT_RANGE: RangeInclusive<u32> = 1_900_000_000..=1_900_065_535;
/// Distance between the first ids that two processes of this program use.
const IDS_PER_PROCESS: u32 = 64;

/// Ids of the programs that run.
static IN_USE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// User and group of a running program, free again on drop.
pub(crate) struct BotUser {
    pub(super) id: u32,
}

impl Drop for BotUser {
    fn drop(&mut self) {
        IN_USE.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl BotUser {
    /// Takes an id that no running program has.
    pub(super) fn new() -> Result<BotUser, String> {
        let range = id_range().as_ref().map_err(String::clone)?;
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let size = range.end() - range.start() + 1;
        let offset = std::process::id().wrapping_mul(IDS_PER_PROCESS) % size;
        let mut ids = (0..size).map(|step| range.start() + (offset + step) % size);
        let id = ids.find(|id| !in_use.contains(id)).ok_or("all ids for bots are in use")?;
        in_use.insert(id);
        Ok(BotUser { id })
    }
}

/// Ids that programs get, or why they cannot have any.
pub(super) fn id_range() -> &'static Result<RangeInclusive<u32>, String> {
    static RANGE: OnceLock<Result<RangeInclusive<u32>, String>> = OnceLock::new();
    RANGE.get_or_init(|| {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can give each bot a user of its own".into());
        }
        let range = match std::env::var(VARIABLE) {
            Ok(text) => parse_range(&text).ok_or_else(|| {
                format!("{VARIABLE} must be a range such as 61184-61999, not {text:?}")
            })?,
            Err(_) => DEFAULT_RANGE,
        };
        for file in ["/proc/self/uid_map", "/proc/self/gid_map"] {
            let map = std::fs::read_to_string(file).unwrap_or_default();
            if !is_mapped(&map, &range) {
                let (first, last) = (range.start(), range.end());
                return Err(format!(
                    "ids {first} to {last} do not exist in this container; set {VARIABLE} to a \
                     range that does, with ids that nobody uses"
                ));
            }
        }
        Ok(range)
    })
}

fn parse_range(text: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = text.trim().split_once('-')?;
    let range: RangeInclusive<u32> = first.parse().ok()?..=last.parse().ok()?;
    // Not root, and not the id that stands for no user.
    (*range.start() > 0 && !range.is_empty() && *range.end() < u32::MAX).then_some(range)
}

/// Whether a range lies within one line of an id map: first id inside, first id outside, count.
fn is_mapped(map: &str, range: &RangeInclusive<u32>) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_ascii_whitespace().map(str::parse::<u64>);
        let (Some(Ok(first)), Some(Ok(count))) = (numbers.next(), numbers.nth(1)) else {
            return false;
        };
        let [start, end] = [range.start(), range.end()].map(|id| u64::from(*id));
        (first..first + count).contains(&start) && end < first + count
    })
}

const MOUNT_ATTR_IDMAP: u64 = 0x0010_0000;

/// Opens a copy of the mount of `path`, which the program can mount in its namespace. If `user` is
/// given, the owner of `path` is mapped to it.
pub(super) fn open_tree(
    path: &Path,
    user: Option<&BotUser>,
    is_writable: bool,
) -> io::Result<OwnedFd> {
    let metadata = path.metadata()?;
    let namespace =
        user.map(|user| id_map([metadata.uid(), metadata.gid()], user.id)).transpose()?;
    let path = c_string(path.as_ref())?;
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC as c_long;
    let current_dir = libc::AT_FDCWD as c_long;
    // SAFETY: the path is null-terminated and lives during the call.
    let tree = unsafe { libc::syscall(libc::SYS_open_tree, current_dir, path.as_ptr(), flags) };
    if tree < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returned a new descriptor that nobody else owns.
    let tree = unsafe { OwnedFd::from_raw_fd(tree as RawFd) };
    // Moved out of the way of the numbers that init uses.
    let tree = rustix::io::fcntl_dupfd_cloexec(tree, FIRST_FREE_FD)?;
    let attributes = MountAttributes {
        attr_set: if is_writable { 0 } else { MOUNT_ATTR_RDONLY }
            | if namespace.is_some() { MOUNT_ATTR_IDMAP } else { 0 },
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: namespace.as_ref().map_or(0, |fd| fd.as_raw_fd() as u64),
    };
    let (fd, empty) = (tree.as_raw_fd() as c_long, c"".as_ptr());
    let flags = libc::AT_EMPTY_PATH as c_long;
    // SAFETY: the structure lives during the call and has the size that is passed.
    let changed = unsafe {
        let size = size_of::<MountAttributes>();
        libc::syscall(libc::SYS_mount_setattr, fd, empty, flags, &raw const attributes, size)
    };
    if changed < 0 { Err(io::Error::last_os_error()) } else { Ok(tree) }
}

/// Returns a user namespace that maps an owner and group to `id`, for mounts.
fn id_map(owner: [u32; 2], id: u32) -> io::Result<Arc<OwnedFd>> {
    type Cache = HashMap<([u32; 2], u32), Arc<OwnedFd>>;
    static CACHE: Mutex<Option<Cache>> = Mutex::new(None);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = cache.get_or_insert_default();
    if let Some(namespace) = cache.get(&(owner, id)) {
        return Ok(namespace.clone());
    }
    let namespace = Arc::new(with_signals_blocked(|| new_namespace(owner, id))?);
    cache.insert((owner, id), namespace.clone());
    Ok(namespace)
}

/// Creates a user namespace, by a process that exists only for that.
fn new_namespace([uid, gid]: [u32; 2], id: u32) -> io::Result<OwnedFd> {
    const STACK_SIZE: usize = 16 * 1024;
    extern "C" fn wait_forever(_: *mut c_void) -> c_int {
        loop {
            // SAFETY: the call has no arguments and waits for a signal.
            unsafe { libc::syscall(libc::SYS_ppoll, NIL, NIL, NIL, NIL, NIL) };
        }
    }
    let mut stack = vec![0_u128; STACK_SIZE / 16];
    let top = stack.as_mut_ptr_range().end.cast::<c_void>();
    let flags = libc::CLONE_VM | libc::CLONE_NEWUSER | libc::SIGCHLD;
    // SAFETY: the process only waits, on a stack of its own that lives until it was reaped.
    let pid = unsafe { libc::clone(wait_forever, top, flags, null_mut()) };
    let error = io::Error::last_os_error();
    let Some(pid) = Pid::from_raw(pid.max(0)) else { return Err(error) };
    let namespace = write_maps(pid, &format!("{uid} {id} 1"), &format!("{gid} {id} 1"))
        .and_then(|()| File::open(format!("/proc/{}/ns/user", pid.as_raw_nonzero())));
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    while matches!(rustix::process::waitpid(Some(pid), WaitOptions::empty()), Err(Errno::INTR)) {}
    drop(stack);
    namespace.map(OwnedFd::from)
}

/// Writes the id maps of the user namespace that a process is in.
pub(super) fn write_maps(pid: Pid, uid_map: &str, gid_map: &str) -> io::Result<()> {
    for (name, map) in [("uid_map", uid_map), ("gid_map", gid_map)] {
        std::fs::write(format!("/proc/{}/{name}", pid.as_raw_nonzero()), map)?;
    }
    Ok(())
}

/// Text of a C string that was made from one.
pub(super) fn text(string: &CStr) -> &str {
    string.to_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_of_ids_is_parsed_and_must_exist() {
        assert_eq!(parse_range(" 61184-61999"), Some(61184..=61999));
        for text in ["", "61184", "0-9", "9-8", "1-4294967295", "a-b", "-1-5"] {
            assert_eq!(parse_range(text), None, "{text}");
        }
        let all = "         0          0 4294967295\n";
        let container = "         0     100000      65536\n";
        assert!(is_mapped(all, &DEFAULT_RANGE) && !is_mapped(container, &DEFAULT_RANGE));
        assert!(is_mapped(container, &(61184..=61999)) && !is_mapped("", &(1..=2)));
    }
}
