//! Buffered input with bounded look-ahead, line and column.
//!
//! The buffer holds at most the longest token and one chunk of input, whatever the size of the
//! file.

use std::io::{self, ErrorKind, Read};

use crate::error::Location;

/// Number of bytes read at a time.
const READ_CHUNK: usize = 64 * 1024;

/// The source is behind a pointer, so that the reader is compiled once, not once per kind of
/// source.
pub(crate) struct Input<'a> {
    source: Box<dyn Read + 'a>,
    /// `buffer[from..to]` has been read but not consumed.
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    ended: bool,
    error: Option<io::Error>,
    /// Number of bytes consumed.
    offset: u64,
    location: Location,
    /// The last byte was a carriage return: a line feed after it is part of the same line break.
    after_cr: bool,
    /// Only white space precedes on this line.
    line_start: bool,
}

impl<'a> Input<'a> {
    pub(crate) fn new(source: impl Read + 'a) -> Self {
        Input {
            source: Box::new(source),
            buffer: Vec::new(),
            from: 0,
            to: 0,
            ended: false,
            error: None,
            offset: 0,
            location: Location { line: 1, column: 1 },
            after_cr: false,
            line_start: true,
        }
    }

    /// Returns the byte at `offset` from the current one; `None` after the end.
    #[inline]
    pub(crate) fn peek(&mut self, offset: usize) -> Option<u8> {
        while self.from + offset >= self.to {
            if !self.fill() {
                return None;
            }
        }
        self.buffer.get(self.from + offset).copied()
    }

    /// Returns the buffered bytes; empty only at the end of the file.
    pub(crate) fn buffered(&mut self) -> &[u8] {
        self.peek(0);
        &self.buffer[self.from..self.to]
    }

    /// Returns whether these bytes come next.
    pub(crate) fn starts_with(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().enumerate().all(|(i, byte)| self.peek(i) == Some(*byte))
    }

    /// Returns the first byte from `offset` on that is not white space, with its offset; `None`
    /// if too much of it precedes.
    pub(crate) fn peek_past_spaces(&mut self, offset: usize) -> Option<(usize, u8)> {
        const MAX_SPACES: usize = 256;
        (offset..offset + MAX_SPACES)
            .map_while(|i| self.peek(i).map(|byte| (i, byte)))
            .find(|(_, byte)| !is_space(*byte))
    }

    /// Consumes `count` bytes that have been peeked at.
    pub(crate) fn advance(&mut self, count: usize) {
        let end = self.to.min(self.from + count);
        for &byte in &self.buffer[self.from..end] {
            let second_of_crlf = byte == b'\n' && self.after_cr;
            self.after_cr = byte == b'\r';
            if second_of_crlf {
                continue;
            }
            if byte == b'\n' || byte == b'\r' {
                self.location = Location { line: self.location.line + 1, column: 1 };
                self.line_start = true;
            } else {
                // UTF-8 continuation bytes do not count as characters.
                self.location.column += u64::from(!(0x80..0xC0).contains(&byte));
                self.line_start &= is_space(byte);
            }
        }
        self.offset += (end - self.from) as u64;
        self.from = end;
    }

    /// Makes the next byte the first of its line, after a byte order mark.
    pub(crate) fn restart_line(&mut self) {
        self.location.column = 1;
        self.line_start = true;
    }

    pub(crate) fn location(&self) -> Location {
        self.location
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn is_line_start(&self) -> bool {
        self.line_start
    }

    /// Takes the error that ended the input.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Discards the rest of the input.
    pub(crate) fn skip_to_end(&mut self) {
        self.ended = true;
        self.from = self.to;
    }

    #[cold]
    fn fill(&mut self) -> bool {
        if self.ended {
            return false;
        }
        self.buffer.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
        if self.buffer.len() < self.to + READ_CHUNK {
            self.buffer.resize(self.to + READ_CHUNK, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.to..]) {
                Ok(0) => break,
                Ok(count) => {
                    self.to += count;
                    return true;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        self.ended = true;
        false
    }
}

/// Returns whether a byte is white space between tokens. Control characters count: files from old
/// systems end with them.
pub(crate) fn is_space(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7F
}
