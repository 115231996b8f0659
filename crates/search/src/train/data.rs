//! Training data: positions of self-play games, in blocks with checksums.
//!
//! A file is a header line and any number of blocks. The header names the game and the options of
//! the self-play games:
//!
//! ```text
//! crownhead-training-data 1 game=english nodes=1000 random-plies=4 off-game=9 seed=1
//! ```
//!
//! A block holds the positions of consecutive games. All numbers are little-endian.
//!
//! | bytes | block |
//! |---|---|
//! | 4 | number of the first game |
//! | 4 | number of games |
//! | 4 | number of records |
//! | 4 | CRC-32 of the three numbers above and of the records |
//! | 32 each | records |
//!
//! | bytes | record |
//! |---|---|
//! | 8, 8, 8 | from the side to move: own pieces, the opponent's, and a third word (see below) |
//! | 2 | score of the search for the side to move, signed |
//! | 1 | result for the side to move: 0 loss, 1 draw, 2 win, 3 unknown (off the game) |
//! | 1 | plies left before a draw counter ends the game, at most 255 |
//! | 4 | number of the game |
//!
//! The third word holds the kings of both sides in checkers. In the other games it holds the
//! weighted sum that the network's output is added to, and in Chinese checkers also the turns that
//! each side needs.

use std::io::{self, Read, Write};

/// The position from the side to move: own pieces, the opponent's pieces, and a word with what the
/// game needs besides.
pub type Boards = [u64; 3];

/// Bytes of a record.
pub const RECORD_BYTES: usize = 32;
const BLOCK_HEADER_BYTES: usize = 16;
/// Maximum number of records of a block: far more than its games can have.
const MAX_RECORDS: u32 = 1 << 20;
/// Maximum length of the header line.
const MAX_HEADER_BYTES: usize = 1000;
const MAGIC: &str = "crownhead-training-data 1 ";

/// A position of a self-play game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// The position.
    pub boards: Boards,
    /// Score of the search for the side to move.
    pub score: i16,
    /// Result for the side to move in half points; `None` if the position is off the game.
    pub result: Option<u8>,
    /// Plies left before a draw counter ends the game, at most 255.
    pub plies_left: u8,
    /// Number of the game.
    pub game: u32,
}

/// Code of an unknown result.
const UNKNOWN: u8 = 3;

impl Record {
    fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        for (chunk, board) in bytes.chunks_exact_mut(8).zip(self.boards) {
            chunk.copy_from_slice(&board.to_le_bytes());
        }
        bytes[24..26].copy_from_slice(&self.score.to_le_bytes());
        bytes[26] = self.result.unwrap_or(UNKNOWN);
        bytes[27] = self.plies_left;
        bytes[28..].copy_from_slice(&self.game.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; RECORD_BYTES]) -> Record {
        let board = |index: usize| {
            let mut board = [0; 8];
            board.copy_from_slice(&bytes[8 * index..8 * index + 8]);
            u64::from_le_bytes(board)
        };
        Record {
            boards: [board(0), board(1), board(2)],
            score: i16::from_le_bytes([bytes[24], bytes[25]]),
            result: Some(bytes[26]).filter(|&result| result < UNKNOWN),
            plies_left: bytes[27],
            game: u32::from_le_bytes([bytes[28], bytes[29], bytes[30], bytes[31]]),
        }
    }
}

/// Positions of consecutive games.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Number of the first game.
    pub first_game: u32,
    /// Number of games.
    pub games: u32,
    /// The positions, in the order of the games.
    pub records: Vec<Record>,
}

impl Block {
    /// Appends the block to a file, in one call of `write_all`.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(BLOCK_HEADER_BYTES + RECORD_BYTES * self.records.len());
        for number in [self.first_game, self.games, self.records.len() as u32, 0] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        self.records.iter().for_each(|record| bytes.extend_from_slice(&record.encode()));
        let checksum = checksum(&bytes);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        out.write_all(&bytes)
    }

    /// Reads a block: `None` if it is damaged or incomplete, `Some(None)` at the end of the input.
    pub fn read(mut input: impl Read) -> io::Result<Option<Option<Block>>> {
        let mut bytes = vec![0; BLOCK_HEADER_BYTES];
        let length = read_full(&mut input, &mut bytes)?;
        if length == 0 {
            return Ok(Some(None));
        }
        let number = |index: usize| {
            let mut number = [0; 4];
            number.copy_from_slice(&bytes[4 * index..4 * index + 4]);
            u32::from_le_bytes(number)
        };
        let [first_game, games, count, expected] = [0, 1, 2, 3].map(number);
        if length < BLOCK_HEADER_BYTES || count > MAX_RECORDS {
            return Ok(None);
        }
        bytes.resize(BLOCK_HEADER_BYTES + RECORD_BYTES * count as usize, 0);
        let length = read_full(&mut input, &mut bytes[BLOCK_HEADER_BYTES..])?;
        if length + BLOCK_HEADER_BYTES < bytes.len() || checksum(&bytes) != expected {
            return Ok(None);
        }
        let (records, _) = bytes[BLOCK_HEADER_BYTES..].as_chunks();
        let records = records.iter().map(Record::decode).collect();
        Ok(Some(Some(Block { first_game, games, records })))
    }
}

/// CRC-32 of a block without the field that holds it.
fn checksum(block: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&block[..12]);
    hasher.update(&block[16..]);
    hasher.finalize()
}

/// Writes the header line of a file.
pub fn write_header(settings: &str, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "{MAGIC}{settings}")
}

/// Reads the blocks of a file.
pub struct DataReader<R> {
    input: R,
    settings: String,
    /// Bytes up to the end of the last complete block.
    position: u64,
}

/// Why a data file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file has another format.
    #[error("not a file of training data (version 1)")]
    Header,
    /// A block is incomplete or its checksum is wrong.
    #[error("the block at byte {0} is damaged or incomplete")]
    Block(u64),
}

impl<R: Read> DataReader<R> {
    /// Reads the header.
    pub fn new(mut input: R) -> Result<DataReader<R>, DataError> {
        let mut line = Vec::new();
        let mut byte = [0];
        while line.last() != Some(&b'\n') {
            if line.len() == MAX_HEADER_BYTES || input.read(&mut byte)? == 0 {
                return Err(DataError::Header);
            }
            line.push(byte[0]);
        }
        let text = std::str::from_utf8(&line).ok().and_then(|line| line.strip_prefix(MAGIC));
        let settings = text.ok_or(DataError::Header)?.trim_end().to_string();
        Ok(DataReader { input, settings, position: line.len() as u64 })
    }

    /// Settings in the header: the game and the options of its self-play games.
    pub fn settings(&self) -> &str {
        &self.settings
    }

    /// Bytes up to the end of the last block that was read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Reads the next block; `None` at the end of the file.
    pub fn next_block(&mut self) -> Result<Option<Block>, DataError> {
        let damaged = DataError::Block(self.position);
        let block = Block::read(&mut self.input)?;
        if let Some(block) = block.as_ref().ok_or(damaged)? {
            self.position += (BLOCK_HEADER_BYTES + RECORD_BYTES * block.records.len()) as u64;
        }
        Ok(block.flatten())
    }
}

/// Reads until the buffer is full or the input ends.
fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match input.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(first_game: u32) -> Block {
        let record = |number: u64| Record {
            boards: [number, u64::MAX - number, number << 40],
            score: -(number as i16),
            result: [Some(0), Some(1), Some(2), None][number as usize % 4],
            plies_left: number as u8,
            game: first_game + number as u32,
        };
        Block { first_game, games: 7, records: (0..7).map(record).collect() }
    }

    fn file() -> Vec<u8> {
        let mut bytes = Vec::new();
        write_header("game=english seed=1", &mut bytes).unwrap();
        block(0).write(&mut bytes).unwrap();
        block(7).write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn blocks_are_read_as_they_were_written() {
        let bytes = file();
        let mut reader = DataReader::new(&bytes[..]).unwrap();
        assert_eq!(reader.settings(), "game=english seed=1");
        assert_eq!(reader.next_block().unwrap(), Some(block(0)));
        assert_eq!(reader.next_block().unwrap(), Some(block(7)));
        assert_eq!(reader.next_block().unwrap(), None);
        assert_eq!(reader.position(), bytes.len() as u64);
    }

    #[test]
    fn every_damaged_byte_and_every_truncation_is_noticed() {
        let bytes = file();
        let complete = |bytes: &[u8]| {
            let mut reader = DataReader::new(bytes)?;
            let blocks = [reader.next_block()?, reader.next_block()?];
            Ok::<bool, DataError>(blocks.iter().all(Option::is_some))
        };
        assert!(complete(&bytes).unwrap());
        for length in 0..bytes.len() {
            assert!(!complete(&bytes[..length]).unwrap_or(false), "{length} bytes");
        }
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1;
            let is_settings =
                (MAGIC.len()..bytes.iter().position(|&b| b == b'\n').unwrap()).contains(&index);
            assert!(is_settings || complete(&damaged).is_err(), "byte {index}");
        }
    }
}
