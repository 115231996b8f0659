//! Lines of a byte stream, in bounded memory.

use std::io::{self, BufRead};
use std::ops::Range;

/// Maximum length of a line from a bot.
pub(crate) const MAX_LINE_BYTES: usize = 64 * 1024;
/// Maximum length of a line from a referee: a turn may list thousands of moves.
const MAX_TURN_BYTES: u64 = 4 * MAX_LINE_BYTES as u64;
/// Minimum free space when reading.
const CHUNK: usize = 4 * 1024;

/// Bytes that were read but not yet returned as lines.
#[derive(Default)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// Start of the unreturned bytes.
    start: usize,
    /// End of the unreturned bytes.
    end: usize,
    /// There is no newline between `start` and here.
    searched: usize,
}

/// A line is longer than [`MAX_LINE_BYTES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LineTooLong;

impl LineBuffer {
    /// Reads from the stream once. Returns the number of bytes, 0 at its end.
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
                // `next` refuses longer lines, which bounds the size.
                self.bytes.resize((self.bytes.len() * 2).max(2 * CHUNK), 0);
            }
        }
        let count = read(&mut self.bytes[self.end..])?;
        self.end += count;
        Ok(count)
    }

    /// Removes the next complete line. Returns its place in the buffer, without the line ending.
    pub(crate) fn next(&mut self) -> Result<Option<Range<usize>>, LineTooLong> {
        let unsearched = &self.bytes[self.searched..self.end];
        match unsearched.iter().position(|&byte| byte == b'\n') {
            Some(offset) => {
                let (from, to) = (self.start, self.searched + offset);
                if to - from > MAX_LINE_BYTES {
                    return Err(LineTooLong);
                }
                (self.start, self.searched) = (to + 1, to + 1);
                let to = if to > from && self.bytes[to - 1] == b'\r' { to - 1 } else { to };
                Ok(Some(from..to))
            }
            None => {
                self.searched = self.end;
                let is_too_long = self.end - self.start > MAX_LINE_BYTES;
                if is_too_long { Err(LineTooLong) } else { Ok(None) }
            }
        }
    }

    /// Returns the bytes of a range from [`next`](LineBuffer::next), valid until the next
    /// [`fill`](LineBuffer::fill).
    pub(crate) fn get(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// Returns the line that is too long or has no end yet.
    pub(crate) fn partial_line(&self) -> &[u8] {
        let remaining = &self.bytes[self.start..self.end];
        remaining.split(|&byte| byte == b'\n').next().unwrap_or_default()
    }
}

/// Reads a line from a blocking stream. Returns false at its end. Bytes beyond [`MAX_TURN_BYTES`]
/// are skipped.
pub(crate) fn read_bounded_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let count = io::Read::take(&mut *input, MAX_TURN_BYTES).read_until(b'\n', line)?;
    if count as u64 == MAX_TURN_BYTES && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a stream that arrives in pieces, and whether one was too long.
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
    fn lines_do_not_depend_on_how_bytes_arrive() {
        let text = b"move 11-15\r\n\n# a note\nhalf";
        let whole = lines(&[text]);
        assert_eq!(whole.0, [&b"move 11-15"[..], b"", b"# a note"]);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines(&bytes), whole);
        let long = vec![b'x'; MAX_LINE_BYTES];
        assert_eq!(lines(&[&long, b"\n", b"next\n"]).0.len(), 2);
    }

    #[test]
    fn endless_line_is_refused_in_bounded_memory() {
        let flood = vec![b'x'; 10 * MAX_LINE_BYTES];
        assert_eq!(lines(&[b"one\n", &flood]), (vec![b"one".to_vec()], true));
    }
}
