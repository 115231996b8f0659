//! One file per command, and what they share: how they fail and how a position is named.

pub(crate) mod analyse;
pub(crate) mod bench;
pub(crate) mod bot;
pub(crate) mod doctor;
pub(crate) mod engine;
pub(crate) mod games;
pub(crate) mod learn;
pub(crate) mod matches;
pub(crate) mod menu;
pub(crate) mod moves;
pub(crate) mod pages;
pub(crate) mod pdn;
pub(crate) mod perft;
pub(crate) mod play;
pub(crate) mod serve;
pub(crate) mod tables;
pub(crate) mod tournament;
pub(crate) mod tune;
pub(crate) mod view;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use crownhead_play::StopFlag;
use crownhead_rules::{Notation, Position};

/// Why a command did not succeed.
pub(crate) enum Failure {
    /// The input is wrong; everything there is to say is in the text.
    BadInput(String),
    /// The input is wrong, and that has been said already.
    BadInputReported,
    /// Something else went wrong, and that has been said already.
    Reported,
    /// The arguments do not go together.
    Usage(String),
    /// A bot forfeited or broke; what there is to say, unless it has been said.
    Bot(Option<String>),
    /// The user ended it before its end.
    Interrupted,
    /// Something else went wrong.
    Other(anyhow::Error),
}

impl Failure {
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Failure::BadInput(message) | Failure::Usage(message) => Some(message.clone()),
            Failure::Bot(message) => message.clone(),
            Failure::BadInputReported | Failure::Reported | Failure::Interrupted => None,
            Failure::Other(error) => Some(format!("{error:#}")),
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::BadInput(_) | Failure::BadInputReported => ExitCode::from(3),
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Bot(_) => ExitCode::from(4),
            Failure::Interrupted => ExitCode::from(130),
            Failure::Reported | Failure::Other(_) => ExitCode::FAILURE,
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Other(error.into())
    }
}

/// Says something on standard error; if nobody listens, there is nobody to tell.
pub(crate) fn say(message: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Whether a stream is a terminal that can colour texts and draw over them.
pub(crate) fn can_draw(stream: &impl IsTerminal) -> bool {
    let term = std::env::var_os("TERM");
    let dumb = term.is_none_or(|term| term.is_empty() || term == "dumb");
    !(cfg!(unix) && dumb) && stream.is_terminal()
}

/// A flag that Ctrl-C, a request to end and a lost terminal raise: whoever watches it puts things in
/// order and ends.
pub(crate) fn stop_on_signals() -> StopFlag {
    let stop = StopFlag::new();
    let raised = stop.clone();
    // Where that cannot be arranged, signals end the program at once.
    let _ = ctrlc::set_handler(move || raised.set());
    stop
}

/// A flag that the first Ctrl-C raises; the second ends the program. Where that cannot be arranged,
/// the first does.
pub(crate) fn stop_on_interrupt() -> StopFlag {
    let stop = StopFlag::new();
    let raised = stop.clone();
    let _ = ctrlc::set_handler(move || {
        if raised.is_set() {
            crownhead_sandbox::reaper::kill_all();
            std::process::exit(130);
        }
        raised.set();
    });
    stop
}

/// Whether the reader of our output has gone away, as `head` does: nobody is left to complain to.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// The position a command works on: the one named, or the start.
fn position<P: Notation>(text: Option<&str>, options: &P::Options) -> Result<P, Failure> {
    match text {
        Some(text) => {
            P::parse_position(text, options).map_err(|error| Failure::BadInput(error.to_string()))
        }
        None => Ok(<P as Position>::start(options)),
    }
}
