//! Iterator over the games of a file: parses tags, finds the game they name and the end of each
//! game.
//!
//! [`movetext`](crate::movetext) parses and replays the moves.

use std::io::Read;
use std::ops::Range;

use crownhead_rules::{GAMES, Game};

use crate::error::{LocatedError, Location, RecordError, RecordErrorKind};
use crate::lexer::{Lexer, Token};
use crate::limits::MAX_TAGS;
use crate::movetext::{Movetext, MovetextReader, SizeBudget, append_comment};
use crate::record::{
    GameRecord, GameResult, ROSTER, is_placeholder, roster_index, sort_tags, tag_name,
};

/// Iterator over the games of a file.
///
/// An invalid game is an error with line and column; reading continues with the next game. Only one
/// game is in memory at a time. The input need not be buffered.
///
/// ```
/// use crownhead_records::{GameResult, Reader};
///
/// let text = "[Black \"A\"]\n[White \"B\"]\n1. 11-15 23-19 2. 8-11 1-0\n\n1. 11-16 9-14 *";
/// let mut games = Reader::new(text.as_bytes());
///
/// let first = games.next().unwrap().unwrap();
/// assert_eq!(first.result, GameResult::FirstWins);
/// assert_eq!(first.line.plies[1].text, "23-19");
///
/// let error = games.next().unwrap().unwrap_err();
/// assert_eq!((error.game, error.line, error.column), (2, 5, 10));
/// assert!(games.next().is_none());
/// ```
pub struct Reader<'a> {
    lexer: Lexer<'a>,
    games: u64,
    /// Comments between two games that belong to the second.
    pending_comment: Option<String>,
    /// Where the pending comment starts.
    pending_offset: Option<u64>,
    /// The bytes of the last game.
    range: Range<u64>,
}

/// The tags of a game.
#[derive(Default)]
struct Tags {
    game: Option<Tag>,
    game_type: Option<Tag>,
    fen: Option<Tag>,
    result: Option<Tag>,
    others: Vec<(String, String)>,
    /// Which names of the roster have occurred.
    in_roster: [bool; ROSTER.len()],
    any: bool,
    last_line: u64,
}

struct Tag {
    value: String,
    location: Location,
}

/// An error, and what is needed to find the next game after it.
pub(crate) struct GameFailure {
    pub(crate) error: LocatedError,
    /// Number of open variations.
    pub(crate) depth: usize,
    /// Whether the error is among the tags.
    pub(crate) in_tags: bool,
}

impl From<LocatedError> for GameFailure {
    fn from(error: LocatedError) -> Self {
        GameFailure { error, depth: 0, in_tags: false }
    }
}

impl<'a> Reader<'a> {
    /// Creates a reader.
    pub fn new(input: impl Read + 'a) -> Self {
        Reader {
            lexer: Lexer::new(input),
            games: 0,
            pending_comment: None,
            pending_offset: None,
            range: 0..0,
        }
    }

    /// The bytes of the file that hold the last game: a reader of these bytes alone gives the same
    /// game.
    pub fn game_range(&self) -> Range<u64> {
        self.range.clone()
    }

    fn read_game(&mut self) -> Result<Option<GameRecord>, GameFailure> {
        let mut budget = SizeBudget::default();
        let mut comment = None;
        if let Some(text) = self.pending_comment.take() {
            append_comment(&mut comment, &text, &mut budget, self.lexer.location())?;
        }
        let mut tags = Tags::default();
        loop {
            let token = self.lexer.next();
            let is_empty = !tags.any && comment.is_none();
            let result = match token {
                Ok(Token::Tag) if tags.are_complete(&self.lexer) => break,
                Ok(Token::Tag) => tags.add(&self.lexer, &mut budget),
                Ok(Token::Comment) => append_comment(
                    &mut comment,
                    self.lexer.text(),
                    &mut budget,
                    self.lexer.location(),
                ),
                // A second separator after the previous game.
                Ok(Token::Result(_)) if is_empty => Ok(()),
                Ok(Token::End) if is_empty => return Ok(None),
                Ok(_) => break,
                Err(error) => Err(error),
            };
            result.map_err(|error| GameFailure { error, depth: 0, in_tags: tags.any })?;
        }
        self.lexer.unread();
        let game = tags.game()?;
        let start = tags.fen.take().map(|tag| (tag.value, tag.location));
        let text = MovetextReader { lexer: &mut self.lexer, start, comment, budget };
        let Movetext { mut line, start, result, budget } = game.visit(text)?;
        let comment = match line.plies.last_mut() {
            Some(ply) => &mut ply.comment,
            None => &mut line.comment,
        };
        self.trailing_comments(comment, budget, result.is_some())?;
        let mut record =
            GameRecord { game, tags: tags.others, start, line, result: GameResult::Unknown };
        resolve_result(&mut record, tags.result, result);
        sort_tags(&mut record.tags);
        Ok(Some(record))
    }

    /// Reads comments after the result. Those on the same line belong to this game, later ones to
    /// the next game, if there is one.
    fn trailing_comments(
        &mut self,
        comment: &mut Option<String>,
        mut budget: SizeBudget,
        ended: bool,
    ) -> Result<(), GameFailure> {
        if !ended {
            return Ok(()); // the next token belongs to the next game
        }
        let line = self.lexer.location().line;
        let mut later = SizeBudget::default();
        loop {
            match self.lexer.next() {
                Ok(Token::Comment) if self.lexer.location().line == line => {
                    append_comment(comment, self.lexer.text(), &mut budget, self.lexer.location())?;
                }
                Ok(Token::Comment) => {
                    self.pending_offset.get_or_insert(self.lexer.token_offset());
                    append_comment(
                        &mut self.pending_comment,
                        self.lexer.text(),
                        &mut later,
                        self.lexer.location(),
                    )?;
                }
                Ok(Token::End) => {
                    self.lexer.unread();
                    self.pending_offset = None;
                    if let Some(text) = self.pending_comment.take() {
                        append_comment(comment, &text, &mut budget, self.lexer.location())?;
                    }
                    return Ok(());
                }
                Ok(_) => {
                    self.lexer.unread();
                    return Ok(());
                }
                // The error belongs to the next game.
                Err(error) => {
                    self.lexer.put_back(error);
                    return Ok(());
                }
            }
        }
    }

    /// Skips the rest of an invalid game, up to its result or the tags of the next game.
    fn skip_rest(&mut self, mut depth: usize, mut in_tags: bool) {
        self.pending_comment = None;
        self.pending_offset = None;
        let mut line = self.lexer.location().line;
        loop {
            match self.lexer.next() {
                Ok(Token::Tag) if in_tags => {
                    // After an empty line, the first name of the roster starts a game.
                    let previous = std::mem::replace(&mut line, self.lexer.location().line);
                    if line > previous + 1 && tag_name(self.lexer.name()) == ROSTER[0].0 {
                        break;
                    }
                    continue;
                }
                Ok(Token::Tag) if depth == 0 || self.lexer.is_line_start() => break,
                Ok(Token::End) => break,
                Ok(Token::Result(_)) if depth == 0 => return self.skip_trailing_comments(),
                Ok(Token::VariationStart) => depth += 1,
                Ok(Token::VariationEnd) => depth = depth.saturating_sub(1),
                Ok(Token::Comment) | Err(_) => continue,
                Ok(_) => {}
            }
            in_tags = false;
        }
        self.lexer.unread();
    }

    /// Skips comments on the line of a result.
    fn skip_trailing_comments(&mut self) {
        let line = self.lexer.location().line;
        loop {
            match self.lexer.next() {
                Ok(Token::Comment) if self.lexer.location().line == line => {}
                Ok(_) => return self.lexer.unread(),
                Err(error) => return self.lexer.put_back(error),
            }
        }
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.pending_offset.take().unwrap_or(self.lexer.next_offset());
        let game = self.read_game();
        self.range = start..self.pending_offset.unwrap_or(self.lexer.next_offset());
        match game {
            Ok(None) => None,
            Ok(Some(record)) => {
                self.games += 1;
                Some(Ok(record))
            }
            Err(GameFailure { error, depth, in_tags }) => {
                self.games += 1;
                self.skip_rest(depth, in_tags);
                Some(Err(error.in_game(self.games)))
            }
        }
    }
}

impl Tags {
    /// Returns whether the next tag starts another game: it follows an empty line and repeats a
    /// name of the roster. A game may have neither moves nor a result.
    fn are_complete(&self, lexer: &Lexer<'_>) -> bool {
        let is_repeated =
            || roster_index(&tag_name(lexer.name())).is_some_and(|index| self.in_roster[index]);
        self.any && lexer.location().line > self.last_line + 1 && is_repeated()
    }

    fn add(&mut self, lexer: &Lexer<'_>, budget: &mut SizeBudget) -> Result<(), LocatedError> {
        self.any = true;
        self.last_line = lexer.location().line;
        let name = tag_name(lexer.name());
        if let Some(index) = roster_index(&name) {
            self.in_roster[index] = true;
        }
        let (value, location) = (lexer.text(), lexer.location());
        let field = match name.as_str() {
            "Game" if is_game_id(value) => &mut self.game,
            "GameType" => &mut self.game_type,
            "FEN" => &mut self.fen,
            "Result" => &mut self.result,
            "SetUp" => return Ok(()), // implied by FEN
            _ if is_placeholder(&name, value) => return Ok(()),
            _ => {
                budget.spend_text(name.len() + value.len(), location)?;
                if self.others.len() == MAX_TAGS {
                    let message = format!("the game has more than {MAX_TAGS} tags");
                    return Err(LocatedError::new(location, RecordErrorKind::Limit, message));
                }
                self.others.push((name, value.to_string()));
                return Ok(());
            }
        };
        match field {
            Some(first) if first.value != value => {
                let message = format!("duplicate tag {name} with a different value");
                Err(LocatedError::new(location, RecordErrorKind::Tag, message))
            }
            Some(_) => Ok(()),
            None => {
                budget.spend_text(value.len(), location)?;
                *field = Some(Tag { value: value.to_string(), location });
                Ok(())
            }
        }
    }

    /// Returns the game: that of the tag `Game`, that of `GameType`, or the default.
    fn game(&self) -> Result<Game, LocatedError> {
        let tag_error = |tag: &Tag, message: String| {
            LocatedError::new(tag.location, RecordErrorKind::Tag, message)
        };
        if let Some(tag) = &self.game {
            return tag.value.parse().map_err(|error| tag_error(tag, format!("Game: {error}")));
        }
        if let Some(tag) = &self.game_type {
            let number = tag.value.split(',').next().unwrap_or("").trim();
            if !matches!(number, "" | "?") {
                return game_of_type(number).map_err(|message| tag_error(tag, message));
            }
        }
        Ok(Game::default())
    }
}

/// Returns the first game with this PDN game type.
fn game_of_type(number: &str) -> Result<Game, String> {
    let types = || Game::all().into_iter().zip(GAMES.iter().map(|info| info.pdn_game_type));
    let found =
        types().find(|(_, game_type)| game_type.map(|n| n.to_string()).as_deref() == Some(number));
    found.map(|(game, _)| game).ok_or_else(|| {
        let number: String = number.chars().take(20).collect();
        let supported = types().find_map(|(game, game_type)| Some((game.info().name, game_type?)));
        let (name, game_type) = supported.unwrap_or_default();
        format!("unsupported GameType {number:?}; {name} is {game_type}")
    })
}

/// Returns whether the value of a tag `Game` is a game id. Other programs number the games of a
/// match with it.
pub(crate) fn is_game_id(value: &str) -> bool {
    let id = value.split(':').next().unwrap_or(value).trim();
    value.starts_with(|c: char| c.is_ascii_lowercase())
        || GAMES.iter().any(|game| game.id.eq_ignore_ascii_case(id))
}

/// Sets the result. PDN 3.0 has it in the tag `Result` and ends every game with `*`; older files
/// have it after the moves. If both differ, the tag wins, and the other one is kept in a tag. So is
/// the text of an invalid result.
fn resolve_result(record: &mut GameRecord, tag: Option<Tag>, in_moves: Option<GameResult>) {
    let in_moves = in_moves.unwrap_or_default();
    let value = tag.map(|tag| tag.value).unwrap_or_default();
    let in_tag = match GameResult::parse(&value) {
        Some(result) => result,
        None => {
            if !is_placeholder("Result", &value) {
                record.tags.push(("ResultText".to_string(), value));
            }
            GameResult::Unknown
        }
    };
    record.result = if in_tag == GameResult::Unknown { in_moves } else { in_tag };
    if in_moves != GameResult::Unknown && in_moves != record.result {
        record.tags.push(("ResultInMoves".to_string(), in_moves.text().to_string()));
    }
}
