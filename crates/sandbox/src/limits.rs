//! How much a program may use: cores, memory, disk, files, processes.
//!
//! A tournament or match sets limits for all programs. A program may request lower limits, never
//! higher ones. Limits are written `memory=1GB,cores=2`, or as a table `[limits]` in a file.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::text::{split_unit, truncate};

/// Resource limits of a program, for all its processes together unless stated otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Cores: seconds of CPU time per second of the program's own turns.
    pub cores: u32,
    /// CPU time on top of that, for starting and for what a runtime does between turns.
    pub cpu_slack: Duration,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes in the scratch directory, and in each file.
    pub disk: u64,
    /// Open files per process.
    pub files: u32,
    /// Processes and threads.
    pub processes: u32,
}

impl Default for Limits {
    /// Limits that suit a programming course.
    fn default() -> Limits {
        Limits {
            cores: 1,
            cpu_slack: Duration::from_secs(5),
            memory: 2 << 30,
            disk: 256 << 20,
            files: 256,
            processes: 256,
        }
    }
}

const MIN_SIZE: u64 = 1 << 20;
const MAX_SIZE: u64 = 1 << 50;
const MAX_CORES: u32 = 4096;
const MAX_COUNT: u32 = 1 << 20;
/// Minimum of `files`; lower values are raised to it, because a runtime needs some files to start.
const MIN_FILES: u32 = 16;
const MAX_DURATION: Duration = Duration::from_secs(86_400);

/// Units of sizes, the largest first.
const SIZE_UNITS: [(&str, u64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)];
/// Units of durations, in seconds. `ms` also ends in `s`, so it comes first.
const DURATION_UNITS: [(&str, f64); 2] = [("ms", 1e-3), ("s", 1.0)];

impl Limits {
    /// Names of the limits.
    pub const KEYS: [&str; 6] = ["cores", "cpu-slack", "memory", "disk", "files", "processes"];

    /// No limits, to be combined with others by [`min`](Limits::min).
    pub const UNLIMITED: Limits = Limits {
        cores: u32::MAX,
        cpu_slack: Duration::MAX,
        memory: u64::MAX,
        disk: u64::MAX,
        files: u32::MAX,
        processes: u32::MAX,
    };

    /// Sets one limit.
    ///
    /// # Errors
    /// Says what is wrong with the key or the value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "cores" => self.cores = parse_count(key, value, MAX_CORES)?,
            "cpu-slack" => self.cpu_slack = parse_duration(key, value)?,
            "memory" => self.memory = parse_size(key, value)?,
            "disk" => self.disk = parse_size(key, value)?,
            "files" => self.files = parse_count(key, value, MAX_COUNT)?.max(MIN_FILES),
            "processes" => self.processes = parse_count(key, value, MAX_COUNT)?,
            _ => {
                let (keys, key) = (Limits::KEYS.join(", "), truncate(key));
                return Err(format!("unknown limit {key:?}; limits: {keys}"));
            }
        }
        Ok(())
    }

    /// The lower limit for each resource.
    pub fn min(self, other: Limits) -> Limits {
        Limits {
            cores: self.cores.min(other.cores),
            cpu_slack: self.cpu_slack.min(other.cpu_slack),
            memory: self.memory.min(other.memory),
            disk: self.disk.min(other.disk),
            files: self.files.min(other.files),
            processes: self.processes.min(other.processes),
        }
    }

    /// Keys and formatted values, in the order of [`KEYS`](Limits::KEYS).
    pub fn key_values(&self) -> [(&'static str, String); 6] {
        let [cores, cpu_slack, memory, disk, files, processes] = Limits::KEYS;
        [
            (cores, self.cores.to_string()),
            (cpu_slack, format_duration(self.cpu_slack)),
            (memory, format_size(self.memory)),
            (disk, format_size(self.disk)),
            (files, self.files.to_string()),
            (processes, self.processes.to_string()),
        ]
    }
}

impl FromStr for Limits {
    type Err = String;

    /// Parses `memory=1GB,cores=2`. Limits that are not named keep their default.
    fn from_str(text: &str) -> Result<Limits, String> {
        let mut limits = Limits::default();
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                let part = truncate(part);
                return Err(format!("invalid limit {part:?}: write limits as memory=1GB,cores=2"));
            };
            limits.set(key.trim(), value.trim())?;
        }
        Ok(limits)
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.key_values().into_iter().enumerate() {
            write!(f, "{}{key}={value}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

fn parse_count(key: &str, text: &str, max: u32) -> Result<u32, String> {
    let count = text.parse::<u32>().ok().filter(|_| !text.starts_with('+'));
    count.filter(|count| (1..=max).contains(count)).ok_or_else(|| {
        format!("{key} takes a whole number from 1 to {max}, not {:?}", truncate(text))
    })
}

/// Parses `100ms`, `2s` or `1.5s`.
fn parse_duration(key: &str, text: &str) -> Result<Duration, String> {
    let parse = || {
        let (number, unit) = split_unit(text, &DURATION_UNITS)?;
        let number = number.parse::<f64>().ok().filter(|number| *number >= 0.001)?;
        Duration::try_from_secs_f64(number * unit).ok().filter(|time| *time <= MAX_DURATION)
    };
    parse().ok_or_else(|| {
        let (max, text) = (MAX_DURATION.as_secs(), truncate(text));
        format!("{key} takes a duration from 1ms to {max}s, as in 100ms or 1.5s, not {text:?}")
    })
}

/// Formats whole milliseconds as [`parse_duration`] reads them.
fn format_duration(time: Duration) -> String {
    let millis = time.as_millis();
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}

/// Parses `2GB` or `512MB`.
fn parse_size(key: &str, text: &str) -> Result<u64, String> {
    let parse = || {
        let (number, unit) = split_unit(text, &SIZE_UNITS)?;
        let number = number.trim_end();
        let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        number.parse::<u64>().ok().filter(|_| is_plain)?.checked_mul(unit)
    };
    parse().filter(|size| (MIN_SIZE..=MAX_SIZE).contains(size)).ok_or_else(|| {
        format!("{key} takes a size from 1MB up, as in 512MB or 2GB, not {:?}", truncate(text))
    })
}

/// Formats a size in the largest unit that divides it.
pub(crate) fn format_size(bytes: u64) -> String {
    let fits = |(_, unit): &&(&str, u64)| bytes >= *unit && bytes.is_multiple_of(*unit);
    match SIZE_UNITS.iter().find(fits) {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatted_limits_parse_to_themselves() {
        let text = "memory=1GB,cores=2,cpu-slack=500ms,disk=10MB,files=64";
        let limits: Limits = text.parse().unwrap();
        assert_eq!(limits.memory, 1 << 30);
        assert_eq!(limits.to_string().parse(), Ok(limits));
        assert_eq!(Limits::default().to_string().parse(), Ok(Limits::default()));
    }

    #[test]
    fn invalid_limits_are_rejected_with_the_reason() {
        for (text, reason) in [
            ("memory", "invalid limit \"memory\": write limits as memory=1GB,cores=2"),
            ("memory=1", "memory takes a size from 1MB up"),
            ("memory=1KB", "memory takes a size from 1MB up"),
            ("memory=99999999999GB", "memory takes a size"),
            ("cores=0", "cores takes a whole number from 1 to 4096"),
            ("cores=+1", "cores takes a whole number from 1 to 4096"),
            ("speed=3", "unknown limit \"speed\"; limits: cores, cpu-slack, memory"),
            ("cpu-slack=x", "cpu-slack takes a duration from 1ms to 86400s"),
            ("cpu-slack=5", "cpu-slack takes a duration from 1ms to 86400s"),
            ("cpu-slack=0s", "cpu-slack takes a duration from 1ms to 86400s"),
            ("cpu-slack=86401s", "cpu-slack takes a duration from 1ms to 86400s"),
        ] {
            let error = text.parse::<Limits>().unwrap_err();
            assert!(error.starts_with(reason), "{text}: {error}");
        }
    }

    #[test]
    fn program_lowers_limits_but_never_raises_them() {
        let tournament: Limits = "memory=1GB".parse().unwrap();
        let mut program = Limits::UNLIMITED;
        program.set("memory", "4GB").unwrap();
        program.set("files", "20").unwrap();
        let effective = tournament.min(program);
        assert_eq!((effective.memory, effective.files), (1 << 30, 20));
    }
}
