//! Builds the file of a slice; see [`format`](super::format).

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;

use miniz_oxide::deflate::compress_to_vec;

use super::format::{CHECKSUM, Counts, HEADER, LISTED, MAGIC, Stream, VERSION, streams};
use super::slice::{Boards, Slice};
use super::solve::Solved;
use super::value::DRAW;
use crate::parallel::each_batch;

/// Compression level, of 10.
const LEVEL: u8 = 9;

/// A block, compressed.
struct Block {
    bytes: Vec<u8>,
    counts: Counts,
}

/// Builds the file of a slice.
pub(super) fn encode(boards: &Boards, solved: &Solved, threads: usize) -> Vec<u8> {
    let streams = streams(!solved.progress.is_empty());
    let mut blocks = Vec::new();
    for &stream in streams {
        blocks.extend(encode_stream(boards, solved, stream, threads));
    }
    let mut counts = Counts::default();
    let of_first = boards.slice().size().div_ceil(streams[0].positions()) as usize;
    for block in &blocks[..of_first] {
        counts += block.counts;
    }
    let data: usize = blocks.iter().map(|block| block.bytes.len()).sum();
    let length = HEADER + blocks.len() * LISTED + CHECKSUM + data;
    let longest = |values: &[u8]| values.iter().max().map_or(0, |max| max.saturating_sub(1));
    let longest = match streams[0] {
        Stream::Outcomes => [0; 2],
        _ => [&solved.ends, &solved.progress].map(|values| longest(values)),
    };
    let Slice { own_men, own_kings, opponent_men, opponent_kings } = boards.slice();
    let mut image = Vec::with_capacity(length);
    image.extend(MAGIC);
    image.extend(VERSION.to_le_bytes());
    image.extend([own_men, own_kings, opponent_men, opponent_kings]);
    image.extend([streams.len() as u8, longest[0], longest[1], 0, 0, 0, 0, 0]);
    for number in [counts.wins, counts.losses, counts.draws, length as u64] {
        image.extend(number.to_le_bytes());
    }
    let mut end = 0;
    for Block { bytes, .. } in &blocks {
        end += bytes.len() as u32;
        image.extend(end.to_le_bytes());
        image.extend(crc32fast::hash(bytes).to_le_bytes());
    }
    image.extend(crc32fast::hash(&image).to_le_bytes());
    for Block { bytes, .. } in &blocks {
        image.extend(bytes);
    }
    image
}

fn encode_stream(boards: &Boards, solved: &Solved, stream: Stream, threads: usize) -> Vec<Block> {
    let size = boards.slice().size();
    let count = size.div_ceil(stream.positions()) as usize;
    let blocks: Vec<_> = (0..count).map(|_| Mutex::new(None)).collect();
    let _ = each_batch(threads, count as u64, 1, |range| {
        let first = range.start * stream.positions();
        let block =
            encode_block(boards, solved, stream, first..size.min(first + stream.positions()));
        if let Ok(mut entry) = blocks[range.start as usize].lock() {
            *entry = Some(block);
        }
        ControlFlow::Continue(())
    });
    let empty = || Block { bytes: Vec::new(), counts: Counts::default() };
    blocks
        .into_iter()
        .map(|block| block.into_inner().ok().flatten().unwrap_or_else(empty))
        .collect()
}

fn encode_block(boards: &Boards, solved: &Solved, stream: Stream, range: Range<u64>) -> Block {
    let first = range.start;
    let mut values = vec![None; (range.end - first) as usize];
    let mut counts = Counts::default();
    boards.each(range, |index, board| {
        let end = solved.ends[index as usize];
        counts.add(end);
        let entry = &mut values[(index - first) as usize];
        if board.has_capture() {
            return;
        }
        *entry = match stream {
            Stream::Ends | Stream::Outcomes => Some(end),
            // The progress of a draw is never looked up.
            Stream::Progress => Some(solved.progress[index as usize]).filter(|_| end != DRAW),
        };
    });
    // Values that are never looked up repeat the one before.
    let mut last = values.iter().flatten().next().copied().unwrap_or(DRAW);
    let filled = values.into_iter().map(|value| {
        last = value.unwrap_or(last);
        last
    });
    let bytes: Vec<u8> = match stream {
        Stream::Ends | Stream::Progress => filled.collect(),
        Stream::Outcomes => {
            let values: Vec<u8> = filled.collect();
            let byte = |four: &[u8]| four.iter().rev().fold(0, |byte, value| byte << 2 | value & 3);
            values.chunks(4).map(byte).collect()
        }
    };
    Block { bytes: compress_to_vec(&bytes, LEVEL), counts }
}
