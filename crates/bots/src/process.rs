//! A running bot: its process, its pipes, its end. Every outside program is started here and nowhere
//! else.
//!
//! A bot has walls around it ([`sandbox`]) and a session of its own, so that it ends with all its
//! children. Its output and its
//! errors are read by one `poll` over both, up to a deadline, into bounded memory: a bot that floods
//! one of them is stopped by it or loses what is too much, and a bot that is silent costs nothing but
//! the wait.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use crownhead_play::Stop;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use crownhead_sandbox::affinity::near;
use crownhead_sandbox::reaper as running;

use crate::BotProgram;
use crate::adapters::CSource;
use crate::line_buffer::{LineBuffer, LineTooLong};
use crate::log::Log;
use crownhead_sandbox::monitor::{Meter, first_child};
use crownhead_sandbox::{self, Child, Isolation, Limits, SpawnRequest};

/// A running program and the pipes to it.
pub(crate) struct BotProcess {
    /// What its walls keep; its pipes are below.
    child: Child,
    pid: Pid,
    /// The first thread of the program itself, if it is known.
    main_thread: Option<Pid>,
    stdin: Option<File>,
    stdout: Option<File>,
    stderr: Option<File>,
    /// Where it connects to, if it has a network of its own.
    pub(crate) listener: Option<TcpListener>,
    /// What it uses, and whether that was too much.
    meter: Arc<Meter>,
    buffer: LineBuffer,
    /// The beginning and the end of what it wrote to its standard error.
    stderr_head: Vec<u8>,
    stderr_tail: Vec<u8>,
    /// Bytes of output since [`forgive`](Process::forgive).
    output_bytes: usize,
    /// Whether it has ended and was reaped: its number may be another's now.
    is_reaped: bool,
    /// Where the dialogue is written to.
    pub(crate) log: Option<Log>,
}

/// What waiting for a line came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReceiveError {
    /// The time was up.
    Timeout,
    /// There will be no more output.
    Closed,
    /// A line was too long, or all lines together.
    TooMuchOutput,
    /// Nobody wants to know any more.
    Stopped,
}

/// So much output between two turns is enough for any bot.
const MAX_OUTPUT_PER_TURN: usize = 1024 * 1024;
/// So much of the beginning and of the end of the errors is kept: for what a compiler says and for
/// the sentence about a crash.
const STDERR_TAIL_BYTES: usize = 2 * 1024;
/// At least so often it is asked whether anybody still wants to know.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long a bot may take to end when it is asked by `quit` and the end of its input, and then by
/// SIGTERM.
const PATIENCE: [Duration; 2] = [Duration::from_millis(500), Duration::from_millis(200)];

impl BotProcess {
    /// Starts a program, with its own command or the one that builds it.
    pub(crate) fn start(program: &BotProgram, words: &[String]) -> io::Result<BotProcess> {
        BotProcess::launch(program, words, false)
    }

    fn launch(program: &BotProgram, words: &[String], is_build: bool) -> io::Result<BotProcess> {
        let (limits, source) = (program.effective_limits(), program.source.as_ref());
        let others = source.map(CSource::readable_paths).unwrap_or_default();
        let request = SpawnRequest {
            file: &program.executable(words),
            words,
            folder: &program.folder,
            is_whole: program.owns_folder(),
            others: &others,
            is_build,
            made_in: source.and_then(CSource::build_dir),
            isolation: program.isolation,
            limits: if is_build { build_limits(limits) } else { limits },
            port: program.protocol.port().filter(|_| !is_build),
        };
        let mut started =
            running::started(|| crownhead_sandbox::spawn(&request), |started| started.pid)?;
        let (group, is_keeper) = (started.pid, started.has_keeper());
        let limits = (request.isolation != Isolation::Off).then_some(request.limits);
        let [input, output, errors] = started.pipes.each_mut().map(Option::take);
        let (listener, control) = (started.listener.take(), started.group());
        let process = BotProcess {
            child: started,
            pid: group,
            main_thread: if is_keeper { first_child(group) } else { Some(group) },
            stdin: input,
            stdout: output,
            stderr: errors,
            listener,
            // How long a build lasts is limited anyway.
            meter: Meter::new(group, is_keeper, control, limits, !is_build),
            buffer: LineBuffer::default(),
            stderr_head: Vec::new(),
            stderr_tail: Vec::new(),
            output_bytes: 0,
            is_reaped: false,
            log: None,
        };
        // From here on whatever goes wrong ends the process.
        let fds = [
            process.stdin.as_ref().map(AsFd::as_fd),
            process.stdout.as_ref().map(AsFd::as_fd),
            process.stderr.as_ref().map(AsFd::as_fd),
        ];
        for fd in fds.into_iter().flatten() {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        Ok(process)
    }

    /// Why it was stopped, if it used too much.
    pub(crate) fn kill_reason(&self) -> Option<&str> {
        self.meter.stopped()
    }

    /// Sends a line. A bot that does not read is waited for until the deadline; one that closed its
    /// input hears nothing, and what it says next shows why.
    pub(crate) fn send(&mut self, line: &str, deadline: Option<Instant>, stop: &Stop) {
        if let Some(log) = &mut self.log {
            log.sent(line);
        }
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            let Some(input) = &mut self.stdin else { return };
            match input.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if late || stop.is_stopped() || self.poll(deadline, true).is_err() {
                        // Half a line is worse than none: it will hear no other.
                        self.stdin = None;
                    }
                }
                Err(_) => self.stdin = None,
            }
        }
    }

    /// Sends the line that begins a game.
    pub(crate) fn begin_game(&mut self, line: &str, deadline: Option<Instant>, stop: &Stop) {
        near(self.main_thread, || self.send(line, deadline, stop));
    }

    /// Waits for a line and gives it to `take`, until that has what it wants.
    pub(crate) fn receive<T>(
        &mut self,
        deadline: Option<Instant>,
        stop: &Stop,
        mut take: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<T, ReceiveError> {
        let mut is_late = false;
        loop {
            let wanted = self.take_lines(|line, log| {
                if let Some(log) = log {
                    log.received(line);
                }
                take(line)
            })?;
            if let Some(wanted) = wanted {
                return Ok(wanted);
            }
            if self.stdout.is_none() {
                return Err(ReceiveError::Closed);
            }
            if stop.is_stopped() {
                return Err(ReceiveError::Stopped);
            }
            if is_late {
                return Err(ReceiveError::Timeout);
            }
            // What is here when the time is up is still read, once: a bot that writes letter by
            // letter, or to its errors, gains nothing.
            is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if self.poll(deadline, false).is_err() {
                self.stdout = None;
            }
        }
    }

    /// Gives all lines to `take` that are here already, until that has what it wants. Whether the
    /// bot is still there is not asked.
    pub(crate) fn drain_lines<T>(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, ReceiveError> {
        loop {
            let before = self.output_bytes;
            match self.receive(Some(Instant::now()), &Stop::new(), &mut take) {
                Ok(wanted) => return Ok(Some(wanted)),
                Err(ReceiveError::TooMuchOutput) => return Err(ReceiveError::TooMuchOutput),
                Err(_) if self.output_bytes == before => return Ok(None),
                Err(_) => {}
            }
        }
    }

    /// Gives the lines that were read to `take`, until that has what it wants.
    fn take_lines<T>(
        &mut self,
        mut take: impl FnMut(&[u8], &mut Option<Log>) -> Option<T>,
    ) -> Result<Option<T>, ReceiveError> {
        while let Some(range) =
            self.buffer.next().map_err(|LineTooLong| ReceiveError::TooMuchOutput)?
        {
            if let Some(wanted) = take(self.buffer.get(range), &mut self.log) {
                return Ok(Some(wanted));
            }
        }
        if self.output_bytes > MAX_OUTPUT_PER_TURN {
            Err(ReceiveError::TooMuchOutput)
        } else {
            Ok(None)
        }
    }

    /// Waits until a descriptor beside the pipes, of a way of talking that does not use them, can be
    /// read or written. What the program prints meanwhile goes to the log.
    pub(crate) fn wait_with_fd(
        &mut self,
        other: BorrowedFd<'_>,
        flags: PollFlags,
        deadline: Option<Instant>,
        stop: &Stop,
    ) -> Result<(), ReceiveError> {
        let mut is_late = false;
        loop {
            self.take_lines(|line, log| {
                if let Some(log) = log {
                    log.errors(line);
                    log.errors(b"\n");
                }
                None::<()>
            })?;
            if stop.is_stopped() {
                return Err(ReceiveError::Stopped);
            }
            if is_late {
                return Err(ReceiveError::Timeout);
            }
            is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let beside = PollFd::from_borrowed_fd(other, flags);
            match self.poll_with_fd(deadline, false, Some(beside)) {
                Ok((_, true)) => return Ok(()),
                // Nobody would be heard at the other end.
                _ if self.has_exited() => return Err(ReceiveError::Closed),
                Ok(_) => {}
                Err(_) => return Err(ReceiveError::Closed),
            }
        }
    }

    /// Waits until something can be read, or written if that is wanted, and reads it. False if there
    /// was nothing within the time.
    fn poll(&mut self, deadline: Option<Instant>, to_write: bool) -> io::Result<bool> {
        self.poll_with_fd(deadline, to_write, None).map(|(heard, _)| heard)
    }

    /// The same, and whether the descriptor beside the pipes is ready.
    fn poll_with_fd(
        &mut self,
        deadline: Option<Instant>,
        to_write: bool,
        beside: Option<PollFd<'_>>,
    ) -> io::Result<(bool, bool)> {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let time = left.map_or(STOP_POLL_INTERVAL, |left| left.min(STOP_POLL_INTERVAL));
        let timeout = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        // Closed pipes are left out: they would be ready all the time.
        let mut fds = ArrayVec::<PollFd<'_>, 4>::new();
        fds.extend(self.stdout.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(self.stderr.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        if to_write {
            fds.extend(self.stdin.as_ref().map(|fd| PollFd::new(fd, PollFlags::OUT)));
        }
        let (has_beside, pipes) = (beside.is_some(), fds.len());
        fds.extend(beside);
        // While somebody waits for it, the time is its own.
        self.meter.begin();
        let polled = rustix::event::poll(&mut fds, Some(&timeout));
        self.meter.rest();
        let count = match polled {
            Err(rustix::io::Errno::INTR) => return Ok((false, false)),
            other => other?,
        };
        let is_ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let output = self.stdout.is_some() && is_ready(0);
        let errors = self.stderr.is_some() && is_ready(usize::from(self.stdout.is_some()));
        let beside = has_beside && is_ready(pipes);
        drop(fds);
        if errors {
            self.read_stderr();
        }
        if output {
            self.read_stdout();
        }
        Ok((count > 0, beside))
    }

    fn read_stdout(&mut self) {
        let Some(output) = &mut self.stdout else { return };
        let read = match self.output_bytes > MAX_OUTPUT_PER_TURN {
            // Nobody will take it: it is read so that the bot can go on, and end.
            true => output.read(&mut [0; 4096]),
            false => self.buffer.fill(|space| output.read(space)),
        };
        match read {
            Ok(0) => self.stdout = None,
            Ok(count) => self.output_bytes = self.output_bytes.saturating_add(count),
            Err(error) if is_transient(&error) => {}
            Err(_) => self.stdout = None,
        }
    }

    fn read_stderr(&mut self) {
        let Some(errors) = &mut self.stderr else { return };
        let mut bytes = [0; 4096];
        match errors.read(&mut bytes) {
            Ok(0) => self.stderr = None,
            Ok(count) => {
                let bytes = &bytes[..count];
                if let Some(log) = &mut self.log {
                    log.errors(bytes);
                }
                let (first, later) =
                    bytes.split_at(count.min(STDERR_TAIL_BYTES - self.stderr_head.len()));
                self.stderr_head.extend_from_slice(first);
                self.stderr_tail.extend_from_slice(later);
                let excess = self.stderr_tail.len().saturating_sub(STDERR_TAIL_BYTES);
                self.stderr_tail.drain(..excess);
            }
            Err(error) if is_transient(&error) => {}
            Err(_) => self.stderr = None,
        }
    }

    /// Begins to count its output anew.
    pub(crate) fn reset_output_quota(&mut self) {
        self.output_bytes = 0;
    }

    /// The line that has begun and not ended.
    pub(crate) fn partial_line(&self) -> &[u8] {
        self.buffer.partial_line()
    }

    /// The last line of its standard error that says something.
    pub(crate) fn last_words(&self) -> Option<&[u8]> {
        [&self.stderr_tail, &self.stderr_head].into_iter().find_map(|words| {
            let lines = words.split(|&byte| byte == b'\n').rev().map(<[u8]>::trim_ascii);
            lines.into_iter().find(|line| !line.is_empty())
        })
    }

    /// How the program ended, if it has, which it is given a moment to do.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        // Its last words come first: whoever is told that it crashed wants to read them.
        let deadline = Instant::now() + PATIENCE[1];
        let exited = self.wait_exit(deadline);
        while self.stderr.is_some()
            && Instant::now() < deadline
            && self.poll(Some(deadline), false).unwrap_or(false)
        {}
        if exited && !self.is_reaped { self.reap() } else { None }
    }

    /// Its number, which is that of its group too.
    pub(crate) fn number(&self) -> Pid {
        self.pid
    }

    /// Whether the process has ended; it is left to be reaped: so long its number is its own.
    pub(crate) fn has_exited(&self) -> bool {
        if self.is_reaped {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let known = rustix::process::waitid(WaitId::Pid(self.pid), options);
        !matches!(known, Ok(None) | Err(rustix::io::Errno::INTR))
    }

    /// Kills what is left of it and of its children, and says how it ended.
    fn reap(&mut self) -> Option<ExitStatus> {
        running::signal(self.pid, Signal::KILL);
        // Whoever cannot be killed, as a program with rights of another user, is not waited for.
        self.wait_exit(Instant::now() + PATIENCE[0]);
        self.is_reaped = true;
        self.meter.retire();
        let ended = rustix::process::waitpid(Some(self.pid), WaitOptions::NOHANG);
        let status = ended.ok().flatten().map(|(_, status)| status.as_raw());
        running::reaped(self.pid);
        self.child.end().or(status).map(ExitStatus::from_raw)
    }

    /// Waits until the process has ended.
    fn wait_exit(&mut self, deadline: Instant) -> bool {
        let mut pause = Duration::from_micros(100);
        loop {
            if self.has_exited() {
                return true;
            }
            let now = Instant::now();
            if now >= deadline {
                return false;
            }
            // Reading lets a bot go on that waits for a reader; then there is nothing to hear, and
            // the pause grows.
            let heard = self.poll(Some((now + pause).min(deadline)), false).unwrap_or(false);
            if !heard && self.stdout.is_none() && self.stderr.is_none() {
                std::thread::sleep(pause);
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// Ends the program and all its children. Who is asked politely gets a moment to put its things
    /// in order; whether it was enough is told.
    pub(crate) fn shutdown(&mut self, politely: bool) -> bool {
        if self.is_reaped {
            return false;
        }
        self.stdin = None;
        // Nobody listens any more.
        self.output_bytes = usize::MAX;
        let by_itself = politely && self.wait_exit(Instant::now() + PATIENCE[0]);
        if !by_itself {
            running::signal(self.pid, Signal::TERM);
            self.wait_exit(Instant::now() + PATIENCE[1]);
        }
        // Children that outlive the bot, and a bot that does not listen.
        self.reap();
        by_itself
    }
}

impl Drop for BotProcess {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.shutdown(false);
        }
    }
}

/// A build that takes longer does not end.
const BUILD_TIMEOUT: Duration = Duration::from_secs(300);
/// So much of what a compiler says to its standard output is shown.
const MAX_BUILD_OUTPUT: usize = 8 * 1024;

/// What a build may use: a compiler needs no less than usual because a bot may.
fn build_limits(limits: Limits) -> Limits {
    let usual = Limits::default();
    Limits {
        memory: limits.memory.max(usual.memory),
        disk: limits.disk.max(usual.disk),
        files: limits.files.max(usual.files),
        processes: limits.processes.max(usual.processes),
        ..limits
    }
}

/// Makes a program from its sources; all copies of it share the result.
pub(crate) fn build(program: &BotProgram, stop: &Stop) -> Result<(), String> {
    let make = || match &program.source {
        Some(source) => run_build(program, &source.write()?, stop),
        None => program.build.as_ref().map_or(Ok(()), |words| run_build(program, words, stop)),
    };
    program.built.get_or_init(make).clone()
}

fn run_build(program: &BotProgram, words: &[String], stop: &Stop) -> Result<(), String> {
    let failed = |why: String| format!("building {program} with {:?} {why}", words.join(" "));
    let cannot =
        |error: io::Error| failed(format!("failed: {error}{}", program.install_hint(&error)));
    let mut process = BotProcess::launch(program, words, true).map_err(cannot)?;
    process.stdin = None;
    let mut said = Vec::new();
    let deadline = Instant::now() + BUILD_TIMEOUT;
    let mut listen = |line: &[u8]| {
        said.extend_from_slice(line);
        said.push(b'\n');
        said.truncate(MAX_BUILD_OUTPUT);
        None::<()>
    };
    let mut silence = loop {
        let slice = deadline.min(Instant::now() + STOP_POLL_INTERVAL);
        match process.receive(Some(slice), stop, &mut listen).err() {
            // A child that it left may hold its output open for ever.
            Some(ReceiveError::Timeout) if process.has_exited() => {
                break process.drain_lines(&mut listen).err().or(Some(ReceiveError::Closed));
            }
            Some(ReceiveError::Timeout) if slice < deadline => {}
            other => break other,
        }
    };
    // Its output may end before it does.
    while silence == Some(ReceiveError::Closed)
        && !process.wait_exit(Instant::now() + STOP_POLL_INTERVAL)
    {
        if stop.is_stopped() {
            silence = Some(ReceiveError::Stopped);
        } else if Instant::now() >= deadline {
            silence = Some(ReceiveError::Timeout);
        }
    }
    let why = match silence {
        Some(ReceiveError::Closed) if process.kill_reason().is_some() => {
            format!("was stopped: {}", process.kill_reason().unwrap_or_default())
        }
        Some(ReceiveError::Timeout) => {
            format!("did not end within {} minutes", BUILD_TIMEOUT.as_secs() / 60)
        }
        Some(ReceiveError::TooMuchOutput) => {
            "wrote too much to its standard output: a line may have 64 KiB, all of it 1 MiB".into()
        }
        Some(ReceiveError::Stopped) => "was interrupted".into(),
        Some(ReceiveError::Closed) | None => match process.exit_status() {
            Some(status) if status.success() => return Ok(()),
            Some(status) => format!("failed {}", describe_exit(status)),
            None => "failed".into(),
        },
    };
    said.extend_from_slice(&process.stderr_head);
    if process.stderr_tail.len() == STDERR_TAIL_BYTES {
        said.extend_from_slice("\n…\n".as_bytes());
    }
    said.extend_from_slice(&process.stderr_tail);
    Err(failed(format!("{why}:\n{}", String::from_utf8_lossy(&said).trim_end())))
}

/// How a program ended, in words.
pub(crate) fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("with exit code {code}"),
        (_, Some(signal)) => {
            let name = match signal {
                4 => " (illegal instruction)",
                6 => " (abort)",
                8 => " (arithmetic error, such as a division by zero)",
                9 => " (killed)",
                11 => " (segmentation fault)",
                13 => " (broken pipe)",
                15 => " (terminated)",
                25 => " (a file that was too large)",
                31 => " (a system call that is forbidden)",
                _ => "",
            };
            format!("by signal {signal}{name}")
        }
        _ => "for an unknown reason".into(),
    }
}

/// Whether trying again later will do.
pub(crate) fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
