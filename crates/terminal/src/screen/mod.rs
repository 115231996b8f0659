//! The full-screen interface: a board, panels, keys and the mouse.
//!
//! [`GameScreen`] plays a game, [`ViewScreen`] shows recorded games, [`LessonScreen`] teaches the
//! rules, [`tournament`] shows a running tournament. Each can be drawn to any ratatui backend;
//! [`run`] connects it to the terminal.

pub mod board;
pub mod board_input;
mod disc;
mod editor;
mod game;
mod home;
pub mod layout;
mod lesson;
pub mod move_list;
mod new_game;
pub mod selection;
mod terminal_guard;
pub mod theme;
pub mod tournament;
mod viewer;
pub mod widgets;

use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crownhead_play::StopFlag;
use ratatui::crossterm::event::{
    self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEvent,
};
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, Frame};

pub use editor::EditorScreen;
pub use game::GameScreen;
pub use home::{HomeChoice, HomeScreen};
pub use lesson::LessonScreen;
pub use terminal_guard::restore_terminal;
use terminal_guard::{TerminalGuard, enter_raw_mode};
pub use theme::{ColourDepth, Look, Theme};
pub use viewer::ViewScreen;

/// A full-screen view with its input handling.
pub trait Screen {
    /// Draws the screen.
    fn draw(&self, frame: &mut Frame<'_>);
    /// Handles a key press.
    fn key(&mut self, code: KeyCode);
    /// Handles the mouse; `area` is the whole screen.
    fn mouse(&mut self, mouse: MouseEvent, area: Rect);
    /// Called once per frame: clocks, computer players, animation.
    fn tick(&mut self);
    /// Quits without asking.
    fn quit(&mut self);
    /// Whether the user has quit.
    fn has_quit(&self) -> bool;
    /// Called when the screen closes, perhaps because the terminal is gone: saves what must not be
    /// lost.
    fn on_close(&mut self) {}
    /// Maximum time between two frames.
    fn frame_interval(&self) -> Duration {
        FRAME_INTERVAL
    }
}

/// Passes a terminal event to a screen.
pub fn dispatch(screen: &mut dyn Screen, event: &Event, area: Rect) {
    match event {
        Event::Key(KeyEvent { kind: KeyEventKind::Release, .. }) => {}
        Event::Key(key) if key.modifiers.contains(KeyModifiers::CONTROL) => {
            if matches!(key.code, KeyCode::Char('c' | 'd')) {
                screen.quit();
            }
        }
        Event::Key(key) => screen.key(key.code),
        Event::Mouse(mouse) => screen.mouse(*mouse, area),
        _ => {}
    }
}

/// Time between two frames.
const FRAME_INTERVAL: Duration = Duration::from_millis(20);

/// Runs a screen until the user quits or `stop` is set. Restores the terminal in every case.
pub fn run(screen: &mut dyn Screen, stop: &StopFlag) -> io::Result<()> {
    let guard = TerminalGuard::new();
    let result = enter_raw_mode().and_then(|mut terminal| event_loop(&mut terminal, screen, stop));
    screen.on_close();
    drop(guard);
    // A hang-up sets `stop` and makes writes fail; that is not an error to report.
    if stop.is_set() { Ok(()) } else { result }
}

/// Maximum number of queued terminal events.
const QUEUE_CAPACITY: usize = 1000;

type Events = Receiver<io::Result<Event>>;

/// The queue of terminal events while no screen uses it.
static EVENTS: Mutex<Option<Events>> = Mutex::new(None);

/// Returns the queue of terminal events. They are read on a thread of their own, which is never
/// joined: reading from a terminal that is gone may block forever. All screens share it, because
/// two readers would compete for keys.
fn take_events() -> io::Result<Events> {
    let queue = EVENTS.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(events) = queue {
        return Ok(events);
    }
    let (sender, events) = sync_channel(QUEUE_CAPACITY);
    let read_loop = move || {
        loop {
            let event = event::read();
            let failed = event.is_err();
            if sender.send(event).is_err() || failed {
                return;
            }
        }
    };
    std::thread::Builder::new().name("input".into()).spawn(read_loop)?;
    Ok(events)
}

fn event_loop(
    terminal: &mut DefaultTerminal,
    screen: &mut dyn Screen,
    stop: &StopFlag,
) -> io::Result<()> {
    let events = take_events()?;
    let result = draw_and_dispatch(terminal, screen, stop, &events);
    *EVENTS.lock().unwrap_or_else(PoisonError::into_inner) = Some(events);
    result
}

fn draw_and_dispatch(
    terminal: &mut DefaultTerminal,
    screen: &mut dyn Screen,
    stop: &StopFlag,
    events: &Events,
) -> io::Result<()> {
    loop {
        terminal.draw(|frame| screen.draw(frame))?;
        // Handle all queued events, but never delay the next frame.
        let frame_start = Instant::now();
        let mut timeout = screen.frame_interval();
        while frame_start.elapsed() < FRAME_INTERVAL.max(timeout)
            && let Ok(event) = events.recv_timeout(timeout)
        {
            let size = terminal.size()?;
            dispatch(screen, &event?, Rect::new(0, 0, size.width, size.height));
            timeout = Duration::ZERO;
            // Later events are for the next screen.
            if screen.has_quit() {
                break;
            }
        }
        screen.tick();
        if stop.is_set() || screen.has_quit() {
            return Ok(());
        }
    }
}
