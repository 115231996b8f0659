//! Samples what running programs use, several times a second, and kills those that exceed a limit.
//!
//! Most limits of the kernel apply to a single process, so a program could escape them by starting
//! more. Memory, CPU time and processes are therefore counted here, over all processes of a
//! program. A [budget](CpuBudget) limits CPU time.
//!
//! One thread samples all programs, so it reads only files that no program can delay. Which memory
//! is shared, and what resident sets do not show, is not in such files: the kernel takes a lock for
//! them that a program with hundreds of busy processes can hold for seconds. Separate threads read
//! them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use rustix::time::{ClockId, clock_gettime};

use crate::cpu_budget::{CPU_ALLOWANCE, CpuBudget};
use crate::heartbeat::{self, FreezeState};
use crate::limits::format_size;
use crate::platform::Cgroup;
use crate::usage::{ProcessTree, Usage, time_since_boot};
use crate::{DiskWatch, Limits};

/// Minimum time between two samples.
const MIN_SAMPLE_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum time between two samples, reached with very many programs.
const MAX_SAMPLE_INTERVAL: Duration = Duration::from_secs(1);
/// The monitor sleeps this many times as long as it works.
const SLEEP_FACTOR: u32 = 50;
/// Maximum time to measure shared memory; after that it counts once for every process that shares
/// it.
const PSS_TIMEOUT: Duration = Duration::from_secs(3);

/// Minimum time between two measurements of what takes longer.
const MIN_SLOW_INTERVAL: Duration = Duration::from_millis(100);
/// The thread for it sleeps this many times as long as it works.
const SLOW_SLEEP_FACTOR: u32 = 20;

/// When a program may use CPU time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CpuRule {
    /// In its own turns. Between them it is frozen.
    OwnTurns,
    /// Always.
    Always,
    /// CPU time is not limited.
    None,
}

/// Usage of a running program, and the reason if it was killed for exceeding a limit.
pub struct UsageMeter {
    processes: ProcessTree,
    cgroup: Option<Arc<Cgroup>>,
    /// A scratch directory on the machine's disk. In namespaces the kernel limits its size.
    disk: Mutex<Option<DiskWatch>>,
    /// `None`: the program is not sampled.
    limits: Option<Limits>,
    cpu_rule: CpuRule,
    started: Instant,
    freeze: Mutex<FreezeState>,
    /// Nanoseconds of finished turns.
    turns: AtomicU64,
    /// Start of the current turn, see [`now`]; 0 between turns.
    turn_start: AtomicU64,
    /// Whether the process was not reaped yet: its id is still its own.
    is_alive: Mutex<bool>,
    kill_reason: OnceLock<String>,
    /// Bytes of memory that resident sets do not show, when last measured.
    hidden_memory: AtomicU64,
    /// Used by the monitor only.
    last_sample: Mutex<LastSample>,
    /// Start of the thread that reads shared memory, while it runs.
    pss_start: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct LastSample {
    /// Time of the sample since the machine started.
    time: Duration,
    cpu_time: Duration,
    ended_time: Duration,
    /// Total CPU time, including that of processes which are not in the samples any more.
    cpu_used: Duration,
    budget: CpuBudget,
}

impl LastSample {
    /// Adds the CPU time since the last sample.
    ///
    /// The time of a process that its parent did not wait for is lost when it ends, so a program
    /// could hide CPU time in processes that live shorter than the time between two samples. If
    /// such processes run at a sample, they are assumed to have run since the last one.
    fn add_cpu_time(&mut self, usage: &Usage, time: Duration) {
        let measured = usage.cpu_time.saturating_sub(self.cpu_time);
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let seen = usage.new_time + usage.ended_time.saturating_sub(self.ended_time);
        let busy = time.saturating_sub(self.time) * usage.new_running.min(cores);
        self.cpu_used += measured + busy.saturating_sub(seen);
        (self.time, self.cpu_time) = (time, usage.cpu_time);
        self.ended_time = usage.ended_time;
    }
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
pub(crate) fn now() -> u64 {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// CPU time of the calling thread.
pub(crate) fn thread_cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

impl UsageMeter {
    /// Starts to monitor a program.
    pub(crate) fn new(
        pid: Pid,
        has_init: bool,
        cgroup: Option<Arc<Cgroup>>,
        disk: Option<DiskWatch>,
        limits: Option<Limits>,
        cpu_rule: CpuRule,
    ) -> Arc<UsageMeter> {
        let meter = Arc::new(UsageMeter {
            processes: ProcessTree { pid, has_init },
            cgroup,
            disk: Mutex::new(disk),
            limits,
            cpu_rule,
            started: Instant::now(),
            freeze: Mutex::default(),
            turns: AtomicU64::new(0),
            turn_start: AtomicU64::new(0),
            is_alive: Mutex::new(true),
            kill_reason: OnceLock::new(),
            last_sample: Mutex::new(LastSample {
                time: time_since_boot(),
                ..LastSample::default()
            }),
            hidden_memory: AtomicU64::new(0),
            pss_start: Mutex::default(),
        });
        if limits.is_some() {
            static THREAD: Once = Once::new();
            THREAD.call_once(|| {
                let thread = std::thread::Builder::new().name("monitor".into());
                let _ = thread.spawn(|| MONITOR.run());
                let thread = std::thread::Builder::new().name("slow-monitor".into());
                let _ = thread.spawn(|| MONITOR.run_slowly());
            });
            lock(&MONITOR.meters).push(meter.clone());
            MONITOR.changed.notify_all();
        }
        heartbeat::add(&meter);
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

    /// Marks the start of a game.
    pub fn game_started(&self) {
        lock(&self.freeze).was_frozen = false;
    }

    /// Whether the program uses more CPU time than its turns allow: it was frozen in this game, or
    /// has used up half of its slack.
    pub fn is_greedy(&self) -> bool {
        let is_in_debt = self.limits.is_some_and(|limits| {
            lock(&self.last_sample).budget.left() < limits.cpu_slack.as_secs_f64() / 2.0
        });
        is_in_debt || lock(&self.freeze).was_frozen
    }

    /// Marks the end of the program's turn: if it still runs before [`wake`](UsageMeter::wake) is
    /// called, it is frozen.
    pub fn expect_idle(&self) {
        if self.cpu_rule == CpuRule::OwnTurns && self.limits.is_some() {
            lock(&self.freeze).idle_since = Some(Instant::now());
        }
    }

    /// Lets the program run. To be called before anything is sent to it.
    pub fn wake(&self) {
        let mut state = lock(&self.freeze);
        state.idle_since = None;
        if std::mem::take(&mut state.is_frozen) {
            self.signal(Signal::CONT);
        }
    }

    /// Freezes the program if it should be idle and is not.
    pub(crate) fn freeze_if_running(&self, delay: Duration, buffer: &mut String) {
        let is_due =
            |state: &FreezeState| state.idle_since.is_some_and(|since| since.elapsed() >= delay);
        // Not locked while files are read: the referee would wait.
        if !is_due(&lock(&self.freeze)) || !self.processes.is_running(buffer) {
            return;
        }
        let mut state = lock(&self.freeze);
        if is_due(&state) {
            (state.is_frozen, state.was_frozen) = (true, true);
            self.signal(Signal::STOP);
        }
    }

    /// Sends a signal to the process group, which no process of the program can leave. With
    /// namespaces, init is a member.
    fn signal(&self, signal: Signal) {
        if *lock(&self.is_alive) {
            let _ = rustix::process::kill_process_group(self.processes.pid, signal);
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
        heartbeat::remove(self);
        if self.limits.is_some() {
            lock(&MONITOR.meters).retain(|meter| !Arc::ptr_eq(meter, self));
        }
    }

    /// Takes a sample, and kills the program if it exceeds a limit.
    fn sample(self: &Arc<UsageMeter>, buffer: &mut String) {
        let Some(limits) = self.limits else { return };
        let time = time_since_boot();
        let last_time = lock(&self.last_sample).time;
        let mut usage = self.processes.measure(&limits, last_time, buffer);
        // A control group also counts processes that were not waited for, and all memory.
        match &self.cgroup {
            Some(cgroup) => {
                usage.new_running = 0;
                usage.cpu_time = cgroup.cpu_time().unwrap_or(usage.cpu_time);
            }
            None => {
                usage.hidden_memory = self.hidden_memory.load(Ordering::Relaxed);
                usage.memory += usage.hidden_memory;
            }
        }
        lock(&self.last_sample).add_cpu_time(&usage, time);
        if let Some(reason) = self.violation(&usage, &limits) {
            self.kill(reason);
        }
    }

    /// Measures what takes longer: memory that resident sets do not show, and files. Kills the
    /// program if it writes too much, or if its memory cannot be measured.
    fn measure_slowly(&self, buffer: &mut String) {
        let Some(limits) = self.limits else { return };
        // Control groups count all memory.
        if self.cgroup.is_none() {
            match self.processes.hidden_memory(&limits, buffer) {
                Ok(bytes) => self.hidden_memory.store(bytes, Ordering::Relaxed),
                Err(_) => self.kill("the memory of one of its processes cannot be measured".into()),
            }
        }
        if let Some(disk) = &mut *lock(&self.disk)
            && disk.is_exceeded()
            && let Some(violation) = disk.violation()
        {
            self.kill(violation.into());
        }
    }

    fn kill(&self, reason: String) {
        let is_alive = lock(&self.is_alive);
        if *is_alive {
            let _ = self.kill_reason.set(reason);
            let _ = rustix::process::kill_process_group(self.processes.pid, Signal::KILL);
            let _ = rustix::process::kill_process(self.processes.pid, Signal::KILL);
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
            if usage.processes <= 1 || usage.hidden_memory > limits.memory {
                return Some(format!("it used {memory} MB of memory; the limit is {max}"));
            }
            // Shared memory counts once, which takes longer to measure.
            let start = *lock(&self.pss_start).get_or_insert_with(|| {
                let (meter, limits) = (self.clone(), *limits);
                let (processes, hidden) = (usage.processes, usage.hidden_memory);
                let thread = std::thread::Builder::new().name("shared-memory".into());
                // If no thread can be started, the timeout applies.
                let _ = thread.spawn(move || meter.check_pss(&limits, processes, hidden));
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
        let turn_time = match self.cpu_rule {
            CpuRule::OwnTurns => self.turn_time(),
            CpuRule::Always => self.started.elapsed(),
            CpuRule::None => return None,
        };
        let last = &mut *lock(&self.last_sample);
        let used = last.cpu_used;
        last.budget.update(used, turn_time, limits).then(|| {
            let [used, turns, slack] =
                [last.cpu_used, turn_time, limits.cpu_slack].map(|time| time.as_secs_f64());
            let cores = match limits.cores {
                1 => "1 core".to_string(),
                count => format!("{count} cores"),
            };
            format!(
                "it used {used:.1} s of CPU time while its own turns lasted {turns:.1} s; the \
                 limit is {CPU_ALLOWANCE} times its turns on {cores}, plus {slack:.1} s; what it \
                 does not use in a turn is lost"
            )
        })
    }

    /// Kills the program if it exceeds the limit on memory with shared memory counted once. A child
    /// that is about to execute another program has all of its parent's memory for a moment, so a
    /// violation must last for two samples.
    fn check_pss(&self, limits: &Limits, processes: u32, hidden: u64) {
        let mut memory = self.processes.total_pss(limits) + hidden;
        if memory > limits.memory {
            std::thread::sleep(MIN_SAMPLE_INTERVAL);
            memory = memory.min(self.processes.total_pss(limits) + hidden);
        }
        if memory > limits.memory {
            let (memory, max) = (memory >> 20, format_size(limits.memory));
            self.kill(format!(
                "it used {memory} MB of memory in {processes} processes; the limit is {max}"
            ));
        }
        *lock(&self.pss_start) = None;
    }
}

impl Monitor {
    /// Waits until programs run, and returns them.
    fn wait_meters(&self) -> Vec<Arc<UsageMeter>> {
        let mut meters = lock(&self.meters);
        while meters.is_empty() {
            meters = self.changed.wait(meters).unwrap_or_else(PoisonError::into_inner);
        }
        meters.clone()
    }

    /// Measures what takes longer, forever.
    fn run_slowly(&self) {
        let mut buffer = String::with_capacity(4096);
        loop {
            let meters = self.wait_meters();
            let start = thread_cpu_time();
            meters.iter().for_each(|meter| meter.measure_slowly(&mut buffer));
            let work = thread_cpu_time().saturating_sub(start);
            std::thread::sleep(MIN_SLOW_INTERVAL.max(work * SLOW_SLEEP_FACTOR));
        }
    }

    fn run(&self) {
        let mut buffer = String::with_capacity(4096);
        loop {
            let meters = self.wait_meters();
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
            let meter = UsageMeter::new(pid, false, None, None, Some(limits), CpuRule::None);
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
    fn program_that_was_frozen_is_greedy_until_the_next_game() {
        let script = Script::start("print('ready', flush=True)\nwhile True: pass");
        let (pid, limits) = (Pid::from_child(&script.0), Limits::default());
        let meter = UsageMeter::new(pid, false, None, None, Some(limits), CpuRule::OwnTurns);
        meter.game_started();
        assert!(!meter.is_greedy());
        meter.expect_idle();
        while !lock(&meter.freeze).is_frozen {
            std::thread::yield_now();
        }
        meter.wake();
        assert!(meter.is_greedy(), "it ran between its turns");
        meter.game_started();
        assert!(!meter.is_greedy());
        meter.detach();
    }

    #[test]
    fn cpu_time_of_processes_that_nobody_waits_for_is_estimated() {
        let mut last = LastSample::default();
        let millis = Duration::from_millis;
        // A process that started after the last sample runs, and shows less than it may have used.
        let usage = Usage { new_running: 1, new_time: millis(10), ..Usage::default() };
        let usage = Usage { cpu_time: millis(10), ..usage };
        last.add_cpu_time(&usage, millis(50));
        assert_eq!(last.cpu_used, millis(50));
        // One that was waited for is known, whatever runs now.
        let usage = Usage { cpu_time: millis(60), ended_time: millis(50), new_running: 1, ..usage };
        last.add_cpu_time(&usage, millis(100));
        assert_eq!(last.cpu_used, millis(100));
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
