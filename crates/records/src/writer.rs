//! Writes strict PDN 3.0.
//!
//! The seven-tag roster comes first, with placeholders for unknown values, then the game and its
//! start position, then the other tags. Lines are shorter than 80 columns. Every game ends with
//! `*`, the only separator of PDN 3.0, and an empty line; the result is in its tag.

use std::io::Write;

use crownhead_rules::{Game, GameVisitor, Notation, Side};

use crate::error::WriteError;
use crate::limits::MAX_DEPTH;
use crate::reader::is_game_id;
use crate::record::{GameRecord, Line, ROSTER, nag_symbol, roster_index, tag_name};

/// Limit of the line length: lines are shorter than this.
const MAX_COLUMNS: usize = 80;

/// Writes one game and an empty line, so that games can be written one after another.
///
/// In comments, `}` becomes `)` and white space becomes one space. Tag names are adapted to the
/// standard. Tags with a field of their own in the record are ignored in the list of tags.
pub fn write_game(out: &mut impl Write, record: &GameRecord) -> Result<(), WriteError> {
    out.write_all(format_game(record)?.as_bytes())?;
    Ok(())
}

/// Formats one game; see [`write_game`].
pub fn format_game(record: &GameRecord) -> Result<String, WriteError> {
    let mut text = String::new();
    write_tags(&mut text, record);
    text.push('\n');
    let first_ply = usize::from(first_side(record)? == Side::Second);
    let mut lines = LineWrapper { text, column: 0, unit: String::new(), open: false };
    write_line(&mut lines, &record.line, first_ply, 0)?;
    lines.word("*");
    lines.flush();
    lines.text.push_str("\n\n");
    Ok(lines.text)
}

fn write_tags(text: &mut String, record: &GameRecord) {
    let mut push = |name: &str, value: &str| {
        text.push('[');
        text.push_str(name);
        text.push_str(" \"");
        for c in value.chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                c if c.is_control() => text.push(' '),
                c => text.push(c),
            }
        }
        text.push_str("\"]\n");
    };
    for (name, placeholder) in ROSTER {
        match name {
            "Result" => push(name, record.result.text()),
            name => push(name, record.tag(name).unwrap_or(placeholder)),
        }
    }
    if let Some(number) = record.game.info().pdn_game_type {
        push("GameType", &number.to_string());
    }
    if record.game != Game::default() {
        push("Game", &record.game.to_string());
    }
    if let Some(start) = &record.start {
        push("SetUp", "1");
        push("FEN", start);
    }
    let mut in_roster = [false; ROSTER.len()];
    for (name, value) in &record.tags {
        let name = tag_name(name);
        // The first tag of each name of the roster has been written.
        let index = roster_index(&name);
        let written = index.is_some_and(|index| !std::mem::replace(&mut in_roster[index], true));
        let has_field = matches!(name.as_str(), "Result" | "GameType" | "SetUp" | "FEN")
            || name == "Game" && is_game_id(value);
        if !written && !has_field {
            push(&name, value);
        }
    }
}

/// Returns the side to move at the start of the game.
fn first_side(record: &GameRecord) -> Result<Side, WriteError> {
    struct FirstSide<'a>(&'a str);
    impl GameVisitor for FirstSide<'_> {
        type Output = Result<Side, WriteError>;
        fn visit<P: Notation>(self, options: &P::Options) -> Self::Output {
            let position = P::parse_position(self.0, options);
            position
                .map(|position| position.side())
                .map_err(|error| WriteError::Record(error.to_string()))
        }
    }
    match &record.start {
        Some(start) => record.game.visit(FirstSide(start)),
        None => Ok(Side::First),
    }
}

fn write_line(
    lines: &mut LineWrapper,
    line: &Line,
    first_ply: usize,
    depth: usize,
) -> Result<(), WriteError> {
    if depth > MAX_DEPTH {
        let message = format!("variations are nested more than {MAX_DEPTH} deep");
        return Err(WriteError::Record(message));
    }
    lines.comment(line.comment.as_deref());
    // A move of the second side has a number only if something stands between it and the last move.
    let mut needs_number = true;
    for (i, ply) in line.plies.iter().enumerate() {
        let is_move_char = |c: char| c.is_ascii_alphanumeric() || "-:".contains(c);
        if ply.text.is_empty() || !ply.text.chars().all(is_move_char) {
            return Err(WriteError::Record(format!("invalid move {:?}", ply.text)));
        }
        let index = first_ply + i;
        match (index % 2, needs_number) {
            (0, _) => lines.word(&format!("{}. {}", index / 2 + 1, ply.text)),
            (_, false) => lines.word(&ply.text),
            (_, true) => lines.word(&format!("{}... {}", index / 2 + 1, ply.text)),
        }
        for (i, nag) in ply.nags.iter().enumerate() {
            match nag_symbol(*nag) {
                Some(symbol) if i == 0 => lines.attach(symbol),
                _ => lines.word(&format!("${nag}")),
            }
        }
        lines.comment(ply.comment.as_deref());
        for variation in &ply.variations {
            lines.open("(");
            write_line(lines, variation, index, depth + 1)?;
            lines.attach(")");
        }
        needs_number = ply.comment.is_some() || !ply.variations.is_empty();
    }
    Ok(())
}

/// Wraps lines between units: a move with its number, or a word of a comment with the commands
/// after it.
struct LineWrapper {
    text: String,
    column: usize,
    unit: String,
    /// The unit ends with an opening bracket: the next word is part of it.
    open: bool,
}

impl LineWrapper {
    fn word(&mut self, word: &str) {
        if !std::mem::take(&mut self.open) {
            self.flush();
        }
        self.unit.push_str(word);
    }

    fn open(&mut self, bracket: &str) {
        self.word(bracket);
        self.open = true;
    }

    fn attach(&mut self, more: &str) {
        self.unit.push_str(more);
    }

    fn comment(&mut self, comment: Option<&str>) {
        let mut words = comment.unwrap_or_default().split_whitespace().peekable();
        if words.peek().is_none() {
            return;
        }
        self.open("{");
        let mut in_command = false;
        for word in words {
            // A command such as `[%clk 0:04:59]` is not broken, and a line of a comment must not
            // look like a tag or a `%` line.
            let word = word.replace('}', ")");
            match !self.open && (in_command || word.starts_with(['[', '%'])) {
                true => self.attach(&format!(" {word}")),
                false => self.word(&word),
            }
            in_command = (in_command || word.starts_with("[%")) && !word.contains(']');
        }
        self.attach("}");
    }

    fn flush(&mut self) {
        let width = self.unit.chars().count();
        if width == 0 {
            return;
        }
        if self.column > 0 {
            let is_full = self.column + 1 + width >= MAX_COLUMNS;
            self.text.push(if is_full { '\n' } else { ' ' });
            self.column = if is_full { 0 } else { self.column + 1 };
        }
        self.text.push_str(&self.unit);
        self.column += width;
        self.unit.clear();
    }
}
