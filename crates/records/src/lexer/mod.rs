//! Bytes to tokens: what the signs of a PDN file are, before anyone asks whether they make a game.
//!
//! The lexer knows no game. It says where each token begins and keeps going after a fault, so that
//! the reader can look for the next game. Tokens are bounded; what is longer is passed over without
//! being kept.

use std::io::Read;

use crate::encoding::decode;
use crate::error::{Fault, Place, RecordErrorKind};
use crate::input::{Window, is_blank};
use crate::limits::{MAX_TAG, MAX_TEXT, MAX_WORD};
use crate::record::GameResult;
use crate::tag::{read_tag, tag_length};

/// A token. The texts of the kinds that have one are [`Lexer::text`] and, for tags,
/// [`Lexer::name`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// `[Name "value"]`.
    Tag,
    /// Something that can only be a move.
    Word,
    /// `1-0`, `1/2-1/2`, `*`: the end of a game.
    Result(GameResult),
    /// `12.` or `12...`; with its value when no point follows and it may be something else.
    Number(Option<u32>),
    /// `$7`, `!?`, `(?)`, or `*` right behind a move.
    Nag(u8),
    /// `{…}`, `;…`, or prose in parentheses.
    Comment,
    /// `(` before a variation.
    Open,
    /// `)`.
    Close,
    /// `/FEN "…"/`, a position set up among the moves.
    Setup,
    /// The end of the file.
    End,
}

/// The annotation of a move that is the only good one.
const FORCED: u8 = 7;

/// How far to look for the end of a line that may be a tag inside a comment.
const TAG_IN_COMMENT: usize = 4096;

pub(crate) struct Lexer<R> {
    window: Window<R>,
    name: String,
    text: String,
    /// The bytes of a comment, before they become text.
    raw: Vec<u8>,
    /// Where the token begins, and whether it is the first of its line.
    place: Place,
    line_start: bool,
    last: Token,
    again: bool,
    /// A fault found too early, to be reported later.
    held: Option<Fault>,
    begun: bool,
}

/// What ends a comment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Byte(u8),
    LineEnd,
}

impl<R: Read> Lexer<R> {
    pub(crate) fn new(input: R) -> Self {
        Lexer {
            window: Window::new(input),
            name: String::new(),
            text: String::new(),
            raw: Vec::new(),
            place: Place { line: 1, column: 1 },
            line_start: true,
            last: Token::End,
            again: false,
            held: None,
            begun: false,
        }
    }

    /// The move, the comment, the position or the value of the tag.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The name of the tag.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Whether the token is the first of its line.
    pub(crate) fn is_line_start(&self) -> bool {
        self.line_start
    }

    /// Makes [`next`](Lexer::next) give the same token once more.
    pub(crate) fn unread(&mut self) {
        self.again = true;
    }

    /// Makes [`next`](Lexer::next) report this fault.
    pub(crate) fn put_back(&mut self, fault: Fault) {
        self.held = Some(fault);
    }

    pub(crate) fn next(&mut self) -> Result<Token, Fault> {
        if let Some(fault) = self.held.take() {
            return Err(fault);
        }
        if std::mem::take(&mut self.again) {
            return Ok(self.last);
        }
        let token = self.read();
        self.last = *token.as_ref().unwrap_or(&Token::End);
        token
    }

    fn read(&mut self) -> Result<Token, Fault> {
        if !std::mem::replace(&mut self.begun, true) {
            self.byte_order_mark()?;
        }
        let mut glued = matches!(self.last, Token::Word | Token::Nag(_));
        loop {
            glued &= !self.skip_blanks();
            self.place = self.window.place();
            self.line_start = self.window.is_line_start();
            let Some(byte) = self.window.peek(0) else {
                return self.end();
            };
            match byte {
                b'[' => return self.tag(),
                b'{' => return self.comment(1, Until::Byte(b'}')),
                b';' => return self.comment(1, Until::LineEnd),
                b'(' => return self.open(),
                b')' => return Ok(self.single(Token::Close)),
                b'$' => return self.nag(),
                b'!' | b'?' => return Ok(self.strength(0)),
                b'*' if glued => return Ok(self.single(Token::Nag(FORCED))),
                b'*' => return Ok(self.single(Token::Result(GameResult::Unknown))),
                b'/' => return self.setup(),
                b'0'..=b'9' => return self.number(),
                // A full stop or an ellipsis stands for a move left out; a brace is left over from
                // a comment inside a comment, which PDN does not have.
                b'.' | b',' | b'}' => self.window.advance(1),
                b']' | b'"' => {
                    self.window.advance(1);
                    return self.fault(format!("{:?} outside a tag", char::from(byte)));
                }
                _ => return self.word(),
            }
            glued = false;
        }
    }

    fn single(&mut self, token: Token) -> Token {
        self.window.advance(1);
        token
    }

    fn fault<T>(&self, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::new(self.place, RecordErrorKind::Syntax, message))
    }

    fn too_long<T>(&self, what: &str, limit: usize) -> Result<T, Fault> {
        let message = format!("{what} is longer than {limit} bytes");
        Err(Fault::new(self.place, RecordErrorKind::Limit, message))
    }

    fn byte_order_mark(&mut self) -> Result<(), Fault> {
        if self.window.starts_with(b"\xEF\xBB\xBF") {
            self.window.advance(3);
            self.window.restart_line();
        } else if self.window.starts_with(b"\xFF\xFE") || self.window.starts_with(b"\xFE\xFF") {
            self.window.give_up();
            return self.fault("the file is UTF-16: save it as UTF-8");
        }
        Ok(())
    }

    fn end(&mut self) -> Result<Token, Fault> {
        match self.window.take_failure() {
            Some(error) => Err(Fault::new(self.place, RecordErrorKind::Io, error.to_string())),
            None => Ok(Token::End),
        }
    }

    /// Passes blanks and `%` lines; says whether there were any.
    fn skip_blanks(&mut self) -> bool {
        let mut any = false;
        while let Some(byte) = self.window.peek(0) {
            match byte {
                byte if is_blank(byte) => self.window.advance(1),
                0xA0 => self.window.advance(1), // no-break space, Latin-1 and UTF-8
                0xC2 if self.window.peek(1) == Some(0xA0) => self.window.advance(2),
                b'%' => self.skip_line(),
                _ => break,
            }
            any = true;
        }
        any
    }

    fn skip_line(&mut self) {
        loop {
            let view = self.window.view();
            let length = view.iter().position(is_line_end);
            let (count, ended) =
                (length.unwrap_or(view.len()), length.is_some() || view.is_empty());
            self.window.advance(count);
            if ended {
                return;
            }
        }
    }

    fn tag(&mut self) -> Result<Token, Fault> {
        match self.window.peek_past_blanks(1) {
            Some((_, byte)) if byte.is_ascii_alphabetic() => {}
            _ => {
                self.window.advance(1);
                return self.fault("'[' begins no tag: a tag is written [Name \"value\"]");
            }
        }
        let window = &mut self.window;
        let in_line =
            |i| if i < MAX_TAG { window.peek(i).filter(|byte| !is_line_end(byte)) } else { None };
        let length = tag_length(in_line);
        let tag = read_tag(&self.window.view()[..length]);
        self.window.advance(tag.length);
        if tag.length >= MAX_TAG || tag.value.len() > MAX_TAG / 4 || tag.name.len() > MAX_WORD {
            // A quarter, because writing can lengthen a value: escapes double it.
            return self.too_long("the tag", MAX_TAG / 4);
        }
        self.name = tag.name;
        self.text = tag.value;
        Ok(Token::Tag)
    }

    /// A comment: everything after `skip` bytes, up to what ends it. Runs of blanks count as one
    /// space.
    fn comment(&mut self, skip: usize, until: Until) -> Result<Token, Fault> {
        self.window.advance(skip);
        self.raw.clear();
        let mut fits = true;
        loop {
            let view = self.window.view();
            if view.is_empty() && until != Until::LineEnd {
                return self.fault("the comment is not closed before the file ends");
            }
            let stop = |byte: &u8| is_line_end(byte) || until == Until::Byte(*byte);
            let length = view.iter().position(stop).unwrap_or(view.len());
            let ending = view.get(length).copied();
            fits &= self.raw.len() + length < MAX_TEXT;
            if fits {
                self.raw.extend_from_slice(&view[..length]);
            }
            let at_end = view.is_empty();
            self.window.advance(length);
            match ending {
                None if !at_end => continue,
                Some(byte) if until == Until::Byte(byte) => {
                    self.window.advance(1);
                    break;
                }
                Some(_) if until != Until::LineEnd => {
                    if fits {
                        self.raw.push(b' ');
                    }
                    self.window.advance(1);
                    if self.at_tag_line() {
                        return self.fault("the comment is not closed before the next game begins");
                    }
                }
                _ => break,
            }
        }
        if !fits {
            return self.too_long("the comment", MAX_TEXT);
        }
        // The sign that ends a comment in braces cannot be kept; other comments may have it.
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

    /// Whether the line that begins here is a whole tag: inside a comment it shows that the comment
    /// was not closed.
    fn at_tag_line(&mut self) -> bool {
        if self.window.peek(0) != Some(b'[')
            || !self.window.peek(1).is_some_and(|byte| byte.is_ascii_uppercase())
        {
            return false;
        }
        let mut last = b'[';
        let mut quotes = 0;
        for offset in 1..TAG_IN_COMMENT {
            match self.window.peek(offset) {
                Some(byte) if !is_line_end(&byte) => {
                    quotes += u32::from(byte == b'"');
                    last = if is_blank(byte) { last } else { byte };
                }
                _ => return last == b']' && quotes >= 2,
            }
        }
        false
    }

    /// `(`: a variation, the strength of a move as in `(?)`, or, in old files, a remark.
    fn open(&mut self) -> Result<Token, Fault> {
        match self.window.peek_past_blanks(1) {
            Some((1, b'!' | b'?')) => {
                let nag = self.strength(1);
                if self.window.peek(0) != Some(b')') {
                    return self.fault("the strength of a move, as in (?), is not closed");
                }
                Ok(self.single(nag))
            }
            Some((at, byte)) if self.is_prose(at, byte) => self.comment(1, Until::Byte(b')')),
            _ => Ok(self.single(Token::Open)),
        }
    }

    /// Whether a word is none that a variation can begin with: `pass` and, to be refused as a move,
    /// `c3-d4` can.
    fn is_prose(&mut self, at: usize, byte: u8) -> bool {
        let algebraic = matches!(byte, b'a'..=b'h' | b'A'..=b'H')
            && matches!(self.window.peek(at + 1), Some(b'1'..=b'8'));
        let pass = b"pass".iter().enumerate().all(|(i, letter)| {
            self.window.peek(at + i).is_some_and(|byte| byte.eq_ignore_ascii_case(letter))
        });
        (byte.is_ascii_alphabetic() || byte >= 0xC0) && !algebraic && !pass
    }

    fn nag(&mut self) -> Result<Token, Fault> {
        let digits = (1..=4).take_while(|&i| self.is_digit(i)).count();
        let value = (1..=digits).fold(0u32, |value, i| {
            value * 10 + u32::from(self.window.peek(i).unwrap_or(b'0') - b'0')
        });
        self.window.advance(1 + digits);
        match u8::try_from(value) {
            Ok(value) if digits > 0 => Ok(Token::Nag(value)),
            _ => self.fault("an annotation is written $0 to $255"),
        }
    }

    /// `!`, `?` and the like, after `skip` bytes. Longer rows count by their first two signs.
    fn strength(&mut self, skip: usize) -> Token {
        self.window.advance(skip);
        let signs = (self.window.peek(0), self.window.peek(1));
        while let Some(b'!' | b'?') = self.window.peek(0) {
            self.window.advance(1);
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

    fn setup(&mut self) -> Result<Token, Fault> {
        let quoted =
            self.window.starts_with(b"/FEN").then(|| self.window.peek_past_blanks(4)).flatten();
        let Some((quote, b'"')) = quoted else {
            self.window.advance(1);
            return self.fault("'/' begins no position: one is written /FEN \"…\"/");
        };
        let start = quote + 1;
        let length = (0..MAX_WORD)
            .take_while(|&i| {
                !matches!(self.window.peek(start + i), None | Some(b'"' | b'\r' | b'\n'))
            })
            .count();
        let closed = self.window.peek(start + length) == Some(b'"')
            && self.window.peek(start + length + 1) == Some(b'/');
        self.take_text(start, length);
        if !closed {
            return self.fault("the position is not closed: it is written /FEN \"…\"/");
        }
        self.window.advance(2);
        Ok(Token::Setup)
    }

    /// Something that begins with a digit: the number of a move, or a word.
    fn number(&mut self) -> Result<Token, Fault> {
        let digits = (0..MAX_WORD).take_while(|&i| self.is_digit(i)).count();
        // As in the result 0.5-0.5.
        let half_point = digits == 1 && self.window.starts_with(b"0.") && self.is_digit(2);
        if self.window.peek(digits) != Some(b'.') || half_point {
            return self.word();
        }
        self.window.advance(digits);
        while self.window.peek(0) == Some(b'.') {
            self.window.advance(1);
        }
        Ok(Token::Number(None))
    }

    /// A move or a result, also when blanks were put round its separators, as in `11 - 15`.
    fn word(&mut self) -> Result<Token, Fault> {
        let length = self.word_length();
        if length == 0 || length > MAX_WORD {
            self.window.advance(length.max(1));
            return self.too_long("the word", MAX_WORD);
        }
        self.take_text(0, length);
        while self.text.len() <= MAX_WORD
            && let Some((from, length)) = self.continuation()
        {
            self.window.advance(from);
            let more = decode(&self.window.view()[..length]).into_owned();
            self.window.advance(length);
            self.text.push_str(&more);
        }
        if !self.text.is_ascii() {
            self.text = self.text.chars().map(plain_sign).collect();
        }
        let used = self.text.trim_end_matches(['.', ',']).len();
        self.text.truncate(used);
        // Most words are moves, and most moves cannot be taken for results.
        let like_result = !matches!(self.text.as_bytes(), [_, b'0'..=b'9', ..] | [b'3'..=b'9', ..]);
        if like_result && let Some(result) = GameResult::read(&self.text) {
            return Ok(Token::Result(result));
        }
        let number = self.text.len() <= 3 && self.text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(if number { Token::Number(self.text.parse().ok()) } else { Token::Word })
    }

    /// The part of a word that follows after blanks: where it begins and its length. A word goes on
    /// behind blanks if a separator stands before or after them and a digit comes next.
    fn continuation(&mut self) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        if !bytes.first()?.is_ascii_digit() {
            return None;
        }
        let open = bytes.last().is_some_and(is_separator);
        let (at, byte) = self.window.peek_past_blanks(0)?;
        if open && byte.is_ascii_digit() {
            return Some((at, self.word_length_from(at))).filter(|(_, length)| *length <= MAX_WORD);
        }
        if !open && is_separator(&byte) {
            let (next, digit) = self.window.peek_past_blanks(at + 1)?;
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
            match self.window.peek(start + length) {
                None => return length,
                Some(byte) if is_blank(byte) || b"{}()[]$;!?*\"%".contains(&byte) => return length,
                // A no-break space; in UTF-8 the same byte also ends other characters.
                Some(0xA0) if last < 0x80 => return length,
                Some(0xA0) if last == 0xC2 => return length - 1,
                Some(byte) => last = byte,
            }
        }
        MAX_WORD + 1
    }

    fn is_digit(&mut self, offset: usize) -> bool {
        self.window.peek(offset).is_some_and(|byte| byte.is_ascii_digit())
    }

    fn take_text(&mut self, start: usize, length: usize) {
        self.text.clear();
        self.text.push_str(&decode(&self.window.view()[start..start + length]));
        self.window.advance(start + length);
    }
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn is_separator(byte: &u8) -> bool {
    matches!(byte, b'-' | b'x' | b'X' | b':')
}

/// The signs a word processor makes of `-` and `x`.
fn plain_sign(c: char) -> char {
    match c {
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        '×' | '✕' | '✗' => 'x',
        c => c,
    }
}

#[cfg(test)]
mod tests;
