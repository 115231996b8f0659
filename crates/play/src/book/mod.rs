//! Opening books: moves for the first plies, chosen by long searches beforehand.
//!
//! A book has the positions that the player who follows it can reach: by its own book moves and any
//! moves of the opponent. Each has one or more moves. [`new_book_maker`] makes books.
//!
//! An entry is the key of a position and the last 16 bits of the key of the position after a move.
//! So transpositions are merged, and only a legal move can be found: should two positions ever have
//! the same key, the moves of one hardly ever lead to such a position in the other.

mod format;
mod make;

use std::sync::OnceLock;

use crownhead_rules::{Game, MoveList, Position};

pub use self::format::BookError;
use self::format::{BLOCK_ENTRIES, BlockReader, Entry, EntryBytes};
pub use self::make::{BookBatch, BookMaker, BookOptions, BookScores, new_book_maker};

/// Maximum size of a book.
pub const MAX_BOOK_BYTES: usize = 100_000;
/// Start of the header line.
const MAGIC: &str = "crownhead-book 1";

/// The books of the program, with the games they are for. Other rule options have other best moves.
const SHIPPED: [(&[&str], &[u8]); 1] =
    [(&["english", "english:rules=wcdf"], include_bytes!("../../data/english.book"))];

/// An opening book, read without parsing: lookups search its bytes.
#[derive(Clone, Debug)]
pub struct Book<'a> {
    header: &'a str,
    /// Entries in ascending order; all blocks but the last have the same number.
    blocks: Vec<&'a [EntryBytes]>,
}

impl<'a> Book<'a> {
    /// Checks the whole file.
    pub fn read(bytes: &'a [u8]) -> Result<Book<'a>, BookError> {
        let mut reader = BlockReader::new(bytes, MAGIC, "book")?;
        let (mut blocks, mut last) = (Vec::new(), None);
        let mut is_complete = false;
        let mut position = reader.position;
        while let Some(block) = reader.next_block()? {
            let entries = || block.iter().map(Entry::decode);
            if is_complete || !last.into_iter().chain(entries()).is_sorted_by(|a, b| a < b) {
                return Err(BookError::Block(position));
            }
            is_complete = block.len() < BLOCK_ENTRIES;
            last = entries().next_back().or(last);
            blocks.extend(Some(block).filter(|block| !block.is_empty()));
            position = reader.position;
        }
        match is_complete {
            true => Ok(Book { header: reader.header(), blocks }),
            false => Err(BookError::Incomplete(position)),
        }
    }

    /// Returns the program's book for a game; `None` if it has none for its options.
    pub fn shipped(game: &Game) -> Option<&'static Book<'static>> {
        static BOOKS: OnceLock<Vec<(&[&str], Option<Book<'static>>)>> = OnceLock::new();
        // A test checks that all of them are valid.
        let read = || SHIPPED.map(|(games, bytes)| (games, Book::read(bytes).ok())).to_vec();
        let name = game.to_string();
        let mut books = BOOKS.get_or_init(read).iter();
        books.find(|(games, _)| games.contains(&name.as_str()))?.1.as_ref()
    }

    /// The header line: how the book was made.
    pub fn header(&self) -> &'a str {
        self.header
    }

    /// Number of entries: moves of all positions.
    pub fn entries(&self) -> usize {
        self.blocks.iter().map(|block| block.len()).sum()
    }

    /// Keys of the positions, each once.
    pub fn keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = self.entries_from(0).map(|entry| entry.key).collect();
        keys.dedup();
        keys
    }

    /// Returns the book moves of a position; none if it is not in the book.
    pub fn moves<P: Position>(&self, position: &P) -> Vec<P::Move> {
        let key = position.key();
        let is_before =
            |block: &&[EntryBytes]| block.last().is_some_and(|last| Entry::decode(last).key < key);
        let entries = self.entries_from(self.blocks.partition_point(is_before));
        let entries = entries.skip_while(|entry| entry.key < key);
        let mut legal = MoveList::new();
        position.legal_moves(&mut legal);
        let find = |entry: Entry| {
            legal.iter().copied().find(|&mv| move_value(&position.after(mv)) == entry.value)
        };
        entries.take_while(|entry| entry.key == key).filter_map(find).collect()
    }

    fn entries_from(&self, block: usize) -> impl Iterator<Item = Entry> {
        self.blocks[block..].iter().flat_map(|block| block.iter().map(Entry::decode))
    }
}

/// Returns the value that stands for a move in a book, from the position after it.
fn move_value<P: Position>(after: &P) -> u16 {
    after.key() as u16
}
