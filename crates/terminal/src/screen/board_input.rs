//! What a person does on the board: moves a cursor, chooses a piece and its way, or types a move.
//!
//! The rules decide what may be chosen and why something may not; what becomes of a move is the
//! business of the screen.

use crownhead_play::{LegalMove, PlayError, Session, to_sentence};
use crownhead_rules::{Cell, Game, MoveErrorKind};
use ratatui::crossterm::event::KeyCode;

use super::board::Highlights;
use super::selection::{self, Selection};

/// No move is written longer.
const MAX_TYPED_CHARS: usize = 100;

/// A person's hand.
pub struct BoardInput {
    /// The keyboard's cursor, once it has been used.
    pub cursor: Option<Cell>,
    /// The piece and steps chosen so far.
    pub selected: Vec<Cell>,
    /// A move being typed.
    pub typed: String,
    /// Whether a piece and an end may be chosen that no legal move has, to hear what the rules say.
    pub allow_illegal: bool,
    legal: Vec<LegalMove>,
    capture_mandatory: bool,
    /// Cells that the chosen way can go on to, though the move that does is listed with another way.
    continuations: Vec<Cell>,
}

/// What came of a key or of choosing a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputEvent {
    /// Something moved that matters only to the eye.
    None,
    /// A piece or a step of its way was chosen, or dropped again.
    SelectionChanged,
    /// A move was named; whether it is legal is for the rules to say.
    Move(String),
    /// The choice was refused, for this reason.
    Rejected(String),
}

impl BoardInput {
    /// Nothing in it.
    pub fn new(session: &dyn Session) -> BoardInput {
        let mut hand = BoardInput {
            cursor: None,
            selected: Vec::new(),
            typed: String::new(),
            allow_illegal: false,
            legal: Vec::new(),
            capture_mandatory: false,
            continuations: Vec::new(),
        };
        hand.reset(session);
        hand
    }

    /// Lets go of what it holds, for a position.
    pub fn reset(&mut self, session: &dyn Session) {
        self.legal = session.legal_moves();
        let captures = self.legal.iter().all(|mv| !mv.captures.is_empty());
        self.capture_mandatory =
            session.game().info().forced_capture && !self.legal.is_empty() && captures;
        self.deselect();
    }

    /// Lets go of what it holds.
    pub fn deselect(&mut self) {
        self.selected.clear();
        self.continuations.clear();
        self.typed.clear();
    }

    /// Whether all legal moves are captures, by the rules.
    pub fn must_capture(&self) -> bool {
        self.capture_mandatory
    }

    /// Whether there is nothing to do but to pass.
    pub fn must_pass(&self) -> bool {
        self.legal.iter().any(|mv| mv.path.is_empty())
    }

    /// Whether the way chosen so far is a whole move.
    pub fn can_stop(&self) -> bool {
        self.legal.iter().any(|mv| mv.path == self.selected)
    }

    /// Marks what it holds, and what can be done.
    pub fn highlight(&self, marks: &mut Highlights) {
        marks.selected = self.selected.clone();
        marks.targets = selection::destinations(&self.legal, &self.selected);
        marks.targets.extend(&self.continuations);
        if self.selected.is_empty() {
            marks.movable = self.legal.iter().filter_map(|mv| mv.path.first().copied()).collect();
            marks.capture_mandatory = self.capture_mandatory;
        }
    }

    /// A key; none if it is not the hand's.
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
            // Once the cursor is in use, `h` belongs to it like its neighbours on the keyboard.
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
            // It appears where something can be done.
            None => {
                let start = self.legal.iter().find_map(|mv| mv.path.first().copied());
                Some(start.unwrap_or(Cell::from_index(0)))
            }
            Some(cell) => Some(cell.offset(rows, columns).unwrap_or(cell)),
        };
    }

    /// A cell was chosen with the mouse or the keyboard.
    pub fn select(&mut self, session: &dyn Session, cell: Cell) -> InputEvent {
        self.typed.clear();
        if self.allow_illegal {
            return self.attempt(session.game(), cell);
        }
        let from = self.selected.first().copied();
        let way: Vec<_> = self.selected.iter().copied().chain([cell]).collect();
        let again = self.selected.last() == Some(&cell);
        let step = selection::select(&self.legal, &mut self.selected, cell);
        self.continuations.clear();
        match step {
            Selection::Move(text) if again => InputEvent::Move(text),
            Selection::Move(text) => {
                let listed = self.legal.iter().find(|mv| mv.text == text);
                if listed.is_some_and(|mv| mv.path == way && !mv.captures.is_empty()) {
                    self.continuations = continuations(session, &way);
                }
                if self.continuations.is_empty() {
                    return InputEvent::Move(text);
                }
                self.selected = way;
                InputEvent::SelectionChanged
            }
            Selection::Extended | Selection::Cleared => InputEvent::SelectionChanged,
            Selection::Rejected => {
                // Another way than the listed one may lead to the same end over the same pieces:
                // whoever goes it goes on as if it were the listed one.
                if from.is_some()
                    && let Some(made) = move_along(session, &way)
                    && let Some(listed) = self.legal.iter().find(|mv| mv.text == made)
                {
                    self.selected = listed.path.clone();
                    let only = selection::candidates(&self.legal, &self.selected).len() == 1;
                    return if only {
                        InputEvent::Move(made)
                    } else {
                        InputEvent::SelectionChanged
                    };
                }
                self.selected.clear();
                InputEvent::Rejected(self.explain(session, from, cell))
            }
        }
    }

    /// Two cells make a move, whatever the rules say about it.
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

    /// The sentence of the rules on why a piece, or a piece and an end, were refused.
    fn explain(&self, session: &dyn Session, from: Option<Cell>, cell: Cell) -> String {
        let game = session.game();
        if !game.info().is_playable(cell) {
            return "This square is not played on.".into();
        }
        let tried = |from: Cell, to: Cell| match session.clone_box().play(&from_to(game, from, to))
        {
            Err(PlayError::Illegal(error)) => Some(error),
            _ => None,
        };
        if let Some(from) = from {
            let leads =
                |mv: &LegalMove| mv.path.first() == Some(&from) && mv.path.last() == Some(&cell);
            let several = self.legal.iter().any(leads);
            let refused = tried(from, cell).filter(|_| !several);
            return match refused {
                Some(error) => to_sentence(&error.reason),
                None => "Several ways lead there: choose the next step.".into(),
            };
        }
        let around = (-1..=1).flat_map(|row| (-1..=1).map(move |column| (row, column)));
        let mut near = around
            .filter_map(|(row, column)| cell.offset(row, column))
            .filter(|cell| game.info().is_playable(*cell));
        // A step that only a rule forbids tells most: that a capture is compulsory, say.
        let of_rule = near
            .clone()
            .filter(|&to| to != cell)
            .find_map(|to| tried(cell, to).filter(|error| error.kind == MoveErrorKind::Rule));
        let any = || near.find_map(|to| tried(cell, to));
        match of_rule.or_else(any) {
            Some(error) => to_sentence(&error.reason),
            None => "No legal move starts there.".into(),
        }
    }
}

/// The move that goes a way hop by hop, if it is legal; where squares have numbers, jumps are not chosen
/// so.
fn move_along(session: &dyn Session, way: &[Cell]) -> Option<String> {
    if session.game().info().numbered_squares {
        return None;
    }
    let way: Vec<_> = way.iter().map(Cell::to_string).collect();
    let mut session = session.clone_box();
    session.play(&way.join("-")).ok()?;
    session.moves().pop()
}

/// The cells that a way can go on to by one more hop along a row or a column.
fn continuations(session: &dyn Session, way: &[Cell]) -> Vec<Cell> {
    let Some(last) = way.last() else { return Vec::new() };
    let next = [(-2, 0), (2, 0), (0, -2), (0, 2)].into_iter();
    let cells = next.filter_map(|(rows, columns)| last.offset(rows, columns));
    let goes = |cell: &Cell| move_along(session, &[way, &[*cell]].concat()).is_some();
    cells.filter(goes).collect()
}

/// A move text that names a start and an end, legal or not.
fn from_to(game: &Game, from: Cell, to: Cell) -> String {
    let name = |cell: Cell| match game.info().square_number(cell) {
        Some(number) => number.to_string(),
        None => cell.to_string(),
    };
    format!("{}-{}", name(from), name(to))
}
