//! Messages on standard error, terminal detection and live displays.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use console::Term;

/// Prints a line to standard error. Errors are ignored: there is nowhere left to report them.
pub(crate) fn eprint_message(message: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Returns whether a stream is a terminal that understands ANSI escape sequences.
pub(crate) fn supports_ansi(stream: &impl IsTerminal) -> bool {
    let term = std::env::var_os("TERM");
    let is_dumb = term.is_none_or(|term| term.is_empty() || term == "dumb");
    !(cfg!(unix) && is_dumb) && stream.is_terminal()
}

/// Returns whether input and output are terminals fit for the full screen.
pub(crate) fn is_interactive() -> bool {
    supports_ansi(&std::io::stdout()) && std::io::stdin().is_terminal()
}

/// Returns whether `NO_COLOR` permits colours.
pub(crate) fn colours_allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Formats a path for messages, where `-` is standard input.
pub(crate) fn input_name(path: &std::path::Path) -> String {
    if path == std::path::Path::new("-") {
        "standard input".into()
    } else {
        path.display().to_string()
    }
}

/// Minimum time between two drawings, to avoid flicker.
const REDRAW_INTERVAL: Duration = Duration::from_millis(60);

/// Lines on standard error that are redrawn in place. Draws nothing unless that is an ANSI
/// terminal.
pub(crate) struct LiveDisplay {
    is_enabled: bool,
    last_drawn: Option<Instant>,
    height: usize,
}

impl LiveDisplay {
    pub(crate) fn new() -> LiveDisplay {
        let is_enabled = supports_ansi(&std::io::stderr());
        LiveDisplay { is_enabled, last_drawn: None, height: 0 }
    }

    /// Replaces the lines, unless they were drawn a moment ago.
    pub(crate) fn show(&mut self, lines: impl FnOnce() -> Vec<String>) {
        let is_recent = |drawn: Instant| drawn.elapsed() < REDRAW_INTERVAL;
        if self.is_enabled && !self.last_drawn.is_some_and(is_recent) {
            self.draw(&lines());
            self.last_drawn = Some(Instant::now());
        }
    }

    fn draw(&mut self, lines: &[String]) {
        // Lines that scrolled off the screen or wrapped could not be redrawn.
        let (rows, columns) = Term::stderr().size();
        let (rows, columns) = (usize::from(rows), usize::from(columns));
        let lines = &lines[..lines.len().min(rows.saturating_sub(1).max(1))];
        let mut text = String::new();
        if self.height > 0 {
            text.push_str(&format!("\x1b[{}A", self.height));
        }
        text.push_str("\r\x1b[J");
        for line in lines {
            text.extend(line.chars().take(columns));
            text.push('\n');
        }
        self.height = lines.len();
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    pub(crate) fn clear(&mut self) {
        if self.height > 0 {
            self.draw(&[]);
        }
        self.last_drawn = None;
    }
}
