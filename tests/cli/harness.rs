//! Runs the built program and captures its output.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    /// Without the line about isolation, which depends on the machine, and the lines that announce
    /// long work and report that it is done.
    pub(crate) stderr: String,
    pub(crate) isolation: Option<String>,
    pub(crate) announcements: Vec<String>,
}

/// Returns a command without environment variables that change the output.
pub(crate) fn command<S: AsRef<OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crownhead"));
    command.args(arguments).stdin(Stdio::null());
    for name in ["RUST_BACKTRACE", "CLICOLOR_FORCE", "NO_COLOR", "CROWNHEAD_DATA"] {
        command.env_remove(name);
    }
    command
}

/// Runs the program.
pub(crate) fn crownhead<S: AsRef<OsStr>>(arguments: &[S]) -> Finished {
    finish(&mut command(arguments))
}

/// Runs the program in a folder.
pub(crate) fn crownhead_in<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Finished {
    finish(command(arguments).current_dir(folder))
}

/// Runs the program with standard input.
pub(crate) fn crownhead_reading<S: AsRef<OsStr>>(input: &[u8], arguments: &[S]) -> Finished {
    converse(command(arguments), input)
}

/// Runs a command with standard input, which it may leave unread.
pub(crate) fn converse(mut command: Command, input: &[u8]) -> Finished {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    Finished::new(output)
}

/// Runs a command.
pub(crate) fn finish(command: &mut Command) -> Finished {
    Finished::new(command.output().unwrap())
}

/// Sends SIGINT to a program as soon as its handler is set, and waits for the exit.
#[cfg(target_os = "linux")]
pub(crate) fn interrupt(mut command: Command) -> Finished {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let id = child.id().to_string();
    let has_handler = || {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (2 - 1) != 0
    };
    while !has_handler() {
        assert!(child.try_wait().unwrap().is_none(), "exited on its own");
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    Finished::new(child.wait_with_output().unwrap())
}

impl Finished {
    /// Captures the output. Checks that the program did not panic and printed no escape sequences
    /// into a pipe.
    pub(crate) fn new(output: std::process::Output) -> Finished {
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        let stderr = text(output.stderr);
        let is_isolation = |line: &&str| line.starts_with("isolation: ");
        let is_announcement = |line: &&str| {
            ["Playing ", "Played ", "Analysed ", "… "].iter().any(|start| line.starts_with(start))
        };
        let finished = Finished {
            code: output.status.code(),
            stdout: text(output.stdout),
            isolation: stderr.lines().find(is_isolation).map(String::from),
            announcements: stderr.lines().filter(is_announcement).map(String::from).collect(),
            stderr: stderr
                .split_inclusive('\n')
                .filter(|line| !is_isolation(line) && !is_announcement(line))
                .collect(),
        };
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
        assert_ne!(finished.code, Some(101), "{finished:?}");
        let has_escapes = finished.stdout.contains('\x1b') || finished.stderr.contains('\x1b');
        assert!(!has_escapes, "escape sequences in a pipe: {finished:?}");
        finished
    }

    /// Returns the output of a run that succeeded without messages.
    #[track_caller]
    pub(crate) fn printed(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        &self.stdout
    }

    /// Returns the JSON object that a run printed on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "one line: {self:?}");
        assert!(self.stdout.starts_with('{') && self.stdout.ends_with("}\n"), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Returns the error message of a run that failed with this exit code without output.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "{self:?}");
        assert!(!self.stderr.is_empty(), "no error message: {self:?}");
        &self.stderr
    }
}
