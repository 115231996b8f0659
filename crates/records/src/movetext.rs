//! Parses and replays the moves of one game, variations included. Illegal moves are errors.
//!
//! Draw counters and turn limits are ignored: old games were played by other rules.

use std::mem::take;

use crownhead_rules::{GameVisitor, Notation, Side};

use crate::error::{LocatedError, Location, RecordErrorKind};
use crate::lexer::{Lexer, Token};
use crate::limits::{MAX_DEPTH, MAX_NAGS, MAX_PLIES, MAX_TEXT};
use crate::reader::GameFailure;
use crate::record::{GameResult, Line, Ply};

/// Reads the moves of a game from a start position.
pub(crate) struct MovetextReader<'a, 'i> {
    pub(crate) lexer: &'a mut Lexer<'i>,
    /// The start position and its location.
    pub(crate) start: Option<(String, Location)>,
    /// Comment before the moves.
    pub(crate) comment: Option<String>,
    pub(crate) budget: SizeBudget,
}

/// The moves of a game.
pub(crate) struct Movetext {
    pub(crate) line: Line,
    pub(crate) start: Option<String>,
    /// The result after the moves, if any.
    pub(crate) result: Option<GameResult>,
    pub(crate) budget: SizeBudget,
}

/// The amounts that count against the size limits.
#[derive(Default)]
pub(crate) struct SizeBudget {
    text: usize,
    plies: usize,
    nags: usize,
}

impl SizeBudget {
    pub(crate) fn spend_text(
        &mut self,
        bytes: usize,
        location: Location,
    ) -> Result<(), LocatedError> {
        spend(&mut self.text, bytes, MAX_TEXT, "bytes of comments and tags", location)
    }
}

fn spend(
    used: &mut usize,
    more: usize,
    limit: usize,
    unit: &str,
    location: Location,
) -> Result<(), LocatedError> {
    *used += more;
    if *used > limit {
        let message = format!("the game has more than {limit} {unit}");
        return Err(LocatedError::new(location, RecordErrorKind::Limit, message));
    }
    Ok(())
}

/// Appends to a comment, with a space between.
pub(crate) fn append_comment(
    comment: &mut Option<String>,
    more: &str,
    budget: &mut SizeBudget,
    location: Location,
) -> Result<(), LocatedError> {
    if more.is_empty() {
        return Ok(());
    }
    budget.spend_text(more.len() + 1, location)?;
    match comment {
        Some(text) => {
            text.push(' ');
            text.push_str(more);
        }
        None => *comment = Some(more.to_string()),
    }
    Ok(())
}

/// The main line or a variation, as read so far.
struct OpenLine<P> {
    position: P,
    /// The position before the last ply, where its variations start.
    before: Option<P>,
    line: Line,
    /// Plies from the start of the game to the start of this line.
    first_ply: usize,
    /// Annotations before the first move, which they belong to.
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

impl GameVisitor for MovetextReader<'_, '_> {
    type Output = Result<Movetext, GameFailure>;

    fn visit<P: Notation>(self, options: &P::Options) -> Result<Movetext, GameFailure> {
        let MovetextReader { lexer, start, comment, budget } = self;
        let parse = |text: &str, location| {
            P::parse_position(text, options).map_err(|error| {
                LocatedError::new(location, RecordErrorKind::Position, error.to_string())
            })
        };
        let position = match &start {
            Some((text, location)) => parse(text, *location)?,
            None => P::start(options),
        };
        let opened = lexer.location();
        let line = Line { comment, plies: Vec::new() };
        let mut main =
            OpenLine { position, before: None, line, first_ply: 0, nags: Vec::new(), opened };
        let mut start = start.is_some().then(|| main.position.format_position());

        // The start position may also be set up before the first move.
        loop {
            match lexer.next()? {
                Token::Setup if start.is_none() => {
                    main.position = parse(lexer.text(), lexer.location())?;
                    start = Some(main.position.format_position());
                }
                _ => break,
            }
        }
        lexer.unread();

        main.first_ply = usize::from(main.position.side() == Side::Second);
        let mut replay = Replay { lexer, outer: Vec::new(), current: main, budget };
        match replay.run() {
            Ok(result) => {
                Ok(Movetext { line: replay.current.line, start, result, budget: replay.budget })
            }
            Err(error) => Err(GameFailure { error, depth: replay.outer.len(), in_tags: false }),
        }
    }
}

struct Replay<'a, 'i, P> {
    lexer: &'a mut Lexer<'i>,
    /// The lines that contain the current one, the main line first.
    outer: Vec<OpenLine<P>>,
    current: OpenLine<P>,
    budget: SizeBudget,
}

impl<P: Notation> Replay<'_, '_, P> {
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
                        .syntax_error("a position in the middle of a game is not supported");
                }
                Token::Result(result) if self.outer.is_empty() => {
                    self.flush_nags()?;
                    return Ok(Some(result));
                }
                // A result inside a variation is a comment.
                Token::Result(GameResult::Unknown) => {}
                Token::Result(result) => {
                    append_comment(
                        self.current.comment(),
                        result.text(),
                        &mut self.budget,
                        self.lexer.location(),
                    )?;
                }
                Token::Tag | Token::End => {
                    self.lexer.unread();
                    if !self.outer.is_empty() {
                        let message = "the variation is not closed before the end of the game";
                        return Err(LocatedError::new(
                            self.current.opened,
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
        Err(LocatedError::new(self.lexer.location(), RecordErrorKind::Syntax, message))
    }

    fn play(&mut self) -> Result<(), LocatedError> {
        let location = self.lexer.location();
        spend(&mut self.budget.plies, 1, MAX_PLIES, "moves", location)?;
        let line = &mut self.current;
        let mv = match line.position.parse_recorded_move(self.lexer.text()) {
            Ok(mv) => mv,
            Err(error) => {
                let text: String = self.lexer.text().chars().take(40).collect();
                let message = match error.reason.contains(&text) {
                    true => error.reason,
                    false => format!("{text}: {}", error.reason),
                };
                match join_jumps(self.lexer, &line.position) {
                    Some(mv) => mv,
                    None => {
                        return Err(LocatedError::new(location, RecordErrorKind::Move, message));
                    }
                }
            }
        };
        let text = line.position.format_move(mv);
        line.line.plies.push(Ply { text, nags: take(&mut line.nags), ..Ply::default() });
        line.before = Some(line.position.clone());
        line.position.play(mv);
        Ok(())
    }

    /// Accepts a number without a period if it is the number of the current move.
    fn check_number(&self, number: u32) -> Result<(), LocatedError> {
        let plies = self.current.first_ply + self.current.line.plies.len();
        if u32::try_from(plies / 2 + 1) == Ok(number) {
            return Ok(());
        }
        self.syntax_error(format!("unexpected {number}; this is move {}", plies / 2 + 1))
    }

    fn annotate(&mut self, nag: u8) -> Result<(), LocatedError> {
        spend(&mut self.budget.nags, 1, MAX_NAGS, "annotations", self.lexer.location())?;
        match self.current.line.plies.last_mut() {
            Some(ply) => ply.nags.push(nag),
            None => self.current.nags.push(nag),
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), LocatedError> {
        append_comment(
            self.current.comment(),
            self.lexer.text(),
            &mut self.budget,
            self.lexer.location(),
        )
    }

    fn open(&mut self) -> Result<(), LocatedError> {
        let Some(before) = self.current.before.clone() else {
            return self.syntax_error("a variation must follow the move it replaces");
        };
        if self.outer.len() == MAX_DEPTH {
            let message = format!("variations are nested more than {MAX_DEPTH} deep");
            return Err(LocatedError::new(self.lexer.location(), RecordErrorKind::Limit, message));
        }
        let inner = OpenLine {
            position: before,
            before: None,
            line: Line::default(),
            first_ply: self.current.first_ply + self.current.line.plies.len() - 1,
            nags: Vec::new(),
            opened: self.lexer.location(),
        };
        self.outer.push(std::mem::replace(&mut self.current, inner));
        Ok(())
    }

    fn close(&mut self) -> Result<(), LocatedError> {
        self.flush_nags()?;
        let Some(outer) = self.outer.pop() else {
            return self.syntax_error("unexpected ')'");
        };
        let line = std::mem::replace(&mut self.current, outer).line;
        if line.plies.is_empty() {
            // A comment in parentheses.
            let text = line.comment.unwrap_or_default();
            return append_comment(
                self.current.comment(),
                &text,
                &mut self.budget,
                self.lexer.location(),
            );
        }
        if let Some(ply) = self.current.line.plies.last_mut() {
            ply.variations.push(line);
        }
        Ok(())
    }

    /// Turns the annotations of a line without moves into a comment.
    fn flush_nags(&mut self) -> Result<(), LocatedError> {
        for nag in take(&mut self.current.nags) {
            append_comment(
                self.current.comment(),
                &format!("${nag}"),
                &mut self.budget,
                self.lexer.location(),
            )?;
        }
        Ok(())
    }
}

/// Joins a capture that is written jump by jump, `11x18 18x25`. The lexer is at the first word,
/// which is not a legal move, and afterwards at the last word of the move.
fn join_jumps<P: Notation>(lexer: &mut Lexer<'_>, position: &P) -> Option<P::Move> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut path = lexer.text().to_string();
    while path.len() < 64 && path.starts_with(is_digit) && path.contains(|c| !is_digit(c)) {
        match lexer.next() {
            Ok(Token::Word) => {}
            Ok(_) => {
                lexer.unread();
                break;
            }
            Err(error) => {
                lexer.put_back(error);
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
