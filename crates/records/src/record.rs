//! A game as a file holds it: who played what when, the moves with all that was said about them,
//! the result.

use std::fmt;
use std::str::FromStr;

use crownhead_rules::{Game, Outcome, Side};

/// A recorded game.
///
/// What [`Reader`](crate::Reader) returns has been replayed: every move is legal and has its one
/// canonical text. A record that is put together by hand is written as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameRecord {
    /// The game and its options.
    pub game: Game,
    /// The tags that have no field of their own (`Game`, `GameType`, `Result`, `SetUp` and `FEN`
    /// have). The ones of the seven-tag roster come first; those of them that say nothing (`"?"`)
    /// are left out.
    pub tags: Vec<(String, String)>,
    /// The position the game starts from, if it is not the usual one.
    pub start: Option<String>,
    /// The moves.
    pub line: Line,
    /// How it ended.
    pub result: GameResult,
}

/// Moves that follow one another: a game or a variation.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Line {
    /// What is said before the first move.
    pub comment: Option<String>,
    /// The moves.
    pub plies: Vec<Ply>,
}

/// One turn of one player.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ply {
    /// The move.
    pub text: String,
    /// Annotations by number (numeric annotation glyphs): 1 is `!`, 2 `?`, 3 `!!`, 4 `??`, 5 `!?`,
    /// 6 `?!`, 7 a forced move.
    pub nags: Vec<u8>,
    /// What is said about the move, in one line: blanks and line breaks count as one space.
    pub comment: Option<String>,
    /// What could have been played instead of this move.
    pub variations: Vec<Line>,
}

impl Ply {
    /// A move about which nothing is said.
    pub fn new(text: impl Into<String>) -> Ply {
        Ply { text: text.into(), ..Ply::default() }
    }
}

/// How a recorded game ended.
///
/// `1-0` is a win of the player who moves first, see the [crate's documentation](crate).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum GameResult {
    /// `1-0`: the player who moves first won.
    FirstWins,
    /// `0-1`: the player who moves second won.
    SecondWins,
    /// `1/2-1/2`.
    Draw,
    /// `0-0`: the game was declared lost for both.
    BothLose,
    /// `*`: unfinished or not known.
    #[default]
    Unknown,
}

impl GameResult {
    /// The one text of the result.
    pub const fn text(self) -> &'static str {
        match self {
            GameResult::FirstWins => "1-0",
            GameResult::SecondWins => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::BothLose => "0-0",
            GameResult::Unknown => "*",
        }
    }

    /// Reads a result in any usual spelling: with one point for a win or two, with `½`, with other
    /// dashes, a colon or blanks.
    pub fn parse(text: &str) -> Option<GameResult> {
        Some(match text {
            "1-0" | "2-0" => GameResult::FirstWins,
            "0-1" | "0-2" => GameResult::SecondWins,
            "1/2-1/2" | "1-1" | "1/2" | "½-½" | "½" | "0.5-0.5" => GameResult::Draw,
            "0-0" => GameResult::BothLose,
            "*" => GameResult::Unknown,
            text if text.len() < 32 && text.contains(odd) => {
                let plain: String = text.chars().filter_map(plain).collect();
                return GameResult::parse(&plain);
            }
            _ => return None,
        })
    }
}

fn odd(c: char) -> bool {
    plain(c) != Some(c)
}

/// A character of a result without its sloppy spellings; a blank is none.
fn plain(c: char) -> Option<char> {
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

/// The text is no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is no result: results are 1-0, 0-1, 1/2-1/2, 0-0 and *")]
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
    /// A game in which nothing has happened yet.
    pub fn new(game: Game) -> GameRecord {
        let (line, result) = (Line::default(), GameResult::default());
        GameRecord { game, tags: Vec::new(), start: None, line, result }
    }

    /// The value of a tag, if there is one of that name.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Gives a tag a value, instead of the one it may have.
    pub fn set_tag(&mut self, name: &str, value: impl Into<String>) {
        let name = tag_name(name);
        match self.tags.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = value.into(),
            None => self.tags.push((name, value.into())),
        }
        sort_tags(&mut self.tags);
    }

    /// The name of a player.
    pub fn player(&self, side: Side) -> Option<&str> {
        self.tag(player_tag(side))
    }

    /// Names a player.
    pub fn set_player(&mut self, side: Side, name: impl Into<String>) {
        self.set_tag(player_tag(side), name);
    }
}

/// The tag with the name of a player. Whoever moves first is `Black` in every game, blue of Chinese
/// checkers too, and whoever moves second is `White`, red too.
pub const fn player_tag(side: Side) -> &'static str {
    match side {
        Side::First => "Black",
        Side::Second => "White",
    }
}

/// The tags that every game should have, in their order, and what they say when it is not known.
pub(crate) const ROSTER: [(&str, &str); 7] = [
    ("Event", "?"),
    ("Site", "?"),
    ("Date", "????.??.??"),
    ("Round", "?"),
    ("White", "?"),
    ("Black", "?"),
    ("Result", "*"),
];

/// Where in the roster a name stands.
pub(crate) fn roster_index(name: &str) -> Option<usize> {
    ROSTER.iter().position(|(n, _)| *n == name)
}

/// Whether a tag of the roster has a value that says nothing.
pub(crate) fn is_placeholder(name: &str, value: &str) -> bool {
    let unknown = roster_index(name).map(|place| ROSTER[place].1);
    unknown.is_some_and(|unknown| value.trim().is_empty() || value == "?" || value == unknown)
}

/// Puts the tags of the roster first, in its order, and leaves the others in theirs.
pub(crate) fn sort_tags(tags: &mut [(String, String)]) {
    tags.sort_by_key(|(name, _)| roster_index(name).unwrap_or(ROSTER.len()));
}

/// A tag's name as the standard wants it: a capital first, then letters, digits and `_`. The names
/// that mean something get their usual spelling.
pub(crate) fn tag_name(name: &str) -> String {
    const OTHERS: [&str; 4] = ["Game", "GameType", "SetUp", "FEN"];
    let known = ROSTER.iter().map(|(name, _)| *name).chain(OTHERS);
    if let Some(known) = known.into_iter().find(|known| known.eq_ignore_ascii_case(name)) {
        return known.to_string();
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
    fn results_in_every_spelling() {
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
    fn names_of_tags() {
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
    fn tags_keep_the_order_of_the_roster() {
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
