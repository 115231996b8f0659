//! The home screen: what to do, the settings of a game, and a preview of its board.

use std::path::PathBuf;

use crownhead_play::new_session;
use crownhead_rules::Game;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use super::Screen;
use super::board::{BoardView, Geometry, Highlights};
use super::layout::{MIN_SIZE, inside};
use super::new_game::{Field, NewGame};
use super::theme::Look;
use super::widgets::{
    file_name_line, framed, popup, too_small, truncate, write_keys, write_line, write_text,
};
use crate::local_game::Setup;

/// Choice of the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HomeChoice {
    /// Play a game.
    Play(Box<Setup>),
    /// Learn a game.
    Learn(Game),
    /// View a file of games.
    Open(PathBuf),
    /// Set up and analyse a position of a game.
    Analyse(Game),
    /// Play in the browser.
    Serve,
}

/// A row of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    Play,
    Learn,
    Open,
    Analyse,
    Serve,
    Setting(Field),
    Theme,
    Quit,
}

/// The first screen.
pub struct HomeScreen {
    form: NewGame,
    row: usize,
    look: Look,
    message: String,
    /// Name of the file being typed.
    file_name: Option<String>,
    choice: Option<HomeChoice>,
    seed: u64,
    quit: bool,
}

/// Width of the list.
const LIST_WIDTH: u16 = 36;
/// Maximum length of a file name.
const MAX_FILE_NAME: usize = 1000;

impl HomeScreen {
    /// Starts with the default settings.
    pub fn new(look: Look, seed: u64) -> HomeScreen {
        HomeScreen {
            form: NewGame::new(&Game::default()),
            row: 0,
            look,
            message: String::new(),
            file_name: None,
            choice: None,
            seed,
            quit: false,
        }
    }

    /// Takes the choice; the screen can run again afterwards. `None` if the user quits.
    pub fn take_choice(&mut self) -> Option<HomeChoice> {
        self.choice.take()
    }

    /// Theme and colours.
    pub fn look(&self) -> Look {
        self.look
    }

    /// Changes theme and colours.
    pub fn set_look(&mut self, look: Look) {
        self.look = look;
    }

    /// Shows a message, for example why a file could not be opened.
    pub fn set_message(&mut self, message: String) {
        self.message = message;
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = vec![Row::Play, Row::Learn, Row::Open, Row::Analyse, Row::Serve];
        rows.extend(self.form.fields().iter().map(|field| Row::Setting(*field)));
        rows.extend([Row::Theme, Row::Quit]);
        rows
    }

    /// Text of a row in a list of this width. The arrows around a setting are omitted if they do
    /// not fit.
    fn text(&self, row: Row, width: u16) -> String {
        let setting = |label: &str, value: &str| {
            let text = format!("{label:<9} ◂ {value} ▸");
            let fits = text.chars().count() <= usize::from(width);
            if fits { text } else { format!("{label:<9} {value}") }
        };
        match row {
            Row::Play => "Play".into(),
            Row::Learn => "Learn the rules".into(),
            Row::Open => "Open a file of games".into(),
            Row::Analyse => "Analyse a position".into(),
            Row::Serve => "Play in the browser".into(),
            Row::Setting(field) => {
                let (label, value) = self.form.text(field);
                setting(label, &value)
            }
            Row::Theme => setting("Theme", self.look.theme.code()),
            Row::Quit => "Quit".into(),
        }
    }

    /// Line of a row inside the frame: settings have a heading.
    fn line(row: usize, rows: &[Row]) -> u16 {
        let is_setting = |row: &Row| matches!(row, Row::Setting(_) | Row::Theme);
        let heading = rows[..=row].iter().any(is_setting);
        row as u16 + 2 * u16::from(heading) + u16::from(rows[row] == Row::Quit)
    }

    fn current(&self) -> Row {
        let rows = self.rows();
        rows[self.row.min(rows.len() - 1)]
    }

    fn change(&mut self, forward: bool) {
        match self.current() {
            Row::Setting(field) => self.form.change(field, forward),
            Row::Theme => self.look.theme = self.look.theme.next(),
            _ => {}
        }
    }

    fn activate(&mut self) {
        self.message.clear();
        match self.current() {
            Row::Play => {
                self.seed = self.seed.wrapping_add(1);
                self.choice = Some(HomeChoice::Play(Box::new(self.form.setup(self.seed))));
            }
            Row::Learn => self.choice = Some(HomeChoice::Learn(self.form.game().clone())),
            Row::Open => self.file_name = Some(String::new()),
            Row::Analyse => self.choice = Some(HomeChoice::Analyse(self.form.game().clone())),
            Row::Serve => self.choice = Some(HomeChoice::Serve),
            Row::Setting(_) | Row::Theme => self.change(true),
            Row::Quit => self.quit = true,
        }
    }

    fn type_file_name(&mut self, mut name: String, code: KeyCode) {
        match code {
            KeyCode::Esc => return,
            KeyCode::Enter if name.trim().is_empty() => return,
            KeyCode::Enter => {
                self.choice = Some(HomeChoice::Open(name.trim().into()));
                return;
            }
            KeyCode::Backspace => drop(name.pop()),
            KeyCode::Char(c) if !c.is_control() && name.len() < MAX_FILE_NAME => name.push(c),
            _ => {}
        }
        self.file_name = Some(name);
    }
}

/// Divides the screen into the frame of the list and the frame of the preview.
fn areas(area: Rect) -> Option<(Rect, Rect)> {
    if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
        return None;
    }
    let height = area.height - 3;
    // The smallest board and its frame have 47 columns.
    let width = LIST_WIDTH.min(area.width - 47);
    let list = Rect { width, height, ..area };
    Some((list, Rect { x: list.right(), width: area.width - width, height, ..area }))
}

impl Screen for HomeScreen {
    fn draw(&self, frame: &mut Frame<'_>) {
        let (area, look) = (frame.area(), self.look);
        let Some((list, preview)) = areas(area) else {
            too_small(frame);
            return;
        };
        let inner = framed(frame, list, "Crownhead", look);
        let rows = self.rows();
        for (index, row) in rows.iter().enumerate() {
            let y = inner.y + 1 + Self::line(index, &rows);
            let is_selected = index == self.row.min(rows.len() - 1);
            let mark = if is_selected { '▸' } else { ' ' };
            let text = format!("{mark} {}", self.text(*row, inner.width - 2));
            let text = truncate(&text, inner.width.into());
            let style = if is_selected { look.selected() } else { look.bold() };
            let width = usize::from(inner.width);
            write_line(frame, Rect { y, ..inner }, &format!("{text:<width$}"), style);
        }
        let heading = inner.y + 1 + Self::line(5, &rows) - 1;
        write_line(frame, Rect { y: heading, ..inner }, "Settings", look.dim());
        let game = self.form.game();
        let board_area = framed(frame, preview, game.info().name, look);
        let flipped = self.form.setup(0).is_flipped();
        if let (Ok(session), Some(geometry)) =
            (new_session(game, None), Geometry::fit(board_area, flipped))
        {
            let left = geometry.left + (board_area.width - geometry.columns()) / 2;
            let geometry = Geometry { left, ..geometry };
            let view = BoardView {
                game,
                board: &session.board(),
                highlights: &Highlights::default(),
                look,
                show_numbers: false,
            };
            view.draw(frame.buffer_mut(), geometry);
        }
        let footer = Rect { x: area.x + 1, y: area.bottom() - 3, width: area.width - 2, height: 2 };
        write_text(frame, footer, &self.message, "…");
        let keys = "↑ ↓ choose · ← → change · Enter or click start · q quit";
        let bottom = Rect { y: area.bottom() - 1, height: 1, ..footer };
        write_keys(frame, bottom, &[keys.into()], look);
        if let Some(name) = &self.file_name {
            let lines = vec![file_name_line(name, area.width), "Enter: open   Esc: cancel".into()];
            popup(frame, "Open a file of games (PDN)", lines);
        }
    }

    fn key(&mut self, code: KeyCode) {
        if let Some(name) = self.file_name.take() {
            return self.type_file_name(name, code);
        }
        let last = self.rows().len() - 1;
        self.row = self.row.min(last);
        match code {
            KeyCode::Up | KeyCode::Char('k') => self.row = self.row.checked_sub(1).unwrap_or(last),
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => {
                self.row = if self.row == last { 0 } else { self.row + 1 };
            }
            KeyCode::Home => self.row = 0,
            KeyCode::End => self.row = last,
            KeyCode::Left | KeyCode::Char('h') => self.change(false),
            KeyCode::Right | KeyCode::Char('l') => self.change(true),
            KeyCode::Enter | KeyCode::Char(' ') => self.activate(),
            KeyCode::Char('q') | KeyCode::Esc => self.quit = true,
            _ => {}
        }
    }

    fn mouse(&mut self, mouse: MouseEvent, area: Rect) {
        let Some((list, _)) = areas(area) else { return };
        let MouseEventKind::Down(MouseButton::Left) = mouse.kind else { return };
        if self.file_name.is_some() {
            return;
        }
        let (inner, rows) = (inside(list), self.rows());
        let is_hit = |index: &usize| inner.y + 1 + Self::line(*index, &rows) == mouse.row;
        if mouse.column < list.right()
            && let Some(index) = (0..rows.len()).find(is_hit)
        {
            self.row = index;
            self.activate();
        }
    }

    fn tick(&mut self) {}

    fn quit(&mut self) {
        self.quit = true;
    }

    fn has_quit(&self) -> bool {
        self.quit || self.choice.is_some()
    }
}
