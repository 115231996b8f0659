//! Tokens to games: the tags, which game it is, the end of one game and the beginning of the next.
//!
//! The moves themselves are read, replayed and checked by [`movetext`](crate::movetext).

use std::io::Read;

use crownhead_rules::{GAMES, Game};

use crate::error::{LocatedError, Location, RecordError, RecordErrorKind};
use crate::lexer::{Lexer, Token};
use crate::limits::MAX_TAGS;
use crate::movetext::{Movetext, MovetextReader, SizeBudget, append_comment};
use crate::record::{
    GameRecord, GameResult, ROSTER, is_placeholder, roster_index, sort_tags, tag_name,
};

/// Reads the games of a file one after the other.
///
/// A game that cannot be read gives an error with its place, and reading goes on with the next one.
/// However large the file, no more than one game is in memory. The input needs no buffer of its
/// own.
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
pub struct Reader<R> {
    lexer: Lexer<R>,
    games: u64,
    /// Remarks between two games that belong to the second.
    carried: Option<String>,
}

/// The tags of one game as they come in.
#[derive(Default)]
struct Tags {
    game: Option<Tag>,
    game_type: Option<Tag>,
    fen: Option<Tag>,
    result: Option<Tag>,
    others: Vec<(String, String)>,
    /// Which names of the roster there have been.
    roster: [bool; ROSTER.len()],
    any: bool,
    last_line: u64,
}

struct Tag {
    value: String,
    location: Location,
}

/// A fault and where in the game it happened: how many variations are open, and whether it is among
/// the tags.
pub(crate) struct GameFailure {
    pub(crate) error: LocatedError,
    pub(crate) depth: usize,
    pub(crate) in_tags: bool,
}

impl From<LocatedError> for GameFailure {
    fn from(fault: LocatedError) -> Self {
        GameFailure { error: fault, depth: 0, in_tags: false }
    }
}

impl<R: Read> Reader<R> {
    /// A reader of this input.
    pub fn new(input: R) -> Self {
        Reader { lexer: Lexer::new(input), games: 0, carried: None }
    }

    fn read_game(&mut self) -> Result<Option<GameRecord>, GameFailure> {
        let mut budget = SizeBudget::default();
        let mut comment = None;
        if let Some(text) = self.carried.take() {
            append_comment(&mut comment, &text, &mut budget, self.lexer.place())?;
        }
        let mut tags = Tags::default();
        loop {
            let token = self.lexer.next();
            let empty = !tags.any && comment.is_none();
            let step = match token {
                Ok(Token::Tag) if tags.are_complete(&self.lexer) => break,
                Ok(Token::Tag) => tags.add(&self.lexer, &mut budget),
                Ok(Token::Comment) => {
                    append_comment(&mut comment, self.lexer.text(), &mut budget, self.lexer.place())
                }
                // A second separator after the game before.
                Ok(Token::Result(_)) if empty => Ok(()),
                Ok(Token::End) if empty => return Ok(None),
                Ok(_) => break,
                Err(fault) => Err(fault),
            };
            step.map_err(|fault| GameFailure { error: fault, depth: 0, in_tags: tags.any })?;
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

    /// Remarks behind the result: in the same line they belong to the game, later ones to the next,
    /// if there is one.
    fn trailing_comments(
        &mut self,
        comment: &mut Option<String>,
        mut budget: SizeBudget,
        ended: bool,
    ) -> Result<(), GameFailure> {
        if !ended {
            return Ok(()); // what comes next is the next game
        }
        let line = self.lexer.place().line;
        let mut later = SizeBudget::default();
        loop {
            match self.lexer.next() {
                Ok(Token::Comment) if self.lexer.place().line == line => {
                    append_comment(comment, self.lexer.text(), &mut budget, self.lexer.place())?;
                }
                Ok(Token::Comment) => {
                    append_comment(
                        &mut self.carried,
                        self.lexer.text(),
                        &mut later,
                        self.lexer.place(),
                    )?;
                }
                Ok(Token::End) => {
                    self.lexer.unread();
                    if let Some(text) = self.carried.take() {
                        append_comment(comment, &text, &mut budget, self.lexer.place())?;
                    }
                    return Ok(());
                }
                Ok(_) => {
                    self.lexer.unread();
                    return Ok(());
                }
                // It is the next game's fault, which finds it again.
                Err(fault) => {
                    self.lexer.put_back(fault);
                    return Ok(());
                }
            }
        }
    }

    /// Passes the rest of a game that could not be read: up to its result or to the tags of the
    /// next.
    fn skip_rest(&mut self, mut depth: usize, mut in_tags: bool) {
        self.carried = None;
        let mut line = self.lexer.place().line;
        loop {
            match self.lexer.next() {
                Ok(Token::Tag) if in_tags => {
                    // After an empty line the name that games begin with begins a game.
                    let last = std::mem::replace(&mut line, self.lexer.place().line);
                    if line > last + 1 && tag_name(self.lexer.name()) == ROSTER[0].0 {
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

    /// Passes what is said in the line of a result.
    fn skip_trailing_comments(&mut self) {
        let line = self.lexer.place().line;
        loop {
            match self.lexer.next() {
                Ok(Token::Comment) if self.lexer.place().line == line => {}
                Ok(_) => return self.lexer.unread(),
                Err(fault) => return self.lexer.put_back(fault),
            }
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read_game() {
            Ok(None) => None,
            Ok(Some(record)) => {
                self.games += 1;
                Some(Ok(record))
            }
            Err(GameFailure { error: fault, depth, in_tags }) => {
                self.games += 1;
                self.skip_rest(depth, in_tags);
                Some(Err(fault.in_game(self.games)))
            }
        }
    }
}

impl Tags {
    /// Whether the tag that comes next is another game's: after an empty line a name of the roster
    /// comes again. A game may have neither moves nor a result.
    fn are_complete<R: Read>(&self, lexer: &Lexer<R>) -> bool {
        let again =
            || roster_index(&tag_name(lexer.name())).is_some_and(|place| self.roster[place]);
        self.any && lexer.place().line > self.last_line + 1 && again()
    }

    fn add<R: Read>(
        &mut self,
        lexer: &Lexer<R>,
        budget: &mut SizeBudget,
    ) -> Result<(), LocatedError> {
        self.any = true;
        self.last_line = lexer.place().line;
        let name = tag_name(lexer.name());
        if let Some(place) = roster_index(&name) {
            self.roster[place] = true;
        }
        let (value, place) = (lexer.text(), lexer.place());
        let field = match name.as_str() {
            "Game" if is_game_id(value) => &mut self.game,
            "GameType" => &mut self.game_type,
            "FEN" => &mut self.fen,
            "Result" => &mut self.result,
            "SetUp" => return Ok(()), // says no more than that there is a FEN
            _ if is_placeholder(&name, value) => return Ok(()),
            _ => {
                budget.spend_text(name.len() + value.len(), place)?;
                if self.others.len() == MAX_TAGS {
                    let message = format!("the game has more than {MAX_TAGS} tags");
                    return Err(LocatedError::new(place, RecordErrorKind::Limit, message));
                }
                self.others.push((name, value.to_string()));
                return Ok(());
            }
        };
        match field {
            Some(first) if first.value != value => {
                let message = format!("the tag {name} is given twice, with different values");
                Err(LocatedError::new(place, RecordErrorKind::Tag, message))
            }
            Some(_) => Ok(()),
            None => {
                budget.spend_text(value.len(), place)?;
                *field = Some(Tag { value: value.to_string(), location: place });
                Ok(())
            }
        }
    }

    /// Which game it is: the tag `Game` says so, or `GameType` does, or it is English checkers.
    fn game(&self) -> Result<Game, LocatedError> {
        let fault = |tag: &Tag, message: String| {
            LocatedError::new(tag.location, RecordErrorKind::Tag, message)
        };
        if let Some(tag) = &self.game {
            return tag.value.parse().map_err(|error| fault(tag, format!("Game: {error}")));
        }
        if let Some(tag) = &self.game_type {
            let number = tag.value.split(',').next().unwrap_or("").trim();
            if !matches!(number, "21" | "" | "?") {
                let shown: String = number.chars().take(20).collect();
                let message =
                    format!("GameType {shown:?} is not played here: English checkers is 21");
                return Err(fault(tag, message));
            }
        }
        Ok(Game::default())
    }
}

/// Whether the tag `Game` is ours. Others have used it to number the games of a match.
pub(crate) fn is_game_id(value: &str) -> bool {
    let id = value.split(':').next().unwrap_or(value).trim();
    value.starts_with(|c: char| c.is_ascii_lowercase())
        || GAMES.iter().any(|game| game.id.eq_ignore_ascii_case(id))
}

/// PDN 3.0 has the result in its tag and ends every game with `*`; older files have it behind the
/// moves. If both are there and differ, the tag counts and the other is kept in a tag, as is a
/// result that cannot be read.
fn resolve_result(record: &mut GameRecord, tag: Option<Tag>, behind: Option<GameResult>) {
    let behind = behind.unwrap_or_default();
    let value = tag.map(|tag| tag.value).unwrap_or_default();
    let stated = match GameResult::parse(&value) {
        Some(result) => result,
        None => {
            if !is_placeholder("Result", &value) {
                record.tags.push(("ResultText".to_string(), value));
            }
            GameResult::Unknown
        }
    };
    record.result = if stated == GameResult::Unknown { behind } else { stated };
    if behind != GameResult::Unknown && behind != record.result {
        record.tags.push(("ResultInMoves".to_string(), behind.text().to_string()));
    }
}
