//! Board input: moving a cursor, selecting a piece and its path, or typing a move.
//!
//! The rules decide what can be selected and explain what cannot. The screen plays the move.

use crownhead_play::{LegalMove, PlayError, Session, to_sentence};
use crownhead_rules::{Cell, Game, MoveErrorKind};
use ratatui::crossterm::event::KeyCode;

use super::board::Highlights;
use super::selection::{self, Selection};

/// Maximum length of a typed move.
const MAX_TYPED_CHARS: usize = 100;

/// Cursor, selection and typed move.
pub struct BoardInput {
    /// Keyboard cursor; `None` until it is used.
    pub cursor: Option<Cell>,
    /// Selected piece and steps.
    pub selected: Vec<Cell>,
    /// Move being typed.
    pub typed: String,
    /// Whether any start and end can be selected, legal or not, as in lessons about illegal moves.
    pub allow_illegal: bool,
    legal: Vec<LegalMove>,
    capture_mandatory: bool,
    /// Cells that continue the selected path along a path that the move list does not contain.
    continuations: Vec<Cell>,
}

/// The result of a key press or of selecting a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputEvent {
    /// The cursor or the typed text changed, if anything.
    None,
    /// The selection changed.
    SelectionChanged,
    /// A move was entered, legal or not.
    Move(String),
    /// The cell cannot be selected, with the reason.
    Rejected(String),
}

impl BoardInput {
    /// Starts without a selection.
    pub fn new(session: &dyn Session) -> BoardInput {
        let mut input = BoardInput {
            cursor: None,
            selected: Vec::new(),
            typed: String::new(),
            allow_illegal: false,
            legal: Vec::new(),
            capture_mandatory: false,
            continuations: Vec::new(),
        };
        input.reset(session);
        input
    }

    /// Clears the selection and reads the legal moves of a position.
    pub fn reset(&mut self, session: &dyn Session) {
        self.legal = session.legal_moves();
        let only_captures = self.legal.iter().all(|mv| !mv.captures.is_empty());
        self.capture_mandatory =
            session.game().info().forced_capture && !self.legal.is_empty() && only_captures;
        self.deselect();
    }

    /// Clears the selection and the typed move.
    pub fn deselect(&mut self) {
        self.selected.clear();
        self.continuations.clear();
        self.typed.clear();
    }

    /// Whether a capture is mandatory.
    pub fn must_capture(&self) -> bool {
        self.capture_mandatory
    }

    /// Whether the only move is to pass.
    pub fn must_pass(&self) -> bool {
        self.legal.iter().any(|mv| mv.path.is_empty())
    }

    /// Whether the selected path is a complete move.
    pub fn can_stop(&self) -> bool {
        self.legal.iter().any(|mv| mv.path == self.selected)
    }

    /// Highlights the selection and the possible next steps.
    pub fn highlight(&self, highlights: &mut Highlights) {
        highlights.selected = self.selected.clone();
        highlights.targets = selection::destinations(&self.legal, &self.selected);
        highlights.targets.extend(&self.continuations);
        if self.selected.is_empty() {
            highlights.movable =
                self.legal.iter().filter_map(|mv| mv.path.first().copied()).collect();
            highlights.capture_mandatory = self.capture_mandatory;
        }
    }

    /// Handles a key; `None` if the key has no meaning on the board.
    pub fn key(
        &mut self,
        code: KeyCode,
        session: &dyn Session,
        flipped: bool,
    ) -> Option<InputEvent> {
        let direction = match code {
            KeyCode::Up | KeyCode::Char('k') => Some((-1, 0)),
            KeyCode::Down | KeyCode::Char('j') => Some((1, 0)),
            KeyCode::Left => Some((0, -1)),
            KeyCode::Right | KeyCode::Char('l') => Some((0, 1)),
            // `h` is the hint key until the cursor is used.
            KeyCode::Char('h') if self.cursor.is_some() => Some((0, -1)),
            _ => None,
        };
        if let Some((rows, columns)) = direction {
            self.move_cursor(rows, columns, flipped);
            return Some(InputEvent::None);
        }
        match code {
            KeyCode::Enter if !self.typed.is_empty() => {
                Some(InputEvent::Move(std::mem::take(&mut self.typed)))
            }
            KeyCode::Enter | KeyCode::Char('p') if self.must_pass() => {
                Some(InputEvent::Move("pass".into()))
            }
            KeyCode::Enter | KeyCode::Char(' ') => Some(match self.cursor {
                Some(cell) => self.select(session, cell),
                None => {
                    self.move_cursor(0, 0, flipped);
                    InputEvent::None
                }
            }),
            KeyCode::Backspace if !self.typed.is_empty() => {
                self.typed.pop();
                Some(InputEvent::None)
            }
            KeyCode::Esc => {
                if self.selected.is_empty() && self.typed.is_empty() {
                    self.cursor = None;
                }
                self.deselect();
                Some(InputEvent::SelectionChanged)
            }
            KeyCode::Char(c)
                if c.is_ascii_digit() || (matches!(c, 'x' | '-') && !self.typed.is_empty()) =>
            {
                self.selected.clear();
                self.continuations.clear();
                if self.typed.len() < MAX_TYPED_CHARS {
                    self.typed.push(c);
                }
                Some(InputEvent::None)
            }
            _ => None,
        }
    }

    fn move_cursor(&mut self, rows: i32, columns: i32, flipped: bool) {
        let (rows, columns) = if flipped { (-rows, -columns) } else { (rows, columns) };
        self.cursor = match self.cursor {
            // It appears on a piece that can move.
            None => {
                let start = self.legal.iter().find_map(|mv| mv.path.first().copied());
                Some(start.unwrap_or(Cell::from_index(0)))
            }
            Some(cell) => Some(cell.offset(rows, columns).unwrap_or(cell)),
        };
    }

    /// Selects a cell, with the mouse or the keyboard.
    pub fn select(&mut self, session: &dyn Session, cell: Cell) -> InputEvent {
        self.typed.clear();
        if self.allow_illegal {
            return self.attempt(session.game(), cell);
        }
        let from = self.selected.first().copied();
        let path: Vec<_> = self.selected.iter().copied().chain([cell]).collect();
        let is_repeated = self.selected.last() == Some(&cell);
        let step = selection::select(&self.legal, &mut self.selected, cell);
        self.continuations.clear();
        match step {
            Selection::Move(text) if is_repeated => InputEvent::Move(text),
            Selection::Move(text) => {
                let listed = self.legal.iter().find(|mv| mv.text == text);
                if listed.is_some_and(|mv| mv.path == path && !mv.captures.is_empty()) {
                    self.continuations = continuations(session, &path);
                }
                if self.continuations.is_empty() {
                    return InputEvent::Move(text);
                }
                self.selected = path;
                InputEvent::SelectionChanged
            }
            Selection::Extended | Selection::Cleared => InputEvent::SelectionChanged,
            Selection::Rejected => {
                // The move list has one path per move. Another path with the same end and captures
                // is replaced by the listed one.
                if from.is_some()
                    && let Some(text) = move_along(session, &path)
                    && let Some(listed) = self.legal.iter().find(|mv| mv.text == text)
                {
                    self.selected = listed.path.clone();
                    let is_only = selection::candidates(&self.legal, &self.selected).len() == 1;
                    return if is_only {
                        InputEvent::Move(text)
                    } else {
                        InputEvent::SelectionChanged
                    };
                }
                self.selected.clear();
                InputEvent::Rejected(self.explain(session, from, cell))
            }
        }
    }

    /// Selects start and end of a move that may be illegal.
    fn attempt(&mut self, game: &Game, cell: Cell) -> InputEvent {
        match self.selected.pop() {
            None => {
                self.selected.push(cell);
                InputEvent::SelectionChanged
            }
            Some(from) if from == cell => InputEvent::SelectionChanged,
            Some(from) => InputEvent::Move(from_to(game, from, cell)),
        }
    }

    /// Explains why a start, or a start and an end, cannot be selected.
    fn explain(&self, session: &dyn Session, from: Option<Cell>, cell: Cell) -> String {
        let game = session.game();
        if !game.info().is_playable(cell) {
            return "This square is not used in the game.".into();
        }
        let try_move =
            |from: Cell, to: Cell| match session.clone_box().play(&from_to(game, from, to)) {
                Err(PlayError::Illegal(error)) => Some(error),
                _ => None,
            };
        if let Some(from) = from {
            let leads_there =
                |mv: &LegalMove| mv.path.first() == Some(&from) && mv.path.last() == Some(&cell);
            let is_ambiguous = self.legal.iter().any(leads_there);
            let error = try_move(from, cell).filter(|_| !is_ambiguous);
            return match error {
                Some(error) => to_sentence(&error.reason),
                None => "Several paths lead there: select the next step.".into(),
            };
        }
        let offsets = (-1..=1).flat_map(|row| (-1..=1).map(move |column| (row, column)));
        let mut neighbours = offsets
            .filter_map(|(row, column)| cell.offset(row, column))
            .filter(|cell| game.info().is_playable(*cell));
        // An error of the rules is the most helpful, for example that a capture is mandatory.
        let rule_error = neighbours
            .clone()
            .filter(|&to| to != cell)
            .find_map(|to| try_move(cell, to).filter(|error| error.kind == MoveErrorKind::Rule));
        let any_error = || neighbours.find_map(|to| try_move(cell, to));
        match rule_error.or_else(any_error) {
            Some(error) => to_sentence(&error.reason),
            None => "No legal move starts there.".into(),
        }
    }
}

/// Returns the legal move along a path of cells, in games that name cells by row and column.
fn move_along(session: &dyn Session, path: &[Cell]) -> Option<String> {
    if session.game().info().numbered_squares {
        return None;
    }
    let cells: Vec<_> = path.iter().map(Cell::to_string).collect();
    let mut session = session.clone_box();
    session.play(&cells.join("-")).ok()?;
    session.last_move_text()
}

/// Returns the cells that continue a path by one hop along a row or a column.
fn continuations(session: &dyn Session, path: &[Cell]) -> Vec<Cell> {
    let Some(last) = path.last() else { return Vec::new() };
    let hops = [(-2, 0), (2, 0), (0, -2), (0, 2)].into_iter();
    let cells = hops.filter_map(|(rows, columns)| last.offset(rows, columns));
    let is_legal = |cell: &Cell| move_along(session, &[path, &[*cell]].concat()).is_some();
    cells.filter(is_legal).collect()
}

/// Returns the text of a move from start to end, legal or not.
fn from_to(game: &Game, from: Cell, to: Cell) -> String {
    let name = |cell: Cell| match game.info().square_number(cell) {
        Some(number) => number.to_string(),
        None => cell.to_string(),
    };
    format!("{}-{}", name(from), name(to))
}
