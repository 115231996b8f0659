//! The watch: a thread that looks at what programs use, a few times a second, and stops those that
//! use too much.
//!
//! What the kernel limits by itself it limits for each process, which a program with many escapes. So
//! memory, processor time and processes are counted here, over all of a program's. Processor time has one
//! law: so much as its own turns lasted, times the processors it may use, and a little to
//! spare. Whoever thinks in the opponent's time, or on more processors, breaks it.
//!
//! The watch is one for all, so it reads only what no program can keep it waiting for. How memory is shared is
//! not of that kind: the kernel takes a lock for it that a program with hundreds of busy processes
//! can hold for seconds. So that is counted by a thread of its own.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::limits::write_size;
use super::{Group, Limits};
use crate::stopwatch::Stopwatch;

/// What is known of a running program. Whoever holds it looks whether it was stopped.
pub struct Meter {
    pid: Pid,
    /// Whether the process only keeps those that are meant.
    is_keeper: bool,
    /// The control group that it is in, if there is one.
    group: Option<Arc<Group>>,
    /// None: nothing is looked at.
    limits: Option<Limits>,
    /// Whether processor time is counted.
    counts_time: bool,
    /// Nanoseconds of its own turns that are over.
    turns: AtomicU64,
    /// When its turn began, in nanoseconds since the first program; 0 if it is not its turn.
    since: AtomicU64,
    /// Whether its number is still its own.
    is_alive: Mutex<bool>,
    stopped: OnceLock<String>,
    /// What was seen last; only the watch uses it.
    seen: Mutex<Seen>,
    /// Since when its shared memory is being counted, if it is.
    counting: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct Seen {
    /// Processor time at the last look, and all that was burnt.
    last: Duration,
    burnt: Duration,
}

/// What a program uses at a moment.
#[derive(Default)]
struct Use {
    processes: u32,
    tasks: u32,
    memory: u64,
    time: Duration,
}

/// The shortest time between two looks.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest, with very many programs.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The watch sleeps so many times longer than it looks.
const REST: u32 = 50;
/// Whoever cannot be counted for so long has all memory that its processes have, shared or not.
const LONGEST_COUNT: Duration = Duration::from_secs(3);
/// So much more than one processor's time a runtime may use that compiles and collects on threads of
/// its own: a quarter.
const LENIENCY: f64 = 1.25;

struct Watch {
    meters: Mutex<Vec<Arc<Meter>>>,
    changed: Condvar,
}

static WATCH: Watch = Watch { meters: Mutex::new(Vec::new()), changed: Condvar::new() };

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> u64 {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    // Never 0, which says that it is not the program's turn.
    EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

impl Meter {
    /// Begins to watch a program.
    pub fn new(
        pid: Pid,
        is_keeper: bool,
        group: Option<Arc<Group>>,
        limits: Option<Limits>,
        counts_time: bool,
    ) -> Arc<Meter> {
        let meter = Arc::new(Meter {
            pid,
            is_keeper,
            group,
            limits,
            counts_time,
            turns: AtomicU64::new(0),
            since: AtomicU64::new(0),
            is_alive: Mutex::new(true),
            stopped: OnceLock::new(),
            seen: Mutex::default(),
            counting: Mutex::default(),
        });
        if limits.is_some() {
            static THREAD: OnceLock<bool> = OnceLock::new();
            THREAD.get_or_init(|| {
                let thread = std::thread::Builder::new().name("watch".into());
                thread.spawn(|| WATCH.run()).is_ok()
            });
            locked(&WATCH.meters).push(meter.clone());
            WATCH.changed.notify_one();
        }
        meter
    }

    /// Its turn begins.
    pub fn begin(&self) {
        self.since.store(now(), Ordering::Relaxed);
    }

    /// Its turn is over.
    pub fn rest(&self) {
        let since = self.since.swap(0, Ordering::Relaxed);
        if since > 0 {
            self.turns.fetch_add(now() - since, Ordering::Relaxed);
        }
    }

    /// How long its turns have lasted.
    fn own_time(&self) -> Duration {
        let turns = self.turns.load(Ordering::Relaxed);
        let turn = match self.since.load(Ordering::Relaxed) {
            0 => 0,
            since => now().saturating_sub(since),
        };
        Duration::from_nanos(turns + turn)
    }

    /// Why it was stopped, if it was.
    pub fn stopped(&self) -> Option<&str> {
        // The kernel may have been faster than the watch.
        if self.stopped.get().is_none()
            && let Some(why) = self.group.as_ref().and_then(|group| group.stopped())
        {
            let _ = self.stopped.set(why);
        }
        self.stopped.get().map(String::as_str)
    }

    /// The program is about to be reaped: its number will be another's.
    pub fn retire(self: &Arc<Meter>) {
        *locked(&self.is_alive) = false;
        if self.limits.is_some() {
            locked(&WATCH.meters).retain(|other| !Arc::ptr_eq(other, self));
        }
    }

    fn look(self: &Arc<Meter>, text: &mut String) {
        let Some(limits) = self.limits else { return };
        let used = self.used(&limits, text);
        if let Some(why) = self.too_much(&used, &limits) {
            self.stop(why);
        }
    }

    fn stop(&self, why: String) {
        let is_alive = locked(&self.is_alive);
        if *is_alive {
            let _ = self.stopped.set(why);
            let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
            let _ = rustix::process::kill_process(self.pid, Signal::KILL);
        }
    }

    fn too_much(self: &Arc<Meter>, used: &Use, limits: &Limits) -> Option<String> {
        if used.tasks > limits.processes {
            let most = limits.processes;
            return Some(format!(
                "it had more than {most} processes and threads: {most} are allowed"
            ));
        }
        if used.memory > limits.memory {
            let (memory, most) = (used.memory >> 20, write_size(limits.memory));
            if used.processes <= 1 {
                return Some(format!("it used {memory} MB of memory: {most} are allowed"));
            }
            // Memory that processes share counts once, which takes longer to find out.
            let since = *locked(&self.counting).get_or_insert_with(|| {
                let (meter, limits, processes) = (self.clone(), *limits, used.processes);
                let thread = std::thread::Builder::new().name("count".into());
                // Without a thread the time will be over.
                let _ = thread.spawn(move || meter.count(&limits, processes));
                Instant::now()
            });
            if since.elapsed() > LONGEST_COUNT {
                return Some(format!(
                    "its {} processes had {memory} MB of memory, and how much of that they share \
                     could not be found out within {} s: {most} are allowed",
                    used.processes,
                    LONGEST_COUNT.as_secs()
                ));
            }
        }
        if !self.counts_time {
            return None;
        }
        let mut seen = locked(&self.seen);
        let seen = &mut *seen;
        // The time of a process that nobody waited for is lost.
        seen.burnt += used.time.saturating_sub(seen.last);
        seen.last = used.time;
        let own = self.own_time();
        let cores = f64::from(limits.cores);
        let allowed = own.mul_f64(cores * LENIENCY).saturating_add(limits.spare);
        (seen.burnt > allowed).then(|| {
            let [burnt, own, spare] =
                [seen.burnt, own, limits.spare].map(|time| time.as_secs_f64());
            format!(
                "it used {burnt:.1} s of processor time while its own turns lasted {own:.1} s: on \
                 {cores} {} it may use {LENIENCY} times as much and {spare:.1} s more, and none \
                 to speak of while others think",
                if limits.cores == 1 { "processor" } else { "processors" }
            )
        })
    }

    /// What it uses now. Counting ends when there are too many processes.
    fn used(&self, limits: &Limits, text: &mut String) -> Use {
        let mut used = Use::default();
        let mut todo = Vec::new();
        self.roots(&mut todo, text);
        if self.is_keeper {
            // Those that it has waited for; it shares our memory and has no other.
            if let Some(known) = Stat::read(self.pid.as_raw_nonzero().get(), text) {
                used.time += known.waited_for;
            }
        }
        while let Some(pid) = todo.pop() {
            let Some(known) = Stat::read(pid, text) else { continue };
            used.processes += u32::from(known.memory > 0);
            used.tasks += known.threads;
            used.memory += known.memory;
            used.time += known.own + known.waited_for;
            if used.tasks > limits.processes {
                break;
            }
            children(pid, known.threads, &mut todo, text);
        }
        // A group knows the time of those that nobody waited for, too.
        used.time = self.group.as_ref().and_then(|group| group.time()).unwrap_or(used.time);
        used
    }

    /// The processes to begin with.
    fn roots(&self, todo: &mut Vec<i32>, text: &mut String) {
        let pid = self.pid.as_raw_nonzero().get();
        if self.is_keeper {
            return children(pid, 1, todo, text);
        }
        todo.push(pid);
        // Orphans are ours; they cannot leave the group.
        let mut orphans = Vec::new();
        children(std::process::id() as i32, 1, &mut orphans, text);
        todo.extend(orphans.into_iter().filter(|orphan| {
            *orphan != pid && family(*orphan).is_some_and(|own| own.group == pid)
        }));
    }

    /// Counts its memory, with what is shared once. A child that is about to start another program has
    /// all the memory of its parent for a moment, so what is too much is counted a second time.
    fn count(&self, limits: &Limits, processes: u32) {
        let mut memory = self.shared_memory(limits, &mut String::new());
        if memory > limits.memory {
            std::thread::sleep(PAUSE);
            memory = memory.min(self.shared_memory(limits, &mut String::new()));
        }
        if memory > limits.memory {
            let (memory, most) = (memory >> 20, write_size(limits.memory));
            self.stop(format!(
                "it used {memory} MB of memory in {processes} processes: {most} are allowed"
            ));
        }
        *locked(&self.counting) = None;
    }

    /// Its memory, with what is shared counted once.
    fn shared_memory(&self, limits: &Limits, text: &mut String) -> u64 {
        let mut memory = 0;
        let mut todo = Vec::new();
        self.roots(&mut todo, text);
        while let Some(pid) = todo.pop() {
            let Some(known) = Stat::read(pid, text) else { continue };
            children(pid, known.threads, &mut todo, text);
            memory += share(known.witness, text).unwrap_or_else(|| {
                // The dead have none. Of whom the kernel does not tell, all counts.
                Stat::read(pid, text).map_or(0, |known| known.memory)
            });
            if memory > limits.memory {
                break;
            }
        }
        memory
    }
}

/// The memory of a process, with what it shares divided among those who have it.
fn share(pid: i32, text: &mut String) -> Option<u64> {
    read(&format!("/proc/{pid}/smaps_rollup"), text)?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

impl Watch {
    fn run(&self) {
        let mut text = String::with_capacity(4096);
        loop {
            let meters: Vec<_> = {
                let mut meters = locked(&self.meters);
                while meters.is_empty() {
                    meters = self.changed.wait(meters).unwrap_or_else(PoisonError::into_inner);
                }
                meters.clone()
            };
            // Waiting for a processor is no work.
            let work = Stopwatch::start();
            for meter in meters {
                meter.look(&mut text);
            }
            std::thread::sleep((work.used() * REST).clamp(PAUSE, LONGEST_PAUSE));
        }
    }
}

/// What `/proc/PID/stat` says of a process.
struct Stat {
    own: Duration,
    waited_for: Duration,
    threads: u32,
    /// Nothing once it is dead.
    memory: u64,
    /// A thread that has this memory: the first, unless that has ended before the others.
    witness: i32,
}

impl Stat {
    fn read(pid: i32, text: &mut String) -> Option<Stat> {
        let stat = Stat::of_thread(pid, text)?;
        if stat.memory > 0 || stat.threads <= 1 {
            return Some(stat);
        }
        let mut others = tasks(pid).filter_map(|task| Stat::of_thread(task.parse().ok()?, text));
        Some(match others.find(|other| other.memory > 0) {
            Some(Stat { memory, witness, .. }) => Stat { memory, witness, ..stat },
            None => stat,
        })
    }

    /// What a thread says of its process. One that has ended knows of no memory.
    fn of_thread(thread: i32, text: &mut String) -> Option<Stat> {
        read(&format!("/proc/{thread}/stat"), text)?;
        // The name before it may hold anything.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        // From the third field on: the state.
        let mut number = |skipped: usize| fields.nth(skipped)?.parse::<i64>().ok();
        let [user, system] = [number(11)?, number(0)?];
        let [children, children_system] = [number(0)?, number(0)?];
        let threads = number(2)?;
        let pages = number(3)?;
        let time = |ticks: i64| {
            Duration::from_millis(
                ticks.max(0) as u64 * 1000 / rustix::param::clock_ticks_per_second(),
            )
        };
        Some(Stat {
            own: time(user + system),
            waited_for: time(children + children_system),
            threads: threads.try_into().unwrap_or(0),
            memory: pages.max(0) as u64 * rustix::param::page_size() as u64,
            witness: thread,
        })
    }
}

/// The first child of a process with one thread.
pub fn first_child(pid: Pid) -> Option<Pid> {
    let mut found = Vec::new();
    children(pid.as_raw_nonzero().get(), 1, &mut found, &mut String::new());
    found.first().copied().and_then(Pid::from_raw)
}

/// The children of a process, of all its threads.
fn children(pid: i32, threads: u32, found: &mut Vec<i32>, text: &mut String) {
    let mut of_thread = |thread: &str| {
        let mut path = String::new();
        let _ = write!(path, "/proc/{pid}/task/{thread}/children");
        if read(&path, text).is_some() {
            found.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
    };
    if threads <= 1 {
        return of_thread(&pid.to_string());
    }
    tasks(pid).for_each(|thread| of_thread(&thread));
}

/// The numbers of the threads of a process.
fn tasks(pid: i32) -> impl Iterator<Item = String> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    tasks.map(|task| task.file_name().to_string_lossy().into_owned())
}

/// Where a process belongs.
pub struct Family {
    pub parent: i32,
    pub group: i32,
    pub session: i32,
}

/// Where a process belongs, if the system tells. A number is 0 where it is of a namespace outside ours, as
/// they are for the first process of a container; the calls of rustix for the same take that for impossible.
pub fn family(process: i32) -> Option<Family> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may hold anything; then comes the state.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(1);
    let mut number = || fields.next()?.parse().ok();
    Some(Family { parent: number()?, group: number()?, session: number()? })
}

fn read(path: &str, text: &mut String) -> Option<()> {
    text.clear();
    let mut file = std::fs::File::open(path).ok()?;
    std::io::Read::read_to_string(&mut file, text).ok()?;
    Some(())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::BufRead;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A program in a group of its own, which has said that it is where the test wants it.
    struct Watched(Child);

    impl Watched {
        fn new(script: &str) -> Watched {
            let mut command = Command::new("python3");
            command.args(["-c", script]).process_group(0);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, "there\n");
            Watched(child)
        }

        /// What the watch says after a look.
        fn looked_at(&self, limits: &str) -> Option<String> {
            let limits = limits.parse().unwrap();
            let meter = Meter::new(Pid::from_child(&self.0), false, None, Some(limits), false);
            meter.look(&mut String::new());
            while locked(&meter.counting).is_some() {
                std::thread::yield_now();
            }
            let stopped = meter.stopped().map(String::from);
            meter.retire();
            stopped
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            let _ = rustix::process::kill_process_group(Pid::from_child(&self.0), Signal::KILL);
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn a_dead_child_that_nobody_waits_for_does_not_make_shared_memory_count_twice() {
        // The child has its parent's 100 MB and no others.
        let watched = Watched::new(
            "import os, time\n\
             hoard = bytearray(os.urandom(4096) * 25600)\n\
             dead = os.fork()\n\
             if dead == 0: os._exit(0)\n\
             os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)\n\
             if os.fork() == 0: time.sleep(600)\n\
             print('there', flush=True)\n\
             time.sleep(600)",
        );
        assert_eq!(watched.looked_at("memory=180MB"), None);
        let told = watched.looked_at("memory=90MB").unwrap();
        assert!(told.contains("MB of memory in 2 processes: 90MB are allowed"), "{told}");
    }

    #[test]
    fn memory_counts_when_the_first_thread_has_ended() {
        let number = libc::SYS_exit;
        let watched = Watched::new(&format!(
            "import ctypes, os, threading, time\n\
             hoard = bytearray(os.urandom(4096) * 25600)\n\
             def stay():\n\
             \x20while ') Z ' not in open('/proc/self/stat').read(): time.sleep(0.001)\n\
             \x20print('there', flush=True)\n\
             \x20time.sleep(600)\n\
             threading.Thread(target=stay).start()\n\
             ctypes.CDLL(None).syscall({number}, 0)"
        ));
        let told = watched.looked_at("memory=90MB").unwrap();
        assert!(told.contains("MB of memory: 90MB are allowed"), "{told}");
    }
}
