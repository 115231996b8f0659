//! Waking a program on the CPU of the thread that waits for it.
//!
//! Referee and bot take turns, so one CPU is enough for both, and handing over is fastest there.
//! But the scheduler prefers the CPU on which the bot ran last if it is idle. Then every line has
//! to wake a sleeping CPU, which takes several times as long, above all in virtual machines. Either
//! placement tends to persist: with two games at a time on two CPUs, a tournament of bots that
//! answer at once went from 600 to 1,400 games a second (`cargo bench -p crownhead-tournament`).
//!
//! So once per game the bot is restricted to the current CPU while it is woken. Afterwards it may
//! run anywhere again.

use rustix::process::Pid;

/// Calls `wake`, which wakes the process or thread `program`, so that it wakes on the current CPU.
#[cfg(target_os = "linux")]
pub fn wake_on_this_cpu<T>(program: Option<Pid>, wake: impl FnOnce() -> T) -> T {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    let Some(program) = program else { return wake() };
    let cpu = sched_getcpu();
    let allowed = match sched_getaffinity(Some(program)) {
        Ok(allowed) if cpu < CpuSet::MAX_CPU && allowed.is_set(cpu) => allowed,
        _ => return wake(),
    };
    let mut this_cpu = CpuSet::new();
    this_cpu.set(cpu);
    // Only speed depends on it, so errors are ignored.
    let _ = sched_setaffinity(Some(program), &this_cpu);
    let result = wake();
    let _ = sched_setaffinity(Some(program), &allowed);
    result
}

/// Calls `wake`: CPU affinity is set on Linux only.
#[cfg(not(target_os = "linux"))]
pub fn wake_on_this_cpu<T>(_program: Option<Pid>, wake: impl FnOnce() -> T) -> T {
    wake()
}
