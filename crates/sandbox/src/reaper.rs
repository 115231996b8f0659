//! Which programs run at the moment, and the end of those that nobody would end otherwise: all of
//! them when this program must go at once, and children that left their bot's process group.
//!
//! On Linux a child whose parent has ended becomes a child of this program, so that it can be found.
//! Elsewhere whoever leaves its group gets away.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use crate::monitor::family;

/// The programs that were started and not reaped. Each has a process group of that number.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program. Nobody can take it for an orphan in between.
pub fn started<T>(
    start: impl FnOnce() -> std::io::Result<T>,
    number: impl Fn(&T) -> Pid,
) -> std::io::Result<T> {
    let mut running = running();
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let program = start()?;
    running.push(number(&program));
    Ok(program)
}

/// Forgets a program that has been reaped, and ends what it left behind.
pub fn reaped(number: Pid) {
    running().retain(|other| *other != number);
    // Others may start and end programs between two looks.
    wait_while(|| end_orphans(&running()));
}

/// Sends a signal to a program that has not been reaped, and to its group.
pub fn signal(number: Pid, signal: Signal) {
    // Whoever is gone needs no signal.
    let _ = rustix::process::kill_process_group(number, signal);
    let raw = number.as_raw_nonzero().get();
    if family(raw).is_none_or(|own| own.group != raw) {
        // It left its group.
        let _ = rustix::process::kill_process(number, signal);
    }
}

/// Kills every program, for a process that exits right after: no other can be started any more.
pub fn kill_all() {
    let running = running();
    for &number in running.iter() {
        signal(number, Signal::KILL);
    }
    // The orphans of a program are ours when it is dead.
    let is_alive = |number: &Pid| {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        matches!(rustix::process::waitid(WaitId::Pid(*number), options), Ok(None))
    };
    wait_while(|| running.iter().any(is_alive));
    // Nobody is known any more: those of the groups, too, are waited for until they are dead.
    wait_while(|| end_orphans(&[]));
    std::mem::forget(running);
}

/// Whoever has not ended so long after it was killed is not waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Waits while something is so, but not for long.
fn wait_while(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_micros(50);
    while is_so() && Instant::now() < deadline {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Kills the children of this process that it did not start, and reaps those that are dead: their
/// parents were bots, or children of bots. Whether there may be more of them soon; what an orphan had
/// started is an orphan next. Never waits.
///
/// One that is in the group of a running bot ends with that. One in our own session was started by
/// somebody else here: every bot has another, and no way leads back.
fn end_orphans(running: &[Pid]) -> bool {
    let own = family(std::process::id() as i32).map(|own| own.session);
    let list = format!("/proc/self/task/{}/children", std::process::id());
    let children = std::fs::read_to_string(&list).unwrap_or_default();
    let children = children.split_ascii_whitespace();
    let children = children.filter_map(|number| Pid::from_raw(number.parse().ok()?));
    let orphans = children.filter(|child| {
        let is_known = |number: Pid| running.contains(&number);
        let is_kept = family(child.as_raw_nonzero().get()).is_some_and(|child| {
            own == Some(child.session) || Pid::from_raw(child.group).is_some_and(is_known)
        });
        !is_known(*child) && !is_kept
    });
    let mut are_more = false;
    for orphan in orphans {
        let is_killed = rustix::process::kill_process(orphan, Signal::KILL).is_ok();
        let reaped = rustix::process::waitpid(Some(orphan), WaitOptions::NOHANG);
        // Who has the rights of another user cannot be killed.
        are_more |= is_killed || matches!(reaped, Ok(Some(_)));
    }
    are_more
}
