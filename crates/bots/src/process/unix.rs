//! [`BotProcess`] on Unix.
//!
//! One `poll` reads standard output and standard error, up to a deadline and into bounded memory. A
//! bot that writes too much is stopped or loses the excess. Waiting for a bot takes no CPU time.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use crownhead_play::StopFlag;
use crownhead_sandbox::affinity::wake_on_this_cpu;
use crownhead_sandbox::{Child, Isolation, Limits, SpawnRequest, heartbeat};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::Signal;

use super::stderr::StderrCapture;
use super::{Interest, ReceiveError, is_transient};
use crate::BotProgram;
use crate::adapters::CSource;
use crate::line_buffer::{LineBuffer, LineTooLong};
use crate::log::Log;

/// A running bot and the pipes to it.
pub(crate) struct BotProcess {
    child: Child,
    stdin: Option<File>,
    stdout: Option<File>,
    stderr: Option<File>,
    /// The port that the bot connects to, if it has a network namespace.
    pub(crate) listener: Option<TcpListener>,
    lines: LineBuffer,
    captured: StderrCapture,
    /// Bytes of output since [`start_wait`](BotProcess::start_wait).
    output_bytes: usize,
    /// [`heartbeat::time_away`] at that moment.
    away_before: Duration,
    is_isolated: bool,
    /// Log of the game in progress.
    pub(crate) log: Option<Log>,
}

/// Maximum output of a bot in one turn.
const MAX_OUTPUT_PER_TURN: usize = 1024 * 1024;
/// Maximum delay before a stop flag is noticed.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long a bot may take to exit after `quit` and the end of its input.
const QUIT_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a bot may take to exit after SIGTERM.
const TERM_TIMEOUT: Duration = Duration::from_millis(200);

impl BotProcess {
    /// Starts a bot that has been built.
    pub(crate) fn start(program: &BotProgram) -> io::Result<BotProcess> {
        BotProcess::spawn(program, &program.argv(), false)
    }

    /// Starts a command that builds the bot. Its standard input is empty.
    pub(crate) fn start_build(program: &BotProgram, argv: &[String]) -> io::Result<BotProcess> {
        let mut process = BotProcess::spawn(program, argv, true)?;
        process.stdin = None;
        Ok(process)
    }

    fn spawn(program: &BotProgram, argv: &[String], is_build: bool) -> io::Result<BotProcess> {
        let (limits, source) = (program.effective_limits(), program.source.as_ref());
        let mut extra_paths = source.map(CSource::readable_paths).unwrap_or_default();
        extra_paths.extend_from_slice(&program.runtime_paths);
        let request = SpawnRequest {
            program: &program.executable(argv),
            argv,
            folder: &program.folder,
            owns_folder: program.has_manifest(),
            extra_paths: &extra_paths,
            is_build,
            build_output: source.and_then(CSource::build_dir),
            isolation: program.isolation,
            limits: if is_build { build_limits(limits) } else { limits },
            ponder: program.ponder,
            port: program.protocol.port().filter(|_| !is_build),
        };
        let mut child = crownhead_sandbox::spawn(&request)?;
        // From here on, dropping the process stops it.
        let process = BotProcess {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            listener: child.listener.take(),
            child,
            lines: LineBuffer::default(),
            captured: StderrCapture::default(),
            output_bytes: 0,
            away_before: heartbeat::time_away(),
            is_isolated: program.isolation != Isolation::Off,
            log: None,
        };
        for pipe in [&process.stdin, &process.stdout, &process.stderr].into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(process)
    }

    /// Returns whether the bot runs in a sandbox.
    pub(crate) fn is_isolated(&self) -> bool {
        self.is_isolated
    }

    /// Returns why the sandbox stopped the bot, if it did.
    pub(crate) fn kill_reason(&self) -> Option<&str> {
        self.child.meter.kill_reason()
    }

    /// Marks the end of the bot's turn: if it still runs before something is sent to it, it is
    /// frozen.
    pub(crate) fn expect_idle(&mut self) {
        self.child.meter.expect_idle();
    }

    /// Lets a frozen bot run.
    pub(crate) fn wake(&mut self) {
        self.child.meter.wake();
    }

    /// Sends a line, waiting until the deadline for a bot that does not read.
    ///
    /// Errors are not reported: if the bot is gone, the next call to
    /// [`receive`](BotProcess::receive) shows why.
    pub(crate) fn send(&mut self, line: &str, deadline: Option<Instant>, stop: &StopFlag) {
        if let Some(log) = &mut self.log {
            log.sent(line);
        }
        self.wake();
        let mut remaining = line.as_bytes();
        while !remaining.is_empty() {
            let Some(stdin) = &mut self.stdin else { return };
            match stdin.write(remaining) {
                Ok(count) => remaining = &remaining[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let deadline = self.extended(deadline);
                    let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if is_late || stop.is_set() || self.poll(deadline, true).is_err() {
                        // The next line would continue this incomplete one.
                        self.stdin = None;
                    }
                }
                Err(_) => self.stdin = None,
            }
        }
    }

    /// Sends the line that starts a game, and wakes the bot on the current CPU.
    pub(crate) fn send_newgame(&mut self, line: &str, deadline: Option<Instant>, stop: &StopFlag) {
        wake_on_this_cpu(self.child.program, || self.send(line, deadline, stop));
    }

    /// Passes received lines to `accept` until it returns a value.
    pub(crate) fn receive<T>(
        &mut self,
        deadline: Option<Instant>,
        stop: &StopFlag,
        mut accept: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<T, ReceiveError> {
        let mut is_late = false;
        loop {
            let accepted = self.take_lines(|line, log| {
                if let Some(log) = log {
                    log.received(line);
                }
                accept(line)
            })?;
            if let Some(value) = accepted {
                return Ok(value);
            }
            if self.stdout.is_none() {
                return Err(ReceiveError::Closed);
            }
            let deadline = self.next_deadline(deadline, stop, &mut is_late)?;
            if self.poll(deadline, false).is_err() {
                self.stdout = None;
            }
        }
    }

    /// Passes the lines that are available now to `accept` until it returns a value. A bot that
    /// exited is not an error.
    pub(crate) fn drain_lines<T>(
        &mut self,
        mut accept: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, ReceiveError> {
        // Nothing is waited for, so no deadline is extended.
        self.away_before = heartbeat::time_away();
        loop {
            let before = self.output_bytes;
            match self.receive(Some(Instant::now()), &StopFlag::new(), &mut accept) {
                Ok(value) => return Ok(Some(value)),
                Err(ReceiveError::TooMuchOutput) => return Err(ReceiveError::TooMuchOutput),
                Err(_) if self.output_bytes == before => return Ok(None),
                Err(_) => {}
            }
        }
    }

    /// Passes the buffered lines to `accept` until it returns a value.
    fn take_lines<T>(
        &mut self,
        mut accept: impl FnMut(&[u8], &mut Option<Log>) -> Option<T>,
    ) -> Result<Option<T>, ReceiveError> {
        let too_long = |LineTooLong| ReceiveError::TooMuchOutput;
        while let Some(range) = self.lines.next().map_err(too_long)? {
            if let Some(value) = accept(self.lines.get(range), &mut self.log) {
                return Ok(Some(value));
            }
        }
        match self.output_bytes > MAX_OUTPUT_PER_TURN {
            true => Err(ReceiveError::TooMuchOutput),
            false => Ok(None),
        }
    }

    /// Waits until a socket is ready, for protocols that do not use the pipes. What the bot prints
    /// meanwhile goes to the log.
    pub(crate) fn wait_socket(
        &mut self,
        socket: &impl AsFd,
        interest: Interest,
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<(), ReceiveError> {
        let flags = match interest {
            Interest::Readable => PollFlags::IN,
            Interest::Writable => PollFlags::OUT,
        };
        let mut is_late = false;
        loop {
            self.take_lines(|line, log| {
                if let Some(log) = log {
                    log.stderr(line);
                    log.stderr(b"\n");
                }
                None::<()>
            })?;
            let deadline = self.next_deadline(deadline, stop, &mut is_late)?;
            match self.poll_with(deadline, false, Some(PollFd::new(socket, flags))) {
                Ok(Ready { socket: true, .. }) => return Ok(()),
                _ if self.has_exited() => return Err(ReceiveError::Closed),
                Ok(_) => {}
                Err(_) => return Err(ReceiveError::Closed),
            }
        }
    }

    /// Returns the deadline of the next poll, or why there is none. What is available at the
    /// deadline is read once more (then `is_late` is set) and no further, so that writing slowly
    /// gains no time.
    fn next_deadline(
        &self,
        deadline: Option<Instant>,
        stop: &StopFlag,
        is_late: &mut bool,
    ) -> Result<Option<Instant>, ReceiveError> {
        if stop.is_set() {
            return Err(ReceiveError::Stopped);
        }
        if *is_late {
            return Err(ReceiveError::Timeout);
        }
        let deadline = self.extended(deadline);
        *is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        Ok(deadline)
    }

    /// Waits until output can be read (or, if `to_write`, input be written) and reads it. Returns
    /// whether anything was ready.
    fn poll(&mut self, deadline: Option<Instant>, to_write: bool) -> io::Result<bool> {
        self.poll_with(deadline, to_write, None).map(|ready| ready.any)
    }

    /// Polls the pipes and, if given, a socket.
    fn poll_with(
        &mut self,
        deadline: Option<Instant>,
        to_write: bool,
        socket: Option<PollFd<'_>>,
    ) -> io::Result<Ready> {
        let remaining = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let time = remaining.map_or(STOP_POLL_INTERVAL, |time| time.min(STOP_POLL_INTERVAL));
        let timeout = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        // Closed pipes are not polled: they would always be ready.
        let mut fds = ArrayVec::<PollFd<'_>, 4>::new();
        fds.extend(self.stdout.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(self.stderr.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        if to_write {
            fds.extend(self.stdin.as_ref().map(|fd| PollFd::new(fd, PollFlags::OUT)));
        }
        let (has_socket, pipe_count) = (socket.is_some(), fds.len());
        fds.extend(socket);
        // The bot may use CPU time while the referee waits for it.
        self.child.meter.turn_started();
        let polled = rustix::event::poll(&mut fds, Some(&timeout));
        self.child.meter.turn_ended();
        let any = match polled {
            Err(Errno::INTR) => return Ok(Ready { any: false, socket: false }),
            polled => polled? > 0,
        };
        let is_ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let stdout = self.stdout.is_some() && is_ready(0);
        let stderr = self.stderr.is_some() && is_ready(usize::from(self.stdout.is_some()));
        let socket = has_socket && is_ready(pipe_count);
        drop(fds);
        if stderr {
            self.read_stderr();
        }
        if stdout {
            self.read_stdout();
        }
        Ok(Ready { any, socket })
    }

    fn read_stdout(&mut self) {
        let Some(stdout) = &mut self.stdout else { return };
        let read = match self.output_bytes > MAX_OUTPUT_PER_TURN {
            // Discarded, but read: a bot blocked in `write` could not exit.
            true => stdout.read(&mut [0; 4096]),
            false => self.lines.fill(|space| stdout.read(space)),
        };
        match read {
            Ok(0) => self.stdout = None,
            Ok(count) => self.output_bytes = self.output_bytes.saturating_add(count),
            Err(error) if is_transient(&error) => {}
            Err(_) => self.stdout = None,
        }
    }

    fn read_stderr(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        let mut bytes = [0; 4096];
        match stderr.read(&mut bytes) {
            Ok(0) => self.stderr = None,
            Ok(count) => {
                if let Some(log) = &mut self.log {
                    log.stderr(&bytes[..count]);
                }
                self.captured.push(&bytes[..count]);
            }
            Err(error) if is_transient(&error) => {}
            Err(_) => self.stderr = None,
        }
    }

    /// Starts to wait for an answer: output and [`time_away`](BotProcess::time_away) count from
    /// zero.
    pub(crate) fn start_wait(&mut self) {
        self.output_bytes = 0;
        self.away_before = heartbeat::time_away();
    }

    /// Returns how long `crownhead` was stopped or starved since the wait started. That time does
    /// not count, unless the bot uses more CPU time than it may: it could starve us on purpose.
    pub(crate) fn time_away(&self) -> Duration {
        let away = heartbeat::time_away().saturating_sub(self.away_before);
        match away.is_zero() || self.child.meter.is_greedy() {
            true => Duration::ZERO,
            false => away,
        }
    }

    /// Extends a deadline that has passed by [`time_away`](BotProcess::time_away).
    fn extended(&self, deadline: Option<Instant>) -> Option<Instant> {
        deadline.map(|deadline| match Instant::now() < deadline {
            true => deadline,
            false => deadline + self.time_away(),
        })
    }

    /// Marks the start of a game.
    pub(crate) fn start_game(&mut self) {
        self.child.meter.game_started();
    }

    /// Returns the line that has no end yet.
    pub(crate) fn partial_line(&self) -> &[u8] {
        self.lines.partial_line()
    }

    /// Returns the last line of standard error that is not blank.
    pub(crate) fn stderr_tail(&self) -> Option<&[u8]> {
        self.captured.last_line()
    }

    /// Returns the last lines of standard error.
    pub(crate) fn stderr_lines(&self, max: usize) -> Vec<String> {
        self.captured.lines(max)
    }

    /// Returns the beginning and the end of standard error.
    pub(crate) fn stderr_excerpt(&self) -> Vec<u8> {
        self.captured.excerpt()
    }

    /// Waits briefly for the process to exit and returns its status; `None` if it is still running.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + TERM_TIMEOUT;
        let has_exited = self.wait_exit(deadline);
        // The report of a crash quotes standard error: read it to its end.
        while self.stderr.is_some()
            && Instant::now() < deadline
            && self.poll(Some(deadline), false).unwrap_or(false)
        {}
        if has_exited && !self.child.is_reaped() { self.reap() } else { None }
    }

    /// Returns whether the process has exited. It is not reaped, so its id stays valid.
    pub(crate) fn has_exited(&self) -> bool {
        self.child.has_exited()
    }

    /// Kills the process group, reaps the process and returns its status.
    fn reap(&mut self) -> Option<ExitStatus> {
        self.child.signal(Signal::KILL);
        // Not forever: a set-uid program cannot be killed.
        self.wait_exit(Instant::now() + QUIT_TIMEOUT);
        self.child.reap()
    }

    /// Waits until the process exits. Returns whether it did before the deadline.
    pub(crate) fn wait_exit(&mut self, deadline: Instant) -> bool {
        let mut pause = Duration::from_micros(100);
        loop {
            if self.has_exited() {
                return true;
            }
            let now = Instant::now();
            if now >= deadline {
                return false;
            }
            // Polling also empties the pipes, in which the process may be blocked.
            let is_ready = self.poll(Some((now + pause).min(deadline)), false).unwrap_or(false);
            if !is_ready && self.stdout.is_none() && self.stderr.is_none() {
                std::thread::sleep(pause);
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// Stops the bot and its descendants. If `graceful`, closes its input and waits
    /// [`QUIT_TIMEOUT`] first. Returns whether it exited on its own.
    pub(crate) fn shutdown(&mut self, graceful: bool) -> bool {
        if self.child.is_reaped() {
            return false;
        }
        self.wake();
        self.stdin = None;
        // Discard all further output.
        self.output_bytes = usize::MAX;
        let exited = graceful && self.wait_exit(Instant::now() + QUIT_TIMEOUT);
        if !exited {
            self.child.signal(Signal::TERM);
            self.wait_exit(Instant::now() + TERM_TIMEOUT);
        }
        self.reap();
        exited
    }
}

impl Drop for BotProcess {
    fn drop(&mut self) {
        if !self.child.is_reaped() {
            self.shutdown(false);
        }
    }
}

/// Result of one poll.
struct Ready {
    any: bool,
    socket: bool,
}

/// Returns the limits of a build: at least the defaults, since a compiler may need more than the
/// bot.
fn build_limits(limits: Limits) -> Limits {
    let default = Limits::default();
    Limits {
        memory: limits.memory.max(default.memory),
        disk: limits.disk.max(default.disk),
        files: limits.files.max(default.files),
        processes: limits.processes.max(default.processes),
        ..limits
    }
}

/// Describes an exit status as a predicate: `exited with code 1`.
pub(crate) fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (_, Some(signal)) => {
            let name = match signal {
                4 => " (illegal instruction)",
                6 => " (abort)",
                8 => " (arithmetic error, such as a division by zero)",
                9 => " (killed)",
                11 => " (segmentation fault)",
                13 => " (broken pipe)",
                15 => " (terminated)",
                25 => " (file size limit exceeded)",
                31 => " (forbidden system call)",
                _ => "",
            };
            format!("was killed by signal {signal}{name}")
        }
        _ => "exited for an unknown reason".into(),
    }
}

/// Returns whether a process could not be started because this machine is short of descriptors,
/// processes or memory, which is not the bot's fault.
pub(crate) fn is_host_shortage(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM].map(Some).contains(&errno)
}
