//! Builds a bot once, however many players use it.

use std::io;
use std::time::{Duration, Instant};

use crownhead_play::StopFlag;

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
    let mut process = BotProcess::start_build(program, argv).map_err(start_failure)?;
    let mut output = Vec::new();
    let end = wait_end(&mut process, stop, |line| {
        output.extend_from_slice(line);
        output.push(b'\n');
        output.truncate(MAX_BUILD_OUTPUT);
    });
    let reason = match end {
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
    Err(failure(format!("{reason}:\n{}", String::from_utf8_lossy(&output).trim_end())))
}

/// Waits until a build exits, and passes the lines it prints to `on_line`. `Closed` means that it
/// exited.
fn wait_end(
    process: &mut BotProcess,
    stop: &StopFlag,
    mut on_line: impl FnMut(&[u8]),
) -> ReceiveError {
    let mut accept = |line: &[u8]| {
        on_line(line);
        None::<()>
    };
    let deadline = Instant::now() + BUILD_TIMEOUT;
    let end = loop {
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
        if stop.is_set() {
            return ReceiveError::Stopped;
        }
        if Instant::now() >= deadline {
            return ReceiveError::Timeout;
        }
    }
    ReceiveError::Closed
}
