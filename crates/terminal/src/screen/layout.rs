//! Where everything is on a screen with a board, and what all such screens share: styles, boxes, the
//! words when there is not enough room.

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::board::Geometry;
use super::move_list::truncate;

/// The smallest screen that a board with its panel fits on.
pub const MIN_SIZE: (u16, u16) = (70, 22);
/// Lines below the board: what is said, and the keys.
const FOOTER_HEIGHT: u16 = 4;
/// The narrowest panel beside the board.
const MIN_PANEL_WIDTH: u16 = 26;
/// The widest: longer lines of text are hard to read.
const MAX_PANEL_WIDTH: u16 = 60;
/// Lines of the panel above the list of moves.
const PANEL_HEADER_HEIGHT: u16 = 8;

/// Where everything is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The line at the top.
    pub title: Rect,
    /// The cells.
    pub board: Geometry,
    /// What is beside the board.
    pub panel: Rect,
    /// The list of moves, at the lower end of the panel.
    pub moves: Rect,
    /// What is said.
    pub message: Rect,
    /// The keys.
    pub keys: Rect,
}

impl Layout {
    /// For a screen; none if it is too small.
    pub fn new(area: Rect, flipped: bool) -> Option<Layout> {
        if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
            return None;
        }
        let inner = Rect { x: area.x + 1, width: area.width - 2, ..area };
        let height = area.height - FOOTER_HEIGHT - 1;
        let room = Rect { y: area.y + 1, width: area.width - MIN_PANEL_WIDTH, height, ..area };
        let board = Geometry::fit(room, flipped)?;
        let left = area.x + board.columns() + 2;
        let width = (area.right() - left).min(MAX_PANEL_WIDTH);
        let panel = Rect { x: left, y: area.y + 1, width, height };
        Some(Layout {
            title: Rect { height: 1, ..inner },
            board,
            panel,
            moves: Rect {
                y: panel.y + PANEL_HEADER_HEIGHT,
                height: height - PANEL_HEADER_HEIGHT,
                ..panel
            },
            message: Rect { y: area.bottom() - FOOTER_HEIGHT, height: FOOTER_HEIGHT - 1, ..inner },
            keys: Rect { y: area.bottom() - 1, height: 1, ..inner },
        })
    }
}

/// What matters. Without colours the terminal may not show it: words and shapes say it too.
pub fn bold(colour: bool) -> Style {
    if colour { Style::default().add_modifier(Modifier::BOLD) } else { Style::default() }
}

/// What matters less. Dimmed rather than grey: it suits dark and light terminals.
pub fn dim(colour: bool) -> Style {
    if colour { Style::default().add_modifier(Modifier::DIM) } else { Style::default() }
}

/// A line of text in a line of the screen.
pub fn write_line(frame: &mut Frame<'_>, place: Rect, text: &str, style: Style) {
    frame.buffer_mut().set_stringn(place.x, place.y, text, place.width.into(), style);
}

/// Text in as many lines as it takes, as far as there is room; beyond that it ends in `more`.
pub fn write_text(frame: &mut Frame<'_>, place: Rect, text: &str, more: &str) {
    let (width, height) = (usize::from(place.width), usize::from(place.height));
    let mut lines = wrap(text, width);
    if lines.len() > height {
        lines.truncate(height);
        if let Some(last) = lines.last_mut() {
            let room = width.saturating_sub(more.chars().count() + 1);
            let kept: String = last.chars().take(room).collect();
            *last = truncate(&format!("{} {more}", kept.trim_end()), width);
        }
    }
    let lines: Vec<_> = lines.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines), place);
}

/// The lines of a text, broken between words where that is possible.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for word in text.split(' ') {
        let room = Line::from(word).width();
        if used > 0 && used + 1 + room > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        } else if used > 0 {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            let room = Line::from(c.to_string()).width();
            if used > 0 && used + room > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += room;
        }
    }
    lines.push(line);
    lines
}

/// What is said below the board, or the move that is being typed.
pub fn write_message(frame: &mut Frame<'_>, layout: &Layout, typed: &str, message: &str) {
    match typed {
        "" => write_text(frame, layout.message, message, "… (t: all of it)"),
        typed => {
            let text = format!("Move: {typed}_   (Enter plays it, Esc drops it)");
            write_text(frame, layout.message, &text, "…");
        }
    }
}

/// All of a text, from one of its lines on, in a box.
pub fn popup_text(frame: &mut Frame<'_>, text: &str, from: usize) {
    let area = frame.area();
    let mut lines = wrap(text, usize::from(area.width).saturating_sub(6).clamp(1, 72));
    let room = usize::from(area.height).saturating_sub(4).max(1);
    let title = if lines.len() > room { "↓ ↑ scroll, Esc closes" } else { "Esc closes" };
    let from = from.min(lines.len().saturating_sub(room));
    lines.drain(..from);
    lines.truncate(room);
    popup(frame, title, lines);
}

/// The line that [`popup_text`] begins with after a key; none if the key closes it.
pub fn scroll(from: usize, code: KeyCode) -> Option<usize> {
    match code {
        KeyCode::Down | KeyCode::Char(' ') => Some(from + 1),
        KeyCode::PageDown => Some(from + 10),
        KeyCode::Up => Some(from.saturating_sub(1)),
        KeyCode::PageUp => Some(from.saturating_sub(10)),
        _ => None,
    }
}

/// The longest of some lines of keys that fits.
pub fn write_keys(frame: &mut Frame<'_>, place: Rect, choices: &[String], colour: bool) {
    let fits = |text: &&String| text.chars().count() <= usize::from(place.width);
    if let Some(text) = choices.iter().find(fits).or(choices.last()) {
        write_line(frame, place, text, dim(colour));
    }
}

/// The screen is too small for anything else.
pub fn too_small(frame: &mut Frame<'_>) {
    let area = frame.area();
    let (width, height) = MIN_SIZE;
    let text =
        format!("This needs a screen of {width}x{height}; it has {}x{}.", area.width, area.height);
    write_text(frame, area, &text, "…");
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
        lines.into_iter().map(|line| Line::from(format!(" {line}"))).collect();
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
