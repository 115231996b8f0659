//! Control groups (version 2), where the user may create them. The kernel then limits the number of
//! processes and the memory of a program, including kernel memory and the scratch directory, and
//! counts all CPU time.
//!
//! A control group with processes cannot delegate memory to groups below it, unless it is the root.
//! So the groups of programs are created in our own group if it already delegates. If it does not,
//! but this process is alone in it and may change it, the process first moves to a leaf below.
//! Otherwise the groups are created beside our own. On many machines none of this is possible, and
//! no other mechanism depends on it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, accessat, open};

use super::detect::{namespaces, probe_namespaces};
use super::plan::PROCESS_HEADROOM;
use crate::limits::format_size;
use crate::{Limits, scratch};

/// Name of a group, before the id of the process that created it.
const PREFIX: &str = "crownhead-";

/// Time that the processes of a group get to exit after they were killed.
const KILL_TIMEOUT: Duration = Duration::from_millis(500);

/// Control group of a program, removed on drop.
pub(crate) struct Cgroup {
    path: PathBuf,
    /// The directory, for creating a process in the group.
    pub(super) dir_fd: OwnedFd,
    limits: Limits,
}

impl Cgroup {
    /// Creates a group with limits; `None` where control groups are unavailable.
    pub(super) fn new(limits: &Limits) -> io::Result<Option<Cgroup>> {
        parent_cgroup().as_ref().ok().map(|parent| Cgroup::create_in(parent, limits)).transpose()
    }

    fn create_in(parent: &Path, limits: &Limits) -> io::Result<Cgroup> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let failed = |error| io::Error::other(format!("cannot create a control group: {error}"));
        std::fs::create_dir(&path).map_err(failed)?;
        Cgroup::configure(path.clone(), limits).map_err(|error| {
            let _ = std::fs::remove_dir(path);
            failed(error)
        })
    }

    fn configure(path: PathBuf, limits: &Limits) -> io::Result<Cgroup> {
        // The scratch directory is memory too.
        let memory = limits.memory.saturating_add(limits.disk);
        let processes = u64::from(limits.processes) + PROCESS_HEADROOM;
        write(&path, "memory.max", &memory.to_string())?;
        write(&path, "memory.oom.group", "1")?;
        write(&path, "pids.max", &processes.to_string())?;
        // Does not exist in a kernel without swap.
        let _ = write(&path, "memory.swap.max", "0");
        let flags = OFlags::CLOEXEC;
        let dir_fd = open(&path, flags | OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        Ok(Cgroup { path, dir_fd, limits: *limits })
    }

    /// CPU time of all processes that were ever in the group.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let table = std::fs::read_to_string(self.path.join("cpu.stat")).ok()?;
        table_value(&table, "usage_usec").map(Duration::from_micros)
    }

    /// Why the kernel killed the group, if it did.
    pub(crate) fn kill_reason(&self) -> Option<String> {
        let table = std::fs::read_to_string(self.path.join("memory.events")).ok()?;
        table_value(&table, "oom_kill").filter(|kills| *kills > 0)?;
        let [memory, disk] = [self.limits.memory, self.limits.disk].map(format_size);
        Some(format!("it used up its memory; the limit is {memory}, plus {disk} for files"))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Only an empty group can be removed. All should be dead; if not, they are killed (since
        // Linux 5.14).
        let deadline = Instant::now() + KILL_TIMEOUT;
        while std::fs::remove_dir(&self.path).is_err() && Instant::now() < deadline {
            let _ = write(&self.path, "cgroup.kill", "1");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn write(group: &Path, file: &str, text: &str) -> io::Result<()> {
    std::fs::write(group.join(file), text)
}

fn read(group: &Path, file: &str) -> String {
    std::fs::read_to_string(group.join(file)).unwrap_or_default()
}

/// Parent of the programs' groups, or why there is none. Detected once.
pub(super) fn parent_cgroup() -> &'static Result<PathBuf, String> {
    static PARENT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PARENT.get_or_init(|| {
        let parent = find_parent()?;
        remove_stale(&parent);
        // Try it now rather than fail later. To move a process, its old group must be writable too.
        let group =
            Cgroup::create_in(&parent, &Limits::default()).map_err(|error| error.to_string())?;
        let procs = parent.join("cgroup.procs");
        if accessat(CWD, &procs, Access::WRITE_OK, AtFlags::EACCESS).is_err() {
            return Err(format!("{} is not writable", procs.display()));
        }
        if namespaces().is_ok() {
            probe_namespaces(None, Some(Arc::new(group)))?;
        }
        Ok(parent)
    })
}

fn find_parent() -> Result<PathBuf, String> {
    let read_file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let own = own_cgroup(&read_file("/proc/self/mountinfo"), &read_file("/proc/self/cgroup"))
        .ok_or("this system has no control groups (cgroup v2)")?;
    let is_writable =
        |group: &Path| accessat(CWD, group, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    let can_be_parent = |group: &&Path| {
        is_writable(group) && has_controllers(&read(group, "cgroup.subtree_control"))
    };
    if !can_be_parent(&own.as_path())
        && is_writable(&own)
        && has_controllers(&read(&own, "cgroup.controllers"))
        && is_alone(&read(&own, "cgroup.procs"))
    {
        move_self_to_leaf(&own)
            .map_err(|error| format!("cannot delegate {}: {error}", own.display()))?;
    }
    let parent = [Some(own.as_path()), own.parent()].into_iter().flatten().find(can_be_parent);
    parent.map(Path::to_path_buf).ok_or_else(|| {
        format!(
            "{} is not delegated to crownhead. Memory, CPU time and processes are then sampled \
             several times a second, so a bot can exceed a limit for a moment. Where systemd \
             runs, start crownhead with systemd-run --user --scope -p Delegate=yes crownhead … (as root without --user); in a container, mount \
             /sys/fs/cgroup writable",
            own.display()
        )
    })
}

/// Moves this process to a new group below `own`, so that `own` can have groups of programs. The
/// leaf stays when we exit: it is removed together with `own`, or as a stale group.
fn move_self_to_leaf(own: &Path) -> io::Result<()> {
    let leaf = own.join(format!("{PREFIX}{}-own", std::process::id()));
    std::fs::create_dir(&leaf)?;
    let moved = write(&leaf, "cgroup.procs", "0")
        .and_then(|()| write(own, "cgroup.subtree_control", "+memory +pids"));
    if moved.is_err() {
        let _ = write(own, "cgroup.procs", "0");
        let _ = std::fs::remove_dir(leaf);
    }
    moved
}

/// Removes the groups of processes that no longer exist, if they are empty.
fn remove_stale(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        if scratch::is_stale(&entry.file_name(), PREFIX) {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

/// Directory of our own group, from `/proc/self/mountinfo` and `/proc/self/cgroup`.
fn own_cgroup(mounts: &str, cgroups: &str) -> Option<PathBuf> {
    let group = cgroups.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        after.starts_with("cgroup2 ").then_some(())?;
        let mut fields = before.split(' ').skip(3);
        let (root, mount_point) = (fields.next()?, fields.next()?);
        // A group outside of the mounted tree has no directory.
        let relative = Path::new(group).strip_prefix(root).ok()?;
        let is_inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
        // Collecting the components removes a trailing slash.
        is_inside.then(|| Path::new(mount_point).join(relative).components().collect())
    })
}

/// Whether a list of controllers contains those that are needed.
fn has_controllers(list: &str) -> bool {
    ["memory", "pids"].iter().all(|name| list.split_whitespace().any(|entry| entry == *name))
}

/// Whether this process is the only one in a list.
fn is_alone(pids: &str) -> bool {
    pids.split_whitespace().eq([std::process::id().to_string().as_str()])
}

/// Value of a key in lines of `key value`.
fn table_value(table: &str, key: &str) -> Option<u64> {
    let mut pairs = table.lines().filter_map(|line| line.split_once(' '));
    pairs.find(|(name, _)| *name == key)?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_cgroup_is_found_in_the_mounted_tree() {
        let mounts = "22 27 0:21 / /proc rw,nosuid shared:13 - proc proc rw\n\
            30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let find = |mounts: &str, group: &str| own_cgroup(mounts, &format!("1:cpu:/x\n{group}\n"));
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(find(mounts, "0::/"), path("/sys/fs/cgroup"));
        let scope = "/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope";
        let expected = format!("/sys/fs/cgroup{scope}");
        assert_eq!(find(mounts, &format!("0::{scope}")), path(&expected));
        assert_eq!(find(mounts, "0::/../other"), None, "outside of a namespace");
        assert_eq!(find(mounts, "4:memory:/x"), None, "version 1 only");
        assert_eq!(find("", "0::/x"), None, "not mounted");
        let subtree = "30 23 0:26 /docker/a /cg rw - cgroup2 cgroup2 rw\n";
        assert_eq!(find(subtree, "0::/docker/a/b"), path("/cg/b"));
        assert_eq!(find(subtree, "0::/docker/b"), None);
    }

    #[test]
    fn cgroup_files_are_parsed() {
        assert!(has_controllers("cpuset cpu io memory pids\n"));
        assert!(!has_controllers("cpu io memory\n") && !has_controllers(""));
        assert!(!has_controllers("memory pidsx"));
        let pid = std::process::id();
        assert!(is_alone(&format!("{pid}\n")));
        assert!(!is_alone(&format!("{pid}\n1\n")) && !is_alone(""));
        let table = "low 0\nmax 33\noom 1\noom_kill 2\noom_group_kill 1\n";
        assert_eq!(table_value(table, "oom_kill"), Some(2));
        assert_eq!(table_value("usage_usec 2500\nuser_usec 1\n", "usage_usec"), Some(2500));
        assert_eq!(table_value("usage_usec x\n", "usage_usec"), None);
    }
}
