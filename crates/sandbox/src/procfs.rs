//! Information about processes from `/proc`. On systems without it, every function finds nothing.
//!
//! Functions that are called in a loop take a buffer, to avoid an allocation per file.

use std::io::{self, Read};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::Pid;

/// Ids of the processes that a process is related to. An id is 0 if it lies outside of our PID
/// namespace, as for the first process of a container; rustix's calls for the same do not expect 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessIds {
    /// Parent process.
    pub parent: i32,
    /// Process group.
    pub group: i32,
    /// Session.
    pub session: i32,
}

impl ProcessIds {
    /// Reads the ids of a process; `None` if it does not exist.
    pub fn read(pid: i32) -> Option<ProcessIds> {
        Stat::read_thread(pid, &mut String::new()).map(|stat| stat.ids)
    }
}

/// `/proc/PID/stat`.
pub(crate) struct Stat {
    pub(crate) ids: ProcessIds,
    /// CPU time of all threads.
    pub(crate) cpu_time: Duration,
    /// CPU time of descendants that have ended and were waited for.
    pub(crate) children_time: Duration,
    pub(crate) threads: u32,
    /// Bytes of resident memory; 0 for a zombie.
    pub(crate) memory: u64,
    /// A thread that still has this memory: the main thread, unless it has exited before others.
    pub(crate) live_thread: i32,
    /// Whether the main thread runs or waits for a CPU.
    pub(crate) is_running: bool,
    /// Time of its start since the machine started, in whole clock ticks.
    pub(crate) start: Duration,
}

impl Stat {
    /// Reads the state of a process; `None` if it does not exist.
    pub(crate) fn read(pid: i32, buffer: &mut String) -> Option<Stat> {
        let stat = Stat::read_thread(pid, buffer)?;
        if stat.memory > 0 || stat.threads <= 1 {
            return Some(stat);
        }
        // An exited main thread reports no memory, but another thread does.
        let mut threads =
            threads(pid).filter_map(|thread| Stat::read_thread(thread.parse().ok()?, buffer));
        Some(match threads.find(|thread| thread.memory > 0) {
            Some(Stat { memory, live_thread, .. }) => Stat { memory, live_thread, ..stat },
            None => stat,
        })
    }

    /// Reads the state of a process as one of its threads reports it.
    fn read_thread(thread: i32, buffer: &mut String) -> Option<Stat> {
        read(&format!("/proc/{thread}/stat"), buffer)?;
        // The second field is the name in parentheses, which may contain anything.
        let mut fields = buffer.rsplit_once(')')?.1.split_ascii_whitespace();
        // Field 3: state.
        let is_running = fields.next()? == "R";
        let mut skip_and_parse = |skipped: usize| fields.nth(skipped)?.parse::<i64>().ok();
        // Fields 4 to 6: parent, group, session.
        let [parent, group, session] = [skip_and_parse(0)?, skip_and_parse(0)?, skip_and_parse(0)?];
        // Fields 14 to 17: CPU time in clock ticks.
        let [user, system] = [skip_and_parse(7)?, skip_and_parse(0)?];
        let [children_user, children_system] = [skip_and_parse(0)?, skip_and_parse(0)?];
        // Fields 20, 22 and 24: threads, time of the start, resident pages.
        let [threads, start, pages] = [skip_and_parse(2)?, skip_and_parse(1)?, skip_and_parse(1)?];
        let duration = |ticks: i64| {
            let millis = ticks.max(0) as u64 * 1000 / rustix::param::clock_ticks_per_second();
            Duration::from_millis(millis)
        };
        Some(Stat {
            ids: ProcessIds {
                parent: parent.try_into().ok()?,
                group: group.try_into().ok()?,
                session: session.try_into().ok()?,
            },
            cpu_time: duration(user + system),
            children_time: duration(children_user + children_system),
            threads: threads.try_into().unwrap_or(0),
            memory: pages.max(0) as u64 * rustix::param::page_size() as u64,
            live_thread: thread,
            is_running,
            start: duration(start),
        })
    }
}

/// Proportional set size of a process in bytes: shared memory is divided among those who share it.
pub(crate) fn read_pss(pid: i32, buffer: &mut String) -> Option<u64> {
    read(&format!("/proc/{pid}/smaps_rollup"), buffer)?;
    size_in(buffer, "Pss:")
}

/// Size in bytes in a line such as `VmPTE:     72 kB`.
fn size_in(table: &str, key: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

/// Bytes that count for each mapping of a process: the kernel's description of it, which `/proc`
/// does not show, and links to the same mapping of its parent and children.
const MAPPING_BYTES: u64 = 1 << 10;

/// Memory of a process that its resident set does not show: page tables, pages that were swapped
/// out, huge pages, and descriptions of mappings. `None` if the process has ended.
///
/// # Errors
/// Fails if we may not look at the memory of the process.
pub(crate) fn read_hidden_memory(pid: i32, buffer: &mut String) -> io::Result<Option<u64>> {
    if read(&format!("/proc/{pid}/status"), buffer).is_none() {
        return Ok(None);
    }
    // A zombie has no memory.
    let sizes = ["VmPTE:", "VmSwap:", "HugetlbPages:"];
    let shown: u64 = sizes.into_iter().filter_map(|key| size_in(buffer, key)).sum();
    match try_read(&format!("/proc/{pid}/maps"), buffer) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        Err(_) => Ok(None),
        Ok(()) => Ok(Some(shown + buffer.lines().count() as u64 * MAPPING_BYTES)),
    }
}

/// Descriptors of a process for which the kernel holds memory, each with the maximum size of that
/// memory. They are identified by their text, as in `pipe:[1042]`; epoll descriptors, which have
/// the same text, by their number.
pub(crate) fn buffers(pid: i32) -> impl Iterator<Item = (String, u64)> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd"));
    entries.into_iter().flatten().flatten().filter_map(|fd| {
        let fd = fd.path();
        let link = fd.read_link().ok()?.into_os_string().into_string().ok()?;
        let bytes = match link.split_once(':')? {
            ("pipe", _) => PIPE_BYTES,
            ("socket", _) => socket_bytes(),
            ("anon_inode", "[eventpoll]") => {
                return Some((fd.to_string_lossy().into_owned(), EPOLL_BYTES));
            }
            _ => return None,
        };
        Some((link, bytes))
    })
}

/// Size of a pipe. Programs cannot make it larger.
const PIPE_BYTES: u64 = 64 << 10;
/// Memory of an epoll descriptor that watches all files that a process may open by default.
const EPOLL_BYTES: u64 = 64 << 10;

/// Maximum number of bytes in flight in one direction of a socket. The kernel doubles the size that
/// a program requests.
fn socket_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    const DEFAULT: u64 = 212_992;
    *BYTES.get_or_init(|| {
        let max = std::fs::read_to_string("/proc/sys/net/core/wmem_max").unwrap_or_default();
        2 * max.trim().parse().unwrap_or(DEFAULT)
    })
}

/// Whether a thread of a process runs or waits for a CPU.
pub(crate) fn is_running(pid: i32, thread_count: u32, buffer: &mut String) -> bool {
    let mut is_thread_running = |thread: &str| {
        read(&format!("/proc/{pid}/task/{thread}/stat"), buffer).is_some()
            && buffer.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" R"))
    };
    match thread_count {
        0 | 1 => is_thread_running(&pid.to_string()),
        _ => threads(pid).any(|thread| is_thread_running(&thread)),
    }
}

/// First child of a single-threaded process.
pub(crate) fn first_child(pid: Pid) -> Option<Pid> {
    let mut found = Vec::new();
    children(pid.as_raw_nonzero().get(), 1, &mut found, &mut String::new());
    found.first().copied().and_then(Pid::from_raw)
}

/// Children of this process. `/proc/self` is used because a `/proc` of another PID namespace lists
/// another process under our id.
pub(crate) fn own_children() -> Vec<i32> {
    let path = format!("/proc/self/task/{}/children", std::process::id());
    parse_pids(&std::fs::read_to_string(path).unwrap_or_default()).collect()
}

/// Appends the children of all threads of a process to `found`.
pub(crate) fn children(pid: i32, thread_count: u32, found: &mut Vec<i32>, buffer: &mut String) {
    let mut add_children = |thread: &str| {
        if read(&format!("/proc/{pid}/task/{thread}/children"), buffer).is_some() {
            found.extend(parse_pids(buffer));
        }
    };
    if thread_count <= 1 {
        return add_children(&pid.to_string());
    }
    threads(pid).for_each(|thread| add_children(&thread));
}

/// Processes and threads of the current user.
#[cfg(target_os = "linux")]
pub(crate) fn tasks_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let tasks = processes.map(|process| {
        let is_own = process.metadata().is_ok_and(|metadata| metadata.uid() == user);
        let pid = process.file_name().to_str().and_then(|name| name.parse().ok());
        let stat = pid.filter(|_| is_own).and_then(|pid| Stat::read(pid, &mut String::new()));
        stat.map_or(0, |stat| u64::from(stat.threads))
    });
    tasks.sum()
}

fn parse_pids(text: &str) -> impl Iterator<Item = i32> {
    text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok())
}

/// Ids of the threads of a process.
fn threads(pid: i32) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task"));
    let entries = entries.into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

fn read(path: &str, buffer: &mut String) -> Option<()> {
    try_read(path, buffer).ok()
}

/// Reads a file. Names in it may be any bytes; those that are not UTF-8 are replaced.
fn try_read(path: &str, buffer: &mut String) -> io::Result<()> {
    let mut bytes = std::mem::take(buffer).into_bytes();
    bytes.clear();
    let result = std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    *buffer = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    result.map(drop)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::collections::BTreeMap;

    use rustix::event::epoll::CreateFlags;

    use super::*;

    #[test]
    fn own_process_is_read() {
        let pid = std::process::id() as i32;
        let stat = Stat::read(pid, &mut String::new()).unwrap();
        let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
        assert_eq!(stat.ids.parent, parent);
        assert_eq!(stat.ids.group, rustix::process::getpgrp().as_raw_nonzero().get());
        assert!(stat.memory > 0 && stat.threads >= 1);
        assert!(ProcessIds::read(i32::MAX).is_none());
    }

    #[test]
    fn process_whose_name_is_not_utf8_is_read() {
        use std::os::unix::ffi::OsStrExt;
        let folder = crate::ScratchDir::new().unwrap();
        let file = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
        std::os::unix::fs::symlink("/bin/sleep", &file).unwrap();
        let mut child = std::process::Command::new(file).arg("600").spawn().unwrap();
        let stat = Stat::read(child.id() as i32, &mut String::new());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(stat.unwrap().ids.parent, std::process::id() as i32);
    }

    #[test]
    fn memory_in_pipes_and_sockets_is_found_once() {
        let found = || -> BTreeMap<String, u64> { buffers(std::process::id() as i32).collect() };
        let before = found();
        let (reader, writer) = io::pipe().unwrap();
        let pair = std::os::unix::net::UnixStream::pair().unwrap();
        let epolls = [0; 3].map(|_| rustix::event::epoll::create(CreateFlags::CLOEXEC).unwrap());
        let mut added = found();
        added.retain(|link, _| !before.contains_key(link));
        let bytes: u64 = added.values().sum();
        assert!(bytes >= PIPE_BYTES + 2 * socket_bytes() + 3 * EPOLL_BYTES, "{added:?}");
        drop((reader, writer, pair, epolls));
    }

    #[test]
    fn each_mapping_counts_as_memory() {
        let pid = std::process::id() as i32;
        let memory = || read_hidden_memory(pid, &mut String::new()).unwrap().unwrap();
        assert!(memory() > 20 * MAPPING_BYTES);
        assert_eq!(read_hidden_memory(i32::MAX, &mut String::new()).unwrap(), None);
    }
}
