//! Isolation as requested by the user and as provided by the machine.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use crate::platform;
#[cfg(unix)]
use crate::reaper;
use crate::text::truncate;

/// Isolation that a user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Isolation {
    /// Every mechanism that the machine offers.
    #[default]
    Default,
    /// Every mechanism that is not optional; otherwise nothing is started.
    Require,
    /// None, for debugging one's own programs.
    Off,
}

impl Isolation {
    /// Stable name, as in options and files.
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
            format!("invalid isolation {:?}: must be default, require or off", truncate(text))
        })
    }
}

/// One kind of isolation that the system may offer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mechanism {
    /// Stable name.
    pub code: &'static str,
    /// A note, possibly empty, or why the mechanism is unavailable and how to get it.
    pub state: Result<String, String>,
    /// Whether [`Isolation::Require`] accepts its absence: other mechanisms do the same less
    /// precisely.
    pub is_optional: bool,
}

impl Mechanism {
    pub(crate) const fn new(code: &'static str, state: Result<String, String>) -> Mechanism {
        Mechanism { code, state, is_optional: false }
    }
}

/// Isolation that programs get on this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IsolationStatus {
    /// The requested isolation.
    pub isolation: Isolation,
    /// Mechanisms of this system; none if isolation is off.
    pub mechanisms: Vec<Mechanism>,
}

impl IsolationStatus {
    /// Detects the mechanisms of this machine. The first call tries them out.
    ///
    /// # Errors
    /// Lists the unavailable mechanisms if all are required.
    pub fn detect(isolation: Isolation) -> Result<IsolationStatus, String> {
        let mechanisms =
            if isolation == Isolation::Off { Vec::new() } else { probe(platform::mechanisms) };
        let status = IsolationStatus { isolation, mechanisms };
        let missing: Vec<_> = status.missing().collect();
        if isolation == Isolation::Require && !missing.is_empty() {
            return Err(format!("isolation is required but incomplete: {}", missing.join("; ")));
        }
        Ok(status)
    }

    /// Names of the active mechanisms, including `limits`.
    pub fn active(&self) -> impl Iterator<Item = &'static str> {
        let available = self.mechanisms.iter().filter(|mechanism| mechanism.state.is_ok());
        let limits = (self.isolation != Isolation::Off).then_some("limits");
        available.map(|mechanism| mechanism.code).chain(limits)
    }

    /// Mechanisms that are neither available nor optional, each with the reason.
    pub fn missing(&self) -> impl Iterator<Item = String> {
        self.mechanisms.iter().filter(|mechanism| !mechanism.is_optional).filter_map(|mechanism| {
            let reason = mechanism.state.as_ref().err()?;
            Some(format!("{} unavailable: {reason}", mechanism.code))
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

/// Ids of the users that programs get, or why they do not have users of their own.
pub fn bot_users() -> Result<RangeInclusive<u32>, String> {
    probe(|| platform::bot_users().clone())
}

/// Whether a program whose files are in `folder` gets a user of its own, or why not: not every file
/// system can map the owners of files.
pub fn bot_user_in(folder: &Path) -> Result<(), String> {
    probe(|| platform::bot_user_in(folder))
}

/// Whether a program that may connect to a port gets a network of its own, with a listener for us.
pub fn has_network(isolation: Isolation) -> bool {
    isolation != Isolation::Off && probe(platform::has_network)
}

/// Runs `detect`, which may start processes to try a mechanism out, with the reaper locked: it
/// would kill those processes as orphans.
fn probe<T>(detect: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    let _lock = reaper::lock();
    detect()
}
