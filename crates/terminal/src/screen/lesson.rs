//! The exercises on the screen.

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
use super::layout::{
    Layout, popup, popup_text, scrolled, strong, too_small, write_keys, write_line, write_message,
    write_text,
};

/// A course on the screen.
pub struct LessonScreen {
    course: Course,
    hand: BoardInput,
    message: String,
    flipped: bool,
    colour: bool,
    help: bool,
    /// The line of what is said that a box with all of it begins with.
    reading: Option<usize>,
    left: bool,
    /// Whether the exercise has just been done: its end is on the board.
    finished: bool,
}

impl LessonScreen {
    /// Begins with the first exercise.
    pub fn new(course: Course, colour: bool) -> LessonScreen {
        let hand = BoardInput::new(course.session());
        let mut screen = LessonScreen {
            course,
            hand,
            message: String::new(),
            flipped: false,
            colour,
            help: false,
            reading: None,
            left: false,
            finished: false,
        };
        screen.begin();
        screen
    }

    /// The course, for what was done.
    pub fn course(&self) -> &Course {
        &self.course
    }

    fn begin(&mut self) {
        self.finished = false;
        self.hand.reset(self.course.session());
        self.hand.allow_illegal = self.course.expects_illegal_move();
        self.message.clear();
    }

    fn go(&mut self, number: usize) {
        if self.course.go_to(number) {
            self.begin();
        } else if number > self.course.count() {
            let (done, count) = (self.course.done(), self.course.count());
            self.message = format!("That was the last one: {done} of {count} done. q: quit.");
        } else {
            self.message = "This is the first exercise.".into();
        }
    }

    fn on_input(&mut self, deed: InputEvent) {
        match deed {
            InputEvent::Nothing => {}
            InputEvent::Chosen => self.message.clear(),
            InputEvent::Refused(why) => self.message = why,
            InputEvent::Move(text) => {
                self.hand.deselect();
                self.message = match self.course.attempt(&text) {
                    Attempt::NotYet(why) => why,
                    Attempt::Done(said) => {
                        self.finished = true;
                        let last = self.course.number() == self.course.count();
                        let next = if last { "q: quit." } else { "Enter: the next exercise." };
                        format!("{} {next}", to_sentence(&said))
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
        if self.help {
            self.help = false;
            return;
        }
        if let Some(from) = self.reading {
            self.reading = scrolled(from, code);
            return;
        }
        let number = self.course.number();
        match code {
            KeyCode::Enter | KeyCode::Char(' ') if self.finished => self.go(number + 1),
            KeyCode::Char('n') => self.go(number + 1),
            KeyCode::Char('p') if !self.hand.must_pass() => self.go(number - 1),
            KeyCode::Char('?') => self.help = true,
            KeyCode::Char('t') => self.reading = Some(0),
            KeyCode::Char('f') => self.flipped = !self.flipped,
            KeyCode::Char('q') => self.left = true,
            _ if self.finished => {}
            KeyCode::Char('h') if self.hand.cursor.is_none() => {
                self.message = self.course.exercise().hint.clone();
            }
            KeyCode::Char('H') => self.message = self.course.exercise().hint.clone(),
            _ => {
                if let Some(deed) = self.hand.key(code, self.course.session(), self.flipped) {
                    self.on_input(deed);
                }
            }
        }
    }

    fn mouse(&mut self, mouse: MouseEvent, area: Rect) {
        let Some(layout) = Layout::new(area, self.flipped) else { return };
        match mouse.kind {
            MouseEventKind::Down(_) if self.help || self.reading.is_some() => {
                (self.help, self.reading) = (false, None);
            }
            MouseEventKind::Down(MouseButton::Left) if self.finished => {
                self.go(self.course.number() + 1);
            }
            MouseEventKind::Down(MouseButton::Left) => {
                if let Some(cell) = layout.board.cell_at(mouse.column, mouse.row) {
                    self.hand.cursor = None;
                    let deed = self.hand.choose(self.course.session(), cell);
                    self.on_input(deed);
                }
            }
            MouseEventKind::Down(MouseButton::Right) => self.hand.deselect(),
            _ => {}
        }
    }

    fn tick(&mut self) {}

    fn leave(&mut self) {
        self.left = true;
    }

    fn is_left(&self) -> bool {
        self.left
    }
}

fn draw(frame: &mut Frame<'_>, screen: &LessonScreen) {
    let Some(layout) = Layout::new(frame.area(), screen.flipped) else {
        too_small(frame);
        return;
    };
    let (course, colour) = (&screen.course, screen.colour);
    let (game, session) = (course.game(), course.session());
    let title = format!("Learn {}", game.info().name);
    write_line(frame, layout.title, &title, strong(colour));
    let mut marks = Highlights { cursor: screen.hand.cursor, ..Highlights::default() };
    if screen.finished {
        if let Some(last) = session.last_move() {
            (marks.last, marks.taken) = (last.path, last.captures);
        }
    } else {
        screen.hand.mark(&mut marks);
    }
    let view = BoardView { game, board: &session.board(), marks: &marks, colour, numbers: true };
    view.draw(frame.buffer_mut(), layout.board);
    let panel = Rect { width: layout.panel.width - 1, ..layout.panel };
    let exercise = course.exercise();
    let number = format!("{} of {}: {}", course.number(), course.count(), exercise.title);
    write_line(frame, panel, &number, strong(colour));
    let dots = course.all_done().iter().map(|done| if *done { '●' } else { '○' });
    let progress: String = dots.collect();
    write_line(frame, Rect { y: panel.y + 1, ..panel }, &progress, strong(colour));
    let task = Rect { y: panel.y + 3, height: panel.height - 3, ..panel };
    write_text(frame, task, &exercise.task, "…");
    write_message(frame, &layout, &screen.hand.typed, &screen.message);
    let hint = if screen.hand.cursor.is_some() { 'H' } else { 'h' };
    let short = format!("{hint} hint · n next · p previous · f flip · ? help · q quit");
    let long = format!("arrows+Enter, mouse or type a move · {short}");
    write_keys(frame, layout.keys, &[long, short], colour);
    if screen.help {
        popup(frame, "Keys", HELP.iter().map(ToString::to_string).collect());
    }
    if let Some(from) = screen.reading {
        popup_text(frame, &screen.message, from);
    }
}

const HELP: &[&str] = &[
    "Choose a piece, then where it goes: with the mouse, or",
    "with the arrow keys (or j k l h) and Enter. Or type the",
    "move and Enter.",
    "",
    "h  hint (H while the cursor is in use)",
    "n  next exercise    p  previous exercise",
    "f  turn the board   q  quit",
];
