//! Runs the program and keeps what came of it.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Everything a finished run can be asked about.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    /// Without what is said about walls around bots, which depends on the machine.
    pub(crate) stderr: String,
    pub(crate) isolation: Option<String>,
}

/// The program, not yet started, with nothing in its environment that changes what it prints.
pub(crate) fn command<S: AsRef<OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crownhead"));
    command.args(arguments).stdin(Stdio::null());
    for name in ["RUST_BACKTRACE", "CLICOLOR_FORCE", "NO_COLOR", "CROWNHEAD_DATA"] {
        command.env_remove(name);
    }
    command
}

/// Runs the program to its end.
pub(crate) fn crownhead<S: AsRef<OsStr>>(arguments: &[S]) -> Finished {
    finish(&mut command(arguments))
}

/// Runs the program in a folder, so that file names are short and nothing is left behind.
pub(crate) fn crownhead_in<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Finished {
    finish(command(arguments).current_dir(folder))
}

/// Runs the program with something to read.
pub(crate) fn crownhead_reading<S: AsRef<OsStr>>(input: &[u8], arguments: &[S]) -> Finished {
    converse(command(arguments), input)
}

/// Runs a command with something to read; it need not read all of it.
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

/// Runs a command to its end, whatever it is.
pub(crate) fn finish(command: &mut Command) -> Finished {
    Finished::new(command.output().unwrap())
}

/// Sends Ctrl-C to a program as soon as it listens to that, and waits for its end.
#[cfg(target_os = "linux")]
pub(crate) fn interrupt(mut command: Command) -> Finished {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let id = child.id().to_string();
    let listens = || {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (2 - 1) != 0
    };
    while !listens() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    Finished::new(child.wait_with_output().unwrap())
}

impl Finished {
    /// Takes the output over. Whatever else a run may do, it never panics, and what it prints into
    /// a pipe is plain text.
    pub(crate) fn new(output: std::process::Output) -> Finished {
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        let told = text(output.stderr);
        let is_wall = |line: &&str| line.starts_with("isolation: ");
        let finished = Finished {
            code: output.status.code(),
            stdout: text(output.stdout),
            isolation: told.lines().find(is_wall).map(String::from),
            stderr: told.split_inclusive('\n').filter(|line| !is_wall(line)).collect(),
        };
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
        assert_ne!(finished.code, Some(101), "{finished:?}");
        let colours = finished.stdout.contains('\x1b') || finished.stderr.contains('\x1b');
        assert!(!colours, "colours in a pipe: {finished:?}");
        finished
    }

    /// What was printed by a run that succeeded and had nothing to complain about.
    #[track_caller]
    pub(crate) fn printed(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        &self.stdout
    }

    /// The one JSON object, on one line, that a run printed.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "one line: {self:?}");
        assert!(self.stdout.starts_with('{') && self.stdout.ends_with("}\n"), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The complaint of a run that failed with this exit code and printed nothing.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "{self:?}");
        assert!(!self.stderr.is_empty(), "a failure says why: {self:?}");
        &self.stderr
    }
}
