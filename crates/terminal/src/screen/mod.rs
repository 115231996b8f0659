//! The whole screen: a board, panels, keys and the mouse.
//!
//! [`GameScreen`] is a game being played, [`ViewScreen`] recorded ones, [`LessonScreen`] the rules in
//! exercises. Each is what is on the screen and what input does to it, and can be drawn anywhere; here
//! is the loop that joins them with a real terminal.

pub mod board;
mod game;
pub mod hand;
pub mod layout;
mod lesson;
pub mod moves;
pub mod path;
mod view;

use std::io;
use std::time::Duration;

use crownhead_play::Stop;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers, MouseEvent,
};
use ratatui::crossterm::execute;
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, Frame};

pub use game::GameScreen;
pub use lesson::LessonScreen;
pub use view::ViewScreen;

/// Something that fills the screen.
pub trait Screen {
    /// Draws it.
    fn draw(&self, frame: &mut Frame<'_>);
    /// A key was pressed.
    fn key(&mut self, code: KeyCode);
    /// The mouse did something; `area` is the whole screen.
    fn mouse(&mut self, mouse: MouseEvent, area: Rect);
    /// What time alone does.
    fn tick(&mut self);
    /// The user leaves at once.
    fn leave(&mut self);
    /// Whether the user has left.
    fn is_left(&self) -> bool;
    /// The screen goes away, perhaps with its terminal: what must not be lost is kept now.
    fn end(&mut self) {}
}

/// Tells a screen of an event.
pub fn tell(screen: &mut impl Screen, event: &Event, area: Rect) {
    match event {
        Event::Key(KeyEvent { kind: KeyEventKind::Release, .. }) => {}
        Event::Key(key) if key.modifiers.contains(KeyModifiers::CONTROL) => {
            if matches!(key.code, KeyCode::Char('c' | 'd')) {
                screen.leave();
            }
        }
        Event::Key(key) => screen.key(key.code),
        Event::Mouse(mouse) => screen.mouse(*mouse, area),
        _ => {}
    }
}

/// Between two pictures at most.
const FRAME: Duration = Duration::from_millis(20);

/// Shows a screen until the user leaves it or `stop` is raised. The terminal is as it was afterwards,
/// whatever happens.
pub fn show(screen: &mut impl Screen, stop: &Stop) -> io::Result<()> {
    // Also puts the terminal back before the message of a panic.
    let mut terminal = ratatui::try_init()?;
    let restored = Restored;
    execute!(io::stdout(), EnableMouseCapture)?;
    let result = run(&mut terminal, screen, stop);
    screen.end();
    drop(restored);
    // A terminal that is lost makes errors too; whoever is told to end has none to report.
    if stop.is_stopped() { Ok(()) } else { result }
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
            tell(screen, &event::read()?, Rect::new(0, 0, size.width, size.height));
            wait = Duration::ZERO;
        }
        screen.tick();
        if stop.is_stopped() || screen.is_left() {
            return Ok(());
        }
    }
}
