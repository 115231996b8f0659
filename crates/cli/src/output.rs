//! Messages on standard error, terminal detection and live displays.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use console::Term;
use crownhead_rules::escape_invisible;
use crownhead_terminal::screen::{ColourDepth, Look};
use crownhead_terminal::settings;

/// Prints a line to standard error. Errors are ignored: there is nowhere left to report them. Names
/// of files and players in it may come from strangers, so invisible characters are escaped.
pub fn eprint_message(message: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{}", escape_invisible(&message.to_string()));
}

/// Returns whether a stream is a terminal that understands ANSI escape sequences.
pub fn supports_ansi(stream: &impl IsTerminal) -> bool {
    let term = std::env::var_os("TERM");
    let is_dumb = term.is_none_or(|term| term.is_empty() || term == "dumb");
    !(cfg!(unix) && is_dumb) && stream.is_terminal()
}

/// Returns whether input and output are terminals fit for the full screen.
pub fn is_interactive() -> bool {
    supports_ansi(&std::io::stdout()) && std::io::stdin().is_terminal()
}

/// Returns whether `NO_COLOR` permits colours.
pub fn colours_allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns the saved theme and the colours that this terminal has.
pub fn look() -> Look {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let depth = match colours_allowed() {
        true => ColourDepth::detect(&variable("COLORTERM"), &variable("TERM")),
        false => ColourDepth::None,
    };
    Look { theme: settings::load_theme(), depth }
}

/// Saves the theme that the user has chosen, if it is another one than before.
pub fn save_theme(chosen: Look) {
    if chosen.theme != settings::load_theme()
        && let Err(error) = settings::save_theme(chosen.theme)
    {
        eprint_message(format_args!("crownhead: the theme cannot be saved: {error}"));
    }
}

/// Formats a path for messages, where `-` is standard input.
pub fn input_name(path: &std::path::Path) -> String {
    if path == std::path::Path::new("-") {
        "standard input".into()
    } else {
        path.display().to_string()
    }
}

/// Minimum time between two drawings, to avoid flicker.
const REDRAW_INTERVAL: Duration = Duration::from_millis(60);

/// Time between two progress lines where they cannot be redrawn.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Progress on standard error: lines that are redrawn in place on an ANSI terminal, and a line from
/// time to time elsewhere.
pub struct LiveDisplay {
    is_ansi: bool,
    started: Instant,
    last_drawn: Option<Instant>,
    height: usize,
}

impl LiveDisplay {
    /// Creates a display without lines.
    #[allow(clippy::new_without_default)] // it starts a clock
    pub fn new() -> LiveDisplay {
        let is_ansi = supports_ansi(&std::io::stderr());
        LiveDisplay { is_ansi, started: Instant::now(), last_drawn: None, height: 0 }
    }

    /// Replaces the lines, unless they were drawn a moment ago.
    pub fn show(&mut self, lines: impl FnOnce() -> Vec<String>) {
        if !self.is_due(Instant::now()) {
            return;
        }
        let lines = lines();
        match lines.first() {
            Some(line) if !self.is_ansi => eprint_message(format_args!("… {line}")),
            _ => self.draw(&lines),
        }
        self.last_drawn = Some(Instant::now());
    }

    fn is_due(&self, now: Instant) -> bool {
        match self.is_ansi {
            true => self.last_drawn.is_none_or(|drawn| now - drawn >= REDRAW_INTERVAL),
            false => now - self.last_drawn.unwrap_or(self.started) >= LOG_INTERVAL,
        }
    }

    /// Clears the lines and reports what was done.
    pub fn finish(&mut self, done: impl std::fmt::Display) {
        self.clear();
        eprint_message(format_args!("{done} in {:.1} s.", self.started.elapsed().as_secs_f64()));
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

    /// Clears the lines.
    pub fn clear(&mut self) {
        if self.height > 0 {
            self.draw(&[]);
            self.last_drawn = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_logged_from_time_to_time_where_it_cannot_be_redrawn() {
        let started = Instant::now();
        let mut display = LiveDisplay { is_ansi: false, started, last_drawn: None, height: 0 };
        assert!(!display.is_due(started + LOG_INTERVAL / 2));
        assert!(display.is_due(started + LOG_INTERVAL));
        display.last_drawn = Some(started + LOG_INTERVAL);
        assert!(!display.is_due(started + LOG_INTERVAL));
        assert!(display.is_due(started + 2 * LOG_INTERVAL));
        display.is_ansi = true;
        assert!(display.is_due(started + LOG_INTERVAL + REDRAW_INTERVAL));
    }
}
