//! Recorded games, full screen: stepping through moves, variations and comments, with analysis.
//! Drawing is in `draw`.

mod draw;

use std::time::{Duration, Instant};

use crownhead_play::replay::RecordCursor;
use crownhead_records::GameFile;
use crownhead_rules::Game;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use super::Screen;
use super::layout::Layout;
use super::theme::Look;
use super::widgets::Popup;
use crate::analysis_thread::AnalysisThread;
use crate::lazy_knowledge::LazyKnowledge;
use crate::text::speed_text;

/// Viewer of recorded games.
pub struct ViewScreen<'a> {
    games: GameFile<'a>,
    /// Index of the game among the readable games, and its number in the file.
    shown: (usize, u64),
    cursor: RecordCursor,
    message: String,
    flipped: bool,
    show_numbers: bool,
    look: Look,
    quit: bool,
    popup: Option<Popup>,
    /// When autoplay showed the position; `None` if autoplay is off.
    autoplay_since: Option<Instant>,
    move_interval: Duration,
    analysis: Option<AnalysisThread>,
    /// Game and position of the last analysis.
    analysed: Option<(Game, String)>,
    /// Tables for the analysis.
    knowledge: LazyKnowledge,
}

/// Default time per move of autoplay.
const DEFAULT_MOVE_INTERVAL: Duration = Duration::from_millis(1000);
/// Plies per page key.
const PAGE_PLIES: usize = 10;

impl<'a> ViewScreen<'a> {
    /// Opens the first game of a file. The error says why there is none.
    pub fn new(mut games: GameFile<'a>, look: Look) -> Result<ViewScreen<'a>, String> {
        let (number, cursor) = match games.get(0) {
            Some((number, record)) => (number, RecordCursor::new(record.clone())?),
            None => {
                let error = games.errors.first().map(ToString::to_string);
                return Err(error.unwrap_or_else(|| "the file has no games".into()));
            }
        };
        let mut screen = ViewScreen {
            games,
            shown: (0, number),
            cursor,
            message: String::new(),
            flipped: false,
            show_numbers: true,
            look,
            quit: false,
            popup: None,
            autoplay_since: None,
            move_interval: DEFAULT_MOVE_INTERVAL,
            analysis: None,
            analysed: None,
            knowledge: LazyKnowledge::default(),
        };
        screen.show_errors();
        Ok(screen)
    }

    /// Game and position that were analysed last.
    pub fn analysed(&self) -> Option<(&Game, &str)> {
        self.analysed.as_ref().map(|(game, position)| (game, position.as_str()))
    }

    /// Shows row 8 at the top, or row 1.
    pub fn set_flipped(&mut self, flipped: bool) {
        self.flipped = flipped;
    }

    fn show_errors(&mut self) {
        let errors = std::mem::take(&mut self.games.errors);
        if let Some(first) = errors.first() {
            let more = match errors.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            self.message = format!("Skipped: {first}{more}.");
        }
    }

    fn open(&mut self, index: usize) {
        let game = self.games.get(index);
        match game.map(|(number, record)| (number, RecordCursor::new(record.clone()))) {
            None => self.message = "That was the last game.".into(),
            Some((_, Err(error))) => self.message = error,
            Some((number, Ok(cursor))) => {
                (self.cursor, self.shown) = (cursor, (index, number));
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

    /// Restarts the analysis for the new position.
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
            Ok(analysis) => {
                self.analysed = Some((game.clone(), self.cursor.position().position.clone()));
                self.analysis = Some(analysis);
            }
            Err(error) => self.message = format!("Analysis failed: {error}."),
        }
    }

    fn next_variation(&mut self) {
        if self.cursor.next_sibling() {
            self.message.clear();
            self.on_position_change();
        } else {
            self.message = "This move has no variations.".into();
        }
    }
}

impl Screen for ViewScreen<'_> {
    fn draw(&self, frame: &mut Frame<'_>) {
        draw::draw(frame, self);
    }

    fn key(&mut self, code: KeyCode) {
        if let Some(popup) = self.popup {
            self.popup = popup.key(code);
            return;
        }
        if !matches!(code, KeyCode::Char(' ' | '+' | '-' | 'f' | 'c' | 'a' | '?')) {
            self.autoplay_since = None;
        }
        let page = |cursor: &mut RecordCursor| cursor.go_to(cursor.ply() + PAGE_PLIES);
        match code {
            KeyCode::Right | KeyCode::Down | KeyCode::Enter | KeyCode::Char('l' | 'j' | ']') => {
                self.step(RecordCursor::forward);
            }
            KeyCode::Left | KeyCode::Up | KeyCode::Char('h' | 'k' | '[') => {
                self.step(RecordCursor::back)
            }
            KeyCode::Home | KeyCode::Char('g') => self.step(|cursor| cursor.go_to(0)),
            KeyCode::End | KeyCode::Char('G') => self.step(|cursor| cursor.go_to(usize::MAX)),
            KeyCode::PageDown => self.step(page),
            KeyCode::PageUp => {
                self.step(|cursor| cursor.go_to(cursor.ply().saturating_sub(PAGE_PLIES)))
            }
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
                self.popup = Some(Popup::Message(0))
            }
            KeyCode::Char('?') => self.popup = Some(Popup::Keys),
            KeyCode::Char('q') => self.quit = true,
            _ => {}
        }
    }

    fn mouse(&mut self, mouse: MouseEvent, area: Rect) {
        let Some(layout) = Layout::new(area, self.flipped) else { return };
        let on_board = layout.board.cell_at(mouse.column, mouse.row).is_some();
        match mouse.kind {
            MouseEventKind::Down(_) if self.popup.is_some() => self.popup = None,
            MouseEventKind::ScrollUp => self.step(RecordCursor::back),
            MouseEventKind::ScrollDown => self.step(RecordCursor::forward),
            MouseEventKind::Down(MouseButton::Left) if on_board => self.step(RecordCursor::forward),
            MouseEventKind::Down(MouseButton::Right) if on_board => self.step(RecordCursor::back),
            MouseEventKind::Down(MouseButton::Left) => {
                if let Some(ply) = draw::ply_at(self, &layout, mouse.column, mouse.row) {
                    self.step(|cursor| cursor.go_to(ply));
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
