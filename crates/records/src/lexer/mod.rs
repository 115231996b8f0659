//! PDN tokens.
//!
//! The lexer knows nothing about games. It reports the location of each token and continues after
//! an error, so that the reader can find the next game. Tokens have a maximum size; longer ones are
//! skipped without being stored.

use std::io::Read;

use crate::encoding::decode;
use crate::error::{LocatedError, Location, RecordErrorKind};
use crate::input::{Input, is_space};
use crate::limits::{MAX_TAG, MAX_TEXT, MAX_WORD};
use crate::record::GameResult;
use crate::tag::{parse_tag, tag_length};

/// A token. Its text, if any, is in [`Lexer::text`]; the name of a tag is in [`Lexer::name`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// `[Name "value"]`.
    Tag,
    /// A move, valid or not.
    Word,
    /// `1-0`, `1/2-1/2` or `*`: the end of a game.
    Result(GameResult),
    /// `12.` or `12...`; with its value if no period follows and it may be something else.
    Number(Option<u32>),
    /// `$7`, `!?`, `(?)`, or `*` right after a move.
    Nag(u8),
    /// `{…}`, `;…`, or words in parentheses.
    Comment,
    /// `(`.
    VariationStart,
    /// `)`.
    VariationEnd,
    /// `/FEN "…"/`, a position among the moves.
    Setup,
    /// The end of the file.
    End,
}

/// Annotation of a forced move.
const FORCED: u8 = 7;

/// Maximum length of a line inside a comment that is recognised as a tag, in bytes.
const MAX_TAG_IN_COMMENT: usize = 4096;

pub(crate) struct Lexer<'a> {
    input: Input<'a>,
    name: String,
    text: String,
    /// The undecoded bytes of a comment.
    raw: Vec<u8>,
    /// Start of the token, and whether it is the first of its line.
    location: Location,
    offset: u64,
    line_start: bool,
    last: Token,
    repeat_last: bool,
    /// An error to report with the next token.
    pending_error: Option<LocatedError>,
    started: bool,
}

/// End of a comment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Byte(u8),
    LineEnd,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(input: impl Read + 'a) -> Self {
        Lexer {
            input: Input::new(input),
            name: String::new(),
            text: String::new(),
            raw: Vec::new(),
            location: Location { line: 1, column: 1 },
            offset: 0,
            line_start: true,
            last: Token::End,
            repeat_last: false,
            pending_error: None,
            started: false,
        }
    }

    /// Returns the move, the comment, the position or the value of the tag.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name of the tag.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn location(&self) -> Location {
        self.location
    }

    /// Returns where the token starts, in bytes from the start of the file.
    pub(crate) fn token_offset(&self) -> u64 {
        self.offset
    }

    /// Returns where the next token is looked for, in bytes from the start of the file.
    pub(crate) fn next_offset(&self) -> u64 {
        if self.repeat_last { self.offset } else { self.input.offset() }
    }

    /// Returns whether the token is the first of its line.
    pub(crate) fn is_line_start(&self) -> bool {
        self.line_start
    }

    /// Makes [`next`](Lexer::next) return the same token again.
    pub(crate) fn unread(&mut self) {
        self.repeat_last = true;
    }

    /// Makes [`next`](Lexer::next) return this error.
    pub(crate) fn put_back(&mut self, error: LocatedError) {
        self.pending_error = Some(error);
    }

    pub(crate) fn next(&mut self) -> Result<Token, LocatedError> {
        if let Some(error) = self.pending_error.take() {
            return Err(error);
        }
        if std::mem::take(&mut self.repeat_last) {
            return Ok(self.last);
        }
        let token = self.read();
        self.last = *token.as_ref().unwrap_or(&Token::End);
        token
    }

    fn read(&mut self) -> Result<Token, LocatedError> {
        if !std::mem::replace(&mut self.started, true) {
            self.skip_byte_order_mark()?;
        }
        let mut adjacent = matches!(self.last, Token::Word | Token::Nag(_));
        loop {
            adjacent &= !self.skip_spaces();
            self.location = self.input.location();
            self.offset = self.input.offset();
            self.line_start = self.input.is_line_start();
            let Some(byte) = self.input.peek(0) else {
                return self.end();
            };
            match byte {
                b'[' => return self.tag(),
                b'{' => return self.comment(1, Until::Byte(b'}')),
                b';' => return self.comment(1, Until::LineEnd),
                b'(' => return self.open(),
                b')' => return Ok(self.single(Token::VariationEnd)),
                b'$' => return self.nag(),
                b'!' | b'?' => return Ok(self.strength(0)),
                b'*' if adjacent => return Ok(self.single(Token::Nag(FORCED))),
                b'*' => return Ok(self.single(Token::Result(GameResult::Unknown))),
                b'/' => return self.setup(),
                b'0'..=b'9' => return self.number(),
                // Periods stand for an omitted move. A closing brace is left over from a nested
                // comment, which PDN does not have.
                b'.' | b',' | b'}' => self.input.advance(1),
                b']' | b'"' => {
                    self.input.advance(1);
                    return self
                        .syntax_error(format!("unexpected {:?} outside a tag", char::from(byte)));
                }
                _ => return self.word(),
            }
            adjacent = false;
        }
    }

    fn single(&mut self, token: Token) -> Token {
        self.input.advance(1);
        token
    }

    fn syntax_error<T>(&self, message: impl Into<String>) -> Result<T, LocatedError> {
        Err(LocatedError::new(self.location, RecordErrorKind::Syntax, message))
    }

    fn too_long<T>(&self, subject: &str, limit: usize) -> Result<T, LocatedError> {
        let message = format!("{subject} is longer than {limit} bytes");
        Err(LocatedError::new(self.location, RecordErrorKind::Limit, message))
    }

    fn skip_byte_order_mark(&mut self) -> Result<(), LocatedError> {
        if self.input.starts_with(b"\xEF\xBB\xBF") {
            self.input.advance(3);
            self.input.restart_line();
        } else if self.input.starts_with(b"\xFF\xFE") || self.input.starts_with(b"\xFE\xFF") {
            self.input.skip_to_end();
            return self.syntax_error("the file is UTF-16: save it as UTF-8");
        }
        Ok(())
    }

    fn end(&mut self) -> Result<Token, LocatedError> {
        match self.input.take_error() {
            Some(error) => {
                Err(LocatedError::new(self.location, RecordErrorKind::Io, error.to_string()))
            }
            None => Ok(Token::End),
        }
    }

    /// Skips white space and `%` lines. Returns whether there were any.
    fn skip_spaces(&mut self) -> bool {
        let mut any = false;
        while let Some(byte) = self.input.peek(0) {
            match byte {
                byte if is_space(byte) => self.input.advance(1),
                0xA0 => self.input.advance(1), // no-break space, Latin-1 and UTF-8
                0xC2 if self.input.peek(1) == Some(0xA0) => self.input.advance(2),
                b'%' => self.skip_line(),
                _ => break,
            }
            any = true;
        }
        any
    }

    fn skip_line(&mut self) {
        loop {
            let buffered = self.input.buffered();
            let length = buffered.iter().position(is_line_end);
            let (count, ended) =
                (length.unwrap_or(buffered.len()), length.is_some() || buffered.is_empty());
            self.input.advance(count);
            if ended {
                return;
            }
        }
    }

    fn tag(&mut self) -> Result<Token, LocatedError> {
        match self.input.peek_past_spaces(1) {
            Some((_, byte)) if byte.is_ascii_alphabetic() => {}
            _ => {
                self.input.advance(1);
                return self.syntax_error("invalid tag: write [Name \"value\"]");
            }
        }
        let window = &mut self.input;
        let in_line =
            |i| if i < MAX_TAG { window.peek(i).filter(|byte| !is_line_end(byte)) } else { None };
        let length = tag_length(in_line);
        let tag = parse_tag(&self.input.buffered()[..length]);
        self.input.advance(tag.length);
        if tag.length >= MAX_TAG || tag.value.len() > MAX_TAG / 4 || tag.name.len() > MAX_WORD {
            // Written values may be longer, since escapes double the length.
            return self.too_long("the tag", MAX_TAG / 4);
        }
        self.name = tag.name;
        self.text = tag.value;
        Ok(Token::Tag)
    }

    /// Reads a comment after `skip` bytes. Runs of white space become one space.
    fn comment(&mut self, skip: usize, until: Until) -> Result<Token, LocatedError> {
        self.input.advance(skip);
        self.raw.clear();
        let mut fits = true;
        loop {
            let buffered = self.input.buffered();
            if buffered.is_empty() && until != Until::LineEnd {
                return self.syntax_error("the comment is not closed before the end of the file");
            }
            let stop = |byte: &u8| is_line_end(byte) || until == Until::Byte(*byte);
            let length = buffered.iter().position(stop).unwrap_or(buffered.len());
            let ending = buffered.get(length).copied();
            fits &= self.raw.len() + length < MAX_TEXT;
            if fits {
                self.raw.extend_from_slice(&buffered[..length]);
            }
            let at_end = buffered.is_empty();
            self.input.advance(length);
            match ending {
                None if !at_end => continue,
                Some(byte) if until == Until::Byte(byte) => {
                    self.input.advance(1);
                    break;
                }
                Some(_) if until != Until::LineEnd => {
                    if fits {
                        self.raw.push(b' ');
                    }
                    self.input.advance(1);
                    if self.at_tag_line() {
                        return self.syntax_error("the comment is not closed before the next game");
                    }
                }
                _ => break,
            }
        }
        if !fits {
            return self.too_long("the comment", MAX_TEXT);
        }
        // Comments are written in braces, which `}` would close.
        for byte in self.raw.iter_mut().filter(|byte| **byte == b'}') {
            *byte = b')';
        }
        self.text.clear();
        for word in decode(&self.raw).split_whitespace() {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(word);
        }
        Ok(Token::Comment)
    }

    /// Returns whether the next line is a complete tag, which means that the comment was not
    /// closed.
    fn at_tag_line(&mut self) -> bool {
        if self.input.peek(0) != Some(b'[')
            || !self.input.peek(1).is_some_and(|byte| byte.is_ascii_uppercase())
        {
            return false;
        }
        let mut last = b'[';
        let mut quotes = 0;
        for offset in 1..MAX_TAG_IN_COMMENT {
            match self.input.peek(offset) {
                Some(byte) if !is_line_end(&byte) => {
                    quotes += u32::from(byte == b'"');
                    last = if is_space(byte) { last } else { byte };
                }
                _ => return last == b']' && quotes >= 2,
            }
        }
        false
    }

    /// Reads `(`: a variation, an annotation such as `(?)` or, in old files, a comment.
    fn open(&mut self) -> Result<Token, LocatedError> {
        match self.input.peek_past_spaces(1) {
            Some((1, b'!' | b'?')) => {
                let nag = self.strength(1);
                if self.input.peek(0) != Some(b')') {
                    return self.syntax_error("the annotation is not closed: write (?)");
                }
                Ok(self.single(nag))
            }
            Some((at, byte)) if self.is_prose(at, byte) => self.comment(1, Until::Byte(b')')),
            _ => Ok(self.single(Token::VariationStart)),
        }
    }

    /// Returns whether a word cannot start a variation. `pass` can, and so can `c3-d4`, which then
    /// is an invalid move.
    fn is_prose(&mut self, at: usize, byte: u8) -> bool {
        let algebraic = matches!(byte, b'a'..=b'h' | b'A'..=b'H')
            && matches!(self.input.peek(at + 1), Some(b'1'..=b'8'));
        let pass = b"pass".iter().enumerate().all(|(i, letter)| {
            self.input.peek(at + i).is_some_and(|byte| byte.eq_ignore_ascii_case(letter))
        });
        (byte.is_ascii_alphabetic() || byte >= 0xC0) && !algebraic && !pass
    }

    fn nag(&mut self) -> Result<Token, LocatedError> {
        let digits = (1..=4).take_while(|&i| self.is_digit(i)).count();
        let value = (1..=digits).fold(0u32, |value, i| {
            value * 10 + u32::from(self.input.peek(i).unwrap_or(b'0') - b'0')
        });
        self.input.advance(1 + digits);
        match u8::try_from(value) {
            Ok(value) if digits > 0 => Ok(Token::Nag(value)),
            _ => self.syntax_error("invalid annotation: write $0 to $255"),
        }
    }

    /// Reads `!`, `?`, `!?` and the like, after `skip` bytes. Only the first two signs count.
    fn strength(&mut self, skip: usize) -> Token {
        self.input.advance(skip);
        let signs = (self.input.peek(0), self.input.peek(1));
        while let Some(b'!' | b'?') = self.input.peek(0) {
            self.input.advance(1);
        }
        Token::Nag(match signs {
            (Some(b'!'), Some(b'!')) => 3,
            (Some(b'?'), Some(b'?')) => 4,
            (Some(b'!'), Some(b'?')) => 5,
            (Some(b'?'), Some(b'!')) => 6,
            (Some(b'!'), _) => 1,
            _ => 2,
        })
    }

    fn setup(&mut self) -> Result<Token, LocatedError> {
        let quoted =
            self.input.starts_with(b"/FEN").then(|| self.input.peek_past_spaces(4)).flatten();
        let Some((quote, b'"')) = quoted else {
            self.input.advance(1);
            return self.syntax_error("invalid position: write /FEN \"…\"/");
        };
        let start = quote + 1;
        let length = (0..MAX_WORD)
            .take_while(|&i| {
                !matches!(self.input.peek(start + i), None | Some(b'"' | b'\r' | b'\n'))
            })
            .count();
        let closed = self.input.peek(start + length) == Some(b'"')
            && self.input.peek(start + length + 1) == Some(b'/');
        self.take_text(start, length);
        if !closed {
            return self.syntax_error("the position is not closed: write /FEN \"…\"/");
        }
        self.input.advance(2);
        Ok(Token::Setup)
    }

    /// Reads a token that starts with a digit: a move number or a word.
    fn number(&mut self) -> Result<Token, LocatedError> {
        let digits = (0..MAX_WORD).take_while(|&i| self.is_digit(i)).count();
        // The result 0.5-0.5.
        let half_point = digits == 1 && self.input.starts_with(b"0.") && self.is_digit(2);
        if self.input.peek(digits) != Some(b'.') || half_point {
            return self.word();
        }
        self.input.advance(digits);
        while self.input.peek(0) == Some(b'.') {
            self.input.advance(1);
        }
        Ok(Token::Number(None))
    }

    /// Reads a move or a result, with or without spaces around its separators.
    fn word(&mut self) -> Result<Token, LocatedError> {
        let length = self.word_length();
        if length == 0 || length > MAX_WORD {
            self.input.advance(length.max(1));
            return self.too_long("the word", MAX_WORD);
        }
        self.take_text(0, length);
        while self.text.len() <= MAX_WORD
            && let Some((from, length)) = self.continuation()
        {
            self.input.advance(from);
            let more = decode(&self.input.buffered()[..length]).into_owned();
            self.input.advance(length);
            self.text.push_str(&more);
        }
        if !self.text.is_ascii() {
            self.text = self.text.chars().map(ascii_separator).collect();
        }
        let used = self.text.trim_end_matches(['.', ',']).len();
        self.text.truncate(used);
        // Fast path: most words are moves that do not look like results.
        let like_result = !matches!(self.text.as_bytes(), [_, b'0'..=b'9', ..] | [b'3'..=b'9', ..]);
        if like_result && let Some(result) = GameResult::parse(&self.text) {
            return Ok(Token::Result(result));
        }
        let number = self.text.len() <= 3 && self.text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(if number { Token::Number(self.text.parse().ok()) } else { Token::Word })
    }

    /// Returns offset and length of the part of a word that follows after spaces. A word continues
    /// after spaces if there is a separator on one side of them and a digit follows.
    fn continuation(&mut self) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        if !bytes.first()?.is_ascii_digit() {
            return None;
        }
        let open = bytes.last().is_some_and(is_separator);
        let (at, byte) = self.input.peek_past_spaces(0)?;
        if open && byte.is_ascii_digit() {
            return Some((at, self.word_length_from(at))).filter(|(_, length)| *length <= MAX_WORD);
        }
        if !open && is_separator(&byte) {
            let (next, digit) = self.input.peek_past_spaces(at + 1)?;
            return (digit.is_ascii_digit() && next <= at + MAX_WORD).then_some((at, 1));
        }
        None
    }

    fn word_length(&mut self) -> usize {
        self.word_length_from(0)
    }

    fn word_length_from(&mut self, start: usize) -> usize {
        let mut last = 0;
        for length in 0..=MAX_WORD {
            match self.input.peek(start + length) {
                None => return length,
                Some(byte) if is_space(byte) || b"{}()[]$;!?*\"%".contains(&byte) => return length,
                // A no-break space; in UTF-8 this byte can also end another character.
                Some(0xA0) if last < 0x80 => return length,
                Some(0xA0) if last == 0xC2 => return length - 1,
                Some(byte) => last = byte,
            }
        }
        MAX_WORD + 1
    }

    fn is_digit(&mut self, offset: usize) -> bool {
        self.input.peek(offset).is_some_and(|byte| byte.is_ascii_digit())
    }

    fn take_text(&mut self, start: usize, length: usize) {
        self.text.clear();
        self.text.push_str(&decode(&self.input.buffered()[start..start + length]));
        self.input.advance(start + length);
    }
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn is_separator(byte: &u8) -> bool {
    matches!(byte, b'-' | b'x' | b'X' | b':')
}

/// Replaces typographic dashes and crosses by `-` and `x`.
fn ascii_separator(c: char) -> char {
    match c {
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        '×' | '✕' | '✗' => 'x',
        c => c,
    }
}

#[cfg(test)]
mod tests;
