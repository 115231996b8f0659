//! Keeps track of running programs. Kills all of them when this process must exit at once, and
//! kills descendants that left their program's process group.
//!
//! On Linux this process is a subreaper: a process whose parent has exited becomes our child, so it
//! can be found. On other systems a process that leaves its group escapes.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use crate::procfs::{self, ProcessIds};
use crate::spawn::Started;

/// Programs that were started and not yet reaped. Each is the leader of a process group.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Time that killed processes get to exit.
const KILL_TIMEOUT: Duration = Duration::from_millis(500);

/// Locks the list of running programs. While it is locked, no child of this process is taken for an
/// orphan.
pub(crate) fn lock() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `start` and registers the process that it starts.
pub(crate) fn register(
    start: impl FnOnce() -> std::io::Result<Started>,
) -> std::io::Result<Started> {
    let mut running = lock();
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let started = start()?;
    running.push(started.pid);
    Ok(started)
}

/// Removes a reaped process from the list, and kills the orphans it left.
pub(crate) fn unregister(pid: Pid) {
    lock().retain(|running| *running != pid);
    // The lock is released between two attempts, so that others can start and reap programs.
    wait_while(|| reap_orphans(&lock()));
}

/// Sends a signal to a process that was not reaped yet, and to its group.
pub(crate) fn signal(pid: Pid, signal: Signal) {
    // Fails if the process has exited, which is fine.
    let _ = rustix::process::kill_process_group(pid, signal);
    let raw = pid.as_raw_nonzero().get();
    if ProcessIds::read(raw).is_none_or(|ids| ids.group != raw) {
        // It left its group.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Kills all programs. Must be followed by the end of this process: none can be started any more.
pub fn kill_all() {
    let running = lock();
    for &pid in running.iter() {
        signal(pid, Signal::KILL);
    }
    // A program's descendants become our children only when it is dead.
    let is_alive = |pid: &Pid| {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        matches!(rustix::process::waitid(WaitId::Pid(*pid), options), Ok(None))
    };
    wait_while(|| running.iter().any(is_alive));
    // With an empty list, members of the programs' groups count as orphans too.
    wait_while(|| reap_orphans(&[]));
    // Never unlocked again.
    std::mem::forget(running);
}

/// Polls `condition` until it is false, for [`KILL_TIMEOUT`] at most.
fn wait_while(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + KILL_TIMEOUT;
    let mut pause = Duration::from_micros(50);
    while condition() && Instant::now() < deadline {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Kills and reaps children of this process that it did not start: descendants of programs whose
/// parent has exited. Does not wait for them. Returns whether more may turn up, because the
/// children of a killed orphan become orphans next.
///
/// Spares members of a running program's group, which end with the program, and processes of our
/// own session, which were started by other code in this process: every program has a session of
/// its own and cannot join ours.
fn reap_orphans(running: &[Pid]) -> bool {
    let own_session = ProcessIds::read(std::process::id() as i32).map(|ids| ids.session);
    let is_running = |pid: Pid| running.contains(&pid);
    let is_spared = |ids: ProcessIds| {
        own_session == Some(ids.session) || Pid::from_raw(ids.group).is_some_and(is_running)
    };
    let mut may_be_more = false;
    for child in procfs::own_children() {
        let Some(pid) = Pid::from_raw(child) else { continue };
        if is_running(pid) || ProcessIds::read(child).is_some_and(is_spared) {
            continue;
        }
        let is_killed = rustix::process::kill_process(pid, Signal::KILL).is_ok();
        let reaped = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        // A process that changed to another user cannot be killed.
        may_be_more |= is_killed || matches!(reaped, Ok(Some(_)));
    }
    may_be_more
}
