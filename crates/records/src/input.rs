//! A file seen through a window that slides over it: bounded look-ahead, and the place of every
//! byte.
//!
//! Memory stays the same for a file of any size. Whoever looks ahead says how far, so the window
//! never grows beyond the longest token and one piece of input.

use std::io::{self, ErrorKind, Read};

use crate::error::Location;

/// How much is asked of the input at a time.
const READ_CHUNK: usize = 64 * 1024;

pub(crate) struct Input<R> {
    input: R,
    /// `buffer[from..to]` is what has been read and not yet passed.
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    ended: bool,
    error: Option<io::Error>,
    location: Location,
    /// The byte just passed was a carriage return: a line feed that follows belongs to it.
    after_cr: bool,
    /// Nothing but blanks has been passed on this line.
    line_start: bool,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(input: R) -> Self {
        Input {
            input,
            buffer: Vec::new(),
            from: 0,
            to: 0,
            ended: false,
            error: None,
            location: Location { line: 1, column: 1 },
            after_cr: false,
            line_start: true,
        }
    }

    /// The byte `offset` further on.
    #[inline]
    pub(crate) fn peek(&mut self, offset: usize) -> Option<u8> {
        while self.from + offset >= self.to {
            if !self.fill() {
                return None;
            }
        }
        self.buffer.get(self.from + offset).copied()
    }

    /// What can be seen without reading on: nothing only at the end of the file.
    pub(crate) fn view(&mut self) -> &[u8] {
        self.peek(0);
        &self.buffer[self.from..self.to]
    }

    /// Whether these bytes come next.
    pub(crate) fn starts_with(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().enumerate().all(|(i, byte)| self.peek(i) == Some(*byte))
    }

    /// The next byte that is no blank, at `offset` or after, and where; `None` when too many blanks
    /// come first.
    pub(crate) fn peek_past_blanks(&mut self, offset: usize) -> Option<(usize, u8)> {
        const FAR: usize = 256;
        (offset..offset + FAR)
            .map_while(|i| self.peek(i).map(|byte| (i, byte)))
            .find(|(_, byte)| !is_blank(*byte))
    }

    /// Passes `count` bytes that have been seen.
    pub(crate) fn advance(&mut self, count: usize) {
        let end = self.to.min(self.from + count);
        for &byte in &self.buffer[self.from..end] {
            let second_of_pair = byte == b'\n' && self.after_cr;
            self.after_cr = byte == b'\r';
            if second_of_pair {
                continue;
            }
            if byte == b'\n' || byte == b'\r' {
                self.location = Location { line: self.location.line + 1, column: 1 };
                self.line_start = true;
            } else {
                // Continuation bytes of UTF-8 are no characters of their own.
                self.location.column += u64::from(!(0x80..0xC0).contains(&byte));
                self.line_start &= is_blank(byte);
            }
        }
        self.from = end;
    }

    /// Makes the next byte the first of its line: what was passed was no text.
    pub(crate) fn restart_line(&mut self) {
        self.location.column = 1;
        self.line_start = true;
    }

    pub(crate) fn place(&self) -> Location {
        self.location
    }

    pub(crate) fn is_line_start(&self) -> bool {
        self.line_start
    }

    /// The error that cut the input short, once.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Passes everything: for input of which nothing can be made.
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
            match self.input.read(&mut self.buffer[self.to..]) {
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

/// Blanks between tokens. Files from old systems end with control characters, so all of them count.
pub(crate) fn is_blank(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7F
}
