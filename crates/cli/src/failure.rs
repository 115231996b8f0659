//! How a command fails, and the exit codes.

use std::process::ExitCode;

/// Why a command did not succeed.
pub enum Failure {
    /// Invalid input; the message names the place.
    BadInput(String),
    /// Invalid input that has been reported.
    BadInputReported,
    /// Any other failure that has been reported.
    Reported,
    /// Invalid or conflicting args.
    Usage(String),
    /// A bot forfeited or failed; without a message, that has been reported.
    Bot(Option<String>),
    /// The outcome of a command that is not an error but has an exit code of its own.
    Outcome(u8),
    /// The user stopped the command.
    Interrupted,
    /// Any other failure.
    Other(anyhow::Error),
}

impl Failure {
    /// Returns the message for the user, unless it has been reported.
    pub fn message(&self) -> Option<String> {
        match self {
            Failure::BadInput(message) | Failure::Usage(message) => Some(message.clone()),
            Failure::Bot(message) => message.clone(),
            Failure::BadInputReported
            | Failure::Reported
            | Failure::Outcome(_)
            | Failure::Interrupted => None,
            Failure::Other(error) => Some(format!("{error:#}")),
        }
    }

    /// Returns the exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::BadInput(_) | Failure::BadInputReported => ExitCode::from(3),
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Bot(_) => ExitCode::from(4),
            Failure::Outcome(code) => ExitCode::from(*code),
            Failure::Interrupted => ExitCode::from(130),
            Failure::Reported | Failure::Other(_) => ExitCode::FAILURE,
        }
    }

    /// Whether the reader of standard output has closed it, as `head` does.
    pub fn is_broken_pipe(&self) -> bool {
        let Failure::Other(error) = self else { return false };
        error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Other(error.into())
    }
}
