//! Builds the file of a slice; see [`format`](super::format).

use std::ops::Range;

use super::format::{Counts, MAGIC, Stream, VERSION, streams};
use super::slice::{Boards, Slice};
use super::solve::Solved;
use super::value::DRAW;
use crate::blocks;
use crate::parallel::map;

/// A block, compressed.
struct Block {
    bytes: Vec<u8>,
    counts: Counts,
    /// Largest value.
    longest: u8,
}

/// Builds the file of a slice.
pub(super) fn encode(boards: &Boards, solved: &Solved, threads: usize) -> Vec<u8> {
    let streams = streams(solved.progress.is_some());
    let mut blocks = Vec::new();
    for &stream in streams {
        blocks.extend(encode_stream(boards, solved, stream, threads));
    }
    let mut counts = Counts::default();
    let of_first = boards.slice().size().div_ceil(streams[0].positions()) as usize;
    for block in &blocks[..of_first] {
        counts += block.counts;
    }
    let longest = [&blocks[..of_first], &blocks[of_first..]].map(|blocks| {
        blocks.iter().map(|block| block.longest).max().map_or(0, |max| max.saturating_sub(1))
    });
    let longest = if streams[0] == Stream::Outcomes { [0; 2] } else { longest };
    let Slice { own_men, own_kings, opponent_men, opponent_kings } = boards.slice();
    let [ends, progress] = longest;
    let streams = streams.len() as u8;
    let facts = [own_men, own_kings, opponent_men, opponent_kings, streams, ends, progress];
    let header = blocks::header((&MAGIC, VERSION), counts, &facts);
    blocks::build(header, blocks.iter().map(|block| &block.bytes[..]))
}

fn encode_stream(boards: &Boards, solved: &Solved, stream: Stream, threads: usize) -> Vec<Block> {
    let size = boards.slice().size();
    map(threads, size.div_ceil(stream.positions()), |block| {
        let first = block * stream.positions();
        encode_block(boards, solved, stream, first..size.min(first + stream.positions()))
    })
}

fn encode_block(boards: &Boards, solved: &Solved, stream: Stream, range: Range<u64>) -> Block {
    let first = range.start;
    let mut values = vec![None; (range.end - first) as usize];
    let (mut counts, mut longest) = (Counts::default(), 0);
    let values_of_stream = match stream {
        Stream::Progress => solved.progress.as_ref().unwrap_or(&solved.ends),
        Stream::Ends | Stream::Outcomes => &solved.ends,
    };
    boards.each(range, |index, board| {
        let end = solved.ends.get(index);
        let value = values_of_stream.get(index);
        counts.add(end);
        longest = longest.max(value);
        let entry = &mut values[(index - first) as usize];
        if board.has_capture() {
            return;
        }
        *entry = match stream {
            Stream::Ends | Stream::Outcomes => Some(value),
            // The progress of a draw is never looked up.
            Stream::Progress => Some(value).filter(|_| end != DRAW),
        };
    });
    let filled = blocks::fill(values);
    let bytes: Vec<u8> = match stream {
        Stream::Ends | Stream::Progress => filled.collect(),
        Stream::Outcomes => {
            let values: Vec<u8> = filled.collect();
            let byte = |four: &[u8]| four.iter().rev().fold(0, |byte, value| byte << 2 | value & 3);
            values.chunks(4).map(byte).collect()
        }
    };
    Block { bytes: blocks::compress(&bytes), counts, longest }
}
