//! Where everything is on a screen with a board, and what all such screens share: styles, boxes, the
//! words when there is not enough room.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Clear, Paragraph, Wrap};

use super::board::Geometry;

/// The smallest screen that a board with its panel fits on.
pub const SMALLEST: (u16, u16) = (70, 22);
/// Lines below the board: what is said, and the keys.
const BELOW: u16 = 4;
/// The narrowest panel beside the board.
const PANEL: u16 = 26;
/// The widest: longer lines of text are hard to read.
const WIDEST_PANEL: u16 = 60;

/// Where everything is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The line at the top.
    pub title: Rect,
    /// The cells.
    pub board: Geometry,
    /// What is beside the board.
    pub panel: Rect,
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
        let inner = Rect { x: area.x + 1, width: area.width - 2, ..area };
        let height = area.height - BELOW - 1;
        let room = Rect { y: area.y + 1, width: area.width - PANEL, height, ..area };
        let board = Geometry::fit(room, flipped)?;
        let left = area.x + board.columns() + 2;
        let width = (area.right() - left).min(WIDEST_PANEL);
        Some(Layout {
            title: Rect { height: 1, ..inner },
            board,
            panel: Rect { x: left, y: area.y + 1, width, height },
            message: Rect { y: area.bottom() - BELOW, height: BELOW - 1, ..inner },
            keys: Rect { y: area.bottom() - 1, height: 1, ..inner },
        })
    }
}

/// What matters. Without colours the terminal may not show it: words and shapes say it too.
pub fn strong(colour: bool) -> Style {
    if colour { Style::default().add_modifier(Modifier::BOLD) } else { Style::default() }
}

/// What matters less. Dimmed rather than grey: it suits dark and light terminals.
pub fn faint(colour: bool) -> Style {
    if colour { Style::default().add_modifier(Modifier::DIM) } else { Style::default() }
}

/// A line of text in a line of the screen.
pub fn write_line(frame: &mut Frame<'_>, place: Rect, text: &str, style: Style) {
    frame.buffer_mut().set_stringn(place.x, place.y, text, place.width.into(), style);
}

/// Text in as many lines as it takes, as far as there is room.
pub fn write_text(frame: &mut Frame<'_>, place: Rect, text: &str) {
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), place);
}

/// The longest of some lines of keys that fits.
pub fn write_keys(frame: &mut Frame<'_>, place: Rect, choices: &[String], colour: bool) {
    let fits = |text: &&String| text.chars().count() <= usize::from(place.width);
    if let Some(text) = choices.iter().find(fits).or(choices.last()) {
        write_line(frame, place, text, faint(colour));
    }
}

/// The screen is too small for anything else.
pub fn too_small(frame: &mut Frame<'_>) {
    let area = frame.area();
    let (width, height) = SMALLEST;
    let text =
        format!("This needs a screen of {width}x{height}; it has {}x{}.", area.width, area.height);
    write_text(frame, area, &text);
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
