//! Samples what running programs use, several times a second, and kills those that exceed a limit.
//!
//! Most limits of the kernel apply to a single process, so a program could escape them by starting
//! more. Memory, CPU time and processes are therefore counted here, over all processes of a
//! program. CPU time is limited to the duration of the program's own turns, times its cores, times
//! [`CPU_ALLOWANCE`], plus [`Limits::cpu_slack`]. A program that thinks on its opponent's time or
//! on more cores exceeds that.
//!
//! One thread samples all programs, so it reads only files that no program can delay. The size of
//! shared memory is not among them: the kernel takes a lock for it that a program with hundreds of
//! busy processes can hold for seconds. It is read by a separate thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use rustix::time::{ClockId, clock_gettime};

use crate::Limits;
use crate::limits::format_size;
use crate::platform::Cgroup;
use crate::procfs::{self, ProcessIds, Stat, children, read_pss};

/// Minimum time between two samples.
const MIN_SAMPLE_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum time between two samples, reached with very many programs.
const MAX_SAMPLE_INTERVAL: Duration = Duration::from_secs(1);
/// The monitor sleeps this many times as long as it works.
const SLEEP_FACTOR: u32 = 50;
/// Time after which shared memory counts once for every process that shares it.
const PSS_TIMEOUT: Duration = Duration::from_secs(3);
/// CPU time per core and second of a turn. A runtime that compiles and collects garbage on threads
/// of its own needs more than 1.
const CPU_ALLOWANCE: f64 = 1.25;

/// Usage of a running program, and the reason if it was killed for exceeding a limit.
pub struct UsageMeter {
    pid: Pid,
    /// Whether the process is the init of the program's PID namespace, not the program itself.
    has_init: bool,
    cgroup: Option<Arc<Cgroup>>,
    /// `None`: the program is not sampled.
    limits: Option<Limits>,
    counts_cpu_time: bool,
    /// Nanoseconds of finished turns.
    turns: AtomicU64,
    /// Start of the current turn, see [`now`]; 0 between turns.
    turn_start: AtomicU64,
    /// Whether the process was not reaped yet: its id is still its own.
    is_alive: Mutex<bool>,
    kill_reason: OnceLock<String>,
    /// Used by the monitor only.
    last_sample: Mutex<LastSample>,
    /// Start of the thread that reads shared memory, while it runs.
    pss_start: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct LastSample {
    cpu_time: Duration,
    /// Total CPU time, including that of processes which are not in the samples any more.
    cpu_used: Duration,
}

/// One sample.
#[derive(Default)]
struct Usage {
    processes: u32,
    /// Processes and threads.
    tasks: u32,
    memory: u64,
    cpu_time: Duration,
}

struct Monitor {
    meters: Mutex<Vec<Arc<UsageMeter>>>,
    changed: Condvar,
}

static MONITOR: Monitor = Monitor { meters: Mutex::new(Vec::new()), changed: Condvar::new() };

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nanoseconds since the first call; never 0.
fn now() -> u64 {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// CPU time of the calling thread.
fn thread_cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

impl UsageMeter {
    /// Starts to monitor a program.
    pub(crate) fn new(
        pid: Pid,
        has_init: bool,
        cgroup: Option<Arc<Cgroup>>,
        limits: Option<Limits>,
        counts_cpu_time: bool,
    ) -> Arc<UsageMeter> {
        let meter = Arc::new(UsageMeter {
            pid,
            has_init,
            cgroup,
            limits,
            counts_cpu_time,
            turns: AtomicU64::new(0),
            turn_start: AtomicU64::new(0),
            is_alive: Mutex::new(true),
            kill_reason: OnceLock::new(),
            last_sample: Mutex::default(),
            pss_start: Mutex::default(),
        });
        if limits.is_some() {
            static THREAD: Once = Once::new();
            THREAD.call_once(|| {
                let thread = std::thread::Builder::new().name("monitor".into());
                let _ = thread.spawn(|| MONITOR.run());
            });
            lock(&MONITOR.meters).push(meter.clone());
            MONITOR.changed.notify_one();
        }
        meter
    }

    /// Marks the start of a turn of the program.
    pub fn turn_started(&self) {
        self.turn_start.store(now(), Ordering::Relaxed);
    }

    /// Marks the end of a turn of the program.
    pub fn turn_ended(&self) {
        let start = self.turn_start.swap(0, Ordering::Relaxed);
        if start > 0 {
            self.turns.fetch_add(now() - start, Ordering::Relaxed);
        }
    }

    /// Duration of all its turns, including the current one.
    fn turn_time(&self) -> Duration {
        let turns = self.turns.load(Ordering::Relaxed);
        let turn = match self.turn_start.load(Ordering::Relaxed) {
            0 => 0,
            start => now().saturating_sub(start),
        };
        Duration::from_nanos(turns + turn)
    }

    /// Why the program was killed, if it exceeded a limit.
    pub fn kill_reason(&self) -> Option<&str> {
        // The kernel may have been faster than the monitor.
        if self.kill_reason.get().is_none()
            && let Some(reason) = self.cgroup.as_ref().and_then(|cgroup| cgroup.kill_reason())
        {
            let _ = self.kill_reason.set(reason);
        }
        self.kill_reason.get().map(String::as_str)
    }

    /// Stops monitoring. To be called before the process is reaped, when its id is still its own.
    pub(crate) fn detach(self: &Arc<UsageMeter>) {
        *lock(&self.is_alive) = false;
        if self.limits.is_some() {
            lock(&MONITOR.meters).retain(|meter| !Arc::ptr_eq(meter, self));
        }
    }

    /// Takes a sample, and kills the program if it exceeds a limit.
    fn sample(self: &Arc<UsageMeter>, buffer: &mut String) {
        let Some(limits) = self.limits else { return };
        let usage = self.measure(&limits, buffer);
        if let Some(reason) = self.violation(&usage, &limits) {
            self.kill(reason);
        }
    }

    fn kill(&self, reason: String) {
        let is_alive = lock(&self.is_alive);
        if *is_alive {
            let _ = self.kill_reason.set(reason);
            let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
            let _ = rustix::process::kill_process(self.pid, Signal::KILL);
        }
    }

    /// Returns which limit is exceeded, if any.
    fn violation(self: &Arc<UsageMeter>, usage: &Usage, limits: &Limits) -> Option<String> {
        if usage.tasks > limits.processes {
            let max = limits.processes;
            return Some(format!("it exceeded the limit of {max} processes and threads"));
        }
        if usage.memory > limits.memory {
            let (memory, max) = (usage.memory >> 20, format_size(limits.memory));
            if usage.processes <= 1 {
                return Some(format!("it used {memory} MB of memory; the limit is {max}"));
            }
            // Shared memory counts once, which takes longer to measure.
            let start = *lock(&self.pss_start).get_or_insert_with(|| {
                let (meter, limits, processes) = (self.clone(), *limits, usage.processes);
                let thread = std::thread::Builder::new().name("shared-memory".into());
                // If no thread can be started, the timeout applies.
                let _ = thread.spawn(move || meter.check_pss(&limits, processes));
                Instant::now()
            });
            if start.elapsed() > PSS_TIMEOUT {
                return Some(format!(
                    "it used {memory} MB of memory in {} processes, and how much of it is shared \
                     could not be determined within {} s; the limit is {max}",
                    usage.processes,
                    PSS_TIMEOUT.as_secs()
                ));
            }
        }
        if !self.counts_cpu_time {
            return None;
        }
        let last = &mut *lock(&self.last_sample);
        // A sample can be lower than the last: the time of a process that was not waited for is
        // lost.
        last.cpu_used += usage.cpu_time.saturating_sub(last.cpu_time);
        last.cpu_time = usage.cpu_time;
        let turn_time = self.turn_time();
        let cores = f64::from(limits.cores);
        let allowed = turn_time.mul_f64(cores * CPU_ALLOWANCE).saturating_add(limits.cpu_slack);
        (last.cpu_used > allowed).then(|| {
            let [used, turns, slack] =
                [last.cpu_used, turn_time, limits.cpu_slack].map(|time| time.as_secs_f64());
            let cores = match limits.cores {
                1 => "1 core".to_string(),
                count => format!("{count} cores"),
            };
            format!(
                "it used {used:.1} s of CPU time while its own turns lasted {turns:.1} s; the limit \
                 is {CPU_ALLOWANCE} times its turns on {cores}, plus {slack:.1} s"
            )
        })
    }

    /// Measures the current usage, up to the process that exceeds the limit on processes.
    fn measure(&self, limits: &Limits, buffer: &mut String) -> Usage {
        let mut usage = Usage::default();
        let mut pids = self.root_processes(buffer);
        if self.has_init {
            // Of init, only the time of those that it waited for counts. Its memory is ours.
            if let Some(init) = Stat::read(self.pid.as_raw_nonzero().get(), buffer) {
                usage.cpu_time += init.children_time;
            }
        }
        while let Some(pid) = pids.pop() {
            let Some(stat) = Stat::read(pid, buffer) else { continue };
            usage.processes += u32::from(stat.memory > 0);
            usage.tasks += stat.threads;
            usage.memory += stat.memory;
            usage.cpu_time += stat.cpu_time + stat.children_time;
            if usage.tasks > limits.processes {
                break;
            }
            children(pid, stat.threads, &mut pids, buffer);
        }
        // A control group also counts processes that were not waited for.
        let cpu_time = self.cgroup.as_ref().and_then(|cgroup| cgroup.cpu_time());
        usage.cpu_time = cpu_time.unwrap_or(usage.cpu_time);
        usage
    }

    /// Processes whose descendants are all processes of the program.
    fn root_processes(&self, buffer: &mut String) -> Vec<i32> {
        let pid = self.pid.as_raw_nonzero().get();
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

    /// Kills the program if it exceeds the limit on memory with shared memory counted once. A child
    /// that is about to execute another program has all of its parent's memory for a moment, so a
    /// violation must last for two samples.
    fn check_pss(&self, limits: &Limits, processes: u32) {
        let mut memory = self.total_pss(limits);
        if memory > limits.memory {
            std::thread::sleep(MIN_SAMPLE_INTERVAL);
            memory = memory.min(self.total_pss(limits));
        }
        if memory > limits.memory {
            let (memory, max) = (memory >> 20, format_size(limits.memory));
            self.kill(format!(
                "it used {memory} MB of memory in {processes} processes; the limit is {max}"
            ));
        }
        *lock(&self.pss_start) = None;
    }

    /// Memory of all processes with shared memory counted once, up to the process that exceeds the
    /// limit.
    fn total_pss(&self, limits: &Limits) -> u64 {
        let buffer = &mut String::new();
        let mut memory = 0;
        let mut pids = self.root_processes(buffer);
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
}

impl Monitor {
    fn run(&self) {
        let mut buffer = String::with_capacity(4096);
        loop {
            let meters: Vec<_> = {
                let mut meters = lock(&self.meters);
                while meters.is_empty() {
                    meters = self.changed.wait(meters).unwrap_or_else(PoisonError::into_inner);
                }
                meters.clone()
            };
            // CPU time, because waiting for a CPU is not work.
            let start = thread_cpu_time();
            for meter in meters {
                meter.sample(&mut buffer);
            }
            let work = thread_cpu_time().saturating_sub(start);
            let pause = (work * SLEEP_FACTOR).clamp(MIN_SAMPLE_INTERVAL, MAX_SAMPLE_INTERVAL);
            std::thread::sleep(pause);
        }
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use std::io::BufRead;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A Python script in a process group of its own.
    struct Script(Child);

    impl Script {
        /// Runs a script until it prints `ready`.
        fn start(script: &str) -> Script {
            let mut command = Command::new("python3");
            command.args(["-c", script]).process_group(0);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            Script(child)
        }

        /// Takes one sample with the given limits, and returns why the script was killed, if it
        /// was.
        fn kill_reason(&self, limits: &str) -> Option<String> {
            let limits = limits.parse().unwrap();
            let pid = Pid::from_child(&self.0);
            let meter = UsageMeter::new(pid, false, None, Some(limits), false);
            meter.sample(&mut String::new());
            while lock(&meter.pss_start).is_some() {
                std::thread::yield_now();
            }
            let reason = meter.kill_reason().map(String::from);
            meter.detach();
            reason
        }
    }

    impl Drop for Script {
        fn drop(&mut self) {
            let _ = rustix::process::kill_process_group(Pid::from_child(&self.0), Signal::KILL);
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn shared_memory_counts_once_beside_a_zombie() {
        // The second child shares its parent's 100 MB.
        let script = Script::start(
            "import os, time\n\
             hoard = bytearray(os.urandom(4096) * 25600)\n\
             dead = os.fork()\n\
             if dead == 0: os._exit(0)\n\
             os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)\n\
             if os.fork() == 0: time.sleep(600)\n\
             print('ready', flush=True)\n\
             time.sleep(600)",
        );
        assert_eq!(script.kill_reason("memory=180MB"), None);
        let reason = script.kill_reason("memory=90MB").unwrap();
        assert!(reason.contains("MB of memory in 2 processes; the limit is 90MB"), "{reason}");
    }

    #[test]
    fn memory_counts_after_the_main_thread_has_exited() {
        let exit = libc::SYS_exit;
        let script = Script::start(&format!(
            "import ctypes, os, threading, time\n\
             hoard = bytearray(os.urandom(4096) * 25600)\n\
             def stay():\n\
             \x20while ') Z ' not in open('/proc/self/stat').read(): time.sleep(0.001)\n\
             \x20print('ready', flush=True)\n\
             \x20time.sleep(600)\n\
             threading.Thread(target=stay).start()\n\
             ctypes.CDLL(None).syscall({exit}, 0)"
        ));
        let reason = script.kill_reason("memory=90MB").unwrap();
        assert!(reason.contains("MB of memory; the limit is 90MB"), "{reason}");
    }
}
