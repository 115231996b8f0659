//! Which programs run at the moment, and the end of those that nobody would end otherwise: all of
//! them when this program must go at once, and children that left their bot's process group.
//!
//! On Linux a child whose parent has ended becomes a child of this program, so that it can be found.
//! Elsewhere whoever leaves its group gets away.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// The programs that were started and not reaped. Each has a process group of that number.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program. Nobody can take it for an orphan in between.
pub(super) fn started<T>(
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
pub(super) fn reaped(number: Pid) {
    let mut running = running();
    running.retain(|other| *other != number);
    end_orphans(&running);
}

/// Sends a signal to a program that has not been reaped, and to its group.
pub(super) fn signal(number: Pid, signal: Signal) {
    // Whoever is gone needs no signal.
    let _ = rustix::process::kill_process_group(number, signal);
    if rustix::process::getpgid(Some(number)) != Ok(number) {
        // It left its group.
        let _ = rustix::process::kill_process(number, signal);
    }
}

/// Kills every program, for a process that exits right after: no other can be started any more.
pub fn kill_all() {
    let running = running();
    for &number in running.iter() {
        signal(number, Signal::KILL);
        // Its orphans are ours when it is dead.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = rustix::process::waitid(WaitId::Pid(number), options);
    }
    // Nobody is known any more: those of the groups, too, are waited for until they are dead.
    end_orphans(&[]);
    std::mem::forget(running);
}

/// More generations of children are not followed.
const GENERATIONS: usize = 100;

/// Ends the children of this process that it did not start: their parents were bots, or children of
/// bots. One that is in the group of a running bot ends with that; one in our own group was started
/// by somebody else here.
fn end_orphans(running: &[Pid]) {
    let own = rustix::process::getpgrp();
    let list = format!("/proc/self/task/{}/children", std::process::id());
    // What an orphan had started is an orphan next.
    for _ in 0..GENERATIONS {
        let children = std::fs::read_to_string(&list).unwrap_or_default();
        let children = children.split_ascii_whitespace();
        let children = children.filter_map(|number| Pid::from_raw(number.parse().ok()?));
        let orphans = children.filter(|child| {
            let group = rustix::process::getpgid(Some(*child)).ok();
            let is_known = |number: &Pid| running.contains(number);
            !is_known(child) && group.is_none_or(|group| group != own && !is_known(&group))
        });
        let mut found = false;
        for orphan in orphans {
            found = true;
            let _ = rustix::process::kill_process(orphan, Signal::KILL);
            let _ = rustix::process::waitpid(Some(orphan), rustix::process::WaitOptions::empty());
        }
        if !found {
            return;
        }
    }
}
