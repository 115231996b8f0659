//! Lines out of a stream of bytes, never more than a bounded part of it in memory.

use std::io::{self, BufRead};

/// No line of a bot is longer; every move and any remark fits.
pub(crate) const MAX_LINE_BYTES: usize = 64 * 1024;
/// What is asked of the system at a time.
const CHUNK: usize = 4 * 1024;

/// Bytes that were read and not yet taken as lines.
#[derive(Default)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// The bytes in use.
    start: usize,
    end: usize,
    /// Before here there is no end of a line.
    searched: usize,
}

/// A line that is longer than any may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LineTooLong;

impl LineBuffer {
    /// Reads once from the stream; 0 is its end.
    pub(crate) fn fill(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if self.start == self.end {
            (self.start, self.end, self.searched) = (0, 0, 0);
        }
        if self.bytes.len() - self.end < CHUNK {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.searched, self.end) = (self.searched - self.start, self.end - self.start);
            self.start = 0;
            if self.bytes.len() - self.end < CHUNK {
                // Grows to the longest line and a chunk, and only for bots that need it.
                self.bytes.resize((self.bytes.len() * 2).max(2 * CHUNK), 0);
            }
        }
        let count = read(&mut self.bytes[self.end..])?;
        self.end += count;
        Ok(count)
    }

    /// Where the next whole line is, without its end.
    pub(crate) fn next(&mut self) -> Result<Option<std::ops::Range<usize>>, LineTooLong> {
        let fresh = &self.bytes[self.searched..self.end];
        match fresh.iter().position(|&byte| byte == b'\n') {
            Some(at) => {
                let (from, to) = (self.start, self.searched + at);
                if to - from > MAX_LINE_BYTES {
                    return Err(LineTooLong);
                }
                (self.start, self.searched) = (to + 1, to + 1);
                let to = if to > from && self.bytes[to - 1] == b'\r' { to - 1 } else { to };
                Ok(Some(from..to))
            }
            None => {
                self.searched = self.end;
                if self.end - self.start > MAX_LINE_BYTES { Err(LineTooLong) } else { Ok(None) }
            }
        }
    }

    /// What a range given by [`next`](LineBuffer::next) holds; good until the next
    /// [`fill`](LineBuffer::fill).
    pub(crate) fn get(&self, range: std::ops::Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// The line that is too long or has no end yet.
    pub(crate) fn partial_line(&self) -> &[u8] {
        let rest = &self.bytes[self.start..self.end];
        rest.split(|&byte| byte == b'\n').next().unwrap_or_default()
    }
}

/// Reads a line from a stream that may be waited for; false at its end. What is too long for a line
/// is left out.
pub(crate) fn read_bounded_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let limit = 4 * MAX_LINE_BYTES as u64; // a turn may have thousands of moves
    let count = io::Read::take(&mut *input, limit).read_until(b'\n', line)?;
    if count as u64 == limit && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a stream that comes in pieces, and whether one was too long.
    fn lines(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, bool) {
        let mut buffer = LineBuffer::default();
        let mut lines = Vec::new();
        for mut piece in pieces.iter().copied() {
            while !piece.is_empty() {
                let read = |space: &mut [u8]| io::Read::read(&mut piece, space);
                buffer.fill(read).unwrap();
                loop {
                    match buffer.next() {
                        Ok(Some(range)) => lines.push(buffer.get(range).to_vec()),
                        Ok(None) => break,
                        Err(LineTooLong) => return (lines, true),
                    }
                }
                assert!(buffer.bytes.len() <= 4 * MAX_LINE_BYTES);
            }
        }
        (lines, false)
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        let text = b"move 11-15\r\n\n# a remark\nhalf";
        let whole = lines(&[text]);
        assert_eq!(whole.0, [&b"move 11-15"[..], b"", b"# a remark"]);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines(&bytes), whole);
        let long = vec![b'x'; MAX_LINE_BYTES];
        assert_eq!(lines(&[&long, b"\n", b"next\n"]).0.len(), 2);
    }

    #[test]
    fn a_line_without_an_end_is_given_up_before_it_fills_the_memory() {
        let flood = vec![b'x'; 10 * MAX_LINE_BYTES];
        assert_eq!(lines(&[b"one\n", &flood]), (vec![b"one".to_vec()], true));
    }
}
