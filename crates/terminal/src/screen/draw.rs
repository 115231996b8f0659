//! The screen of a game as characters: where everything is, and what it looks like.

use crownhead_rules::{Cell, Game, Side, capture_halma, chinese_checkers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph, Wrap};

use super::app::{App, Dialog};
use super::board::{BoardView, Geometry};
use crate::live::Seat;
use crate::words::score_text;

/// The smallest screen that a game fits on.
pub const SMALLEST: (u16, u16) = (70, 22);
/// Lines below the board: what is said, and the keys.
const BELOW: u16 = 4;
/// The narrowest panel beside the board.
const PANEL: u16 = 26;

/// Where everything is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The cells.
    pub board: Geometry,
    /// What is beside the board.
    pub panel: Rect,
    /// The moves in the panel.
    pub moves: Rect,
    /// What is said.
    pub message: Rect,
    /// The keys.
    pub keys: Rect,
}

impl Layout {
    /// For a screen; none if it is too small.
    pub fn of(area: Rect, flipped: bool) -> Option<Layout> {
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            return None;
        }
        let room = Rect {
            y: area.y + 1,
            width: area.width - PANEL,
            height: area.height - BELOW - 1,
            ..area
        };
        let board = Geometry::fit(room, flipped)?;
        let left = area.x + board.columns() + 2;
        let width = (area.right() - left).min(60);
        let panel = Rect { x: left, y: area.y + 1, width, height: area.height - BELOW - 1 };
        let above = 8;
        let moves = Rect { y: panel.y + above, height: panel.height - above, ..panel };
        let message = Rect {
            x: area.x + 1,
            y: area.bottom() - BELOW,
            width: area.width - 2,
            height: BELOW - 1,
        };
        let keys = Rect { x: area.x + 1, y: area.bottom() - 1, width: area.width - 2, height: 1 };
        Some(Layout { board, panel, moves, message, keys })
    }

    /// The ply whose move is written at a place of the screen.
    pub fn ply_at(&self, app: &App, x: u16, y: u16) -> Option<usize> {
        let row = usize::from(y.checked_sub(self.moves.y + 1)?);
        if row >= rows(self.moves) || x < self.moves.x || x >= self.moves.right() {
            return None;
        }
        let made = app.live.session().moves().len();
        let pair = first_row(app, self.moves) + row;
        let second = x >= self.moves.x + SECOND_COLUMN;
        let ply = 2 * pair + 1 + usize::from(second);
        (ply <= made).then_some(ply)
    }
}

/// Rows of moves in the list, without its title.
fn rows(list: Rect) -> usize {
    usize::from(list.height.saturating_sub(1))
}

/// The first pair of moves in the list: the one that is looked at is always there.
fn first_row(app: &App, list: Rect) -> usize {
    let pair = app.shown_ply().saturating_sub(1) / 2;
    (pair + 1).saturating_sub(rows(list))
}

/// Where the second player's moves stand.
const SECOND_COLUMN: u16 = 16;

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, app: &App) {
    let area = frame.area();
    let Some(layout) = Layout::of(area, app.flipped) else {
        too_small(frame, SMALLEST);
        return;
    };
    let game = &app.live.setup().game;
    let buffer = frame.buffer_mut();
    buffer.set_string(area.x + 1, area.y, game.info().name, strong(app));
    let shown = app.shown();
    let (board, marks) = (shown.board(), app.marks());
    let view =
        BoardView { game, board: &board, marks: &marks, colour: app.colour, numbers: app.numbers };
    view.draw(buffer, layout.board);
    draw_panel(frame, app, &layout, &board);
    let said = if app.typed.is_empty() {
        app.message.clone()
    } else {
        format!("Move: {}_   (Enter plays it, Esc drops it)", app.typed)
    };
    frame.render_widget(Paragraph::new(said).wrap(Wrap { trim: true }), layout.message);
    let hint = if app.cursor.is_some() { 'H' } else { 'h' };
    let keys = if app.live.has_human() {
        format!(
            "arrows+Enter, mouse or type · u undo · {hint} hint · f flip · s save · r resign · ? help · q quit"
        )
    } else {
        "space pause · + faster · - slower · PgUp/PgDn look back · f flip · s save · ? help · q quit".into()
    };
    let keys = if keys.chars().count() > usize::from(layout.keys.width) {
        format!("u undo · {hint} hint · f flip · s save · r resign · ? help · q quit")
    } else {
        keys
    };
    frame.buffer_mut().set_string(layout.keys.x, layout.keys.y, keys, faint(app));
    if let Some(dialog) = &app.dialog {
        draw_dialog(frame, app, dialog);
    }
}

/// The screen is too small for anything else.
pub fn too_small(frame: &mut Frame<'_>, (width, height): (u16, u16)) {
    let area = frame.area();
    let text =
        format!("This needs a screen of {width}x{height}; it has {}x{}.", area.width, area.height);
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
}

fn strong(app: &App) -> Style {
    if app.colour { Style::default().add_modifier(Modifier::BOLD) } else { Style::default() }
}

fn faint(app: &App) -> Style {
    if app.colour { Style::default().fg(Color::DarkGray) } else { Style::default() }
}

/// How far a side has come: what the game counts.
fn tally(game: &Game, board: &[char; 64], side: Side) -> String {
    let letter = game.info().sides[side.index()].letter;
    let of = |letter: char| Cell::all().filter(move |cell| board[cell.index() as usize] == letter);
    let home = |target: u64| of(letter).filter(|cell| cell.bit() & target != 0).count();
    match game {
        Game::English(_) | Game::Contest(_) => {
            let (men, kings) = (of(letter).count(), of(letter.to_ascii_uppercase()).count());
            let lost = 12usize.saturating_sub(men + kings);
            let kings = if kings > 0 { format!(" {kings}K") } else { String::new() };
            format!("{men}{kings}, lost {lost}")
        }
        Game::ChineseCheckers => {
            format!("home {}/6", home(chinese_checkers::CAMPS[side.other().index()]))
        }
        Game::CaptureHalma => {
            let men = of(letter).count();
            format!("home {}, men {men}", home(capture_halma::TARGETS[side.index()]))
        }
    }
}

fn clock_text(time: std::time::Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 20 {
        format!("{}.{}", seconds, time.subsec_millis() / 100)
    } else {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }
}

fn draw_panel(frame: &mut Frame<'_>, app: &App, layout: &Layout, board: &[char; 64]) {
    let game = &app.live.setup().game;
    let buffer = frame.buffer_mut();
    let Rect { x, mut y, width, .. } = layout.panel;
    let to_move = app.live.session().side();
    for side in [Side::First, Side::Second] {
        let sides = game.info().sides[side.index()];
        let turn = if !app.live.is_over() && side == to_move { "▶" } else { " " };
        let who = match app.live.seat(side) {
            Seat::Human => "you".to_string(),
            Seat::Computer(spec) => spec.to_string(),
        };
        let who =
            if app.live.setup().seats == [Seat::Human, Seat::Human] { String::new() } else { who };
        let shape = if side == Side::First {
            format!("({})", sides.letter)
        } else {
            format!("[{}]", sides.letter)
        };
        let clock = app.time_left(side).map(clock_text).unwrap_or_default();
        let name = format!("{turn} {shape} {} {who}", sides.name);
        buffer.set_stringn(x, y, name, width.into(), strong(app));
        buffer.set_stringn(x + width.saturating_sub(7), y, format!("{clock:>7}"), 7, strong(app));
        buffer.set_stringn(x + 6, y + 1, tally(game, board, side), (width - 6).into(), faint(app));
        y += 2;
    }
    y += 1;
    if let Some((side, choice)) = app.thought() {
        let name = game.info().sides[side.index()].name;
        let verb = if app.is_thinking() { "thinks" } else { "thought" };
        let score = choice.score.map(score_text).unwrap_or_default();
        let text = format!("{name} {verb}: {score}, depth {}", choice.depth);
        buffer.set_stringn(x, y, text, width.into(), Style::default());
        buffer.set_stringn(x, y + 1, choice.line.join(" "), width.into(), faint(app));
    } else if app.is_thinking() {
        buffer.set_stringn(x, y, "…", width.into(), Style::default());
    }
    if app.paused {
        buffer.set_stringn(x, y + 2, "paused (space goes on)", width.into(), strong(app));
    }
    let list = layout.moves;
    let sides = game.info().sides;
    buffer.set_stringn(list.x, list.y, format!("     {}", sides[0].name), width.into(), faint(app));
    let second = list.x + SECOND_COLUMN;
    buffer.set_stringn(second, list.y, sides[1].name, (width - SECOND_COLUMN).into(), faint(app));
    let moves = app.live.session().moves();
    // A game set up with the second side to move has no first move of the first.
    let first = first_row(app, list);
    for (row, pair) in moves.chunks(2).enumerate().skip(first).take(rows(list)) {
        let y = list.y + 1 + (row - first) as u16;
        buffer.set_stringn(list.x, y, format!("{:3}.", row + 1), 5, faint(app));
        for (index, text) in pair.iter().enumerate() {
            let shown = app.shown_ply() == 2 * row + index + 1;
            let text = if shown { format!(">{text}") } else { format!(" {text}") };
            let (x, room) = if index == 0 {
                (list.x + 4, SECOND_COLUMN - 5)
            } else {
                (second - 1, width - SECOND_COLUMN + 1)
            };
            let style = if shown { strong(app) } else { Style::default() };
            buffer.set_stringn(x, y, shorten(&text, room.into()), room.into(), style);
        }
    }
}

/// A text that does not fit ends in an ellipsis.
fn shorten(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.into();
    }
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}

const HELP: &[&str] = &[
    "Choose a piece, then where it goes: with the mouse, or",
    "with the arrow keys (or j k l h) and Enter. Or type the",
    "move, as in the list, and Enter.",
    "",
    "•  may move     +  can be chosen     ∘ *  last move",
    "",
    "u  take back to your last move     d  offer a draw",
    "h  hint with its reason (H when the cursor is on)",
    "f  turn the board     c  numbers of squares",
    "PgUp PgDn Home End  look at earlier positions",
    "s  save    r  resign    q  quit    Esc  drop a choice",
    "space + -  pause and pace of two computers",
];

fn draw_dialog(frame: &mut Frame<'_>, app: &App, dialog: &Dialog) {
    let side = app.live.session().side();
    let names = app.live.setup().game.info().sides.map(|side| side.name);
    let kept = if app.live.has_human() { " It is kept and can be taken up again." } else { "" };
    let (title, lines): (&str, Vec<String>) = match dialog {
        Dialog::Help => ("Keys", HELP.iter().map(ToString::to_string).collect()),
        Dialog::Quit => {
            ("Quit", vec![format!("Leave this game?{kept}"), "y: leave   n: play on".into()])
        }
        Dialog::Resign => {
            let name = names[side.index()];
            ("Resign", vec![format!("Does {name} give up?"), "y: resign   n: play on".into()])
        }
        Dialog::Draw => {
            let (one, other) = (names[side.index()], names[side.other().index()]);
            let offer = format!("{one} offers a draw. {other}, do you accept?");
            ("Draw", vec![offer, "y: draw   n: play on".into()])
        }
        Dialog::Save(name) => {
            ("Save", vec![format!("File: {name}_"), "Enter: save   Esc: do not".into()])
        }
    };
    popup(frame, title, lines);
}

/// A box in the middle of the screen.
pub fn popup(frame: &mut Frame<'_>, title: &str, lines: Vec<String>) {
    let area = frame.area();
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as u16;
    let width = (longest + 4).clamp(24, area.width.saturating_sub(2).max(24)).min(area.width);
    let height = (lines.len() as u16 + 2).min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, place);
    let block = Block::bordered().border_type(BorderType::Rounded).title(format!(" {title} "));
    let lines: Vec<Line<'_>> =
        lines.into_iter().map(|line| Line::from(Span::raw(format!(" {line}")))).collect();
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
