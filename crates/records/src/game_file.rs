//! The games of a file by number, for readers that go back and forth.

use std::io::Read;

use crate::{GameRecord, Reader, RecordError, RecordErrorKind};

/// The games of a file, read on demand.
pub struct GameFile<'a> {
    reader: Reader<'a>,
    /// Games read so far, with their numbers in the file.
    records: Vec<(u64, GameRecord)>,
    count: u64,
    /// Errors of games that could not be read. The caller takes them.
    pub errors: Vec<RecordError>,
    is_exhausted: bool,
}

/// Maximum number of errors kept: a large invalid file must not fill the memory.
const MAX_ERRORS: usize = 100;

impl<'a> GameFile<'a> {
    /// Reads games from an input.
    pub fn new(input: impl Read + 'a) -> GameFile<'a> {
        GameFile {
            reader: Reader::new(input),
            records: Vec::new(),
            count: 0,
            errors: Vec::new(),
            is_exhausted: false,
        }
    }

    /// Returns the game at an index among the readable games, with its number in the file.
    pub fn get(&mut self, index: usize) -> Option<(u64, &GameRecord)> {
        while self.records.len() <= index && !self.is_exhausted {
            let next = self.reader.next();
            self.count += 1;
            match next {
                None => self.is_exhausted = true,
                Some(Ok(record)) => self.records.push((self.count, record)),
                Some(Err(error)) => {
                    self.is_exhausted = error.kind == RecordErrorKind::Io;
                    if self.errors.len() < MAX_ERRORS {
                        self.errors.push(error);
                    }
                }
            }
        }
        self.records.get(index).map(|(number, record)| (*number, record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_games_are_skipped_and_reported() {
        let text = "1. 11-15 *\n\n1. 11-99 *\n\n1. 11-16 *";
        let mut games = GameFile::new(text.as_bytes());
        assert!(games.get(0).is_some() && games.errors.is_empty());
        assert_eq!(games.get(1).unwrap().0, 3);
        assert_eq!((games.errors.len(), games.errors[0].game), (1, 2));
        assert!(games.get(2).is_none());
        assert_eq!(games.get(0).unwrap().0, 1);
    }
}
