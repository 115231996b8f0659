//! Lessons, full screen.

use crownhead_play::{
    lessons::{Attempt, Course},
    to_sentence,
};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use super::Screen;
use super::board::{BoardView, Highlights};
use super::board_input::{BoardInput, InputEvent};
use super::layout::Layout;
use super::theme::Look;
use super::widgets::{Popup, framed, too_small, write_keys, write_line, write_message, write_text};
use crate::local_game::Setup;

/// A course of lessons.
pub struct LessonScreen {
    course: Course,
    input: BoardInput,
    message: String,
    flipped: bool,
    look: Look,
    popup: Option<Popup>,
    quit: bool,
    /// Whether the exercise is solved; the board shows the solution.
    is_solved: bool,
}

impl LessonScreen {
    /// Starts with the first exercise.
    pub fn new(course: Course, look: Look) -> LessonScreen {
        let input = BoardInput::new(course.session());
        let mut screen = LessonScreen {
            input,
            message: String::new(),
            flipped: Setup::default_for(course.game()).is_flipped(),
            course,
            look,
            popup: None,
            quit: false,
            is_solved: false,
        };
        screen.start_exercise();
        screen
    }

    /// The course and its progress.
    pub fn course(&self) -> &Course {
        &self.course
    }

    fn start_exercise(&mut self) {
        self.is_solved = false;
        self.input.reset(self.course.session());
        self.input.allow_illegal = self.course.expects_illegal_move();
        self.message.clear();
    }

    fn go_to(&mut self, number: usize) {
        if self.course.go_to(number) {
            self.start_exercise();
        } else if number > self.course.count() {
            let (solved, count) = (self.course.solved_count(), self.course.count());
            self.message =
                format!("That was the last exercise: {solved} of {count} solved. q: quit.");
        } else {
            self.message = "This is the first exercise.".into();
        }
    }

    fn on_input(&mut self, event: InputEvent) {
        match event {
            InputEvent::None => {}
            InputEvent::SelectionChanged => self.message.clear(),
            InputEvent::Rejected(reason) => self.message = reason,
            InputEvent::Move(text) => {
                self.input.deselect();
                self.message = match self.course.attempt(&text) {
                    Attempt::Failed(message) => message,
                    Attempt::Solved(message) => {
                        self.is_solved = true;
                        let is_last = self.course.number() == self.course.count();
                        let next = if is_last { "q: quit." } else { "Enter: next exercise." };
                        format!("{} {next}", to_sentence(&message))
                    }
                };
            }
        }
    }
}

impl Screen for LessonScreen {
    fn draw(&self, frame: &mut Frame<'_>) {
        draw(frame, self);
    }

    fn key(&mut self, code: KeyCode) {
        if let Some(popup) = self.popup {
            self.popup = popup.key(code);
            return;
        }
        let number = self.course.number();
        match code {
            KeyCode::Enter | KeyCode::Char(' ') if self.is_solved => self.go_to(number + 1),
            KeyCode::Char('n') => self.go_to(number + 1),
            KeyCode::Char('p') if !self.input.must_pass() => self.go_to(number - 1),
            KeyCode::Char('?') => self.popup = Some(Popup::Keys),
            KeyCode::Char('t') => self.popup = Some(Popup::Message(0)),
            KeyCode::Char('f') => self.flipped = !self.flipped,
            KeyCode::Char('q') => self.quit = true,
            _ if self.is_solved => {}
            KeyCode::Char('h') if self.input.cursor.is_none() => {
                self.message = self.course.exercise().hint.clone();
            }
            KeyCode::Char('H') => self.message = self.course.exercise().hint.clone(),
            _ => {
                if let Some(event) = self.input.key(code, self.course.session(), self.flipped) {
                    self.on_input(event);
                }
            }
        }
    }

    fn mouse(&mut self, mouse: MouseEvent, area: Rect) {
        let Some(layout) = Layout::new(area, self.flipped) else { return };
        match mouse.kind {
            MouseEventKind::Down(_) if self.popup.is_some() => self.popup = None,
            MouseEventKind::Down(MouseButton::Left) if self.is_solved => {
                self.go_to(self.course.number() + 1);
            }
            MouseEventKind::Down(MouseButton::Left) => {
                if let Some(cell) = layout.board.cell_at(mouse.column, mouse.row) {
                    self.input.cursor = None;
                    let event = self.input.select(self.course.session(), cell);
                    self.on_input(event);
                }
            }
            MouseEventKind::Down(MouseButton::Right) => self.input.deselect(),
            _ => {}
        }
    }

    fn tick(&mut self) {}

    fn quit(&mut self) {
        self.quit = true;
    }

    fn has_quit(&self) -> bool {
        self.quit
    }
}

fn draw(frame: &mut Frame<'_>, screen: &LessonScreen) {
    let Some(layout) = Layout::new(frame.area(), screen.flipped) else {
        too_small(frame);
        return;
    };
    let (course, look) = (&screen.course, screen.look);
    let (game, session) = (course.game(), course.session());
    let title = format!("Learn {}", game.info().name);
    write_line(frame, layout.title, &title, look.bold());
    let mut highlights = Highlights { cursor: screen.input.cursor, ..Highlights::default() };
    if screen.is_solved {
        if let Some(last) = session.last_move() {
            (highlights.last_path, highlights.captured) = (last.path, last.captures);
        }
    } else {
        screen.input.highlight(&mut highlights);
    }
    let view = BoardView {
        game,
        board: &session.board(),
        highlights: &highlights,
        look,
        show_numbers: true,
    };
    view.draw(frame.buffer_mut(), layout.board);
    let panel = framed(frame, layout.panel, "Exercise", look);
    let exercise = course.exercise();
    let number = format!("{} of {}: {}", course.number(), course.count(), exercise.title);
    write_line(frame, panel, &number, look.bold());
    let dots = course.solved().iter().map(|solved| if *solved { '●' } else { '○' });
    let progress: String = dots.collect();
    write_line(frame, Rect { y: panel.y + 1, ..panel }, &progress, look.bold());
    let task = Rect { y: panel.y + 3, height: panel.height - 3, ..panel };
    write_text(frame, task, &exercise.task, "…");
    write_message(frame, &layout, &screen.input.typed, &screen.message);
    let hint = if screen.input.cursor.is_some() { 'H' } else { 'h' };
    let short = format!("{hint} hint · n next · p previous · f flip · ? help · q quit");
    let long = format!("arrows+Enter, mouse, or type a move · {short}");
    write_keys(frame, layout.keys, &[long, short], look);
    if let Some(popup) = screen.popup {
        popup.draw(frame, HELP, &screen.message);
    }
}

const HELP: &[&str] = &[
    "Select a piece, then its target: with the mouse, or with",
    "the arrow keys (or h j k l) and Enter. Or type the move",
    "and press Enter.",
    "",
    "h  hint (H while the cursor is in use)",
    "n  next exercise    p  previous exercise",
    "f  flip the board   q  quit",
];
