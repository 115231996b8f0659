//! Playing on the whole screen: a board, panels, keys and the mouse.
//!
//! [`App`] is what is on the screen and what input does to it, [`draw()`](draw::draw) its picture; here is the loop
//! that joins them with a real terminal.

pub mod app;
pub mod board;
pub mod draw;
pub mod path;

use std::io;
use std::time::Duration;

use crownhead_play::Stop;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyEventKind,
};
use ratatui::crossterm::execute;
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, Frame};

pub use app::App;

/// Something that fills the screen.
pub trait Screen {
    /// Draws it.
    fn draw(&self, frame: &mut Frame<'_>);
    /// A key or the mouse; `area` is the whole screen.
    fn event(&mut self, event: &Event, area: Rect);
    /// What time alone does.
    fn tick(&mut self);
    /// Whether the user has left.
    fn is_left(&self) -> bool;
    /// The program is told to end: what must not be lost is kept now.
    fn end(&mut self) {}
}

impl Screen for App {
    fn draw(&self, frame: &mut Frame<'_>) {
        draw::draw(frame, self);
    }

    fn event(&mut self, event: &Event, area: Rect) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key),
            Event::Mouse(mouse) => self.mouse(*mouse, area),
            _ => {}
        }
    }

    fn tick(&mut self) {
        App::tick(self);
    }

    fn is_left(&self) -> bool {
        self.left
    }
}

/// Between two pictures at most.
const FRAME: Duration = Duration::from_millis(25);

/// Shows a screen until the user leaves it or `stop` is raised. The terminal is as it was afterwards,
/// whatever happens.
pub fn show(screen: &mut impl Screen, stop: &Stop) -> io::Result<()> {
    // Also puts the terminal back before the message of a panic.
    let mut terminal = ratatui::try_init()?;
    let restored = Restored;
    execute!(io::stdout(), EnableMouseCapture)?;
    let result = run(&mut terminal, screen, stop);
    drop(restored);
    result
}

/// Puts the terminal back.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        // A terminal that is gone cannot be put back.
        let _ = execute!(io::stdout(), DisableMouseCapture);
        ratatui::restore();
    }
}

fn run(terminal: &mut DefaultTerminal, screen: &mut impl Screen, stop: &Stop) -> io::Result<()> {
    loop {
        terminal.draw(|frame| screen.draw(frame))?;
        // All that has come is heard before the next picture.
        let mut wait = FRAME;
        while event::poll(wait)? {
            let size = terminal.size()?;
            screen.event(&event::read()?, Rect::new(0, 0, size.width, size.height));
            wait = Duration::ZERO;
        }
        screen.tick();
        if stop.is_stopped() {
            screen.end();
            return Ok(());
        }
        if screen.is_left() {
            return Ok(());
        }
    }
}
