//! The log of one game for one bot: what was said on both sides and when, its standard error, the
//! board at each turn. People read it, and `bot replay` takes it up again.
//!
//! Each line begins with the seconds since the game began and a sign: `>` to the bot, `<` from it,
//! `!` its standard error, `*` a remark of the referee. Lines without a time are the head, whose keys
//! are read back, and the boards.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crownhead_play::Session;

/// The first line of every log.
pub(crate) const HEADER: &str = "crownhead bot log, version 1";
/// So much of a bot's standard error is kept of a game.
const MAX_STDERR_BYTES: usize = 1024 * 1024;
/// So much of a line of the bot's.
const MAX_LOGGED_LINE_BYTES: usize = 16 * 1024;

/// A log being written. When it cannot be written the game goes on without it, and the reason is
/// kept.
pub(crate) struct Log {
    file: Option<BufWriter<File>>,
    path: PathBuf,
    failure: Arc<OnceLock<String>>,
    start: Instant,
    stderr: usize,
    /// The beginning of a line of errors that has not ended.
    pending: Vec<u8>,
}

impl Log {
    /// Begins a log with its head.
    pub(crate) fn create(
        path: &Path,
        head: &[(&str, String)],
        failure: Arc<OnceLock<String>>,
    ) -> Log {
        let mut log = Log {
            file: None,
            path: path.to_path_buf(),
            failure,
            start: Instant::now(),
            stderr: 0,
            pending: Vec::new(),
        };
        let mut text = format!("{HEADER}\n");
        for (key, value) in head {
            text.push_str(&format!("{key:<9} {}\n", value.replace(char::is_control, " ")));
        }
        text.push('\n');
        match File::create(path) {
            Ok(file) => log.file = Some(BufWriter::new(file)),
            Err(error) => log.fail(&error),
        }
        log.write(&text);
        log
    }

    fn write(&mut self, text: &str) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(text.as_bytes()) {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &std::io::Error) {
        let _ = self.failure.set(format!("{}: {error}", self.path.display()));
        self.file = None;
    }

    fn line(&mut self, sign: char, text: &[u8]) {
        let seconds = self.start.elapsed().as_secs_f64();
        // What the referee says is kept whole, to be said again.
        let is_own = ['>', '*'].contains(&sign);
        let short = if is_own { text } else { &text[..text.len().min(MAX_LOGGED_LINE_BYTES)] };
        let dots = if short.len() < text.len() { "…" } else { "" };
        let text = String::from_utf8_lossy(short);
        let clean = text.trim_end_matches('\n').replace(|c: char| c.is_control() && c != '\t', "�");
        self.write(&format!("{seconds:10.6} {sign} {clean}{dots}\n"));
    }

    pub(crate) fn sent(&mut self, line: &str) {
        self.line('>', line.as_bytes());
    }

    pub(crate) fn received(&mut self, line: &[u8]) {
        self.line('<', line);
    }

    /// What the bot wrote to its standard error.
    pub(crate) fn errors(&mut self, bytes: &[u8]) {
        let before = self.stderr;
        self.stderr = self.stderr.saturating_add(bytes.len());
        if before > MAX_STDERR_BYTES {
            return;
        }
        if self.stderr > MAX_STDERR_BYTES {
            return self.note("more standard error is not kept");
        }
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.pending.extend_from_slice(part);
            if part.ends_with(b"\n") || self.pending.len() > MAX_LOGGED_LINE_BYTES {
                let line = std::mem::take(&mut self.pending);
                self.line('!', &line);
            }
        }
    }

    /// A remark of the referee.
    pub(crate) fn note(&mut self, text: &str) {
        self.line('*', text.as_bytes());
    }

    /// The board before a turn.
    pub(crate) fn board(&mut self, game: &dyn Session) {
        self.write(&format!("\nply {}\n{}", game.plies(), board_text(game)));
    }
}

/// The board in rows, for people.
pub fn board_text(game: &dyn Session) -> String {
    let mut text = String::from("    1 2 3 4 5 6 7 8\n");
    for (row, number) in game.board().chunks(8).zip(1..) {
        let cells: String = row.iter().flat_map(|cell| [' ', *cell]).collect();
        text.push_str(&format!("  {number}{cells}\n"));
    }
    text
}

impl Drop for Log {
    fn drop(&mut self) {
        if !self.pending.is_empty() {
            let line = std::mem::take(&mut self.pending);
            self.line('!', &line);
        }
        if let Some(Err(error)) = self.file.as_mut().map(Write::flush) {
            self.fail(&error);
        }
    }
}
