//! Recorded games as text.

use std::io::{self, Write};

use crownhead_play::new_session;
use crownhead_records::{GameRecord, Line, player_tag};
use crownhead_rules::{Side, SideInfo, replace_invisible};

use crate::text::{game_title, split_data};

/// Lines break after this many bytes.
const LINE_BYTES: usize = 70;

/// Prints a game: players, tags, and moves with comments and variations.
pub fn print(record: &GameRecord, number: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "Game {number}: {}", game_title(record))?;
    writeln!(out, "{}", record.game.info().name)?;
    for (name, value) in &record.tags {
        if ![player_tag(Side::First), player_tag(Side::Second)].contains(&name.as_str()) {
            writeln!(out, "{name}: {}", replace_invisible(value))?;
        }
    }
    if let Some(start) = &record.start {
        writeln!(out, "Start: {start}")?;
    }
    let session = new_session(&record.game, record.start.as_deref());
    let first_slot = session.map_or(0, |session| session.side().index());
    writeln!(out)?;
    print_line(&record.line, &record.game.info().sides, first_slot, 0, out)?;
    writeln!(out, "{}\n", record.result)
}

/// Prints a line of moves. A slot is one of the two places of a move number; the line breaks after
/// a move with a comment or variations.
fn print_line(
    line: &Line,
    sides: &[SideInfo; 2],
    first_slot: usize,
    depth: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    if let Some(comment) = &line.comment {
        writeln!(out, "{indent}{}", replace_invisible(comment))?;
    }
    let mut text = String::new();
    let flush = |text: &mut String, out: &mut dyn Write| -> io::Result<()> {
        if !text.is_empty() {
            writeln!(out, "{indent}{text}")?;
            text.clear();
        }
        Ok(())
    };
    for (index, ply) in line.plies.iter().enumerate() {
        let slot = first_slot + index;
        if slot.is_multiple_of(2) || text.is_empty() {
            let dots = if slot.is_multiple_of(2) { "." } else { "..." };
            let space = if text.is_empty() { "" } else { " " };
            text.push_str(&format!("{space}{}{dots}", slot / 2 + 1));
        }
        text.push(' ');
        text.push_str(&ply.annotated());
        let comment = ply.comment.as_deref().unwrap_or_default();
        let (eval, comment) = split_data(comment, sides);
        if let Some(eval) = eval {
            text.push_str(&format!(" ({eval})"));
        }
        if text.len() > LINE_BYTES || !comment.is_empty() || !ply.variations.is_empty() {
            flush(&mut text, out)?;
        }
        if !comment.is_empty() {
            writeln!(out, "{indent}  {}", replace_invisible(&comment))?;
        }
        for variation in &ply.variations {
            writeln!(out, "{indent}  instead of {}:", ply.text)?;
            print_line(variation, sides, slot, depth + 2, out)?;
        }
    }
    flush(&mut text, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crownhead_records::GameFile;

    const GAME: &str = "{Begin} 1. 11-15! {good} (1. 9-14 {first} 22-18 (1... 22-17 2. 14-18) \
                        2. 5-9) (1. 10-14) 23-19 2. 8-11 *";

    #[test]
    fn evaluations_follow_their_moves() {
        let text = "1. 11-15 {[%eval 0.13]} 22-18 {[%eval #-7] White wins in 7. Ouch} *";
        let record = GameFile::new(text.as_bytes()).get(0).unwrap().1.clone();
        let mut out = Vec::new();
        print(&record, 1, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("1. 11-15 (+0.13) 22-18 (White wins in 7)\n"), "{out}");
        assert!(!out.contains("%eval"), "{out}");
    }

    #[test]
    fn printed_game_has_comments_and_variations_but_no_control_chars() {
        let mut games = GameFile::new(GAME.as_bytes());
        let mut record = games.get(0).unwrap().1.clone();
        record.set_tag("Event", "A \u{1b}[2J\u{202e}b");
        let mut out = Vec::new();
        print(&record, 1, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }
}
