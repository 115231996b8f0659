//! Waking a program on the processor that the referee runs on.
//!
//! Referee and bot take turns, so one processor is enough for both, and handing over is fast there.
//! But the system wakes a program where it ran last if that processor has nothing to do, and then each
//! line has to wake a sleeping processor, which takes several times as long, in virtual machines above
//! all. Either way lasts: at two games at a time on two processors, a contest of instant bots
//! had 600 games a second so, and has 1,400 (`cargo bench -p crownhead-tournament`).
//!
//! So once in a game the program may wake on one processor only, for the moment in which it is woken. It is
//! not tied to it: whatever it computes, the system may move it anywhere.

use rustix::process::Pid;

/// Does something that wakes a program, or one of its threads, on the processor of the caller.
#[cfg(target_os = "linux")]
pub fn near<T>(program: Option<Pid>, wake: impl FnOnce() -> T) -> T {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    let Some(program) = program else { return wake() };
    let here = sched_getcpu();
    let usual = match sched_getaffinity(Some(program)) {
        Ok(usual) if here < CpuSet::MAX_CPU && usual.is_set(here) => usual,
        _ => return wake(),
    };
    let mut only = CpuSet::new();
    only.set(here);
    // Whatever is refused changes nothing but the speed.
    let _ = sched_setaffinity(Some(program), &only);
    let woken = wake();
    let _ = sched_setaffinity(Some(program), &usual);
    woken
}

#[cfg(not(target_os = "linux"))]
pub fn near<T>(_: Option<Pid>, wake: impl FnOnce() -> T) -> T {
    wake()
}
