//! How much time a player has.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crownhead_search::time::MoveTime;

/// The time that one player has for the turn that begins now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// As much as it likes.
    Unlimited,
    /// So much for this turn; what is not used is lost.
    PerMove(Duration),
    /// So much for the rest of the game.
    PerGame {
        /// What is left.
        left: Duration,
        /// What is added after every turn.
        increment: Duration,
    },
}

impl Clock {
    /// Time that a search may use for this turn; always less than the remaining time.
    pub fn move_time(self) -> MoveTime {
        match self {
            Clock::Unlimited => MoveTime::default(),
            Clock::PerMove(time) => MoveTime::fixed(time),
            Clock::PerGame { left, increment } => MoveTime::for_move(left, increment),
        }
    }
}

/// The time both players have for a game.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TimeControl {
    /// As much as they like.
    #[default]
    Unlimited,
    /// So much for every turn.
    PerMove(Duration),
    /// So much for the game, and so much more for every turn made.
    PerGame {
        /// At the start.
        time: Duration,
        /// For every turn made.
        increment: Duration,
    },
}

impl TimeControl {
    /// The clock of a player who has made no move yet.
    pub fn clock(self) -> Clock {
        match self {
            TimeControl::Unlimited => Clock::Unlimited,
            TimeControl::PerMove(time) => Clock::PerMove(time),
            TimeControl::PerGame { time, increment } => Clock::PerGame { left: time, increment },
        }
    }
}

impl Clock {
    /// The clock for the next turn after one that took `used`; none if that was too long.
    pub fn after_move(self, used: Duration, grace: Duration) -> Option<Clock> {
        match self {
            Clock::Unlimited => Some(self),
            Clock::PerMove(time) => (used <= time + grace).then_some(self),
            Clock::PerGame { left, increment } => (used <= left + grace).then(|| {
                let left = left.saturating_sub(used).saturating_add(increment);
                Clock::PerGame { left, increment }
            }),
        }
    }
}

/// Why a time was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ParseTimeError(String);

/// No time is longer: a day.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads `100ms`, `2s` or `1.5s`.
pub fn parse_duration(text: &str) -> Result<Duration, ParseTimeError> {
    let text = text.trim();
    let millis = match text.strip_suffix("ms") {
        Some(number) => number.parse::<u64>().ok().filter(|_| is_plain(number)),
        None => text.strip_suffix('s').and_then(seconds),
    };
    match millis.map(Duration::from_millis) {
        Some(time) if !time.is_zero() && time <= LONGEST => Ok(time),
        _ => Err(ParseTimeError(format!(
            "a time is written 100ms, 2s or 1.5s and is 1ms to 86400s, not {:?}",
            truncate(text)
        ))),
    }
}

/// Whole and decimal seconds as milliseconds.
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

/// The one text of a time.
pub fn format_duration(time: Duration) -> String {
    let millis = time.as_millis();
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}

/// The first 40 characters of a text, for messages.
pub fn truncate(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

impl FromStr for TimeControl {
    type Err = ParseTimeError;

    /// Reads main time and increment: `5+3` (seconds), `5s+50ms`, or the time alone.
    fn from_str(text: &str) -> Result<TimeControl, ParseTimeError> {
        TimeControl::read(text).ok_or_else(|| TimeControl::refused(text, "seconds"))
    }
}

impl TimeControl {
    /// Reads a time control as people at a board say it: `5+3` is five minutes and three seconds for
    /// each move made. Times with a unit are what they say.
    pub fn parse_minutes(text: &str) -> Result<TimeControl, ParseTimeError> {
        let (time, increment) = text.split_once('+').unwrap_or((text, "0"));
        let minutes = seconds(time.trim()).and_then(|time| time.checked_mul(60));
        let control = match minutes {
            Some(millis) => TimeControl::read(&format!("{millis}ms+{increment}")),
            None => TimeControl::read(text),
        };
        control.ok_or_else(|| TimeControl::refused(text, "minutes"))
    }

    /// Why a text is no time control; `bare` is what a number without a unit would have been.
    fn refused(text: &str, bare: &str) -> ParseTimeError {
        ParseTimeError(format!(
            "a time control is written 5+3 ({bare} for the game, seconds for each move made), \
             5s+50ms or 5s, each time up to 86400s, not {:?}",
            truncate(text)
        ))
    }

    fn read(text: &str) -> Option<TimeControl> {
        let (time, increment) = text.split_once('+').unwrap_or((text, "0"));
        let read = |part: &str| {
            let part = part.trim();
            let bare = part.ends_with(|c: char| c.is_ascii_digit());
            if bare { parse_duration(&format!("{part}s")) } else { parse_duration(part) }
        };
        let zero = ["0", "0s", "0ms"].contains(&increment.trim());
        let increment = if zero { Duration::ZERO } else { read(increment).ok()? };
        Some(TimeControl::PerGame { time: read(time).ok()?, increment })
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
