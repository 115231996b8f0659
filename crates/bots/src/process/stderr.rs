//! The beginning and the end of what a process wrote to standard error.

use crownhead_rules::escape_invisible;

/// Maximum bytes stored of each end of standard error.
const MAX_END_BYTES: usize = 64 * 1024;
/// Bytes of each end in an [excerpt](StderrCapture::excerpt).
const EXCERPT_BYTES: usize = 2 * 1024;
/// Stands for dropped bytes.
const GAP: &str = "\n…\n";

/// Standard error of a process, in bounded memory. Compilers report the first error first; crashes
/// are explained in the last line.
#[derive(Default)]
pub(super) struct StderrCapture {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl StderrCapture {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let space = MAX_END_BYTES - self.head.len();
        let (head, tail) = bytes.split_at(bytes.len().min(space));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(tail);
        let excess = self.tail.len().saturating_sub(MAX_END_BYTES);
        self.tail.drain(..excess);
    }

    /// Returns the last line that is not blank.
    pub(super) fn last_line(&self) -> Option<&[u8]> {
        [&self.tail, &self.head].into_iter().find_map(|bytes| {
            let lines = bytes.split(|&byte| byte == b'\n').rev().map(<[u8]>::trim_ascii);
            lines.into_iter().find(|line| !line.is_empty())
        })
    }

    /// Returns everything that is stored, with an ellipsis where bytes were dropped.
    fn all(&self) -> Vec<u8> {
        let gap = if self.tail.len() == MAX_END_BYTES { GAP } else { "" };
        [&self.head, gap.as_bytes(), &self.tail].concat()
    }

    /// Returns the last lines, without blank lines at the end.
    pub(super) fn lines(&self, max: usize) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.all()).into_owned();
        let lines: Vec<_> = text.trim_end().lines().map(escape_invisible).collect();
        lines[lines.len().saturating_sub(max)..].to_vec()
    }

    /// Returns the beginning and the end, with an ellipsis where bytes are missing.
    pub(super) fn excerpt(&self) -> Vec<u8> {
        let all = self.all();
        if all.len() <= 2 * EXCERPT_BYTES {
            return all;
        }
        let (head, tail) = (&all[..EXCERPT_BYTES], &all[all.len() - EXCERPT_BYTES..]);
        [head, GAP.as_bytes(), tail].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capture_keeps_both_ends() {
        let mut capture = StderrCapture::default();
        assert_eq!(capture.last_line(), None);
        capture.push(b"first\n\n");
        assert_eq!(capture.last_line(), Some(&b"first"[..]));
        for _ in 0..100 {
            capture.push(&[b'x'; 100]);
        }
        capture.push(b"\nlast\n \n");
        assert_eq!(capture.last_line(), Some(&b"last"[..]));
        let excerpt = String::from_utf8(capture.excerpt()).unwrap();
        assert!(excerpt.starts_with("first\n") && excerpt.contains("\n…\n"));
        assert!(excerpt.ends_with("\nlast\n \n") && excerpt.len() < 3 * EXCERPT_BYTES);
    }
}
