//! Text on the screen: wrapped text, popups, the key bar.

use crownhead_rules::{Game, Side};
use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::board::piece_text;
use super::layout::{Layout, MIN_SIZE, inside};
use super::theme::{Look, Role, Tone};

/// Cuts a text to `width` characters, the last of them an ellipsis if it was cut.
pub fn truncate(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.into();
    }
    crownhead_rules::truncate(text, width.saturating_sub(1))
}

/// Writes one line of text.
pub fn write_line(frame: &mut Frame<'_>, area: Rect, text: &str, style: Style) {
    frame.buffer_mut().set_stringn(area.x, area.y, text, area.width.into(), style);
}

/// Writes wrapped text. If it does not fit, the last line ends in `more`.
pub fn write_text(frame: &mut Frame<'_>, area: Rect, text: &str, more: &str) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let mut lines = wrap(text, width);
    if lines.len() > height {
        lines.truncate(height);
        if let Some(last) = lines.last_mut() {
            let room = width.saturating_sub(more.chars().count() + 1);
            let start: String = last.chars().take(room).collect();
            *last = truncate(&format!("{} {more}", start.trim_end()), width);
        }
    }
    let lines: Vec<_> = lines.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// Wraps a text between words, or within words longer than a line.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut column) = (Vec::new(), String::new(), 0);
    for word in text.split(' ') {
        let word_width = Line::from(word).width();
        if column > 0 && column + 1 + word_width > width {
            lines.push(std::mem::take(&mut line));
            column = 0;
        } else if column > 0 {
            line.push(' ');
            column += 1;
        }
        for c in word.chars() {
            let char_width = Line::from(c.to_string()).width();
            if column > 0 && column + char_width > width {
                lines.push(std::mem::take(&mut line));
                column = 0;
            }
            line.push(c);
            column += char_width;
        }
    }
    lines.push(line);
    lines
}

/// Writes the message below the board, or the move being typed.
pub fn write_message(frame: &mut Frame<'_>, layout: &Layout, typed: &str, message: &str) {
    match typed {
        "" => write_text(frame, layout.message, message, "… (t: full text)"),
        typed => {
            let text = format!("Move: {typed}_   (Enter: play, Esc: cancel)");
            write_text(frame, layout.message, &text, "…");
        }
    }
}

/// A popup that a key or a click closes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Popup {
    /// The list of keys.
    Keys,
    /// The full message, from this line on.
    Message(usize),
}

impl Popup {
    /// Handles a key: scrolls, or returns `None` to close the popup.
    pub fn key(self, code: KeyCode) -> Option<Popup> {
        match self {
            Popup::Keys => None,
            Popup::Message(first_line) => scroll(first_line, code).map(Popup::Message),
        }
    }

    /// Draws the popup.
    pub fn draw(self, frame: &mut Frame<'_>, keys: &[&str], message: &str) {
        match self {
            Popup::Keys => popup(frame, "Keys", keys.iter().map(ToString::to_string).collect()),
            Popup::Message(first_line) => popup_text(frame, message, first_line),
        }
    }
}

/// Shows a text in a popup, from line `first_line` on.
fn popup_text(frame: &mut Frame<'_>, text: &str, first_line: usize) {
    let area = frame.area();
    let mut lines = wrap(text, usize::from(area.width).saturating_sub(6).clamp(1, 72));
    let height = usize::from(area.height).saturating_sub(4).max(1);
    let title = if lines.len() > height { "↓ ↑: scroll, Esc: close" } else { "Esc: close" };
    let first_line = first_line.min(lines.len().saturating_sub(height));
    lines.drain(..first_line);
    lines.truncate(height);
    popup(frame, title, lines);
}

/// Returns the first line of [`popup_text`] after a key press; `None` if the key closes it.
fn scroll(first_line: usize, code: KeyCode) -> Option<usize> {
    match code {
        KeyCode::Down | KeyCode::Char(' ') => Some(first_line + 1),
        KeyCode::PageDown => Some(first_line + 10),
        KeyCode::Up => Some(first_line.saturating_sub(1)),
        KeyCode::PageUp => Some(first_line.saturating_sub(10)),
        _ => None,
    }
}

/// Writes the first text that fits; texts are ordered from long to short.
pub fn write_keys(frame: &mut Frame<'_>, area: Rect, texts: &[String], look: Look) {
    let fits = |text: &&String| text.chars().count() <= usize::from(area.width);
    if let Some(text) = texts.iter().find(fits).or(texts.last()) {
        write_line(frame, area, text, look.dim());
    }
}

/// Shows that the screen is too small.
pub fn too_small(frame: &mut Frame<'_>) {
    let area = frame.area();
    let (width, height) = MIN_SIZE;
    let text = format!(
        "The screen is {}x{}; at least {width}x{height} is needed.",
        area.width, area.height
    );
    write_text(frame, area, &text, "…");
}

/// Writes the symbol of a side's pieces: a disc on a square, or without colours its letter.
pub fn write_piece(frame: &mut Frame<'_>, (x, y): (u16, u16), game: &Game, side: Side, look: Look) {
    let info = game.info().sides[side.index()];
    if look.has_colours() {
        let square = Style::default().bg(look.colour(Role::Square(Tone::new(game.info(), true))));
        let style = square.fg(look.colour(Role::Piece(info.colour)));
        frame.buffer_mut().set_string(x, y, " ● ", style);
    } else {
        frame.buffer_mut().set_string(x, y, piece_text(side, info.letter), Style::default());
    }
}

/// Writes a player: whether it is to move, its pieces, side, name and clock.
pub fn write_player(
    frame: &mut Frame<'_>,
    area: Rect,
    (game, side): (&Game, Side),
    is_to_move: bool,
    (name, clock): (&str, &str),
    look: Look,
) {
    let room = usize::from(area.width).saturating_sub(6);
    let turn = if is_to_move { "▶" } else { " " };
    write_line(frame, area, turn, look.bold());
    write_piece(frame, (area.x + 2, area.y), game, side, look);
    let text = format!("{} {name}", game.info().sides[side.index()].name);
    let name_room = room.saturating_sub(clock.len() + usize::from(!clock.is_empty()));
    let after = Rect { x: area.x + 6, width: room as u16, ..area };
    write_line(frame, after, &truncate(text.trim_end(), name_room), look.bold());
    let clock_x = area.right().saturating_sub(clock.len() as u16).max(area.x);
    frame.buffer_mut().set_stringn(clock_x, area.y, clock, room, look.bold());
}

/// Writes the pieces of the opponent that a side has captured, after a note.
pub fn write_captured(
    frame: &mut Frame<'_>,
    area: Rect,
    (game, side): (&Game, Side),
    (note, count): (&str, usize),
    look: Look,
) {
    let name = game.info().sides[side.index()].name;
    let text = match (note.is_empty(), count) {
        (true, _) => format!("{name} {count}"),
        (false, 0) => format!("{name} {note}"),
        (false, count) => format!("{name} {note}, +{count}"),
    };
    let text = truncate(&text, area.width.into());
    write_line(frame, area, &text, Style::default());
    let used = text.chars().count() as u16 + 1;
    let room = usize::from(area.width.saturating_sub(used)) / 2;
    let other = game.info().sides[side.other().index()];
    let symbol = if look.has_colours() { '●' } else { other.letter };
    let style = match look.has_colours() {
        true => Style::default()
            .bg(look.colour(Role::Square(Tone::new(game.info(), true))))
            .fg(look.colour(Role::Piece(other.colour))),
        false => Style::default(),
    };
    let pieces = format!("{symbol} ").repeat(count.min(room));
    frame.buffer_mut().set_string(area.x + used, area.y, pieces, style);
}

/// Draws a frame with a title, and returns the area inside.
pub fn framed(frame: &mut Frame<'_>, area: Rect, title: &str, look: Look) -> Rect {
    let block = Block::bordered().border_type(BorderType::Rounded).border_style(look.dim());
    let block = block.title(Line::from(format!(" {title} ")).style(look.bold()));
    frame.render_widget(block, area);
    inside(area)
}

/// Returns the line of a popup in which a file name is typed. Of a long name, the end is shown:
/// that is where the user types.
pub fn file_name_line(name: &str, screen_width: u16) -> String {
    let room = usize::from(screen_width).saturating_sub(16);
    let hidden = name.chars().count().saturating_sub(room);
    let visible: String = name.chars().skip(hidden).collect();
    format!("File: {}{visible}_", if hidden > 0 { "…" } else { "" })
}

/// Shows a popup in the middle of the screen.
pub fn popup(frame: &mut Frame<'_>, title: &str, lines: Vec<String>) {
    let area = frame.area();
    let text_width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as u16;
    let width = (text_width + 4).clamp(24, area.width.saturating_sub(2).max(24)).min(area.width);
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
