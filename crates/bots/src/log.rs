//! The log of one game of one bot: the lines in both directions with their times, standard error,
//! and the board before each turn. `bot replay` reads it.
//!
//! A line starts with the seconds since the start of the game and its direction: `>` to the bot,
//! `<` from the bot, `!` standard error, `*` a note of the referee. Lines without a time are the
//! header, which `bot replay` parses, and the boards.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crownhead_play::{Session, board_text};
use crownhead_rules::{Game, Side, escape_invisible, replace_invisible};

/// First line of every log.
pub(crate) const HEADER: &str = "crownhead bot log, version 1";
/// Maximum logged bytes of standard error per game.
const MAX_STDERR_BYTES: usize = 1024 * 1024;
/// Maximum logged bytes of lines from the bot per game, besides its answers.
const MAX_RECEIVED_BYTES: usize = 1024 * 1024;
/// Bytes of time and direction before a line.
const LINE_OVERHEAD: usize = 14;
/// Maximum length of an answer that is logged even beyond [`MAX_RECEIVED_BYTES`].
const MAX_ANSWER_BYTES: usize = 200;
/// Maximum logged bytes of a line from the bot.
const MAX_LOGGED_LINE_BYTES: usize = 16 * 1024;

/// Returns the file name of a log: number of the game, side and player.
pub fn file_name(game: &Game, number: u64, side: Side, player: &str) -> String {
    let side = game.info().sides[side.index()].name.to_ascii_lowercase();
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let safe = |c| if is_safe(c) { c } else { '-' };
    let player: String = player.chars().take(40).map(safe).collect();
    format!("{number:05}-{side}-{player}.log")
}

/// A log being written. If writing fails the game continues, and the first error is stored in
/// `failure`.
pub(crate) struct Log {
    file: Option<BufWriter<File>>,
    path: PathBuf,
    failure: Arc<OnceLock<String>>,
    start: Instant,
    stderr_bytes: usize,
    received_bytes: usize,
    /// Start of a line of standard error that has no end yet.
    partial_stderr: Vec<u8>,
}

impl Log {
    /// Creates the file and writes the header.
    pub(crate) fn create(
        path: &Path,
        header: &[(&str, String)],
        failure: Arc<OnceLock<String>>,
    ) -> Log {
        let mut log = Log {
            file: None,
            path: path.to_path_buf(),
            failure,
            start: Instant::now(),
            stderr_bytes: 0,
            received_bytes: 0,
            partial_stderr: Vec::new(),
        };
        let mut text = format!("{HEADER}\n");
        for (key, value) in header {
            text.push_str(&format!("{key:<9} {}\n", replace_invisible(value)));
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

    fn line(&mut self, direction: char, text: &[u8]) {
        let seconds = self.start.elapsed().as_secs_f64();
        // Lines of the referee are complete, so that `bot replay` can send them again.
        let is_ours = ['>', '*'].contains(&direction);
        let short = if is_ours { text } else { &text[..text.len().min(MAX_LOGGED_LINE_BYTES)] };
        let dots = if short.len() < text.len() { "…" } else { "" };
        let text = String::from_utf8_lossy(short);
        let clean = escape_invisible(text.trim_end_matches('\n'));
        self.write(&format!("{seconds:10.6} {direction} {clean}{dots}\n"));
    }

    /// Logs a line sent to the bot.
    pub(crate) fn sent(&mut self, line: &str) {
        self.line('>', line.as_bytes());
    }

    /// Logs a line received from the bot. Beyond [`MAX_RECEIVED_BYTES`], only answers are logged.
    pub(crate) fn received(&mut self, line: &[u8]) {
        let before = self.received_bytes;
        self.received_bytes = before.saturating_add(line.len() + LINE_OVERHEAD);
        let is_answer = line.starts_with(b"move ") && line.len() <= MAX_ANSWER_BYTES;
        if self.received_bytes <= MAX_RECEIVED_BYTES || is_answer {
            return self.line('<', line);
        }
        if before <= MAX_RECEIVED_BYTES {
            self.note("more than 1 MiB of output; only its moves are logged from here on");
        }
    }

    /// Logs a part of the bot's standard error.
    pub(crate) fn stderr(&mut self, bytes: &[u8]) {
        let before = self.stderr_bytes;
        self.stderr_bytes = self.stderr_bytes.saturating_add(bytes.len());
        if before > MAX_STDERR_BYTES {
            return;
        }
        if self.stderr_bytes > MAX_STDERR_BYTES {
            return self.note("more than 1 MiB of standard error; the rest is not logged");
        }
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.partial_stderr.extend_from_slice(part);
            if part.ends_with(b"\n") || self.partial_stderr.len() > MAX_LOGGED_LINE_BYTES {
                let line = std::mem::take(&mut self.partial_stderr);
                self.line('!', &line);
            }
        }
    }

    /// Logs a note of the referee.
    pub(crate) fn note(&mut self, text: &str) {
        self.line('*', text.as_bytes());
    }

    /// Logs the board before a turn.
    pub(crate) fn board(&mut self, game: &dyn Session) {
        self.write(&format!("\nply {}\n{}", game.plies(), indented_board(game)));
    }
}

/// Formats the board, indented as in a log.
pub fn indented_board(game: &dyn Session) -> String {
    board_text(&game.board()).lines().map(|line| format!("  {line}\n")).collect()
}

impl Drop for Log {
    fn drop(&mut self) {
        if !self.partial_stderr.is_empty() {
            let line = std::mem::take(&mut self.partial_stderr);
            self.line('!', &line);
        }
        if let Some(Err(error)) = self.file.as_mut().map(Write::flush) {
            self.fail(&error);
        }
    }
}
