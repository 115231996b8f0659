//! The position editor: set up a position, analyse it, play from it.

use crownhead_play::{new_session, position_text, to_sentence};
use crownhead_rules::{Cell, Game, Side};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Screen;
use super::board::{BoardView, Highlights};
use super::layout::Layout;
use super::new_game::NewGame;
use super::theme::Look;
use super::widgets::{
    framed, too_small, truncate, write_keys, write_line, write_message, write_text,
};
use crate::analysis_thread::{AnalysisThread, AnalysisUpdate};
use crate::lazy_knowledge::LazyKnowledge;
use crate::local_game::Setup;

/// The letter of an empty cell.
const EMPTY: char = '.';

/// A position being set up.
pub struct EditorScreen {
    game: Game,
    board: [char; 64],
    side: Side,
    cursor: Cell,
    message: String,
    look: Look,
    flipped: bool,
    analysis: Option<AnalysisThread>,
    knowledge: LazyKnowledge,
    setup: Option<Setup>,
    seed: u64,
    quit: bool,
}

impl EditorScreen {
    /// Starts with the start position of a game.
    pub fn new(game: Game, look: Look, seed: u64) -> EditorScreen {
        let mut screen = EditorScreen {
            board: [EMPTY; 64],
            side: Side::First,
            cursor: Cell::from_index(0),
            message: String::new(),
            look,
            flipped: false,
            analysis: None,
            knowledge: LazyKnowledge::default(),
            setup: None,
            seed,
            quit: false,
            game,
        };
        screen.reset();
        screen
    }

    /// Theme and colours, which the user may have changed.
    pub fn look(&self) -> Look {
        self.look
    }

    /// Takes the game that the user wants to play from the position.
    pub fn take_setup(&mut self) -> Option<Setup> {
        self.setup.take()
    }

    fn reset(&mut self) {
        if let Ok(session) = new_session(&self.game, None) {
            (self.board, self.side) = (session.board(), session.side());
        }
        self.on_change();
    }

    /// The position, in the notation of the game; as rows of letters if it is invalid.
    fn position(&self) -> String {
        let letter = self.game.info().sides[self.side.index()].letter;
        let rows = self.board.chunks(8).map(|row| row.iter().collect::<String>());
        let text = format!("{} {letter}", rows.collect::<Vec<_>>().join("/"));
        new_session(&self.game, Some(&text)).map_or(text, |session| session.position())
    }

    /// Explains an invalid position, and restarts the analysis.
    fn on_change(&mut self) {
        let is_analysing = self.analysis.take().is_some();
        self.message = match new_session(&self.game, Some(&self.position())) {
            Ok(session) => session.outcome_text().as_deref().map(to_sentence).unwrap_or_default(),
            Err(error) => to_sentence(&error.message),
        };
        if is_analysing && self.message.is_empty() {
            self.analyse();
        }
    }

    fn analyse(&mut self) {
        self.on_change();
        if !self.message.is_empty() {
            return;
        }
        match AnalysisThread::new(&self.game, self.position(), self.knowledge.clone()) {
            Ok(analysis) => self.analysis = Some(analysis),
            Err(error) => self.message = format!("Analysis failed: {error}."),
        }
    }

    /// Puts a piece on a cell, or removes what is there.
    fn put(&mut self, cell: Cell, letter: char) {
        if self.game.info().is_playable(cell) {
            self.board[cell.index() as usize] = letter;
            self.on_change();
        } else {
            self.message = "This square is not used in the game.".into();
        }
    }

    /// Puts the next piece on a cell: men of both sides, then kings, then none.
    fn cycle(&mut self, cell: Cell) {
        let letters = self.letters();
        let now = self.board[cell.index() as usize];
        let next = letters.iter().position(|letter| *letter == now).map_or(0, |index| index + 1);
        self.put(cell, letters[next % letters.len()]);
    }

    /// The letters of all pieces that the options of the game allow, and the empty cell.
    fn letters(&self) -> Vec<char> {
        let info = self.game.info();
        let start = new_session(&self.game, None).map_or([EMPTY; 64], |session| session.board());
        let is_allowed = |letter: &char| {
            let owner = info.piece(*letter).map(|(side, _)| side);
            let is_own = |other: &char| info.piece(*other).map(|(side, _)| side) == owner;
            let mut board = start;
            if let Some(piece) = board.iter_mut().find(|other| is_own(other)) {
                *piece = *letter;
            }
            new_session(&self.game, Some(&position_text(&self.game, &board, self.side, 0))).is_ok()
        };
        let letters = info.pieces.iter().flat_map(|kind| kind.letters);
        letters.filter(is_allowed).chain([EMPTY]).collect()
    }

    fn play(&mut self) {
        let position = self.position();
        match new_session(&self.game, Some(&position)) {
            Ok(session) if session.outcome().is_some() => {
                self.message =
                    session.outcome_text().as_deref().map(to_sentence).unwrap_or_default();
            }
            Ok(_) => {
                let mut form = NewGame::new(&self.game);
                form.set_position(Some(position));
                self.setup = Some(form.setup(self.seed));
            }
            Err(error) => self.message = to_sentence(&error.message),
        }
    }

    fn draw_panel(&self, frame: &mut Frame<'_>, layout: &Layout) {
        let look = self.look;
        let height = layout.panel.height.saturating_sub(layout.engine.height);
        let area = framed(frame, Rect { height, ..layout.panel }, "Position", look);
        let info = self.game.info();
        let mut lines = vec![format!("▶ {} to move (t)", info.sides[self.side.index()].name)];
        lines.push(String::new());
        for (index, letter) in self.letters().iter().enumerate() {
            let text = match info.piece(*letter) {
                Some((side, kind)) => {
                    format!("{} {}", info.sides[side.index()].name, kind.name)
                }
                None => "empty".into(),
            };
            let key = if *letter == EMPTY { '0' } else { (b'1' + index as u8) as char };
            lines.push(format!("{key}  {text}"));
        }
        for (row, line) in lines.iter().enumerate().take(area.height.into()) {
            let place = Rect { y: area.y + row as u16, ..area };
            write_line(frame, place, &truncate(line, area.width.into()), Style::default());
        }
        let used = (lines.len() as u16 + 1).min(area.height);
        let rest = Rect { y: area.y + used, height: area.height - used, ..area };
        if rest.height > 0 {
            write_text(frame, rest, &self.position(), "…");
        }
        let engine = Rect { y: layout.panel.y + height, ..layout.engine };
        let area = framed(frame, engine, "Engine (a)", look);
        match self.analysis.as_ref().map(|analysis| &analysis.latest) {
            None => {}
            Some(None) => write_line(frame, area, "…", Style::default()),
            Some(Some(AnalysisUpdate::Unavailable(reason))) => {
                write_text(frame, area, reason, "…");
            }
            Some(Some(AnalysisUpdate::Lines { table, depth, lines })) => {
                let lines = lines.iter().map(|(eval, moves)| format!("{eval} ({depth}) {moves}"));
                let rows = table.iter().cloned().chain(lines);
                for (row, text) in rows.enumerate().take(area.height.into()) {
                    let place = Rect { y: area.y + row as u16, ..area };
                    write_line(frame, place, &truncate(&text, area.width.into()), Style::default());
                }
            }
        }
    }
}

impl Screen for EditorScreen {
    fn draw(&self, frame: &mut Frame<'_>) {
        let Some(layout) = Layout::new(frame.area(), self.flipped) else {
            too_small(frame);
            return;
        };
        let title = format!("Set up a position: {}", self.game.info().name);
        write_line(frame, layout.title, &title, self.look.bold());
        let highlights = Highlights { cursor: Some(self.cursor), ..Highlights::default() };
        let view = BoardView {
            game: &self.game,
            board: &self.board,
            highlights: &highlights,
            look: self.look,
            show_numbers: true,
        };
        view.draw(frame.buffer_mut(), layout.board);
        self.draw_panel(frame, &layout);
        write_message(frame, &layout, "", &self.message);
        let short = "space piece · t turn · x clear · i start · a analyse · p play · q quit";
        let long = format!("arrows, mouse, digits · {short}");
        write_keys(frame, layout.keys, &[long, short.into()], self.look);
    }

    fn key(&mut self, code: KeyCode) {
        let sign = if self.flipped { -1 } else { 1 };
        let mut go = |rows: i32, columns: i32| {
            self.cursor = self.cursor.offset(sign * rows, sign * columns).unwrap_or(self.cursor);
        };
        match code {
            KeyCode::Up | KeyCode::Char('k') => go(-1, 0),
            KeyCode::Down | KeyCode::Char('j') => go(1, 0),
            KeyCode::Left | KeyCode::Char('h') => go(0, -1),
            KeyCode::Right | KeyCode::Char('l') => go(0, 1),
            KeyCode::Enter | KeyCode::Char(' ') => self.cycle(self.cursor),
            KeyCode::Backspace | KeyCode::Delete | KeyCode::Char('0') => {
                self.put(self.cursor, EMPTY);
            }
            KeyCode::Char(digit @ '1'..='9') => {
                let index = usize::from(digit as u8 - b'1');
                let letter = self.letters().get(index).copied().filter(|letter| *letter != EMPTY);
                if let Some(letter) = letter {
                    self.put(self.cursor, letter);
                }
            }
            KeyCode::Char('t') => {
                self.side = self.side.other();
                self.on_change();
            }
            KeyCode::Char('x') => {
                self.board = [EMPTY; 64];
                self.on_change();
            }
            KeyCode::Char('i') => self.reset(),
            KeyCode::Char('f') => self.flipped = !self.flipped,
            KeyCode::Char('T') => self.look.theme = self.look.theme.next(),
            KeyCode::Char('a') if self.analysis.is_some() => self.analysis = None,
            KeyCode::Char('a') => self.analyse(),
            KeyCode::Char('p') => self.play(),
            KeyCode::Char('q') | KeyCode::Esc => self.quit = true,
            _ => {}
        }
    }

    fn mouse(&mut self, mouse: MouseEvent, area: Rect) {
        let Some(layout) = Layout::new(area, self.flipped) else { return };
        let Some(cell) = layout.board.cell_at(mouse.column, mouse.row) else { return };
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                self.cursor = cell;
                self.cycle(cell);
            }
            MouseEventKind::Down(MouseButton::Right) => self.put(cell, EMPTY),
            _ => {}
        }
    }

    fn tick(&mut self) {
        if let Some(analysis) = &mut self.analysis {
            analysis.poll();
        }
    }

    fn quit(&mut self) {
        self.quit = true;
    }

    fn has_quit(&self) -> bool {
        self.quit || self.setup.is_some()
    }
}
