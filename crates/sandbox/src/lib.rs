//! Walls around programs of strangers: what they may read, call and use up.
//!
//! [`Isolation`] is what a user asks for, [`Walls`] what a machine has, [`Limits`] how much a program may use.
//! [`start`] starts a program behind the walls there are; [`watch`] looks at what it uses while it
//! runs. Talking with it and ending it is the business of [`bots`](crate::bots).

pub mod affinity;
mod limits;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;
pub mod monitor;
pub mod reaper;
mod scratch;
mod stopwatch;
mod text;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod unsupported;

use std::fmt;
use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;

use rustix::process::Pid;

pub use self::limits::Limits;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use self::linux as system;
pub use self::scratch::Scratch;
pub use self::system::Group;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
use self::unsupported as system;
use crate::text::truncate;

/// Which walls a user wants.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Isolation {
    /// Those that the machine has.
    #[default]
    Default,
    /// All, or nothing is started.
    Require,
    /// None: to debug a program of one's own.
    Off,
}

impl Isolation {
    /// Its one text.
    pub const fn code(self) -> &'static str {
        match self {
            Isolation::Default => "default",
            Isolation::Require => "require",
            Isolation::Off => "off",
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Isolation {
    type Err = String;

    fn from_str(text: &str) -> Result<Isolation, String> {
        let all = [Isolation::Default, Isolation::Require, Isolation::Off];
        all.into_iter().find(|isolation| isolation.code() == text).ok_or_else(|| {
            format!("isolation is default, require or off, not {:?}", truncate(text))
        })
    }
}

/// A kind of wall.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mechanism {
    /// A word for it.
    pub code: &'static str,
    /// What is to be said about it, or why it is not there and what would help.
    pub state: Result<String, String>,
    /// Whether nobody misses it: others do what it does, if less exactly.
    pub is_optional: bool,
}

impl Mechanism {
    const fn new(code: &'static str, state: Result<String, String>) -> Mechanism {
        Mechanism { code, state, is_optional: false }
    }
}

/// The walls that programs get.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IsolationStatus {
    /// What was asked for.
    pub isolation: Isolation,
    /// Those that this machine knows of.
    pub mechanisms: Vec<Mechanism>,
}

impl IsolationStatus {
    /// The walls that this machine puts up when it is asked so. An error if they are fewer than required.
    pub fn detect(isolation: Isolation) -> Result<IsolationStatus, String> {
        let layers = if isolation == Isolation::Off { Vec::new() } else { system::layers() };
        let walls = IsolationStatus { isolation, mechanisms: layers };
        let missing: Vec<_> = walls.missing().collect();
        if isolation == Isolation::Require && !missing.is_empty() {
            return Err(format!("isolation is required, but {}", missing.join("; ")));
        }
        Ok(walls)
    }

    /// The walls that are there.
    pub fn active(&self) -> impl Iterator<Item = &'static str> {
        let there = self.mechanisms.iter().filter(|layer| layer.state.is_ok());
        let limits = (self.isolation != Isolation::Off).then_some("limits");
        there.map(|layer| layer.code).chain(limits)
    }

    /// What should be there and is not, and why.
    pub fn missing(&self) -> impl Iterator<Item = String> {
        self.mechanisms.iter().filter(|layer| !layer.is_optional).filter_map(|layer| {
            let why = layer.state.as_ref().err()?;
            Some(format!("{} is missing: {why}", layer.code))
        })
    }
}

impl fmt::Display for IsolationStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.isolation == Isolation::Off {
            return f.write_str("off");
        }
        f.write_str(&self.active().collect::<Vec<_>>().join(", "))?;
        self.missing().try_for_each(|missing| write!(f, "; {missing}"))
    }
}

/// A program to be started.
pub struct SpawnRequest<'a> {
    /// Its file, or a name to be looked for in `PATH`.
    pub file: &'a Path,
    /// Its name and arguments.
    pub words: &'a [String],
    /// Where it is started.
    pub folder: &'a Path,
    /// Whether all of the folder is its own, or only what the words name.
    pub is_whole: bool,
    /// Further files and folders of its own.
    pub others: &'a [PathBuf],
    /// Whether it builds another, and so may write to what is its own.
    pub is_build: bool,
    /// Where a build writes, if that is the only place.
    pub made_in: Option<&'a Path>,
    pub isolation: Isolation,
    pub limits: Limits,
    /// A TCP port of this machine that it may connect to.
    pub port: Option<u16>,
}

/// A program that runs, or the process that keeps it: its number is also that of its group.
pub struct Child {
    pub pid: Pid,
    /// To its standard input, from its standard output and errors.
    pub pipes: [Option<File>; 3],
    /// Where it connects to, if it has a network of its own.
    pub listener: Option<TcpListener>,
    kept: Option<system::Kept>,
}

impl Child {
    /// How the program ended, as the kernel says it, if that is not how its process did.
    pub fn end(&mut self) -> Option<i32> {
        self.kept.as_mut().and_then(system::Kept::end)
    }

    /// The control group that the program is in, if there is one.
    pub fn group(&self) -> Option<Arc<Group>> {
        self.kept.as_ref().and_then(system::Kept::group)
    }

    /// Whether the process is only the keeper of the program's.
    pub fn has_keeper(&self) -> bool {
        self.kept.as_ref().is_some_and(system::Kept::has_keeper)
    }
}

/// Whether a program that connects to a port gets a network of its own, where we listen for it.
pub fn has_network(isolation: Isolation) -> bool {
    isolation != Isolation::Off && system::has_network()
}

/// Starts a program.
pub fn spawn(request: &SpawnRequest<'_>) -> io::Result<Child> {
    Scratch::clean();
    match request.isolation {
        Isolation::Off => bare(request),
        Isolation::Require => {
            IsolationStatus::detect(Isolation::Require).map_err(io::Error::other)?;
            system::start(request)
        }
        Isolation::Default => system::start(request),
    }
}

/// Starts a program without any wall, in a process group of its own.
fn bare(request: &SpawnRequest<'_>) -> io::Result<Child> {
    let mut command = command(request.file, request);
    system::set_apart(&mut command);
    plain(command)
}

/// A command for what is asked.
fn command(file: &Path, request: &SpawnRequest<'_>) -> Command {
    let mut command = Command::new(file);
    command.args(request.words.iter().skip(1)).current_dir(request.folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts a command as it is.
fn plain(mut command: Command) -> io::Result<Child> {
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
        return Err(io::Error::other("a program has no pipes"));
    };
    let pipes = [OwnedFd::from(input), OwnedFd::from(output), OwnedFd::from(errors)];
    Ok(Child { pid, pipes: pipes.map(|pipe| Some(File::from(pipe))), listener: None, kept: None })
}
