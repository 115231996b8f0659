//! Enters raw mode and restores the terminal, also after a panic.

use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{DefaultTerminal, Terminal};

/// Whether the terminal is in raw mode.
static IS_OPEN: AtomicBool = AtomicBool::new(false);
/// Maximum number of panic messages kept until the terminal is restored.
const MAX_PANIC_MESSAGES: usize = 10;

/// Switches the terminal to the alternate screen and raw mode.
///
/// Only [`TerminalGuard`] restores it: on drop, ratatui prints errors to a terminal that may be
/// gone, and panics.
pub(super) fn enter_raw_mode() -> io::Result<ManuallyDrop<DefaultTerminal>> {
    IS_OPEN.store(true, Ordering::Relaxed);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture)?;
    Terminal::new(CrosstermBackend::new(io::stdout())).map(ManuallyDrop::new)
}

/// Leaves the alternate screen and raw mode.
fn restore() {
    // If the terminal is gone, there is nothing to restore.
    let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    IS_OPEN.store(false, Ordering::Relaxed);
}

/// Restores the terminal before the process exits, if a screen is open.
pub fn restore_terminal() {
    if IS_OPEN.load(Ordering::Relaxed) {
        restore();
    }
}

/// Restores the terminal when dropped, and before the message of a panic on this thread.
///
/// Panic messages of other threads would garble the screen, so they are printed when it closes.
pub(super) struct TerminalGuard {
    panic_messages: Receiver<String>,
}

impl TerminalGuard {
    pub(super) fn new() -> TerminalGuard {
        let (sender, panic_messages) = sync_channel(MAX_PANIC_MESSAGES);
        let (screen_thread, default_hook) = (std::thread::current().id(), panic::take_hook());
        panic::set_hook(Box::new(move |info| {
            if std::thread::current().id() == screen_thread {
                restore();
                default_hook(info);
            } else {
                let _ = sender.try_send(info.to_string());
            }
        }));
        TerminalGuard { panic_messages }
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore();
        if !std::thread::panicking() {
            let _ = panic::take_hook();
        }
        for message in self.panic_messages.try_iter() {
            let _ = writeln!(io::stderr(), "{message}");
        }
    }
}
