//! The whole screen: a board, panels, keys and the mouse.
//!
//! [`GameScreen`] is a game being played, [`ViewScreen`] recorded ones, [`LessonScreen`] the rules in
//! exercises. Each is what is on the screen and what input does to it, and can be drawn anywhere; here
//! is the loop that joins them with a real terminal.

pub mod board;
pub mod board_input;
mod game;
pub mod layout;
mod lesson;
pub mod move_list;
pub mod selection;
mod viewer;

use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use crownhead_play::StopFlag;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers, MouseEvent,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, Frame, Terminal};

pub use game::GameScreen;
pub use lesson::LessonScreen;
pub use viewer::ViewScreen;

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
    fn quit(&mut self);
    /// Whether the user has left.
    fn has_quit(&self) -> bool;
    /// The screen goes away, perhaps with its terminal: what must not be lost is kept now.
    fn on_close(&mut self) {}
}

/// Tells a screen of an event.
pub fn dispatch(screen: &mut impl Screen, event: &Event, area: Rect) {
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

/// Between two pictures at most.
const FRAME_INTERVAL: Duration = Duration::from_millis(20);

/// Shows a screen until the user leaves it or `stop` is raised. The terminal is as it was afterwards,
/// whatever happens.
pub fn run(screen: &mut impl Screen, stop: &StopFlag) -> io::Result<()> {
    let restored = TerminalGuard::new();
    let result = enter_raw_mode().and_then(|mut terminal| event_loop(&mut terminal, screen, stop));
    screen.on_close();
    drop(restored);
    // A terminal that is lost makes errors too; whoever is told to end has none to report.
    if stop.is_set() { Ok(()) } else { result }
}

/// The terminal as a screen needs it. It is put back by `Restored` and by nothing else: what ratatui
/// does by itself complains to a terminal that may be gone, and breaks.
fn enter_raw_mode() -> io::Result<ManuallyDrop<DefaultTerminal>> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture)?;
    Terminal::new(CrosstermBackend::new(io::stdout())).map(ManuallyDrop::new)
}

/// Puts the terminal back.
fn restore() {
    // A terminal that is gone cannot be put back.
    let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Puts the terminal back when it is dropped, or before the message of a panic of the thread that made
/// it. What other threads have to say when they break would spoil the screen, and waits until the end;
/// whoever waits for such a thread learns that it is gone.
struct TerminalGuard {
    broken: Receiver<String>,
}

impl TerminalGuard {
    fn new() -> TerminalGuard {
        let (say, broken) = sync_channel(10);
        let (ours, usual) = (std::thread::current().id(), panic::take_hook());
        panic::set_hook(Box::new(move |info| {
            if std::thread::current().id() == ours {
                restore();
                usual(info);
            } else {
                let _ = say.try_send(info.to_string());
            }
        }));
        TerminalGuard { broken }
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore();
        if !std::thread::panicking() {
            let _ = panic::take_hook();
        }
        for message in self.broken.try_iter() {
            let _ = writeln!(io::stderr(), "{message}");
        }
    }
}

/// So many events may wait to be heard.
const QUEUE_CAPACITY: usize = 1000;

/// What comes from the terminal, heard on a thread of its own: reading from a terminal that is lost may
/// never end, and whoever waits for the thread would wait as long.
fn spawn_event_reader() -> io::Result<Receiver<io::Result<Event>>> {
    let (say, heard) = sync_channel(QUEUE_CAPACITY);
    let listen = move || {
        loop {
            let event = event::read();
            let failed = event.is_err();
            if say.send(event).is_err() || failed {
                return;
            }
        }
    };
    std::thread::Builder::new().name("input".into()).spawn(listen)?;
    Ok(heard)
}

fn event_loop(
    terminal: &mut DefaultTerminal,
    screen: &mut impl Screen,
    stop: &StopFlag,
) -> io::Result<()> {
    let events = spawn_event_reader()?;
    loop {
        terminal.draw(|frame| screen.draw(frame))?;
        // What has come is heard before the next picture, but that is never late for it.
        let begun = Instant::now();
        let mut wait = FRAME_INTERVAL;
        while begun.elapsed() < FRAME_INTERVAL
            && let Ok(event) = events.recv_timeout(wait)
        {
            let size = terminal.size()?;
            dispatch(screen, &event?, Rect::new(0, 0, size.width, size.height));
            wait = Duration::ZERO;
        }
        screen.tick();
        if stop.is_set() || screen.has_quit() {
            return Ok(());
        }
    }
}
