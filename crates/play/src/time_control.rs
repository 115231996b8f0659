//! Time controls, and parsing and formatting of durations.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::clock::Clock;
use crate::sentence::truncate;

/// The time each player has for a game.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TimeControl {
    /// No limit.
    #[default]
    Unlimited,
    /// A fixed time for every move.
    PerMove(Duration),
    /// A main time for the game and an increment for every move played.
    PerGame {
        /// The main time.
        time: Duration,
        /// The increment.
        increment: Duration,
    },
}

impl TimeControl {
    /// The clock at the start of the game.
    pub fn clock(self) -> Clock {
        match self {
            TimeControl::Unlimited => Clock::Unlimited,
            TimeControl::PerMove(time) => Clock::PerMove(time),
            TimeControl::PerGame { time, increment } => Clock::PerGame { left: time, increment },
        }
    }

    /// Parses a time control in minutes: `5+3` is five minutes and three seconds per move. Times
    /// with a unit are taken as written.
    pub fn parse_minutes(text: &str) -> Result<TimeControl, ParseTimeError> {
        let (time, increment) = text.split_once('+').unwrap_or((text, "0"));
        let minutes = seconds(time.trim()).and_then(|time| time.checked_mul(60));
        let control = match minutes {
            Some(millis) => TimeControl::parse(&format!("{millis}ms+{increment}")),
            None => TimeControl::parse(text),
        };
        control.ok_or_else(|| TimeControl::invalid(text, "minutes"))
    }

    /// Parses what [`Display`](fmt::Display) writes, as in game files.
    pub fn parse_tag(text: &str) -> Result<TimeControl, ParseTimeError> {
        match text.strip_suffix(" per move") {
            _ if text == TimeControl::Unlimited.to_string() => Ok(TimeControl::Unlimited),
            Some(time) => parse_duration(time).map(TimeControl::PerMove),
            None => text.parse(),
        }
    }

    /// The error for an invalid text; `bare` is the unit of a number without one.
    fn invalid(text: &str, bare: &str) -> ParseTimeError {
        ParseTimeError(format!(
            "a time control is written 5+3 ({bare} for the game, seconds for each move made), \
             5s+50ms or 5s, each time up to 86400s, not {:?}",
            truncate(text)
        ))
    }

    fn parse(text: &str) -> Option<TimeControl> {
        let (time, increment) = text.split_once('+').unwrap_or((text, "0"));
        let parse = |part: &str| {
            let part = part.trim();
            let bare = part.ends_with(|c: char| c.is_ascii_digit());
            if bare { parse_duration(&format!("{part}s")) } else { parse_duration(part) }
        };
        let zero = ["0", "0s", "0ms"].contains(&increment.trim());
        let increment = if zero { Duration::ZERO } else { parse(increment).ok()? };
        Some(TimeControl::PerGame { time: parse(time).ok()?, increment })
    }
}

impl FromStr for TimeControl {
    type Err = ParseTimeError;

    /// Parses main time and increment in seconds: `5+3`, `5s+50ms`, or the main time alone.
    fn from_str(text: &str) -> Result<TimeControl, ParseTimeError> {
        TimeControl::parse(text).ok_or_else(|| TimeControl::invalid(text, "seconds"))
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TimeControl::Unlimited => f.write_str("no time limit"),
            TimeControl::PerMove(time) => write!(f, "{} per move", format_duration(time)),
            TimeControl::PerGame { time, increment } => {
                write!(f, "{}+{}", format_duration(time), format_duration(increment))
            }
        }
    }
}

/// Why a time could not be parsed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ParseTimeError(String);

/// Maximum time: a day.
const MAX_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Parses `100ms`, `2s` or `1.5s`.
pub fn parse_duration(text: &str) -> Result<Duration, ParseTimeError> {
    let text = text.trim();
    let millis = match text.strip_suffix("ms") {
        Some(number) => number.parse::<u64>().ok().filter(|_| is_plain(number)),
        None => text.strip_suffix('s').and_then(seconds),
    };
    match millis.map(Duration::from_millis) {
        Some(time) if !time.is_zero() && time <= MAX_TIME => Ok(time),
        _ => Err(ParseTimeError(format!(
            "a time is written 100ms, 2s or 1.5s and is 1ms to 86400s, not {:?}",
            truncate(text)
        ))),
    }
}

/// Whole or decimal seconds, in milliseconds.
fn seconds(number: &str) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if !is_plain(whole) || !is_plain(part) || part.len() > 3 {
        return None;
    }
    let part = format!("{part:0<3}").parse::<u64>().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part)
}

fn is_plain(number: &str) -> bool {
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Formats a time in the form [`parse_duration`] accepts.
pub fn format_duration(time: Duration) -> String {
    let millis = time.as_millis();
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}
