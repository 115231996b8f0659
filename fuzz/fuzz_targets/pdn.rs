//! Files of games. Any bytes are read without a panic, in whatever pieces they come; a game that is read can be
//! written, and is then read as the same game.

#![no_main]

use std::io::Read;

use crownhead_records::{GameRecord, Reader, RecordError, format_game};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let items: Vec<_> = Reader::new(data).take(data.len() + 1).collect();
    assert!(items.len() <= data.len(), "more games than bytes");
    check_places(data, &items);

    // Written one after the other, because the end of one game is the beginning of the next.
    let games: Vec<_> = items.iter().flatten().cloned().collect();
    let write = |game| format_game(game).expect("a game that was read can be written");
    let text: String = games.iter().map(write).collect();
    assert_eq!(read(&text), games, "{text}");

    // The first byte also says how much comes at a time.
    let piece = usize::from(data.first().copied().unwrap_or_default()) % 7 + 1;
    let dribbled: Vec<_> = Reader::new(Dribble { data, piece }).collect();
    assert_eq!(dribbled, items, "in pieces of {piece} bytes");
});

fn read(text: &str) -> Vec<GameRecord> {
    let games: Result<_, RecordError> = Reader::new(text.as_bytes()).collect();
    games.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Errors are numbered as the games are, and come one after the other at places that are in the file.
fn check_places(data: &[u8], items: &[Result<GameRecord, RecordError>]) {
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

/// Gives its bytes a few at a time, as a slow pipe does.
struct Dribble<'a> {
    data: &'a [u8],
    piece: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.piece.min(buffer.len()).min(self.data.len());
        let (now, later) = self.data.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.data = later;
        Ok(count)
    }
}
