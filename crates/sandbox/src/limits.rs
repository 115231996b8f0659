//! How much a program may use: processors, memory, disk, files, processes.
//!
//! A contest has limits for all, and a bot may ask for less of anything, never for more. They are
//! written `memory=1GB,cores=2`, or as a table `[limits]` in a file.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::text::truncate;
use crate::text::{format_duration, parse_duration};

/// What a program may use, all its processes together unless it says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Processors: so much processor time it may use for each second of its own turns.
    pub cores: u32,
    /// Processor time besides that: for starting, and for whatever a runtime does between turns.
    pub spare: Duration,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes in its scratch folder, and in each file.
    pub disk: u64,
    /// Open files, for each process.
    pub files: u32,
    /// Processes and threads.
    pub processes: u32,
}

impl Default for Limits {
    /// What suits a course.
    fn default() -> Limits {
        Limits {
            cores: 1,
            spare: Duration::from_secs(5),
            memory: 2 << 30,
            disk: 256 << 20,
            files: 256,
            processes: 256,
        }
    }
}

/// Nobody needs more.
const MOST_MEMORY: u64 = 1 << 50;
const LEAST_MEMORY: u64 = 1 << 20;
const MOST: u32 = 1 << 20;

impl Limits {
    /// Their keys.
    pub const KEYS: [&str; 6] = ["cores", "spare", "memory", "disk", "files", "processes"];

    /// The same, with one of them set.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "cores" => self.cores = count(key, value, 4096)?,
            "spare" => {
                self.spare = parse_duration(value).map_err(|error| format!("spare: {error}"))?
            }
            "memory" => self.memory = size(key, value)?,
            "disk" => self.disk = size(key, value)?,
            "files" => self.files = count(key, value, MOST)?.max(16),
            "processes" => self.processes = count(key, value, MOST)?,
            _ => {
                let (keys, key) = (Limits::KEYS.join(", "), truncate(key));
                return Err(format!("there is no limit {key:?}: the limits are {keys}"));
            }
        }
        Ok(())
    }

    /// The lower of both, one by one.
    pub fn lower(self, other: Limits) -> Limits {
        Limits {
            cores: self.cores.min(other.cores),
            spare: self.spare.min(other.spare),
            memory: self.memory.min(other.memory),
            disk: self.disk.min(other.disk),
            files: self.files.min(other.files),
            processes: self.processes.min(other.processes),
        }
    }

    /// No limits to speak of, to be lowered.
    pub const NONE: Limits = Limits {
        cores: u32::MAX,
        spare: Duration::MAX,
        memory: u64::MAX,
        disk: u64::MAX,
        files: u32::MAX,
        processes: u32::MAX,
    };

    /// Keys and texts, for machine-readable output.
    pub fn texts(&self) -> [(&'static str, String); 6] {
        let texts = [
            self.cores.to_string(),
            format_duration(self.spare),
            write_size(self.memory),
            write_size(self.disk),
            self.files.to_string(),
            self.processes.to_string(),
        ];
        let mut texts = texts.into_iter();
        Limits::KEYS.map(|key| (key, texts.next().unwrap_or_default()))
    }
}

impl FromStr for Limits {
    type Err = String;

    /// Reads `memory=1GB,cores=2`; what is not named is as usual.
    fn from_str(text: &str) -> Result<Limits, String> {
        let mut limits = Limits::default();
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                let part = truncate(part);
                return Err(format!("limits are written memory=1GB,cores=2, not {part:?}"));
            };
            limits.set(key.trim(), value.trim())?;
        }
        Ok(limits)
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (key, text)) in self.texts().into_iter().enumerate() {
            write!(f, "{}{key}={text}", if number == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

fn count(key: &str, value: &str, most: u32) -> Result<u32, String> {
    match value.parse::<u32>() {
        Ok(number) if (1..=most).contains(&number) && !value.starts_with('+') => Ok(number),
        _ => {
            let value = truncate(value);
            Err(format!("{key} takes a whole number from 1 to {most}, not {value:?}"))
        }
    }
}

/// The units of sizes, the largest first.
const UNITS: [(&str, u64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)];

/// Reads `2GB`, `512MB`.
fn size(key: &str, value: &str) -> Result<u64, String> {
    let read = || {
        let (number, unit) =
            UNITS.iter().find_map(|(name, unit)| Some((value.strip_suffix(name)?, *unit)))?;
        let number = number.trim_end();
        let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        number.parse::<u64>().ok().filter(|_| is_plain)?.checked_mul(unit)
    };
    read().filter(|size| (LEAST_MEMORY..=MOST_MEMORY).contains(size)).ok_or_else(|| {
        let value = truncate(value);
        format!("{key} takes a size from 1MB up, as in 512MB or 2GB, not {value:?}")
    })
}

/// The one text of a size.
pub(crate) fn write_size(bytes: u64) -> String {
    let fits = |(_, unit): &&(&str, u64)| bytes >= *unit && bytes.is_multiple_of(*unit);
    match UNITS.iter().find(fits) {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_are_written() {
        let limits: Limits = "memory=1GB,cores=2,spare=500ms,disk=10MB,files=64".parse().unwrap();
        assert_eq!(limits.memory, 1 << 30);
        assert_eq!(limits.to_string().parse(), Ok(limits));
        assert_eq!(Limits::default().to_string().parse(), Ok(Limits::default()));
        for (text, why) in [
            ("memory", "limits are written memory=1GB,cores=2"),
            ("memory=1", "memory takes a size from 1MB up"),
            ("memory=1KB", "memory takes a size from 1MB up"),
            ("memory=99999999999GB", "memory takes a size"),
            ("cores=0", "cores takes a whole number from 1 to 4096"),
            ("speed=3", "there is no limit \"speed\": the limits are cores, spare, memory"),
            ("spare=x", "spare: a time is written"),
        ] {
            let error = text.parse::<Limits>().unwrap_err();
            assert!(error.starts_with(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_bot_lowers_limits_and_never_raises_them() {
        let contest: Limits = "memory=1GB".parse().unwrap();
        let mut bot = Limits::NONE;
        bot.set("memory", "4GB").unwrap();
        bot.set("files", "20").unwrap();
        let both = contest.lower(bot);
        assert_eq!((both.memory, both.files), (1 << 30, 20));
    }
}
