//! Text on the screen: wrapped text, popups, the key bar.

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::layout::{Layout, MIN_SIZE};

/// Style of important text. Without colours there is none: words and shapes carry the meaning.
pub fn bold(colour: bool) -> Style {
    if colour { Style::default().add_modifier(Modifier::BOLD) } else { Style::default() }
}

/// Style of secondary text. Dim rather than grey, which suits dark and light terminals.
pub fn dim(colour: bool) -> Style {
    if colour { Style::default().add_modifier(Modifier::DIM) } else { Style::default() }
}

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

/// Shows a text in a popup, from line `first_line` on.
pub fn popup_text(frame: &mut Frame<'_>, text: &str, first_line: usize) {
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
pub fn scroll(first_line: usize, code: KeyCode) -> Option<usize> {
    match code {
        KeyCode::Down | KeyCode::Char(' ') => Some(first_line + 1),
        KeyCode::PageDown => Some(first_line + 10),
        KeyCode::Up => Some(first_line.saturating_sub(1)),
        KeyCode::PageUp => Some(first_line.saturating_sub(10)),
        _ => None,
    }
}

/// Writes the first text that fits; texts are ordered from long to short.
pub fn write_keys(frame: &mut Frame<'_>, area: Rect, texts: &[String], colour: bool) {
    let fits = |text: &&String| text.chars().count() <= usize::from(area.width);
    if let Some(text) = texts.iter().find(fits).or(texts.last()) {
        write_line(frame, area, text, dim(colour));
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
