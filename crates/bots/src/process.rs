//! A running bot: its process, its pipes, its end. Every outside program is started here and nowhere
//! else.
//!
//! A bot has walls around it (`sandbox`) and a session of its own, so that it ends with all its
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
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use crownhead_play::StopFlag;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal};

use crate::BotProgram;
use crate::adapters::Source;
use crate::line_buffer::{LineBuffer, TooLong};
use crate::log::Log;
use crownhead_sandbox::affinity::wake_on_this_cpu;
use crownhead_sandbox::{Child, Limits, SpawnRequest};

/// A running program and the pipes to it.
pub(crate) struct BotProcess {
    /// The process; its pipes are below.
    child: Child,
    input: Option<File>,
    output: Option<File>,
    errors: Option<File>,
    /// Where it connects to, if it has a network of its own.
    pub(crate) listener: Option<TcpListener>,
    buffer: LineBuffer,
    /// The beginning and the end of what it wrote to its standard error.
    first_words: Vec<u8>,
    last_words: Vec<u8>,
    /// Bytes of output since `forgive`.
    taken: usize,
    /// Where the dialogue is written to.
    pub(crate) log: Option<Log>,
}

/// What waiting for a line came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Silence {
    /// The time was up.
    Late,
    /// There will be no more output.
    Ended,
    /// A line was too long, or all lines together.
    Flood,
    /// Nobody wants to know any more.
    Stopped,
}

/// So much output between two turns is enough for any bot.
const MOST_OUTPUT: usize = 1024 * 1024;
/// So much of the beginning and of the end of the errors is kept: for what a compiler says and for
/// the sentence about a crash.
const WORDS: usize = 2 * 1024;
/// At least so often it is asked whether anybody still wants to know.
const SLICE: Duration = Duration::from_millis(100);
/// How long a bot may take to end when it is asked by `quit` and the end of its input, and then by
/// SIGTERM.
const PATIENCE: [Duration; 2] = [Duration::from_millis(500), Duration::from_millis(200)];

impl BotProcess {
    /// Starts a program, with its own command or the one that builds it.
    pub(crate) fn start(program: &BotProgram, words: &[String]) -> io::Result<BotProcess> {
        BotProcess::launch(program, words, false)
    }

    fn launch(program: &BotProgram, words: &[String], is_build: bool) -> io::Result<BotProcess> {
        let (limits, source) = (program.allowed(), program.source.as_ref());
        let others = source.map(Source::own).unwrap_or_default();
        let request = SpawnRequest {
            program: &program.executable(words),
            argv: words,
            folder: &program.folder,
            owns_folder: program.has_folder(),
            extra_paths: &others,
            is_build,
            build_output: source.and_then(Source::made_in),
            isolation: program.isolation,
            limits: if is_build { for_builds(limits) } else { limits },
            port: program.protocol.port().filter(|_| !is_build),
        };
        let mut child = crownhead_sandbox::spawn(&request)?;
        let process = BotProcess {
            input: child.stdin.take(),
            output: child.stdout.take(),
            errors: child.stderr.take(),
            listener: child.listener.take(),
            child,
            buffer: LineBuffer::default(),
            first_words: Vec::new(),
            last_words: Vec::new(),
            taken: 0,
            log: None,
        };
        // From here on whatever goes wrong ends the process.
        let fds = [
            process.input.as_ref().map(AsFd::as_fd),
            process.output.as_ref().map(AsFd::as_fd),
            process.errors.as_ref().map(AsFd::as_fd),
        ];
        for fd in fds.into_iter().flatten() {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        Ok(process)
    }

    /// Why it was stopped, if it used too much.
    pub(crate) fn stopped(&self) -> Option<&str> {
        self.child.meter.kill_reason()
    }

    /// Sends a line. A bot that does not read is waited for until the deadline; one that closed its
    /// input hears nothing, and what it says next shows why.
    pub(crate) fn send(&mut self, line: &str, deadline: Option<Instant>, stop: &StopFlag) {
        if let Some(log) = &mut self.log {
            log.sent(line);
        }
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            let Some(input) = &mut self.input else { return };
            match input.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if late || stop.is_set() || self.wait(deadline, true).is_err() {
                        // Half a line is worse than none: it will hear no other.
                        self.input = None;
                    }
                }
                Err(_) => self.input = None,
            }
        }
    }

    /// Sends the line that begins a game.
    pub(crate) fn begin_game(&mut self, line: &str, deadline: Option<Instant>, stop: &StopFlag) {
        wake_on_this_cpu(self.child.program, || self.send(line, deadline, stop));
    }

    /// Waits for a line and gives it to `take`, until that has what it wants.
    pub(crate) fn receive<T>(
        &mut self,
        deadline: Option<Instant>,
        stop: &StopFlag,
        mut take: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<T, Silence> {
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
            if self.output.is_none() {
                return Err(Silence::Ended);
            }
            if stop.is_set() {
                return Err(Silence::Stopped);
            }
            if is_late {
                return Err(Silence::Late);
            }
            // What is here when the time is up is still read, once: a bot that writes letter by
            // letter, or to its errors, gains nothing.
            is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if self.wait(deadline, false).is_err() {
                self.output = None;
            }
        }
    }

    /// Gives all lines to `take` that are here already, until that has what it wants. Whether the
    /// bot is still there is not asked.
    pub(crate) fn waiting_lines<T>(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Silence> {
        loop {
            let before = self.taken;
            match self.receive(Some(Instant::now()), &StopFlag::new(), &mut take) {
                Ok(wanted) => return Ok(Some(wanted)),
                Err(Silence::Flood) => return Err(Silence::Flood),
                Err(_) if self.taken == before => return Ok(None),
                Err(_) => {}
            }
        }
    }

    /// Gives the lines that were read to `take`, until that has what it wants.
    fn take_lines<T>(
        &mut self,
        mut take: impl FnMut(&[u8], &mut Option<Log>) -> Option<T>,
    ) -> Result<Option<T>, Silence> {
        while let Some(range) = self.buffer.next().map_err(|TooLong| Silence::Flood)? {
            if let Some(wanted) = take(self.buffer.get(range), &mut self.log) {
                return Ok(Some(wanted));
            }
        }
        if self.taken > MOST_OUTPUT { Err(Silence::Flood) } else { Ok(None) }
    }

    /// Waits until a descriptor beside the pipes, of a way of talking that does not use them, can be
    /// read or written. What the program prints meanwhile goes to the log.
    pub(crate) fn wait_beside(
        &mut self,
        other: BorrowedFd<'_>,
        flags: PollFlags,
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<(), Silence> {
        let mut is_late = false;
        loop {
            self.take_lines(|line, log| {
                if let Some(log) = log {
                    log.errors(line);
                    log.errors(b"\n");
                }
                None::<()>
            })?;
            if stop.is_set() {
                return Err(Silence::Stopped);
            }
            if is_late {
                return Err(Silence::Late);
            }
            is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let beside = PollFd::from_borrowed_fd(other, flags);
            match self.wait_also(deadline, false, Some(beside)) {
                Ok((_, true)) => return Ok(()),
                // Nobody would be heard at the other end.
                _ if self.has_exited() => return Err(Silence::Ended),
                Ok(_) => {}
                Err(_) => return Err(Silence::Ended),
            }
        }
    }

    /// Waits until something can be read, or written if that is wanted, and reads it. False if there
    /// was nothing within the time.
    fn wait(&mut self, deadline: Option<Instant>, to_write: bool) -> io::Result<bool> {
        self.wait_also(deadline, to_write, None).map(|(heard, _)| heard)
    }

    /// The same, and whether the descriptor beside the pipes is ready.
    fn wait_also(
        &mut self,
        deadline: Option<Instant>,
        to_write: bool,
        beside: Option<PollFd<'_>>,
    ) -> io::Result<(bool, bool)> {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let time = left.map_or(SLICE, |left| left.min(SLICE));
        let timeout = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        // Closed pipes are left out: they would be ready all the time.
        let mut fds = ArrayVec::<PollFd<'_>, 4>::new();
        fds.extend(self.output.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(self.errors.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        if to_write {
            fds.extend(self.input.as_ref().map(|fd| PollFd::new(fd, PollFlags::OUT)));
        }
        let (has_beside, pipes) = (beside.is_some(), fds.len());
        fds.extend(beside);
        // While somebody waits for it, the time is its own.
        self.child.meter.turn_started();
        let polled = rustix::event::poll(&mut fds, Some(&timeout));
        self.child.meter.turn_ended();
        let count = match polled {
            Err(rustix::io::Errno::INTR) => return Ok((false, false)),
            other => other?,
        };
        let is_ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let output = self.output.is_some() && is_ready(0);
        let errors = self.errors.is_some() && is_ready(usize::from(self.output.is_some()));
        let beside = has_beside && is_ready(pipes);
        drop(fds);
        if errors {
            self.read_errors();
        }
        if output {
            self.read_output();
        }
        Ok((count > 0, beside))
    }

    fn read_output(&mut self) {
        let Some(output) = &mut self.output else { return };
        let read = match self.taken > MOST_OUTPUT {
            // Nobody will take it: it is read so that the bot can go on, and end.
            true => output.read(&mut [0; 4096]),
            false => self.buffer.fill(|space| output.read(space)),
        };
        match read {
            Ok(0) => self.output = None,
            Ok(count) => self.taken = self.taken.saturating_add(count),
            Err(error) if is_passing(&error) => {}
            Err(_) => self.output = None,
        }
    }

    fn read_errors(&mut self) {
        let Some(errors) = &mut self.errors else { return };
        let mut bytes = [0; 4096];
        match errors.read(&mut bytes) {
            Ok(0) => self.errors = None,
            Ok(count) => {
                let bytes = &bytes[..count];
                if let Some(log) = &mut self.log {
                    log.errors(bytes);
                }
                let (first, later) = bytes.split_at(count.min(WORDS - self.first_words.len()));
                self.first_words.extend_from_slice(first);
                self.last_words.extend_from_slice(later);
                let excess = self.last_words.len().saturating_sub(WORDS);
                self.last_words.drain(..excess);
            }
            Err(error) if is_passing(&error) => {}
            Err(_) => self.errors = None,
        }
    }

    /// Begins to count its output anew.
    pub(crate) fn forgive(&mut self) {
        self.taken = 0;
    }

    /// The line that has begun and not ended.
    pub(crate) fn unfinished(&self) -> &[u8] {
        self.buffer.rest()
    }

    /// The last line of its standard error that says something.
    pub(crate) fn last_words(&self) -> Option<&[u8]> {
        [&self.last_words, &self.first_words].into_iter().find_map(|words| {
            let lines = words.split(|&byte| byte == b'\n').rev().map(<[u8]>::trim_ascii);
            lines.into_iter().find(|line| !line.is_empty())
        })
    }

    /// How the program ended, if it has, which it is given a moment to do.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        // Its last words come first: whoever is told that it crashed wants to read them.
        let deadline = Instant::now() + PATIENCE[1];
        let exited = self.exits_until(deadline);
        while self.errors.is_some()
            && Instant::now() < deadline
            && self.wait(Some(deadline), false).unwrap_or(false)
        {}
        if exited && !self.child.is_reaped() { self.reap() } else { None }
    }

    /// Its number, which is that of its group too.
    pub(crate) fn number(&self) -> Pid {
        self.child.pid
    }

    /// Whether the process has ended; it is left to be reaped: so long its number is its own.
    pub(crate) fn has_exited(&self) -> bool {
        self.child.has_exited()
    }

    /// Kills what is left of it and of its children, and says how it ended.
    fn reap(&mut self) -> Option<ExitStatus> {
        self.child.signal(Signal::KILL);
        // Whoever cannot be killed, as a program with rights of another user, is not waited for.
        self.exits_until(Instant::now() + PATIENCE[0]);
        self.child.reap()
    }

    /// Waits until the process has ended.
    fn exits_until(&mut self, deadline: Instant) -> bool {
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
            let heard = self.wait(Some((now + pause).min(deadline)), false).unwrap_or(false);
            if !heard && self.output.is_none() && self.errors.is_none() {
                std::thread::sleep(pause);
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// Ends the program and all its children. Who is asked politely gets a moment to put its things
    /// in order; whether it was enough is told.
    pub(crate) fn end(&mut self, politely: bool) -> bool {
        if self.child.is_reaped() {
            return false;
        }
        self.input = None;
        // Nobody listens any more.
        self.taken = usize::MAX;
        let by_itself = politely && self.exits_until(Instant::now() + PATIENCE[0]);
        if !by_itself {
            self.child.signal(Signal::TERM);
            self.exits_until(Instant::now() + PATIENCE[1]);
        }
        // Children that outlive the bot, and a bot that does not listen.
        self.reap();
        by_itself
    }
}

impl Drop for BotProcess {
    fn drop(&mut self) {
        if !self.child.is_reaped() {
            self.end(false);
        }
    }
}

/// A build that takes longer does not end.
const LONGEST_BUILD: Duration = Duration::from_secs(300);
/// So much of what a compiler says to its standard output is shown.
const SHOWN: usize = 8 * 1024;

/// What a build may use: a compiler needs no less than usual because a bot may.
fn for_builds(limits: Limits) -> Limits {
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
pub(crate) fn build(program: &BotProgram, stop: &StopFlag) -> Result<(), String> {
    let make = || match &program.source {
        Some(source) => run_build(program, &source.write()?, stop),
        None => program.build.as_ref().map_or(Ok(()), |words| run_build(program, words, stop)),
    };
    program.built.get_or_init(make).clone()
}

fn run_build(program: &BotProgram, words: &[String], stop: &StopFlag) -> Result<(), String> {
    let failed = |why: String| format!("building {program} with {:?} {why}", words.join(" "));
    let cannot = |error: io::Error| failed(format!("failed: {error}{}", program.hint(&error)));
    let mut process = BotProcess::launch(program, words, true).map_err(cannot)?;
    process.input = None;
    let mut said = Vec::new();
    let deadline = Instant::now() + LONGEST_BUILD;
    let mut listen = |line: &[u8]| {
        said.extend_from_slice(line);
        said.push(b'\n');
        said.truncate(SHOWN);
        None::<()>
    };
    let mut silence = loop {
        let slice = deadline.min(Instant::now() + SLICE);
        match process.receive(Some(slice), stop, &mut listen).err() {
            // A child that it left may hold its output open for ever.
            Some(Silence::Late) if process.has_exited() => {
                break process.waiting_lines(&mut listen).err().or(Some(Silence::Ended));
            }
            Some(Silence::Late) if slice < deadline => {}
            other => break other,
        }
    };
    // Its output may end before it does.
    while silence == Some(Silence::Ended) && !process.exits_until(Instant::now() + SLICE) {
        if stop.is_set() {
            silence = Some(Silence::Stopped);
        } else if Instant::now() >= deadline {
            silence = Some(Silence::Late);
        }
    }
    let why = match silence {
        Some(Silence::Ended) if process.stopped().is_some() => {
            format!("was stopped: {}", process.stopped().unwrap_or_default())
        }
        Some(Silence::Late) => {
            format!("did not end within {} minutes", LONGEST_BUILD.as_secs() / 60)
        }
        Some(Silence::Flood) => {
            "wrote too much to its standard output: a line may have 64 KiB, all of it 1 MiB".into()
        }
        Some(Silence::Stopped) => "was interrupted".into(),
        Some(Silence::Ended) | None => match process.ended() {
            Some(status) if status.success() => return Ok(()),
            Some(status) => format!("failed {}", status_text(status)),
            None => "failed".into(),
        },
    };
    said.extend_from_slice(&process.first_words);
    if process.last_words.len() == WORDS {
        said.extend_from_slice("\n…\n".as_bytes());
    }
    said.extend_from_slice(&process.last_words);
    Err(failed(format!("{why}:\n{}", String::from_utf8_lossy(&said).trim_end())))
}

/// How a program ended, in words.
pub(crate) fn status_text(status: ExitStatus) -> String {
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
pub(crate) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
