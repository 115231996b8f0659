//! What is on the screen of a game, and what keys, the mouse and time do to it. Drawing it is the
//! business of [`draw`](super::draw); nothing here touches a terminal.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crownhead_play::{Choice, Clock, LegalMove, PlayError, Session};
use crownhead_records::{game_text, write_text};
use crownhead_rules::{Cell, Game, MoveErrorKind, Side};
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Rect;

use super::board::{Marks, square_number};
use super::draw::Layout;
use super::path::{self, Step};
use crate::computers::Computers;
use crate::kept::Kept;
use crate::live::{LiveGame, Seat, Verdict};
use crate::thinking::Thinking;
use crate::words::{accepts_draw, hint_text, side_text};

/// A question or a page over the board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dialog {
    /// The keys.
    Help,
    /// Leave the game?
    Quit,
    /// Give up?
    Resign,
    /// Does the other person accept a draw?
    Draw,
    /// A file to write to.
    Save(String),
}

/// Why the best player was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Advice {
    Hint,
    Draw,
}

/// A game on the screen.
pub struct App {
    /// The game.
    pub live: LiveGame,
    /// What is said to the player.
    pub message: String,
    /// The keyboard's cursor, once it has been used.
    pub cursor: Option<Cell>,
    /// The piece and steps chosen so far.
    pub chosen: Vec<Cell>,
    /// A move being typed.
    pub typed: String,
    /// The ply that is looked at, if it is not the present.
    pub look: Option<usize>,
    /// Whether the board is turned round.
    pub flipped: bool,
    /// Whether squares carry numbers.
    pub numbers: bool,
    /// What is over the board.
    pub dialog: Option<Dialog>,
    /// Whether two computers wait.
    pub paused: bool,
    /// How long a move of two computers stays on the screen.
    pub pace: Duration,
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether the player has left.
    pub left: bool,
    legal: Vec<LegalMove>,
    computers: Computers,
    thinking: Option<Thinking>,
    advice: Option<(Advice, Thinking)>,
    kept: Option<Kept>,
    turn_since: Instant,
    /// What a computer that has moved thought.
    thought: Option<(Side, Choice)>,
}

/// How slowly two computers play, at first.
const PACE: Duration = Duration::from_millis(800);

impl App {
    /// A game to play.
    pub fn new(live: LiveGame, kept: Option<Kept>, colour: bool) -> App {
        let computers = Computers::new(&live);
        let seats = &live.setup().seats;
        let legal = live.session().legal_moves();
        let mut app = App {
            message: String::new(),
            cursor: None,
            chosen: Vec::new(),
            typed: String::new(),
            look: None,
            // Whoever plays alone on the first side, at the top, sees the board from there.
            flipped: seats[0] == Seat::Human && seats[1] != Seat::Human,
            // Moves of the checkers games are written by them.
            numbers: true,
            dialog: None,
            paused: false,
            pace: PACE,
            colour,
            left: false,
            legal,
            computers,
            thinking: None,
            advice: None,
            kept,
            turn_since: Instant::now(),
            thought: None,
            live,
        };
        app.message = app.invitation();
        app
    }

    fn invitation(&self) -> String {
        if let Some(ending) = self.live.ending() {
            return format!("{ending} n: new game, q: quit.");
        }
        let game = &self.live.setup().game;
        let side = self.live.session().side();
        if self.live.human_to_move() {
            let compulsory = !self.legal.is_empty()
                && self.legal.iter().all(|mv| !mv.captures.is_empty())
                && matches!(game, Game::English(_) | Game::Contest(_));
            let must = if compulsory { " A capture is compulsory." } else { "" };
            if self.legal.iter().any(|mv| mv.path.is_empty()) {
                return format!("{} cannot move: type pass.", side_text(game, side));
            }
            return format!("{} to move.{must}", side_text(game, side));
        }
        format!("{} is thinking.", side_text(game, side))
    }

    /// The position that is shown.
    pub fn shown(&self) -> Box<dyn Session> {
        match self.look {
            Some(ply) => self.live.at(ply),
            None => self.live.session().copy(),
        }
    }

    /// The number of plies on the board that is shown.
    pub fn shown_ply(&self) -> usize {
        self.look.unwrap_or_else(|| self.live.session().moves().len())
    }

    /// What is marked on the board that is shown.
    pub fn marks(&self) -> Marks {
        let mut marks = Marks { cursor: self.cursor, ..Marks::default() };
        let ply = self.shown_ply();
        if ply > 0 {
            let before = self.live.at(ply - 1);
            let moves = self.live.session().moves();
            let last = before.legal_moves().into_iter().find(|mv| mv.text == moves[ply - 1]);
            if let Some(last) = last {
                (marks.last, marks.taken) = (last.path, last.captures);
            }
        }
        if self.look.is_none() && self.live.human_to_move() {
            marks.chosen = self.chosen.clone();
            marks.targets = path::targets(&self.legal, &self.chosen);
            if self.chosen.is_empty() {
                marks.movable =
                    self.legal.iter().filter_map(|mv| mv.path.first().copied()).collect();
            }
        }
        marks
    }

    /// What the computer thinks, or thought before its last move: whose side, and what.
    pub fn thought(&self) -> Option<(Side, &Choice)> {
        let now = self.thinking.as_ref().and_then(|thinking| thinking.latest.as_ref());
        match now {
            Some(choice) => Some((self.live.session().side(), choice)),
            None => self.thought.as_ref().map(|(side, choice)| (*side, choice)),
        }
    }

    /// Whether a computer thinks at this moment.
    pub fn is_thinking(&self) -> bool {
        self.thinking.is_some()
    }

    /// The time left on a side's clock, if it has one for the game.
    pub fn time_left(&self, side: Side) -> Option<Duration> {
        let Clock::Main { left, .. } = self.live.clock(side) else { return None };
        let runs = !self.live.is_over() && self.live.session().side() == side;
        let used = if runs { self.turn_since.elapsed() } else { Duration::ZERO };
        Some(left.saturating_sub(used))
    }

    /// What time alone does: computers move, clocks run out.
    pub fn tick(&mut self) {
        self.hear_advice();
        if self.live.is_over() {
            return;
        }
        let side = self.live.session().side();
        if self.live.human_to_move() {
            if self.time_left(side).is_some_and(|left| left.is_zero()) {
                self.live.decide(Verdict::Late(side));
                self.changed();
            }
            return;
        }
        let watching = !self.live.has_human();
        if self.thinking.is_none() {
            if watching && (self.paused || self.waits()) {
                return;
            }
            match self.computers.ask(&self.live) {
                Ok(thinking) => self.thinking = thinking,
                Err(error) => self.fail(error.to_string()),
            }
            if let Some(sentence) = self.computers.missing.take() {
                self.message = sentence;
            }
            return;
        }
        let Some(thinking) = &mut self.thinking else { return };
        if watching && self.paused {
            return;
        }
        match thinking.poll() {
            Ok(None) => {}
            Err(died) => self.fail(died.to_string()),
            Ok(Some(chosen)) => {
                self.thinking = None;
                let (choice, used) = self.computers.back(side, chosen);
                let played = choice.map_err(|error| error.to_string()).and_then(|choice| {
                    let text = choice.text.clone();
                    self.thought = Some((side, choice));
                    self.live.play(&text, used).map_err(|error| error.to_string())
                });
                match played {
                    Ok(()) => self.changed(),
                    Err(error) => self.fail(error),
                }
            }
        }
    }

    /// Whether the last move of two computers should stay a little longer.
    fn waits(&self) -> bool {
        !self.live.session().moves().is_empty() && self.turn_since.elapsed() < self.pace
    }

    /// A computer that cannot go on has lost: nothing else would end the game.
    fn fail(&mut self, error: String) {
        self.thinking = None;
        self.live.decide(Verdict::Resigned(self.live.session().side()));
        self.changed();
        self.message = error;
    }

    fn hear_advice(&mut self) {
        let Some((purpose, thinking)) = &mut self.advice else { return };
        let purpose = *purpose;
        let Ok(Some(chosen)) = thinking.poll() else { return };
        self.advice = None;
        let Ok(choice) = self.computers.advised(chosen) else { return };
        match purpose {
            Advice::Hint => self.message = hint_text(self.live.session(), &choice),
            Advice::Draw => {
                let other = self.live.session().side().other();
                let name = side_text(&self.live.setup().game, other);
                if accepts_draw(-choice.score.unwrap_or(0)) {
                    self.live.decide(Verdict::Agreed);
                    self.changed();
                } else {
                    self.message = format!("{name} plays on.");
                }
            }
        }
    }

    /// The game is another than before.
    fn changed(&mut self) {
        self.legal = self.live.session().legal_moves();
        self.chosen.clear();
        self.typed.clear();
        self.look = None;
        self.advice = None;
        self.turn_since = Instant::now();
        self.message = self.invitation();
        self.keep();
    }

    /// Keeps the game as it is; said once if that is impossible.
    fn keep(&mut self) {
        if let Some(kept) = &mut self.kept
            && let Err(error) = kept.update(&self.live)
        {
            self.message = format!("The game cannot be kept: {error}.");
            self.kept = None;
        }
    }

    /// Whether the game can be taken up again later.
    pub fn is_kept(&self) -> bool {
        self.kept.as_ref().is_some_and(Kept::is_kept)
    }

    fn play(&mut self, text: &str) {
        if !self.live.human_to_move() {
            self.message = self.invitation();
            return;
        }
        match self.live.play(text, self.turn_since.elapsed()) {
            Ok(()) => self.changed(),
            Err(PlayError::Over(_)) => self.message = self.invitation(),
            Err(PlayError::Refused(error)) => {
                self.chosen.clear();
                self.typed.clear();
                self.message = error.reason;
            }
        }
    }

    /// A cell was chosen with the mouse or the keyboard.
    fn choose(&mut self, cell: Cell) {
        self.typed.clear();
        if self.look.is_some() {
            self.message = "This is an earlier position: End goes back to the game.".into();
            return;
        }
        if !self.live.human_to_move() {
            self.message = self.invitation();
            return;
        }
        let from = self.chosen.first().copied();
        match path::choose(&self.legal, &mut self.chosen, cell) {
            Step::Move(text) => self.play(&text),
            Step::Chosen if self.chosen.len() > 1 => {
                self.message = "Choose the next hop, or the same cell again to end here.".into();
            }
            Step::Chosen | Step::Dropped => self.message = self.invitation(),
            Step::Refused => {
                self.message = self.why_not(from, cell);
                self.chosen.clear();
            }
        }
    }

    /// The sentence of the rules on why a piece, or a piece and an end, were refused.
    fn why_not(&self, from: Option<Cell>, cell: Cell) -> String {
        let session = self.live.session();
        let game = &self.live.setup().game;
        if matches!(game, Game::English(_) | Game::Contest(_)) && super::board::is_light(cell) {
            return "Only the dark squares are played on.".into();
        }
        let tried = |from: Cell, to: Cell| match session.copy().play(&try_text(game, from, to)) {
            Err(PlayError::Refused(error)) => Some(error),
            _ => None,
        };
        if let Some(from) = from {
            let refused = tried(from, cell).map(|error| error.reason);
            return refused.unwrap_or_else(|| "Choose the way step by step.".into());
        }
        let around = (-1..=1).flat_map(|row| (-1..=1).map(move |column| (row, column)));
        let mut near = around.filter_map(|(row, column)| cell.offset(row, column));
        // A step that only a rule forbids tells most: that a capture is compulsory, say.
        let of_rule = near
            .clone()
            .filter(|&to| to != cell)
            .find_map(|to| tried(cell, to).filter(|error| error.kind == MoveErrorKind::Rule));
        let any = || near.find_map(|to| tried(cell, to));
        match of_rule.or_else(any) {
            Some(error) => error.reason,
            None => "No legal move starts there.".into(),
        }
    }

    /// A key was pressed.
    pub fn key(&mut self, key: KeyEvent) {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            if matches!(key.code, KeyCode::Char('c' | 'd')) {
                self.leave();
            }
            return;
        }
        if self.dialog.is_some() {
            self.answer(key.code);
            return;
        }
        match key.code {
            KeyCode::Up => self.move_cursor(-1, 0),
            KeyCode::Down | KeyCode::Char('j') => self.move_cursor(1, 0),
            KeyCode::Left => self.move_cursor(0, -1),
            KeyCode::Right | KeyCode::Char('l') => self.move_cursor(0, 1),
            KeyCode::Char('k') => self.move_cursor(-1, 0),
            // Once the cursor is in use, `h` belongs to it like its neighbours on the keyboard.
            KeyCode::Char('h') if self.cursor.is_some() => self.move_cursor(0, -1),
            KeyCode::Char('h' | 'H') => self.hint(),
            KeyCode::Enter if !self.typed.is_empty() => {
                let typed = std::mem::take(&mut self.typed);
                self.play(&typed);
            }
            KeyCode::Enter | KeyCode::Char(' ') => match self.cursor {
                _ if !self.live.has_human() => self.paused = !self.paused,
                Some(cell) => self.choose(cell),
                None => self.move_cursor(0, 0),
            },
            KeyCode::Backspace if !self.typed.is_empty() => {
                self.typed.pop();
            }
            KeyCode::Esc => {
                self.typed.clear();
                self.chosen.clear();
                self.look = None;
                self.message = self.invitation();
            }
            KeyCode::Char(c) if c.is_ascii_digit() => self.type_letter(c),
            KeyCode::Char('x' | '-') if !self.typed.is_empty() => {
                if let KeyCode::Char(c) = key.code {
                    self.type_letter(c);
                }
            }
            KeyCode::Char('p') if self.legal.iter().any(|mv| mv.path.is_empty()) => {
                self.play("pass")
            }
            KeyCode::Char('u') => self.undo(),
            KeyCode::Char('f') => self.flipped = !self.flipped,
            KeyCode::Char('c') => self.numbers = !self.numbers,
            KeyCode::Char('s') => self.dialog = Some(Dialog::Save(self.file_name())),
            KeyCode::Char('r') if self.live.human_to_move() => self.dialog = Some(Dialog::Resign),
            KeyCode::Char('d') if self.live.human_to_move() => self.offer(),
            KeyCode::Char('n') if self.live.is_over() => self.again(),
            KeyCode::Char('?') => self.dialog = Some(Dialog::Help),
            KeyCode::Char('q') if self.live.is_over() => self.left = true,
            KeyCode::Char('q') => self.dialog = Some(Dialog::Quit),
            KeyCode::Char('+') => self.pace = (self.pace / 2).max(Duration::from_millis(25)),
            KeyCode::Char('_') => self.pace = (self.pace * 2).min(Duration::from_secs(10)),
            KeyCode::Char('-') => self.pace = (self.pace * 2).min(Duration::from_secs(10)),
            KeyCode::PageUp | KeyCode::Char('[' | ',') => self.look_by(-1),
            KeyCode::PageDown | KeyCode::Char(']' | '.') => self.look_by(1),
            KeyCode::Home => self.look_at(0),
            KeyCode::End => self.look_at(usize::MAX),
            _ => {}
        }
    }

    fn type_letter(&mut self, letter: char) {
        self.chosen.clear();
        if self.typed.len() < 40 {
            self.typed.push(letter);
        }
    }

    /// A key while something is over the board.
    fn answer(&mut self, code: KeyCode) {
        let Some(dialog) = self.dialog.take() else { return };
        let yes = matches!(code, KeyCode::Char('y' | 'Y') | KeyCode::Enter);
        let side = self.live.session().side();
        match dialog {
            Dialog::Help => {}
            Dialog::Quit if yes => self.leave(),
            Dialog::Resign if yes => {
                self.live.decide(Verdict::Resigned(side));
                self.changed();
            }
            Dialog::Draw if yes => {
                self.live.decide(Verdict::Agreed);
                self.changed();
            }
            Dialog::Quit | Dialog::Resign | Dialog::Draw => self.message = self.invitation(),
            Dialog::Save(mut name) => match code {
                KeyCode::Enter => self.save(&name),
                KeyCode::Esc => self.message = "The game was not saved.".into(),
                KeyCode::Backspace => {
                    name.pop();
                    self.dialog = Some(Dialog::Save(name));
                }
                KeyCode::Char(c) if !c.is_control() && name.len() < 200 => {
                    name.push(c);
                    self.dialog = Some(Dialog::Save(name));
                }
                _ => self.dialog = Some(Dialog::Save(name)),
            },
        }
    }

    fn leave(&mut self) {
        self.thinking = None;
        self.advice = None;
        self.keep();
        self.left = true;
    }

    fn move_cursor(&mut self, rows: i32, columns: i32) {
        let (rows, columns) = if self.flipped { (-rows, -columns) } else { (rows, columns) };
        self.cursor = match self.cursor {
            // It appears where something can be done.
            None => {
                let start = self.legal.iter().find_map(|mv| mv.path.first().copied());
                Some(start.unwrap_or(Cell::from_index(0)))
            }
            Some(cell) => Some(cell.offset(rows, columns).unwrap_or(cell)),
        };
    }

    fn hint(&mut self) {
        if !self.live.human_to_move() || self.look.is_some() {
            self.message = self.invitation();
            return;
        }
        self.ask(Advice::Hint);
    }

    fn ask(&mut self, purpose: Advice) {
        match self.computers.advise(&self.live) {
            Ok(thinking) => {
                self.advice = Some((purpose, thinking));
                self.message = match purpose {
                    Advice::Hint => "Looking for a good move …".into(),
                    Advice::Draw => "The offer is being considered …".into(),
                };
            }
            Err(error) => self.message = error.to_string(),
        }
    }

    fn offer(&mut self) {
        match self.live.seat(self.live.session().side().other()) {
            Seat::Human => self.dialog = Some(Dialog::Draw),
            Seat::Computer(_) => self.ask(Advice::Draw),
        }
    }

    fn undo(&mut self) {
        // A computer that thinks about the position that goes away thinks in vain.
        self.thinking = None;
        if self.live.undo() {
            self.thought = None;
            self.changed();
        } else {
            self.message = "There is no move of yours to take back.".into();
        }
    }

    /// The same once more.
    fn again(&mut self) {
        let mut setup = self.live.setup().clone();
        setup.seed = setup.seed.wrapping_add(1);
        if let Ok(live) = LiveGame::new(setup) {
            self.computers = Computers::new(&live);
            self.live = live;
            self.thought = None;
            self.changed();
        }
    }

    fn look_by(&mut self, plies: isize) {
        let now = self.shown_ply();
        self.look_at(now.saturating_add_signed(plies));
    }

    /// Looks at an earlier position; the last one is the game itself.
    pub fn look_at(&mut self, ply: usize) {
        let made = self.live.session().moves().len();
        self.chosen.clear();
        self.look = (ply < made).then_some(ply);
        self.message = match self.look {
            Some(ply) => {
                format!("The position after {ply} of {made} plies. End goes back to the game.")
            }
            None => self.invitation(),
        };
    }

    /// A name for a file that does not exist yet.
    fn file_name(&self) -> String {
        let id = self.live.setup().game.info().id;
        let mut names = (1..1000).map(|number| format!("{id}-{number}.pdn"));
        names.find(|name| !Path::new(name).exists()).unwrap_or_else(|| format!("{id}.pdn"))
    }

    fn save(&mut self, name: &str) {
        let path = PathBuf::from(name.trim());
        self.message = if name.trim().is_empty() {
            "The game was not saved: a file needs a name.".into()
        } else if path.exists() {
            format!("{} exists already: choose another name.", path.display())
        } else {
            let text = game_text(&self.live.record()).map_err(std::io::Error::other);
            match text.and_then(|text| write_text(&path, &text)) {
                Ok(()) => format!("The game is in {}.", path.display()),
                Err(error) => format!("{error}."),
            }
        };
    }

    /// The mouse did something; `area` is the whole screen.
    pub fn mouse(&mut self, mouse: MouseEvent, area: Rect) {
        let Some(layout) = Layout::of(area, self.flipped) else { return };
        match mouse.kind {
            MouseEventKind::ScrollUp => self.look_by(-1),
            MouseEventKind::ScrollDown => self.look_by(1),
            MouseEventKind::Down(MouseButton::Left) if self.dialog.is_some() => {
                if self.dialog == Some(Dialog::Help) {
                    self.dialog = None;
                }
            }
            MouseEventKind::Down(MouseButton::Left) => {
                if let Some(cell) = layout.board.cell_at(mouse.column, mouse.row) {
                    self.cursor = None;
                    self.choose(cell);
                } else if let Some(ply) = layout.ply_at(self, mouse.column, mouse.row) {
                    self.look_at(ply);
                }
            }
            MouseEventKind::Down(MouseButton::Right) => {
                self.chosen.clear();
                self.message = self.invitation();
            }
            _ => {}
        }
    }
}

/// A move text that names a start and an end, legal or not, for the rules to refuse.
fn try_text(game: &Game, from: Cell, to: Cell) -> String {
    let name = |cell: Cell| match game {
        Game::English(_) | Game::Contest(_) => square_number(cell).unwrap_or(0).to_string(),
        _ => cell.to_string(),
    };
    format!("{}-{}", name(from), name(to))
}
