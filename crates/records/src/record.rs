//! A recorded game: tags, moves with comments and variations, result.

use std::fmt;
use std::str::FromStr;

use crownhead_rules::{Game, Outcome, Side};

/// A recorded game.
///
/// A record from a [`Reader`](crate::Reader) has been replayed: its moves are legal and in
/// canonical form. [`write_game`](crate::write_game) does not check the moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameRecord {
    /// The game and its options.
    pub game: Game,
    /// The tags without a field of their own (`Game`, `GameType`, `Result`, `SetUp` and `FEN` have
    /// one). Those of the seven-tag roster come first; roster tags with a placeholder (`"?"`) are
    /// omitted.
    pub tags: Vec<(String, String)>,
    /// The start position, if it is not the default one.
    pub start: Option<String>,
    /// The moves.
    pub line: Line,
    /// The result.
    pub result: GameResult,
}

/// A sequence of moves: a game or a variation.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Line {
    /// Comment before the first move.
    pub comment: Option<String>,
    /// The moves.
    pub plies: Vec<Ply>,
}

/// One move of one player.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ply {
    /// The move as text.
    pub text: String,
    /// Numeric annotation glyphs: 1 is `!`, 2 `?`, 3 `!!`, 4 `??`, 5 `!?`, 6 `?!`, 7 a forced move.
    pub nags: Vec<u8>,
    /// Comment on the move, without line breaks; runs of white space are one space.
    pub comment: Option<String>,
    /// Alternatives to this move.
    pub variations: Vec<Line>,
}

impl Ply {
    /// Returns a move without annotations.
    pub fn new(text: impl Into<String>) -> Ply {
        Ply { text: text.into(), ..Ply::default() }
    }

    /// Returns the move with its annotation symbols: `22-18?!`.
    pub fn annotated(&self) -> String {
        let mut text = self.text.clone();
        for &nag in &self.nags {
            match (nag, nag_symbol(nag)) {
                (0, _) => {}
                (7, _) => text.push('□'),
                (_, Some(symbol)) => text.push_str(symbol),
                (_, None) => text.push_str(&format!("${nag}")),
            }
        }
        text
    }
}

/// Returns the symbol of a numeric annotation glyph; `None` if PDN has none for it.
pub(crate) fn nag_symbol(nag: u8) -> Option<&'static str> {
    let index = usize::from(nag).checked_sub(1)?;
    ["!", "?", "!!", "??", "!?", "?!"].get(index).copied()
}

/// Result of a recorded game.
///
/// `1-0` is a win of the player who moves first; see the [crate documentation](crate).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum GameResult {
    /// `1-0`: the player who moves first won.
    FirstWins,
    /// `0-1`: the player who moves second won.
    SecondWins,
    /// `1/2-1/2`.
    Draw,
    /// `0-0`: both players lost.
    BothLose,
    /// `*`: unfinished or unknown.
    #[default]
    Unknown,
}

impl GameResult {
    /// Returns the PDN text of the result.
    pub const fn text(self) -> &'static str {
        match self {
            GameResult::FirstWins => "1-0",
            GameResult::SecondWins => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::BothLose => "0-0",
            GameResult::Unknown => "*",
        }
    }

    /// Parses a result in any common spelling: one or two points for a win, `½`, other dashes, a
    /// colon, spaces.
    pub fn parse(text: &str) -> Option<GameResult> {
        Some(match text {
            "1-0" | "2-0" => GameResult::FirstWins,
            "0-1" | "0-2" => GameResult::SecondWins,
            "1/2-1/2" | "1-1" | "1/2" | "½-½" | "½" | "0.5-0.5" => GameResult::Draw,
            "0-0" => GameResult::BothLose,
            "*" => GameResult::Unknown,
            text if text.len() < 32 && text.contains(is_sloppy) => {
                let normal: String = text.chars().filter_map(normalise).collect();
                return GameResult::parse(&normal);
            }
            _ => return None,
        })
    }
}

fn is_sloppy(c: char) -> bool {
    normalise(c) != Some(c)
}

/// Normalises a character of a result; `None` for white space.
fn normalise(c: char) -> Option<char> {
    match c {
        '‐' | '‑' | '‒' | '–' | '—' | '−' | ':' => Some('-'),
        c if c.is_whitespace() => None,
        c => Some(c),
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Error of a text that is not a result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("invalid result {0:?}: write 1-0, 0-1, 1/2-1/2, 0-0 or *")]
pub struct ParseResultError(pub String);

impl FromStr for GameResult {
    type Err = ParseResultError;

    fn from_str(text: &str) -> Result<Self, ParseResultError> {
        GameResult::parse(text).ok_or_else(|| ParseResultError(text.to_string()))
    }
}

impl From<Outcome> for GameResult {
    fn from(outcome: Outcome) -> Self {
        match outcome.winner {
            Some(Side::First) => GameResult::FirstWins,
            Some(Side::Second) => GameResult::SecondWins,
            None => GameResult::Draw,
        }
    }
}

impl GameRecord {
    /// Returns a record without moves.
    pub fn new(game: Game) -> GameRecord {
        let (line, result) = (Line::default(), GameResult::default());
        GameRecord { game, tags: Vec::new(), start: None, line, result }
    }

    /// Returns the value of a tag.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Sets or replaces the value of a tag.
    pub fn set_tag(&mut self, name: &str, value: impl Into<String>) {
        let name = tag_name(name);
        match self.tags.iter_mut().find(|(n, _)| *n == name) {
            Some((_, current)) => *current = value.into(),
            None => self.tags.push((name, value.into())),
        }
        sort_tags(&mut self.tags);
    }

    /// Returns the name of a player.
    pub fn player(&self, side: Side) -> Option<&str> {
        self.tag(player_tag(side))
    }

    /// Sets the name of a player.
    pub fn set_player(&mut self, side: Side, name: impl Into<String>) {
        self.set_tag(player_tag(side), name);
    }
}

/// Returns the tag with the name of a player: `Black` for the player who moves first and `White`
/// for the other one, whatever their colours in the game.
pub const fn player_tag(side: Side) -> &'static str {
    match side {
        Side::First => "Black",
        Side::Second => "White",
    }
}

/// The seven-tag roster of PDN, in order, with the placeholders for unknown values.
pub(crate) const ROSTER: [(&str, &str); 7] = [
    ("Event", "?"),
    ("Site", "?"),
    ("Date", "????.??.??"),
    ("Round", "?"),
    ("White", "?"),
    ("Black", "?"),
    ("Result", "*"),
];

/// Returns the index of a name in the roster.
pub(crate) fn roster_index(name: &str) -> Option<usize> {
    ROSTER.iter().position(|(n, _)| *n == name)
}

/// Returns whether the value of a roster tag is empty or a placeholder.
pub(crate) fn is_placeholder(name: &str, value: &str) -> bool {
    let placeholder = roster_index(name).map(|index| ROSTER[index].1);
    placeholder.is_some_and(|unknown| value.trim().is_empty() || value == "?" || value == unknown)
}

/// Moves the roster tags to the front, in roster order; the others keep their order.
pub(crate) fn sort_tags(tags: &mut [(String, String)]) {
    tags.sort_by_key(|(name, _)| roster_index(name).unwrap_or(ROSTER.len()));
}

/// Returns a tag name as required by the standard: a capital, then letters, digits and `_`. Names
/// with a meaning get their standard spelling.
pub(crate) fn tag_name(name: &str) -> String {
    const OTHERS: [&str; 4] = ["Game", "GameType", "SetUp", "FEN"];
    let mut standard = ROSTER.iter().map(|(name, _)| *name).chain(OTHERS);
    if let Some(standard) = standard.find(|standard| standard.eq_ignore_ascii_case(name)) {
        return standard.to_string();
    }
    let mut clean = String::with_capacity(name.len());
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        clean.push('X');
    }
    clean.extend(name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
    clean[..1].make_ascii_uppercase();
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_parse_in_every_spelling() {
        use GameResult::*;
        for (result, texts) in [
            (FirstWins, &["1-0", "2-0", "1 - 0", "1–0", "1:0", " 1-0 "][..]),
            (SecondWins, &["0-1", "0-2", "0 - 2", "0−1"]),
            (Draw, &["1/2-1/2", "1/2 - 1/2", "1-1", "1/2", "½-½", "½ – ½", "½", "0.5-0.5"]),
            (BothLose, &["0-0"]),
            (Unknown, &["*"]),
        ] {
            for text in texts {
                assert_eq!(GameResult::parse(text), Some(result), "{text}");
            }
            assert_eq!(GameResult::parse(result.text()), Some(result));
        }
        for text in ["", "1-5", "10-1", "-", "1-", "win", "4-6"] {
            assert_eq!(GameResult::parse(text), None, "{text}");
        }
    }

    #[test]
    fn tag_names_are_normalised() {
        assert_eq!(tag_name("event"), "Event");
        assert_eq!(tag_name("Setup"), "SetUp");
        assert_eq!(tag_name("GAMETYPE"), "GameType");
        assert_eq!(tag_name("whiteElo"), "WhiteElo");
        assert_eq!(tag_name("White Elo"), "White_Elo");
        assert_eq!(tag_name("1st"), "X1st");
        assert_eq!(tag_name("Éclair"), "X_clair");
        assert_eq!(tag_name(""), "X");
        for name in ["event", "White Elo", "Éclair", "1st", "x-y"] {
            assert_eq!(tag_name(&tag_name(name)), tag_name(name));
        }
    }

    #[test]
    fn tags_are_in_roster_order() {
        let mut record = GameRecord::new("english".parse().unwrap());
        record.set_tag("Annotator", "A");
        record.set_player(Side::First, "B");
        record.set_tag("event", "E");
        record.set_tag("Event", "F");
        let names: Vec<_> = record.tags.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Event", "Black", "Annotator"]);
        assert_eq!(record.tag("Event"), Some("F"));
        assert_eq!(record.player(Side::Second), None);
    }
}
