//! Measures what a program uses, over all its processes.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};

use crate::Limits;
use crate::procfs::{self, ProcessIds, Stat, children, read_pss};

/// The processes of a program.
#[derive(Clone, Copy)]
pub(crate) struct ProcessTree {
    pub(crate) pid: Pid,
    /// Whether the process is an init, whose children are the program and its orphans, and not the
    /// program itself.
    pub(crate) has_init: bool,
}

/// One sample.
#[derive(Default)]
pub(crate) struct Usage {
    pub(crate) processes: u32,
    /// Processes and threads.
    pub(crate) tasks: u32,
    pub(crate) memory: u64,
    /// Part of the memory that resident sets do not show.
    pub(crate) hidden_memory: u64,
    /// CPU time of all processes that exist or were waited for.
    pub(crate) cpu_time: Duration,
    /// The part of it used by processes that have ended and were waited for.
    pub(crate) ended_time: Duration,
    /// Processes that run and started after the last sample, and the CPU time they have used.
    pub(crate) new_running: u32,
    pub(crate) new_time: Duration,
}

/// Time since the machine started, as in [`Stat::start`].
pub(crate) fn time_since_boot() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    clock_gettime(clock).try_into().unwrap_or_default()
}

impl ProcessTree {
    /// Measures the current usage, up to the process that exceeds the limit on processes.
    /// `last_sample` is its [time since boot](time_since_boot).
    pub(crate) fn measure(
        self,
        limits: &Limits,
        last_sample: Duration,
        buffer: &mut String,
    ) -> Usage {
        let mut usage = Usage::default();
        let mut pids = self.roots(buffer);
        if self.has_init {
            // Of init, only the time of those that it waited for counts. Its memory is ours.
            if let Some(init) = Stat::read(self.raw_pid(), buffer) {
                usage.ended_time += init.children_time;
            }
        }
        // The start is rounded down, so one in the tick of the last sample does not count as new.
        let is_new = |stat: &Stat| stat.start > last_sample;
        while let Some(pid) = pids.pop() {
            let Some(stat) = Stat::read(pid, buffer) else { continue };
            usage.processes += u32::from(stat.memory > 0);
            usage.tasks += stat.threads;
            usage.memory += stat.memory;
            usage.cpu_time += stat.cpu_time;
            usage.ended_time += stat.children_time;
            if is_new(&stat) {
                usage.new_running += u32::from(stat.is_running);
                usage.new_time += stat.cpu_time;
            }
            if usage.tasks > limits.processes {
                break;
            }
            children(pid, stat.threads, &mut pids, buffer);
        }
        usage.cpu_time += usage.ended_time;
        usage
    }

    /// Whether a thread of the program runs.
    pub(crate) fn is_running(self, buffer: &mut String) -> bool {
        let mut pids = self.roots(buffer);
        while let Some(pid) = pids.pop() {
            let Some(stat) = Stat::read(pid, buffer) else { continue };
            if procfs::is_running(pid, stat.threads, buffer) {
                return true;
            }
            children(pid, stat.threads, &mut pids, buffer);
        }
        false
    }

    /// Memory of all processes with shared memory counted once, up to the process that exceeds the
    /// limit.
    pub(crate) fn total_pss(self, limits: &Limits) -> u64 {
        let buffer = &mut String::new();
        let mut memory = 0;
        let mut pids = self.roots(buffer);
        while let Some(pid) = pids.pop() {
            let Some(stat) = Stat::read(pid, buffer) else { continue };
            children(pid, stat.threads, &mut pids, buffer);
            memory += read_pss(stat.live_thread, buffer).unwrap_or_else(|| {
                // A zombie has no memory. If the kernel does not report it, all memory counts.
                Stat::read(pid, buffer).map_or(0, |stat| stat.memory)
            });
            if memory > limits.memory {
                break;
            }
        }
        memory
    }

    /// Memory that resident sets do not show, up to the process that exceeds the limit: what
    /// [`procfs::read_hidden_memory`] finds, and what the kernel may hold in pipes and sockets.
    ///
    /// # Errors
    /// Fails if a process hides its memory from us.
    pub(crate) fn hidden_memory(self, limits: &Limits, buffer: &mut String) -> io::Result<u64> {
        let mut memory = 0;
        let mut buffers = HashSet::new();
        let mut pids = self.roots(buffer);
        while let Some(pid) = pids.pop() {
            let Some(stat) = Stat::read(pid, buffer) else { continue };
            children(pid, stat.threads, &mut pids, buffer);
            memory += procfs::read_hidden_memory(stat.live_thread, buffer)?.unwrap_or(0);
            for (link, bytes) in procfs::buffers(stat.live_thread) {
                // Processes may share a descriptor.
                memory += if buffers.insert(link) { bytes } else { 0 };
            }
            if memory > limits.memory {
                break;
            }
        }
        Ok(memory)
    }

    fn raw_pid(self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Processes whose descendants are all processes of the program.
    fn roots(self, buffer: &mut String) -> Vec<i32> {
        let pid = self.raw_pid();
        let mut roots = Vec::new();
        if self.has_init {
            children(pid, 1, &mut roots, buffer);
            return roots;
        }
        roots.push(pid);
        // Orphans become our children, and cannot leave the group.
        roots.extend(procfs::own_children().into_iter().filter(|orphan| {
            *orphan != pid && ProcessIds::read(*orphan).is_some_and(|ids| ids.group == pid)
        }));
        roots
    }
}
