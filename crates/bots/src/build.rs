//! Builds a bot once, however many players use it.

use std::io;
use std::time::{Duration, Instant};

use crownhead_play::StopFlag;
use crownhead_rules::escape_invisible;
use crownhead_sandbox::DiskWatch;

use crate::BotProgram;
use crate::process::{BotProcess, ReceiveError, describe_exit};

/// How long a build may take.
const BUILD_TIMEOUT: Duration = Duration::from_secs(300);
/// Maximum number of quoted bytes of a build's standard output.
const MAX_BUILD_OUTPUT: usize = 8 * 1024;
/// How often a build is checked for its end and for the stop flag.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Builds a bot. All clones of the program share the result.
pub(crate) fn build(program: &BotProgram, stop: &StopFlag) -> Result<(), String> {
    let build = || match &program.source {
        Some(source) => run_build(program, &source.prepare()?, stop),
        None => program.build.as_ref().map_or(Ok(()), |argv| run_build(program, argv, stop)),
    };
    program.built.get_or_init(build).clone()
}

fn run_build(program: &BotProgram, argv: &[String], stop: &StopFlag) -> Result<(), String> {
    let failure = |reason: String| format!("building {program} with {:?} {reason}", argv.join(" "));
    let start_failure =
        |error: io::Error| failure(format!("failed: {error}{}", program.install_hint(&error)));
    let max_growth = program.build_disk();
    let mut disk = max_growth.map(|max| DiskWatch::new(program.build_dir(), max));
    let mut process = BotProcess::start_build(program, argv).map_err(start_failure)?;
    let mut output = Vec::new();
    let mut on_line = |line: &[u8]| {
        output.extend_from_slice(line);
        output.push(b'\n');
        output.truncate(MAX_BUILD_OUTPUT);
    };
    let end = wait_end(&mut process, stop, disk.as_mut(), &mut on_line);
    // A fast build may end between two checks.
    disk.iter_mut().for_each(DiskWatch::check_now);
    let reason = match end {
        _ if let Some(violation) = disk.as_ref().and_then(DiskWatch::violation) => {
            format!("was stopped: {violation}")
        }
        ReceiveError::Closed if process.kill_reason().is_some() => {
            format!("was stopped: {}", process.kill_reason().unwrap_or_default())
        }
        ReceiveError::Timeout => {
            format!("did not finish within {} minutes", BUILD_TIMEOUT.as_secs() / 60)
        }
        ReceiveError::TooMuchOutput => "printed more than 64 KiB in a line or 1 MiB in all".into(),
        ReceiveError::Stopped => "was interrupted".into(),
        ReceiveError::Closed => match process.exit_status() {
            Some(status) if status.success() => return Ok(()),
            Some(status) => match status.code() {
                Some(code) => format!("failed with exit code {code}"),
                None => format!("failed: it {}", describe_exit(status)),
            },
            None => "failed".into(),
        },
    };
    output.extend(process.stderr_excerpt());
    let output = escape_invisible(&String::from_utf8_lossy(&output));
    Err(failure(format!("{reason}:\n{}", output.trim_end())))
}

/// Waits until a build exits, and passes the lines it prints to `on_line`. `Closed` means that it
/// exited. `Stopped` also means that it has written too much.
fn wait_end(
    process: &mut BotProcess,
    stop: &StopFlag,
    mut disk: Option<&mut DiskWatch>,
    on_line: &mut dyn FnMut(&[u8]),
) -> ReceiveError {
    let mut accept = |line: &[u8]| {
        on_line(line);
        None::<()>
    };
    let deadline = Instant::now() + BUILD_TIMEOUT;
    let end = loop {
        if disk.as_mut().is_some_and(|disk| disk.is_exceeded()) {
            return ReceiveError::Stopped;
        }
        let next_check = deadline.min(Instant::now() + POLL_INTERVAL);
        match process.receive(Some(next_check), stop, &mut accept) {
            // A background process may hold the output open forever.
            Err(ReceiveError::Timeout) if process.has_exited() => {
                break process.drain_lines(&mut accept).err().unwrap_or(ReceiveError::Closed);
            }
            Err(ReceiveError::Timeout) if next_check < deadline => {}
            Err(error) => break error,
            Ok(()) => {}
        }
    };
    if end != ReceiveError::Closed {
        return end;
    }
    // The output may end before the process.
    while !process.wait_exit(Instant::now() + POLL_INTERVAL) {
        if stop.is_set() || disk.as_mut().is_some_and(|disk| disk.is_exceeded()) {
            return ReceiveError::Stopped;
        }
        if Instant::now() >= deadline {
            return ReceiveError::Timeout;
        }
    }
    ReceiveError::Closed
}
