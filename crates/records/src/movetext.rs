//! The moves of one game: replayed as they are read, so that none is kept that the rules refuse.
//!
//! Only the moves of the pieces are checked. That a game was drawn by counters is the business of
//! whoever played it: old games know neither our counters nor our limits.

use std::io::Read;
use std::mem::take;

use crownhead_rules::{GameVisitor, Notation, Side};

use crate::error::{LocatedError, Location, RecordErrorKind};
use crate::lexer::{Lexer, Token};
use crate::limits::{MAX_DEPTH, MAX_NAGS, MAX_PLIES, MAX_TEXT};
use crate::reader::GameFailure;
use crate::record::{GameResult, Line, Ply};

/// Reads the moves that come next, from the given position.
pub(crate) struct MovetextReader<'a, R> {
    pub(crate) lexer: &'a mut Lexer<R>,
    /// The text of the position and where it stands.
    pub(crate) start: Option<(String, Location)>,
    /// What was said before the moves.
    pub(crate) comment: Option<String>,
    pub(crate) budget: SizeBudget,
}

/// What came of it.
pub(crate) struct Movetext {
    pub(crate) line: Line,
    pub(crate) start: Option<String>,
    /// The result behind the moves, if there is one.
    pub(crate) result: Option<GameResult>,
    pub(crate) budget: SizeBudget,
}

/// What a game has used of the limits.
#[derive(Default)]
pub(crate) struct SizeBudget {
    text: usize,
    plies: usize,
    nags: usize,
}

impl SizeBudget {
    pub(crate) fn spend_text(&mut self, bytes: usize, place: Location) -> Result<(), LocatedError> {
        spend(&mut self.text, bytes, MAX_TEXT, "bytes of comments and tags", place)
    }
}

fn spend(
    used: &mut usize,
    more: usize,
    limit: usize,
    what: &str,
    place: Location,
) -> Result<(), LocatedError> {
    *used += more;
    if *used > limit {
        let message = format!("the game has more than {limit} {what}");
        return Err(LocatedError::new(place, RecordErrorKind::Limit, message));
    }
    Ok(())
}

/// Adds a remark to what has been said.
pub(crate) fn append_comment(
    comment: &mut Option<String>,
    more: &str,
    budget: &mut SizeBudget,
    place: Location,
) -> Result<(), LocatedError> {
    if more.is_empty() {
        return Ok(());
    }
    budget.spend_text(more.len() + 1, place)?;
    match comment {
        Some(text) => {
            text.push(' ');
            text.push_str(more);
        }
        None => *comment = Some(more.to_string()),
    }
    Ok(())
}

/// The game or a variation of it, as far as it has been read.
struct OpenLine<P> {
    position: P,
    /// The position before the last ply: where its variations begin.
    before: Option<P>,
    line: Line,
    /// Plies from the start of the game to the start of this line.
    first_ply: usize,
    /// Annotations that came before any move; they go to the first.
    nags: Vec<u8>,
    opened: Location,
}

impl<P> OpenLine<P> {
    fn comment(&mut self) -> &mut Option<String> {
        match self.line.plies.last_mut() {
            Some(ply) => &mut ply.comment,
            None => &mut self.line.comment,
        }
    }
}

impl<R: Read> GameVisitor for MovetextReader<'_, R> {
    type Output = Result<Movetext, GameFailure>;

    fn visit<P: Notation>(self, options: &P::Options) -> Result<Movetext, GameFailure> {
        let MovetextReader { lexer, start, comment, budget } = self;
        let read = |text: &str, place| {
            P::parse_position(text, options).map_err(|error| {
                LocatedError::new(place, RecordErrorKind::Position, error.to_string())
            })
        };
        let position = match &start {
            Some((text, place)) => read(text, *place)?,
            None => P::start(options),
        };
        let set_up = start.is_some();
        let opened = lexer.place();
        let line = Line { comment, plies: Vec::new() };
        let mut main =
            OpenLine { position, before: None, line, first_ply: 0, nags: Vec::new(), opened };
        let mut start = set_up.then(|| main.position.format_position());

        // A position may also be set up in front of the moves.
        loop {
            match lexer.next()? {
                Token::Setup if start.is_none() => {
                    main.position = read(lexer.text(), lexer.place())?;
                    start = Some(main.position.format_position());
                }
                _ => break,
            }
        }
        lexer.unread();

        let numbered_from = usize::from(main.position.side() == Side::Second);
        main.first_ply = numbered_from;
        let mut replay = Replay { lexer, outer: Vec::new(), line: main, budget };
        match replay.run() {
            Ok(result) => {
                Ok(Movetext { line: replay.line.line, start, result, budget: replay.budget })
            }
            Err(fault) => {
                Err(GameFailure { error: fault, depth: replay.outer.len(), in_tags: false })
            }
        }
    }
}

struct Replay<'a, R, P> {
    lexer: &'a mut Lexer<R>,
    /// The lines in which the current one is a variation, the game first.
    outer: Vec<OpenLine<P>>,
    line: OpenLine<P>,
    budget: SizeBudget,
}

impl<R: Read, P: Notation> Replay<'_, R, P> {
    fn run(&mut self) -> Result<Option<GameResult>, LocatedError> {
        loop {
            match self.lexer.next()? {
                Token::Word => self.play()?,
                Token::Number(None) => {}
                Token::Number(Some(number)) => self.check_number(number)?,
                Token::Nag(nag) => self.annotate(nag)?,
                Token::Comment => self.comment()?,
                Token::VariationStart => self.open()?,
                Token::VariationEnd => self.close()?,
                Token::Setup => {
                    return self
                        .syntax_error("a position set up in the middle of a game cannot be kept");
                }
                Token::Result(result) if self.outer.is_empty() => {
                    self.flush_nags()?;
                    return Ok(Some(result));
                }
                // Behind a variation a result is an opinion.
                Token::Result(GameResult::Unknown) => {}
                Token::Result(result) => {
                    append_comment(
                        self.line.comment(),
                        result.text(),
                        &mut self.budget,
                        self.lexer.place(),
                    )?;
                }
                Token::Tag | Token::End => {
                    self.lexer.unread();
                    if !self.outer.is_empty() {
                        let message = "the variation is not closed before the game ends";
                        return Err(LocatedError::new(
                            self.line.opened,
                            RecordErrorKind::Syntax,
                            message,
                        ));
                    }
                    self.flush_nags()?;
                    return Ok(None);
                }
            }
        }
    }

    fn syntax_error<T>(&self, message: impl Into<String>) -> Result<T, LocatedError> {
        Err(LocatedError::new(self.lexer.place(), RecordErrorKind::Syntax, message))
    }

    fn play(&mut self) -> Result<(), LocatedError> {
        let place = self.lexer.place();
        spend(&mut self.budget.plies, 1, MAX_PLIES, "moves", place)?;
        let level = &mut self.line;
        let mv = match level.position.parse_recorded_move(self.lexer.text()) {
            Ok(mv) => mv,
            Err(error) => {
                let text: String = self.lexer.text().chars().take(40).collect();
                let message = match error.reason.contains(&text) {
                    true => error.reason,
                    false => format!("{text}: {}", error.reason),
                };
                match join_jumps(self.lexer, &level.position) {
                    Some(mv) => mv,
                    None => return Err(LocatedError::new(place, RecordErrorKind::Move, message)),
                }
            }
        };
        let text = level.position.format_move(mv);
        level.line.plies.push(Ply { text, nags: take(&mut level.nags), ..Ply::default() });
        level.before = Some(level.position.clone());
        level.position.play(mv);
        Ok(())
    }

    /// A number without a point counts as the number of a move where it is the right one.
    fn check_number(&self, number: u32) -> Result<(), LocatedError> {
        let plies = self.line.first_ply + self.line.line.plies.len();
        if u32::try_from(plies / 2 + 1) == Ok(number) {
            return Ok(());
        }
        self.syntax_error(format!("{number} is no move, and here begins move {}", plies / 2 + 1))
    }

    fn annotate(&mut self, nag: u8) -> Result<(), LocatedError> {
        spend(&mut self.budget.nags, 1, MAX_NAGS, "annotations", self.lexer.place())?;
        match self.line.line.plies.last_mut() {
            Some(ply) => ply.nags.push(nag),
            None => self.line.nags.push(nag),
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), LocatedError> {
        append_comment(self.line.comment(), self.lexer.text(), &mut self.budget, self.lexer.place())
    }

    fn open(&mut self) -> Result<(), LocatedError> {
        let Some(before) = self.line.before.clone() else {
            return self.syntax_error("a variation follows the move it replaces, and here is none");
        };
        if self.outer.len() == MAX_DEPTH {
            let message = format!("variations lie more than {MAX_DEPTH} deep in one another");
            return Err(LocatedError::new(self.lexer.place(), RecordErrorKind::Limit, message));
        }
        let inner = OpenLine {
            position: before,
            before: None,
            line: Line::default(),
            first_ply: self.line.first_ply + self.line.line.plies.len() - 1,
            nags: Vec::new(),
            opened: self.lexer.place(),
        };
        self.outer.push(std::mem::replace(&mut self.line, inner));
        Ok(())
    }

    fn close(&mut self) -> Result<(), LocatedError> {
        self.flush_nags()?;
        let Some(outer) = self.outer.pop() else {
            return self.syntax_error("')' closes no variation");
        };
        let line = std::mem::replace(&mut self.line, outer).line;
        if line.plies.is_empty() {
            // Parentheses round a remark.
            let text = line.comment.unwrap_or_default();
            return append_comment(
                self.line.comment(),
                &text,
                &mut self.budget,
                self.lexer.place(),
            );
        }
        if let Some(ply) = self.line.line.plies.last_mut() {
            ply.variations.push(line);
        }
        Ok(())
    }

    /// Annotations of a line without a move become words, lest they be lost.
    fn flush_nags(&mut self) -> Result<(), LocatedError> {
        for nag in take(&mut self.line.nags) {
            append_comment(
                self.line.comment(),
                &format!("${nag}"),
                &mut self.budget,
                self.lexer.place(),
            )?;
        }
        Ok(())
    }
}

/// A jump of several hops written as several, `11x18 18x25`: the words that continue one another
/// are one move. The lexer stands on the word that was refused, and afterwards on the last word of
/// the move.
fn join_jumps<R: Read, P: Notation>(lexer: &mut Lexer<R>, position: &P) -> Option<P::Move> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut path = lexer.text().to_string();
    while path.len() < 64 && path.starts_with(is_digit) && path.contains(|c| !is_digit(c)) {
        match lexer.next() {
            Ok(Token::Word) => {}
            Ok(_) => {
                lexer.unread();
                break;
            }
            Err(fault) => {
                lexer.put_back(fault);
                break;
            }
        }
        let end =
            path.trim_start_matches(|c| !is_digit(c)).rsplit(|c| !is_digit(c)).next()?.to_string();
        let more =
            lexer.text().strip_prefix(end.as_str()).filter(|more| !more.starts_with(is_digit))?;
        path.push_str(more);
        if let Ok(mv) = position.parse_move(&path) {
            return Some(mv);
        }
    }
    None
}
