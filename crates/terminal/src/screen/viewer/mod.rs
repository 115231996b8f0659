//! A recorded game on the screen: stepping through it, its variations and comments, and what the
//! search thinks of a position. The picture is in `draw`.

mod draw;

use std::io::Read;
use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use super::Screen;
use super::layout::Layout;
use super::widgets::scroll;
use crate::analysis_thread::AnalysisThread;
use crate::game_file::{GameFile, RecordCursor};
use crate::lazy_knowledge::LazyKnowledge;
use crate::text::speed_text;

/// Recorded games to look at.
pub struct ViewScreen<R> {
    games: GameFile<R>,
    /// Which of the games that can be read is shown, and its number in the file.
    shown: (usize, u64),
    cursor: RecordCursor,
    message: String,
    flipped: bool,
    show_numbers: bool,
    colour: bool,
    quit: bool,
    show_help: bool,
    /// The line of what is said that a box with all of it begins with.
    message_popup: Option<usize>,
    /// Since when the position has been shown by itself; none if a person goes on.
    autoplay_since: Option<Instant>,
    move_interval: Duration,
    analysis: Option<AnalysisThread>,
    /// What the search may know of the game.
    knowledge: LazyKnowledge,
}

/// How slowly a game plays by itself, at first.
const DEFAULT_MOVE_INTERVAL: Duration = Duration::from_millis(1000);
/// The plies that a page is.
const PAGE: usize = 10;

impl<R: Read> ViewScreen<R> {
    /// The games of a file, at the start of the first; what is wrong if there is none.
    pub fn new(mut games: GameFile<R>, colour: bool) -> Result<ViewScreen<R>, String> {
        let (number, walk) = match games.get(0) {
            Some((number, record)) => (number, RecordCursor::new(record.clone())?),
            None => {
                let fault = games.errors.first().map(ToString::to_string);
                return Err(fault.unwrap_or_else(|| "there is no game in it".into()));
            }
        };
        let mut screen = ViewScreen {
            games,
            shown: (0, number),
            cursor: walk,
            message: String::new(),
            flipped: false,
            show_numbers: true,
            colour,
            quit: false,
            show_help: false,
            message_popup: None,
            autoplay_since: None,
            move_interval: DEFAULT_MOVE_INTERVAL,
            analysis: None,
            knowledge: LazyKnowledge::default(),
        };
        screen.show_errors();
        Ok(screen)
    }

    fn show_errors(&mut self) {
        let faults = std::mem::take(&mut self.games.errors);
        if let Some(first) = faults.first() {
            let more = match faults.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            self.message = format!("Not shown: {first}{more}.");
        }
    }

    fn open(&mut self, place: usize) {
        let game = self.games.get(place);
        match game.map(|(number, record)| (number, RecordCursor::new(record.clone()))) {
            None => self.message = "That was the last game.".into(),
            Some((_, Err(why))) => self.message = why,
            Some((number, Ok(walk))) => {
                (self.cursor, self.shown) = (walk, (place, number));
                self.knowledge = LazyKnowledge::default();
                self.message.clear();
                self.autoplay_since = None;
                self.on_position_change();
            }
        }
        self.show_errors();
    }

    fn step(&mut self, go: impl FnOnce(&mut RecordCursor)) {
        go(&mut self.cursor);
        self.message.clear();
        self.on_position_change();
    }

    /// Another position is on the board.
    fn on_position_change(&mut self) {
        if self.analysis.take().is_some() {
            self.analyse();
        }
    }

    fn analyse(&mut self) {
        let game = &self.cursor.record().game;
        match AnalysisThread::new(
            game,
            self.cursor.position().position.clone(),
            self.knowledge.clone(),
        ) {
            Ok(analysis) => self.analysis = Some(analysis),
            Err(error) => self.message = format!("There is no analysis: {error}."),
        }
    }

    fn next_variation(&mut self) {
        if self.cursor.next_sibling() {
            self.message.clear();
            self.on_position_change();
        } else {
            self.message = "There is no variation of this move.".into();
        }
    }
}

impl<R: Read> Screen for ViewScreen<R> {
    fn draw(&self, frame: &mut Frame<'_>) {
        draw::draw(frame, self);
    }

    fn key(&mut self, code: KeyCode) {
        if self.show_help {
            self.show_help = false;
            return;
        }
        if let Some(from) = self.message_popup {
            self.message_popup = scroll(from, code);
            return;
        }
        if !matches!(code, KeyCode::Char(' ' | '+' | '-' | 'f' | 'c' | 'a' | '?')) {
            self.autoplay_since = None;
        }
        let page = |walk: &mut RecordCursor| walk.go_to(walk.ply() + PAGE);
        match code {
            KeyCode::Right | KeyCode::Down | KeyCode::Enter | KeyCode::Char('l' | 'j' | ']') => {
                self.step(RecordCursor::forward);
            }
            KeyCode::Left | KeyCode::Up | KeyCode::Char('h' | 'k' | '[') => {
                self.step(RecordCursor::back)
            }
            KeyCode::Home | KeyCode::Char('g') => self.step(|walk| walk.go_to(0)),
            KeyCode::End | KeyCode::Char('G') => self.step(|walk| walk.go_to(usize::MAX)),
            KeyCode::PageDown => self.step(page),
            KeyCode::PageUp => self.step(|walk| walk.go_to(walk.ply().saturating_sub(PAGE))),
            KeyCode::Char('n') => self.open(self.shown.0 + 1),
            KeyCode::Char('p' | 'N') if self.shown.0 == 0 => {
                self.message = "This is the first game.".into();
            }
            KeyCode::Char('p' | 'N') => self.open(self.shown.0 - 1),
            KeyCode::Char('v') => self.next_variation(),
            KeyCode::Esc => self.step(RecordCursor::leave_variation),
            KeyCode::Char(' ') => {
                self.autoplay_since = match self.autoplay_since {
                    Some(_) => None,
                    None => Some(Instant::now()),
                };
            }
            KeyCode::Char('+') => {
                self.move_interval = (self.move_interval / 2).max(Duration::from_millis(60));
                self.message = speed_text(self.move_interval);
            }
            KeyCode::Char('-') => {
                self.move_interval = (self.move_interval * 2).min(Duration::from_secs(16));
                self.message = speed_text(self.move_interval);
            }
            KeyCode::Char('a') if self.analysis.is_some() => self.analysis = None,
            KeyCode::Char('a') => self.analyse(),
            KeyCode::Char('f') => self.flipped = !self.flipped,
            KeyCode::Char('c') => self.show_numbers = !self.show_numbers,
            KeyCode::Char('t') if !draw::message_text(self).is_empty() => {
                self.message_popup = Some(0)
            }
            KeyCode::Char('?') => self.show_help = true,
            KeyCode::Char('q') => self.quit = true,
            _ => {}
        }
    }

    fn mouse(&mut self, mouse: MouseEvent, area: Rect) {
        let Some(layout) = Layout::new(area, self.flipped) else { return };
        let on_board = layout.board.cell_at(mouse.column, mouse.row).is_some();
        match mouse.kind {
            MouseEventKind::Down(_) if self.show_help || self.message_popup.is_some() => {
                (self.show_help, self.message_popup) = (false, None);
            }
            MouseEventKind::ScrollUp => self.step(RecordCursor::back),
            MouseEventKind::ScrollDown => self.step(RecordCursor::forward),
            MouseEventKind::Down(MouseButton::Left) if on_board => self.step(RecordCursor::forward),
            MouseEventKind::Down(MouseButton::Right) if on_board => self.step(RecordCursor::back),
            MouseEventKind::Down(MouseButton::Left) => {
                if let Some(ply) = draw::ply_at(self, &layout, mouse.column, mouse.row) {
                    self.step(|walk| walk.go_to(ply));
                }
            }
            _ => {}
        }
    }

    fn tick(&mut self) {
        if let Some(analysis) = &mut self.analysis {
            analysis.poll();
        }
        if self.autoplay_since.is_some_and(|since| since.elapsed() >= self.move_interval) {
            self.autoplay_since = self.cursor.has_more().then(Instant::now);
            self.step(RecordCursor::forward);
        }
    }

    fn quit(&mut self) {
        self.quit = true;
    }

    fn has_quit(&self) -> bool {
        self.quit
    }
}
