//! Helpers for the tests of the other crates. A dev-dependency only.

#![allow(clippy::expect_used, clippy::panic)] // a test that cannot be set up must fail

mod allocations;

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use allocations::{CountingAllocator, count_allocations};

/// Environment variable that names a file to which skipped tests are appended.
pub const SKIPPED_FILE: &str = "CROWNHEAD_SKIPPED";

/// Reports that `test`, or a part of it, is skipped because this machine lacks something.
///
/// Writes `SKIPPED: test: reason` to standard error, past the output capture of the test harness,
/// and appends the line to the file that [`SKIPPED_FILE`] names, if any.
pub fn skip(test: &str, reason: impl Display) {
    let reason = reason.to_string();
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("SKIPPED: {test}: {reason}\n");
    // Only the print macros are captured.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os(SKIPPED_FILE) {
        // One write in append mode, so that lines of parallel tests do not mix.
        let file = File::options().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("cannot write to {path:?}: {error}"));
    }
}

/// Compiles a bot written in C, and returns its executable in `dir`.
pub fn compile_c_bot(source: &Path, dir: &Path) -> PathBuf {
    let program = dir.join(source.file_stem().expect("a source file has a name"));
    let mut compiler = Command::new("cc");
    let status = compiler.arg("-O2").arg("-o").arg(&program).arg(source).status();
    let is_compiled = status.expect("cc can be run").success();
    assert!(is_compiled, "cannot compile {}", source.display());
    program
}
