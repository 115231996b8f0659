//! Control groups of version 2, where the user may make them: the kernel itself then bounds all memory of a
//! program, what it needs for it in the kernel and in its scratch folder too, and the number of
//! its processes, and knows all the processor time it ever used.
//!
//! A group needs a place among others. A group with processes of its own cannot also hand out memory
//! to groups below it, unless it is the first of all. So the place is our own group if it does that
//! already; or if nobody else is in it and it is ours to arrange: then we move a step down; or else the
//! group around our own. None of that is to be had on many machines, and no wall depends on it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, accessat, open};

use super::super::{Limits, scratch};
use super::SPARE_PROCESSES;

/// What a group is called, before the number of the process that made it.
const NAME: &str = "crownhead-";

/// The group of a program, removed when nobody asks about it any more.
pub struct Group {
    path: PathBuf,
    /// Its folder, for a process to be made in.
    pub(super) folder: OwnedFd,
    /// Where a process writes that wants to enter.
    pub(super) entrance: OwnedFd,
    /// What it may have.
    limits: Limits,
}

impl Group {
    /// A group with limits; none where there is no place for it.
    pub(super) fn new(limits: &Limits) -> io::Result<Option<Group>> {
        place().as_ref().ok().map(|place| Group::within(place, limits)).transpose()
    }

    fn within(place: &Path, limits: &Limits) -> io::Result<Group> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = place.join(format!("{NAME}{}-{number}", std::process::id()));
        let told = |error: io::Error| io::Error::other(format!("no control group: {error}"));
        std::fs::create_dir(&path).map_err(told)?;
        Group::limited(path.clone(), limits).map_err(|error| {
            let _ = std::fs::remove_dir(path);
            told(error)
        })
    }

    fn limited(path: PathBuf, limits: &Limits) -> io::Result<Group> {
        // Its scratch folder is memory too.
        let memory = limits.memory.saturating_add(limits.disk);
        let processes = u64::from(limits.processes) + SPARE_PROCESSES;
        write(&path, "memory.max", &memory.to_string())?;
        write(&path, "memory.oom.group", "1")?;
        write(&path, "pids.max", &processes.to_string())?;
        // Not there if the kernel does not swap.
        let _ = write(&path, "memory.swap.max", "0");
        let flags = OFlags::CLOEXEC;
        let folder = open(&path, flags | OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        let entrance = open(path.join("cgroup.procs"), flags | OFlags::WRONLY, Mode::empty())?;
        Ok(Group { path, folder, entrance, limits: *limits })
    }

    /// The processor time of all that ever was in it.
    pub fn time(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(self.path.join("cpu.stat")).ok()?;
        number(&text, "usage_usec").map(Duration::from_micros)
    }

    /// Why the kernel killed all in it, if it did.
    pub fn stopped(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.path.join("memory.events")).ok()?;
        number(&text, "oom_kill").filter(|kills| *kills > 0)?;
        let [memory, disk] =
            [self.limits.memory, self.limits.disk].map(super::super::limits::write_size);
        Some(format!("it used all its memory: {memory}, and {disk} for files, are allowed"))
    }
}

/// Whoever is in a group so long after it was killed stays there.
const PATIENCE: Duration = Duration::from_millis(500);

impl Drop for Group {
    fn drop(&mut self) {
        // All should be dead; if not, the kernel knows them all (since Linux 5.14).
        let deadline = Instant::now() + PATIENCE;
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

/// The group that those of programs are made in, or why there is none; found once.
pub(super) fn place() -> &'static Result<PathBuf, String> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let place = find()?;
        remove_stale(&place);
        let group = Group::within(&place, &Limits::default()).map_err(|error| error.to_string())?;
        // What would fail later: whoever enters must have the right to write here too.
        let file = place.join("cgroup.procs");
        let is_open = accessat(CWD, &file, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
        match super::namespaces() {
            _ if !is_open => Err(format!("{} cannot be written", file.display())),
            Ok(()) => super::trial(None, Some(Arc::new(group))).map(|()| place),
            Err(_) => Ok(place),
        }
    })
}

fn find() -> Result<PathBuf, String> {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let own = own_group(&text("/proc/self/mountinfo"), &text("/proc/self/cgroup"))
        .ok_or("there are no control groups of version 2")?;
    let is_ours = |group: &Path| accessat(CWD, group, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    let can_hold =
        |group: &&Path| is_ours(group) && divides(&read(group, "cgroup.subtree_control"));
    if !can_hold(&own.as_path())
        && is_ours(&own)
        && divides(&read(&own, "cgroup.controllers"))
        && is_alone(&read(&own, "cgroup.procs"))
    {
        move_down(&own).map_err(|error| format!("{} cannot be divided: {error}", own.display()))?;
    }
    let place = [Some(own.as_path()), own.parent()].into_iter().flatten().find(can_hold);
    place.map(Path::to_path_buf).ok_or_else(|| {
        format!(
            "{} is not for crownhead alone; systemd-run --user --scope -p Delegate=yes crownhead … \
             starts it in a group that is",
            own.display()
        )
    })
}

/// Leaves our group to those that we make. Ours below it stays when we end: it goes with the group, or as
/// those of the killed do.
fn move_down(own: &Path) -> io::Result<()> {
    let below = own.join(format!("{NAME}{}-own", std::process::id()));
    std::fs::create_dir(&below)?;
    let moved = write(&below, "cgroup.procs", "0")
        .and_then(|()| write(own, "cgroup.subtree_control", "+memory +pids"));
    if moved.is_err() {
        let _ = write(own, "cgroup.procs", "0");
        let _ = std::fs::remove_dir(below);
    }
    moved
}

/// Removes groups of those who were killed: only empty ones can be.
fn remove_stale(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        if scratch::is_stale(&entry.file_name(), NAME) {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

/// The folder of our own group, from the tables of mounts and of our groups.
fn own_group(mounts: &str, groups: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        after.starts_with("cgroup2 ").then_some(())?;
        let mut fields = before.split(' ').skip(3);
        let (root, folder) = (fields.next()?, fields.next()?);
        // A group outside of what is mounted has no folder.
        let within = Path::new(group).strip_prefix(root).ok()?;
        let is_plain =
            within.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        // Without a slash at its end.
        is_plain.then(|| Path::new(folder).join(within).components().collect())
    })
}

/// Whether a list of controllers has those that are needed.
fn divides(controllers: &str) -> bool {
    ["memory", "pids"].iter().all(|name| controllers.split_whitespace().any(|word| word == *name))
}

/// Whether we are the only process of a group.
fn is_alone(processes: &str) -> bool {
    processes.split_whitespace().eq([std::process::id().to_string().as_str()])
}

/// A number in a table of names and numbers.
fn number(table: &str, name: &str) -> Option<u64> {
    let mut pairs = table.lines().filter_map(|line| line.split_once(' '));
    pairs.find(|(known, _)| *known == name)?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_group_is_found() {
        let mounts = "22 27 0:21 / /proc rw,nosuid shared:13 - proc proc rw\n\
            30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let within = |mounts: &str, group: &str| own_group(mounts, &format!("1:cpu:/x\n{group}\n"));
        let found = |text: &str| Some(PathBuf::from(text));
        assert_eq!(within(mounts, "0::/"), found("/sys/fs/cgroup"));
        let scope = "/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope";
        let expected = format!("/sys/fs/cgroup{scope}");
        assert_eq!(within(mounts, &format!("0::{scope}")), found(&expected));
        assert_eq!(within(mounts, "0::/../other"), None, "outside of a namespace");
        assert_eq!(within(mounts, "4:memory:/x"), None, "version 1 only");
        assert_eq!(within("", "0::/x"), None, "not mounted");
        let part = "30 23 0:26 /docker/a /cg rw - cgroup2 cgroup2 rw\n";
        assert_eq!(within(part, "0::/docker/a/b"), found("/cg/b"));
        assert_eq!(within(part, "0::/docker/b"), None);
    }

    #[test]
    fn tables_of_a_group_are_read() {
        assert!(divides("cpuset cpu io memory pids\n"));
        assert!(!divides("cpu io memory\n") && !divides("") && !divides("memory pidsx"));
        let own = std::process::id();
        assert!(is_alone(&format!("{own}\n")));
        assert!(!is_alone(&format!("{own}\n1\n")) && !is_alone(""));
        let table = "low 0\nmax 33\noom 1\noom_kill 2\noom_group_kill 1\n";
        assert_eq!(number(table, "oom_kill"), Some(2));
        assert_eq!(number("usage_usec 2500\nuser_usec 1\n", "usage_usec"), Some(2500));
        assert_eq!(number("usage_usec x\n", "usage_usec"), None);
    }
}
