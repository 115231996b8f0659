//! The beginning and the end of what a process wrote to standard error.

/// Bytes kept from each end of standard error.
pub(super) const STDERR_TAIL_BYTES: usize = 2 * 1024;

/// Standard error of a process, in bounded memory. Compilers report the first error first; crashes
/// are explained in the last line.
#[derive(Default)]
pub(super) struct StderrCapture {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl StderrCapture {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let space = STDERR_TAIL_BYTES - self.head.len();
        let (head, tail) = bytes.split_at(bytes.len().min(space));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(tail);
        let excess = self.tail.len().saturating_sub(STDERR_TAIL_BYTES);
        self.tail.drain(..excess);
    }

    /// Returns the last line that is not blank.
    pub(super) fn last_line(&self) -> Option<&[u8]> {
        [&self.tail, &self.head].into_iter().find_map(|bytes| {
            let lines = bytes.split(|&byte| byte == b'\n').rev().map(<[u8]>::trim_ascii);
            lines.into_iter().find(|line| !line.is_empty())
        })
    }

    /// Returns the head and the tail, with an ellipsis where bytes were dropped.
    pub(super) fn excerpt(&self) -> Vec<u8> {
        let is_cut = self.tail.len() == STDERR_TAIL_BYTES;
        let gap = if is_cut { "\n…\n" } else { "" };
        [&self.head, gap.as_bytes(), &self.tail].concat()
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
        assert!(excerpt.ends_with("\nlast\n \n") && excerpt.len() < 3 * STDERR_TAIL_BYTES);
    }
}
