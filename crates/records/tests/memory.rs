//! However much text there is, no more than one game is in memory.
//!
//! A file of its own, because the allocator counts for the whole process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

use std::io::{self, Read};

use crownhead_records::{Reader, RecordErrorKind};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MB: usize = 1 << 20;

/// Pieces of text made when they are asked for.
struct Made<F> {
    make: F,
    piece: Vec<u8>,
    at: usize,
}

impl<F: FnMut() -> Option<String>> Read for Made<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            self.piece = (self.make)().unwrap_or_default().into_bytes();
            self.at = 0;
        }
        let count = out.len().min(self.piece.len() - self.at);
        out[..count].copy_from_slice(&self.piece[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Text from pieces, which `make` gets the number of; `count` of them.
fn made(count: usize, mut make: impl FnMut(usize) -> String) -> impl Read {
    let mut numbers = 0..count;
    Made { make: move || numbers.next().map(&mut make), piece: Vec::new(), at: 0 }
}

/// Reads everything; how many games, how many errors of the last kind seen, and the most memory
/// used meanwhile.
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
fn memory_is_one_game() {
    // Many games, some of them broken.
    let count = 80_000;
    let (games, errors, peak) = read(made(count, |i| {
        let second = if i % 1000 == 0 { "23-24" } else { "23-19" };
        format!(
            "[Event \"Game {i}\"]\n[Black \"Someone\"]\n[White \"Someone else\"]\n[Result \"1/2-1/2\"]\n\
             1. 11-15 {second} 2. 8-11 22-17 3. 4-8 {{a remark, not too short}} 17-13 4. 15-18 24-20\n\
             5. 11-15 28-24 (5... 26-22) 6. 8-11 1/2-1/2\n\n"
        )
    }));
    assert_eq!((games + errors.len(), errors.len()), (count, count / 1000));
    assert!(peak < MB, "{peak} bytes");

    // One game without end, in one line.
    let endless = |i| match i {
        0 => "[FEN \"B:WK32:BK1\"]".to_string(),
        _ => "1-5 32-28 5-1 28-32 ".repeat(500),
    };
    let (games, errors, peak) = read(made(500, endless));
    assert_eq!((games, errors), (0, vec![RecordErrorKind::Limit]));
    assert!(peak < 32 * MB, "{peak} bytes");

    // Comments without end: one that is not closed, and one in many parts.
    let (games, errors, peak) = read(made(500, |i| format!("{{ {i} {}", "word ".repeat(2000))));
    assert_eq!((games, errors), (0, vec![RecordErrorKind::Syntax]));
    assert!(peak < 8 * MB, "{peak} bytes");
    let (games, errors, peak) = read(made(500, |i| format!("{{ {i} {}}}", "word ".repeat(2000))));
    assert_eq!((games, errors), (0, vec![RecordErrorKind::Limit]));
    assert!(peak < 8 * MB, "{peak} bytes");

    // Text that is nothing: one word, one line of tags, empty lines, a tag that never ends.
    for junk in ["xyz", "[Event \"?\"]", "\n", "%", "[A", "(", "1.", "$7", "[B \"c\"] "] {
        let first = if junk == "[A" { "[Event \"".to_string() } else { String::new() };
        let (games, _, peak) = read(made(200, |i| {
            format!("{}{}", if i == 0 { &first } else { "" }, junk.repeat(5000))
        }));
        assert!(games <= 1 && peak < 16 * MB, "{junk}: {games} games, {peak} bytes");
    }
}
