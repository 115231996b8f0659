//! The log of a bot for one game: lines and search depths.

use std::collections::BTreeMap;

/// Maximum number of lines kept for each turn.
const MAX_LINES: usize = 12;
/// Maximum number of characters kept of a line.
const MAX_LINE_CHARS: usize = 200;

/// The log of a bot for one game: the lines of each turn, and the depths it reported.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct GameLog {
    turns: BTreeMap<u32, Vec<String>>,
    depths: BTreeMap<u32, u32>,
}

impl GameLog {
    /// Parses a log as `crownhead_bots::log` describes it.
    pub fn parse(text: &str) -> GameLog {
        let mut log = GameLog::default();
        let mut ply = 0;
        for line in text.lines() {
            if let Some(number) = line.strip_prefix("ply ") {
                ply = number.trim().parse().unwrap_or(ply);
                continue;
            }
            let Some((direction, content)) = timed_line(line) else { continue };
            if let Some(depth) = (direction == '<').then(|| reported_depth(content)).flatten() {
                log.depths.insert(ply, depth);
            }
            let lines = log.turns.entry(ply).or_default();
            if lines.len() == MAX_LINES {
                // The end of a turn says more than its beginning.
                lines.remove(0);
            }
            lines.push(line.trim_start().chars().take(MAX_LINE_CHARS).collect());
        }
        log
    }

    /// Returns the lines of a turn, or the last ones before it.
    pub fn lines(&self, ply: u32) -> &[String] {
        self.turns.range(..=ply).next_back().map_or(&[], |(_, lines)| lines)
    }

    /// Returns the last depth that the bot reported in each turn.
    pub fn depths(&self) -> impl Iterator<Item = u32> {
        self.depths.values().copied()
    }
}

/// Splits `  0.123456 < text` into direction and text.
fn timed_line(line: &str) -> Option<(char, &str)> {
    let (time, rest) = line.trim_start().split_once(' ')?;
    time.parse::<f64>().ok()?;
    let direction = rest.chars().next().filter(|c| "<>!*".contains(*c))?;
    Some((direction, rest[1..].trim_start()))
}

/// Finds `depth=9` or `depth 9` in a line of a bot.
fn reported_depth(line: &str) -> Option<u32> {
    let at = line.find("depth")?;
    let rest = line[at + "depth".len()..].trim_start_matches(['=', ':', ' ']);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
    digits.parse().ok().filter(|depth| (1..1000).contains(depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_has_lines_and_depths_by_turn() {
        let log = GameLog::parse(
            "crownhead bot log, version 1\ngame      english\n\n  0.000100 > hello\n\n\
             ply 2\n    1 2 3 4 5 6 7 8\n  1 . b . b . b . b\n  0.100000 > turn\n\
             0.200000 < # depth=5 nodes=100\n  0.300000 < # depth=7 nodes=900\n\
             0.400000 < move 8-11\n\nply 4\n  0.500000 > turn\n  0.600000 ! Traceback\n",
        );
        assert_eq!(log.lines(4), ["0.500000 > turn", "0.600000 ! Traceback"]);
        assert_eq!(log.lines(3).last().map(String::as_str), Some("0.400000 < move 8-11"));
        assert_eq!(log.depths().collect::<Vec<_>>(), [7]);
        assert!(GameLog::default().lines(9).is_empty());
    }
}
