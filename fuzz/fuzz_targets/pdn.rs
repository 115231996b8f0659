//! Reading any bytes never panics and does not depend on how they are split into chunks; every game
//! survives writing and reading.

#![no_main]

use std::io::Read;

use crownhead_records::{GameRecord, Reader, RecordError, format_game};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let items: Vec<_> = Reader::new(data).take(data.len() + 1).collect();
    assert!(items.len() <= data.len(), "more games than bytes");
    check_locations(data, &items);

    // All games in one text, to test where one ends and the next begins.
    let games: Vec<_> = items.iter().flatten().cloned().collect();
    let write = |game| format_game(game).expect("a parsed game can be formatted");
    let text: String = games.iter().map(write).collect();
    assert_eq!(read(&text), games, "{text}");

    // The first byte also selects the chunk size.
    let chunk = usize::from(data.first().copied().unwrap_or_default()) % 7 + 1;
    let chunked: Vec<_> = Reader::new(Chunks { data, chunk }).collect();
    assert_eq!(chunked, items, "in chunks of {chunk} bytes");
});

fn read(text: &str) -> Vec<GameRecord> {
    let games: Result<_, RecordError> = Reader::new(text.as_bytes()).collect();
    games.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Checks that errors have the number of their game and a location in the file.
fn check_locations(data: &[u8], items: &[Result<GameRecord, RecordError>]) {
    let lines = 1 + data.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() as u64;
    for (i, item) in items.iter().enumerate() {
        if let Err(error) = item {
            assert_eq!(error.game, i as u64 + 1);
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!((1..=data.len() as u64 + 1).contains(&error.column), "{error}");
            assert!(!error.message.is_empty());
        }
    }
}

/// Input that returns a few bytes per read.
struct Chunks<'a> {
    data: &'a [u8],
    chunk: usize,
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.chunk.min(buffer.len()).min(self.data.len());
        let (now, later) = self.data.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.data = later;
        Ok(count)
    }
}
