//! Keys and mouse in a game.

use std::time::Duration;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use super::super::Screen;
use super::super::board_input::InputEvent;
use super::super::layout::Layout;
use super::super::new_game::FormEvent;
use super::super::widgets::Popup;
use super::{Dialog, GameScreen, draw};
use crate::text::speed_text;

/// Plies per page key.
const PAGE_PLIES: isize = 10;

impl Screen for GameScreen {
    fn draw(&self, frame: &mut Frame<'_>) {
        draw::draw(frame, self);
    }

    fn key(&mut self, code: KeyCode) {
        if self.dialog.is_some() {
            self.answer(code);
            return;
        }
        let is_watching = !self.game.has_human();
        match code {
            KeyCode::Enter | KeyCode::Char(' ') if is_watching => {
                self.paused = !self.paused;
                self.message = self.prompt();
            }
            KeyCode::Char('+') if is_watching => {
                self.move_interval = (self.move_interval / 2).max(Duration::from_millis(25));
                self.message = speed_text(self.move_interval);
            }
            KeyCode::Char('-') if is_watching => {
                self.move_interval = (self.move_interval * 2).min(Duration::from_secs(10));
                self.message = speed_text(self.move_interval);
            }
            KeyCode::Esc if self.game_analysis.is_some() => {
                self.game_analysis = None;
                self.message = self.prompt();
            }
            KeyCode::Esc if self.viewed_ply.is_some() => self.view_ply(usize::MAX),
            KeyCode::Enter | KeyCode::Char(' ' | '0'..='9') if self.blocked_reason().is_some() => {
                self.message = self.blocked_reason().unwrap_or_default();
            }
            _ => match self.input.key(code, self.game.session(), self.flipped) {
                Some(event) => self.on_input(event),
                None => self.command(code),
            },
        }
    }

    fn mouse(&mut self, mouse: MouseEvent, area: Rect) {
        let Some(layout) = Layout::new(area, self.flipped) else { return };
        if let Some(dialog) = &self.dialog {
            // Questions are answered with keys only.
            let is_text = matches!(dialog, Dialog::Text(_));
            if is_text && matches!(mouse.kind, MouseEventKind::Down(_)) {
                self.dialog = None;
            }
            return;
        }
        match mouse.kind {
            MouseEventKind::ScrollUp => self.view_by(-1),
            MouseEventKind::ScrollDown => self.view_by(1),
            MouseEventKind::Down(MouseButton::Left) => {
                if let Some(cell) = layout.board.cell_at(mouse.column, mouse.row) {
                    self.input.cursor = None;
                    match self.blocked_reason() {
                        Some(reason) => self.message = reason,
                        None => {
                            let event = self.input.select(self.game.session(), cell);
                            self.on_input(event);
                        }
                    }
                } else if let Some(ply) = draw::ply_at(self, &layout, mouse.column, mouse.row) {
                    self.view_ply(ply);
                }
            }
            MouseEventKind::Down(MouseButton::Right) => {
                self.input.deselect();
                self.message = self.prompt();
            }
            _ => {}
        }
    }

    fn tick(&mut self) {
        self.advance();
    }

    fn quit(&mut self) {
        self.quit_now();
    }

    fn has_quit(&self) -> bool {
        self.quit || self.analysed.is_some()
    }

    fn on_close(&mut self) {
        self.save_progress();
    }
}

impl GameScreen {
    /// Handles input on the board.
    fn on_input(&mut self, event: InputEvent) {
        match event {
            InputEvent::None => {}
            InputEvent::Move(text) => self.play(&text),
            InputEvent::Rejected(reason) => self.message = reason,
            InputEvent::SelectionChanged
                if self.input.selected.len() > 1 && self.input.can_stop() =>
            {
                self.message = "Select the next hop, or the same cell again to stop here.".into();
            }
            InputEvent::SelectionChanged if self.input.selected.len() > 1 => {
                self.message = "Select the next jump.".into();
            }
            InputEvent::SelectionChanged => self.message = self.prompt(),
        }
    }

    /// Handles a key that has no meaning on the board.
    fn command(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char('u' | 'r' | 'd') if self.viewed_ply.is_some() => {
                // The game is not changed while an earlier position is shown.
                self.view_ply(usize::MAX);
                self.message = format!("{} Back to the current position.", self.prompt());
            }
            KeyCode::Char('h' | 'H') => self.hint(),
            KeyCode::Char('u') => self.undo(),
            KeyCode::Char('t') => self.dialog = Some(Dialog::Text(Popup::Message(0))),
            KeyCode::Char('f') => self.flipped = !self.flipped,
            KeyCode::Char('c') => self.show_numbers = !self.show_numbers,
            KeyCode::Char('s') => {
                self.dialog = Some(Dialog::Save { name: self.file_name(), proposed: true });
            }
            KeyCode::Char('r') if self.game.human_to_move() => self.dialog = Some(Dialog::Resign),
            KeyCode::Char('d') if self.game.human_to_move() => self.offer_draw(),
            KeyCode::Char('r' | 'd') => self.message = self.prompt(),
            KeyCode::Char('n') => self.ask_new_game(),
            KeyCode::Char('a') if self.game.is_over() => self.analyse_game(),
            KeyCode::Char('a') => self.message = "Analysis is for finished games. h: hint.".into(),
            KeyCode::Char('T') => self.look.theme = self.look.theme.next(),
            KeyCode::Char('?') => self.dialog = Some(Dialog::Text(Popup::Keys)),
            KeyCode::Char('q') if self.game.is_over() => self.quit_now(),
            KeyCode::Char('q') => self.dialog = Some(Dialog::Quit),
            KeyCode::Char('[' | ',') => self.view_by(-1),
            KeyCode::Char(']' | '.') => self.view_by(1),
            KeyCode::PageUp => self.view_by(-PAGE_PLIES),
            KeyCode::PageDown => self.view_by(PAGE_PLIES),
            KeyCode::Home => self.view_ply(0),
            KeyCode::End => self.view_ply(usize::MAX),
            _ => {}
        }
    }

    /// Handles a key while a popup is open.
    fn answer(&mut self, code: KeyCode) {
        let Some(dialog) = self.dialog.take() else { return };
        let confirmed = matches!(code, KeyCode::Char('y' | 'Y') | KeyCode::Enter);
        match dialog {
            Dialog::Text(popup) => self.dialog = popup.key(code).map(Dialog::Text),
            Dialog::Quit if confirmed => self.quit_now(),
            Dialog::Resign if confirmed => {
                self.resign();
            }
            Dialog::Draw => self.answer_draw(confirmed),
            Dialog::Quit | Dialog::Resign => self.message = self.prompt(),
            Dialog::NewGame(mut form) => match form.key(code) {
                FormEvent::Changed => self.dialog = Some(Dialog::NewGame(form)),
                FormEvent::Cancelled => self.message = self.prompt(),
                FormEvent::Done => {
                    let seed = self.game.setup().seed.wrapping_add(1);
                    self.start_game(form.setup(seed));
                }
            },
            Dialog::Save { mut name, mut proposed } => {
                match code {
                    KeyCode::Enter => return self.save(&name),
                    KeyCode::Esc => {
                        self.message = "Not saved.".into();
                        return;
                    }
                    KeyCode::Backspace => drop(name.pop()),
                    KeyCode::Char(c) if !c.is_control() && name.len() < 200 => {
                        if proposed {
                            name.clear();
                        }
                        name.push(c);
                    }
                    _ => {}
                }
                proposed &= !matches!(code, KeyCode::Backspace | KeyCode::Char(_));
                self.dialog = Some(Dialog::Save { name, proposed });
            }
        }
    }
}
