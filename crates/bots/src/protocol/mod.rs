//! How the referee talks to a bot. [`v1`] is the bot protocol; [`adapters`](crate::adapters) are
//! for programs written for something else. The referee does not know the difference.

pub mod engine;
pub(crate) mod line;
pub(crate) mod v1;

use std::fmt;
use std::time::{Duration, Instant};

use crownhead_play::{
    Choice, Clock, Fault, FaultKind, GameOver, GameStart, Session, StopFlag, quoted, truncate,
};
use crownhead_rules::GAMES;
use crownhead_sandbox::Isolation;

use crate::adapters::{CheckerBoardAdapter, FunctionAdapter, TcpInt32Adapter, tcp_port};
use crate::process::{BotProcess, ReceiveError, describe_exit};
use v1::V1Adapter;

/// Maximum wait for a bot to read a line at the end of a game.
pub(crate) const GOODBYE_TIMEOUT: Duration = Duration::from_millis(100);

/// The protocol a bot speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// The bot protocol, version 1.
    V1,
    /// Capture Halma over TCP, as in the original assignment.
    TcpInt32,
    /// A C function that plays Chinese checkers, as in the original assignment.
    CFunction,
    /// C++ functions that play contest checkers, as in the original assignment.
    CppFunction,
    /// An engine of English checkers with the CheckerBoard interface: a shared library.
    CheckerBoard,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Protocol; 5] = [
        Protocol::V1,
        Protocol::TcpInt32,
        Protocol::CFunction,
        Protocol::CppFunction,
        Protocol::CheckerBoard,
    ];

    /// The name in a `bot.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::V1 => "crownhead",
            Protocol::TcpInt32 => "tcp-int32",
            Protocol::CFunction => "c-function",
            Protocol::CppFunction => "cpp-function",
            Protocol::CheckerBoard => "checkerboard",
        }
    }

    /// The prefix of a player's name, as in `cmd:./my_bot`.
    pub const fn prefix(self) -> &'static str {
        match self {
            Protocol::V1 => "cmd",
            _ => self.name(),
        }
    }

    /// The TCP port that such a bot connects to.
    pub(crate) const fn port(self) -> Option<u16> {
        match self {
            Protocol::TcpInt32 => Some(tcp_port::PORT),
            _ => None,
        }
    }

    /// Parses the name in a `bot.toml`.
    pub(crate) fn parse(name: &str) -> Result<Protocol, String> {
        let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.name() == name.trim());
        protocol.ok_or_else(|| {
            let names = Protocol::ALL.map(Protocol::name).join(", ");
            format!("unknown protocol {:?}; available protocols: {names}", truncate(name))
        })
    }

    /// Returns whether the bot is a source file, compiled here.
    pub const fn is_function(self) -> bool {
        matches!(self, Protocol::CFunction | Protocol::CppFunction)
    }

    /// Returns whether the bot is a file instead of a command: a source file, or a shared library.
    pub(crate) const fn is_file(self) -> bool {
        self.is_function() || matches!(self, Protocol::CheckerBoard)
    }

    /// The kind of that file, for messages.
    pub(crate) const fn file(self) -> &'static str {
        if self.is_function() { "a source file" } else { "a shared library" }
    }

    /// Returns whether the bot cannot be notified of a new game, so that each game needs a new
    /// process.
    pub const fn needs_process_per_game(self) -> bool {
        !matches!(self, Protocol::V1 | Protocol::CheckerBoard)
    }

    /// The id of the only game that such bots play; `None` if they may play any.
    pub fn game(self) -> Option<&'static str> {
        game_of_protocol(self.name())
    }

    pub(crate) fn adapter(self) -> Box<dyn ProtocolAdapter> {
        match self {
            Protocol::V1 => Box::new(V1Adapter::default()),
            Protocol::TcpInt32 => Box::new(TcpInt32Adapter::default()),
            Protocol::CFunction | Protocol::CppFunction => Box::new(FunctionAdapter::new(self)),
            Protocol::CheckerBoard => Box::new(CheckerBoardAdapter::new()),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the id of the game that a protocol is for.
pub(crate) fn game_of_protocol(name: &str) -> Option<&'static str> {
    GAMES.iter().find(|game| game.bot_protocols.contains(&name)).map(|game| game.id)
}

/// The referee's side of a protocol. Every method returns by its deadline, whatever the bot does.
pub(crate) trait ProtocolAdapter: Send {
    /// Prepares what the bot expects when it starts.
    fn prepare(&mut self, _: Isolation, _: &StopFlag) -> Result<(), AskError> {
        Ok(())
    }

    /// Returns whether the bot may be started long before the handshake.
    fn can_prestart(&self) -> bool {
        true
    }

    /// Greets a bot that was just started and waits until it is ready.
    fn handshake(
        &mut self,
        bot: &mut BotProcess,
        timeout: Duration,
        stop: &StopFlag,
    ) -> Result<(), AskError>;

    /// Announces a new game and waits until the bot is ready.
    fn new_game(
        &mut self,
        bot: &mut BotProcess,
        start: &GameStart<'_>,
        stop: &StopFlag,
    ) -> Result<(), AskError>;

    /// Announces a new game to a bot that was late or broke the protocol in the last one. Returns
    /// whether both sides are in sync again; if not, the bot is restarted.
    fn resync(&mut self, _: &mut BotProcess, _: &GameStart<'_>, _: &StopFlag) -> bool {
        false
    }

    /// Requests a move. Its text may be anything.
    fn request_move(
        &mut self,
        bot: &mut BotProcess,
        game: &dyn Session,
        clock: &Clock,
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<Choice, AskError>;

    /// Reports the result to the bot or, if the protocol has no message for it, to the log.
    fn game_over(&mut self, bot: &mut BotProcess, result: &GameOver<'_>) {
        if let Some(log) = &mut bot.log {
            log.note(&format!("{}: {}", result.result, result.reason));
        }
    }

    /// Returns whether the bot should have sent `ready` but did not.
    fn missed_ready(&self) -> bool {
        false
    }

    /// The name the bot gave itself.
    fn name(&self) -> Option<&str>;

    /// Asks the bot to exit.
    fn quit(&mut self, bot: &mut BotProcess);
}

/// Why a bot did not answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AskError {
    /// The bot made a mistake.
    Fault(Fault),
    /// The bot cannot be used now, and it is not its fault.
    Unavailable(String),
    /// The stop flag was set.
    Stopped,
}

impl From<Fault> for AskError {
    fn from(fault: Fault) -> AskError {
        AskError::Fault(fault)
    }
}

/// Maximum number of lines of standard error in a fault.
const MAX_FAULT_LINES: usize = 10;

/// Explains why nothing was received from a bot that was asked `elapsed` ago.
pub(crate) fn ask_error(bot: &mut BotProcess, error: ReceiveError, elapsed: Duration) -> AskError {
    let error = match error {
        // A child process may hold the output of a dead bot open.
        ReceiveError::Timeout if bot.has_exited() => ReceiveError::Closed,
        error => error,
    };
    if error != ReceiveError::Stopped
        && let Some(reason) = bot.kill_reason()
    {
        let message = format!("the bot was stopped: {reason}");
        return Fault::new(FaultKind::LimitExceeded, message).into();
    }
    let mut fault = match error {
        ReceiveError::Stopped => return AskError::Stopped,
        ReceiveError::Timeout => {
            let incomplete = match bot.partial_line() {
                [] => "",
                _ => "; its last line has no newline",
            };
            let ms = elapsed.as_millis();
            let message = format!("the bot did not answer in time: {ms} ms elapsed{incomplete}");
            Fault::new(FaultKind::Timeout, message)
        }
        ReceiveError::TooMuchOutput => Fault::new(
            FaultKind::OutputFlood,
            "the bot wrote more than 64 KiB in a line or 1 MiB in a turn",
        ),
        ReceiveError::Closed => closed_fault(bot),
    };
    if !bot.partial_line().is_empty() || error == ReceiveError::TooMuchOutput {
        fault = fault.received(bot.partial_line());
    }
    fault.into()
}

/// Hint for a bot that could not use a file or a module.
const SANDBOX_HINT: &str = "; the sandbox may have refused it: a bot reads its own folder and the \
                            language runtimes (docs/isolation.md, `--isolation off` to compare)";

/// Returns whether a message of a runtime may be caused by the sandbox.
fn looks_refused(message: &str) -> bool {
    // Files in the home directory and in `/tmp` do not exist for a bot.
    const SIGNS: [&str; 16] = [
        "Permission denied",
        "PermissionError",
        "Operation not permitted",
        "permission denied",
        "operation not permitted",
        "EACCES",
        "EPERM",
        "AccessDenied",
        "ModuleNotFoundError",
        "No module named",
        "Cannot find module",
        "Read-only file system",
        "No such file or directory",
        "FileNotFound",
        "NoSuchFile",
        "ENOENT",
    ];
    SIGNS.iter().any(|sign| message.contains(sign))
}

/// Returns the fault of a bot that closed its output, in most cases by crashing.
fn closed_fault(bot: &mut BotProcess) -> Fault {
    let status = bot.exit_status();
    let mut message = match status {
        Some(status) => format!("the bot {}", describe_exit(status)),
        None => "the bot closed its standard output but is still running".to_string(),
    };
    if let Some(line) = bot.stderr_tail() {
        message.push_str("; last line of its standard error: ");
        message.push_str(&quoted(line));
        if bot.is_isolated() && looks_refused(&String::from_utf8_lossy(line)) {
            message.push_str(SANDBOX_HINT);
        }
    }
    let kind = status.map_or(FaultKind::OutputClosed, |_| FaultKind::Crash);
    Fault { stderr: bot.stderr_lines(MAX_FAULT_LINES), ..Fault::new(kind, message) }
}
