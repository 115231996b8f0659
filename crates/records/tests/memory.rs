//! The reader keeps at most one game in memory, whatever the size of the file.
//!
//! A separate test binary, because the allocator counts for the whole process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

use std::io::{self, Read};

use crownhead_records::{Reader, RecordErrorKind};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MB: usize = 1 << 20;

/// Text generated chunk by chunk.
struct Generated<F> {
    next: F,
    chunk: Vec<u8>,
    at: usize,
}

impl<F: FnMut() -> Option<String>> Read for Generated<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            self.chunk = (self.next)().unwrap_or_default().into_bytes();
            self.at = 0;
        }
        let count = out.len().min(self.chunk.len() - self.at);
        out[..count].copy_from_slice(&self.chunk[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Returns `count` chunks of text, generated from their numbers.
fn generate(count: usize, mut chunk: impl FnMut(usize) -> String) -> impl Read {
    let mut numbers = 0..count;
    Generated { next: move || numbers.next().map(&mut chunk), chunk: Vec::new(), at: 0 }
}

/// Reads all games. Returns their number, the errors and the peak memory use in bytes.
fn read(input: impl Read) -> (usize, Vec<RecordErrorKind>, usize) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let (mut games, mut errors) = (0, Vec::new());
    for item in Reader::new(input) {
        match item {
            Ok(_) => games += 1,
            Err(error) => errors.push(error.kind),
        }
    }
    (games, errors, MEMORY.peak_usage() - before)
}

#[test]
fn memory_is_bounded_by_one_game() {
    // Many games, some of them invalid.
    let count = 80_000;
    let (games, errors, peak) = read(generate(count, |i| {
        let second = if i % 1000 == 0 { "23-24" } else { "23-19" };
        format!(
            "[Event \"Game {i}\"]\n[Black \"Someone\"]\n[White \"Someone else\"]\n[Result \"1/2-1/2\"]\n\
             1. 11-15 {second} 2. 8-11 22-17 3. 4-8 {{a comment, not too short}} 17-13 4. 15-18 24-20\n\
             5. 11-15 28-24 (5... 26-22) 6. 8-11 1/2-1/2\n\n"
        )
    }));
    assert_eq!((games + errors.len(), errors.len()), (count, count / 1000));
    assert!(peak < MB, "{peak} bytes");

    // One endless game on one line.
    let endless = |i| match i {
        0 => "[FEN \"B:WK32:BK1\"]".to_string(),
        _ => "1-5 32-28 5-1 28-32 ".repeat(500),
    };
    let (games, errors, peak) = read(generate(500, endless));
    assert_eq!((games, errors), (0, vec![RecordErrorKind::Limit]));
    assert!(peak < 32 * MB, "{peak} bytes");

    // Endless comments: one that is not closed, and one in many parts.
    let (games, errors, peak) = read(generate(500, |i| format!("{{ {i} {}", "word ".repeat(2000))));
    assert_eq!((games, errors), (0, vec![RecordErrorKind::Syntax]));
    assert!(peak < 8 * MB, "{peak} bytes");
    let (games, errors, peak) =
        read(generate(500, |i| format!("{{ {i} {}}}", "word ".repeat(2000))));
    assert_eq!((games, errors), (0, vec![RecordErrorKind::Limit]));
    assert!(peak < 8 * MB, "{peak} bytes");

    // Junk: one word, one line of tags, empty lines, a tag that never ends.
    for junk in ["xyz", "[Event \"?\"]", "\n", "%", "[A", "(", "1.", "$7", "[B \"c\"] "] {
        let first = if junk == "[A" { "[Event \"".to_string() } else { String::new() };
        let (games, _, peak) = read(generate(200, |i| {
            format!("{}{}", if i == 0 { &first } else { "" }, junk.repeat(5000))
        }));
        assert!(games <= 1 && peak < 16 * MB, "{junk}: {games} games, {peak} bytes");
    }
}
