//! English and contest checkers: one implementation over rule constants.
//!
//! This module holds the position: pieces, side to move, key and draw counters. [`variant`] holds
//! what differs between the games.

mod draw_counters;
mod fen;
mod illegal;
mod move_text;
mod movegen;
mod mover_board;
mod perft;
pub mod squares;
mod variant;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

pub use movegen::Move;
pub use mover_board::MoverBoard;
pub use squares::SQUARES;
pub use variant::{ContestRules, EnglishRules, Options, Variant};

use crate::cell::Bits;
use crate::{EndReason, Outcome, Position, Side, zobrist};
use draw_counters::{DrawCounters, PackedRules, ProgressRule};
use movegen::{Jumps, Pieces, king_row};

/// English checkers.
pub type English = Checkers<EnglishRules>;
/// Contest checkers: English checkers without kings, with an early draw.
pub type Contest = Checkers<ContestRules>;

/// Zobrist keys by side and [`piece_index`].
static KEYS: [[u64; 128]; 2] = zobrist::table(1);

/// A position of English or contest checkers.
#[derive(Clone)]
pub struct Checkers<V: Variant> {
    pieces: [u64; 2],
    kings: u64,
    key: u64,
    side: Side,
    draw_counters: DrawCounters,
    rules: PackedRules,
    variant: PhantomData<V>,
}

impl<V: Variant> Checkers<V> {
    fn new(pieces: [u64; 2], kings: u64, side: Side, options: &Options<V>) -> Self {
        let mut position = Checkers {
            pieces,
            kings,
            key: 0,
            side,
            draw_counters: DrawCounters::default(),
            rules: PackedRules::new(options.rules),
            variant: PhantomData,
        };
        position.key = position.recompute_key();
        position
    }

    /// Returns the pieces of a side, in the layout of [`squares`].
    #[inline(always)]
    pub const fn pieces(&self, side: Side) -> u64 {
        self.pieces[side.index()]
    }

    /// Returns the kings of both sides.
    #[inline(always)]
    pub const fn kings(&self) -> u64 {
        self.kings
    }

    /// Returns whether men become kings in this game.
    #[inline(always)]
    pub const fn has_kings(&self) -> bool {
        self.rules.kings()
    }

    /// Returns whether the side to move can, and so must, capture.
    #[inline(always)]
    pub fn has_capture(&self) -> bool {
        self.capturing_pieces() != 0
    }

    /// Returns how many plies are left before each of the two counters draws the game.
    #[inline(always)]
    pub fn plies_to_draw(&self) -> [u32; 2] {
        let limit = u32::from(self.rules.unpack().draw_plies);
        self.draw_counters.counts().map(|count| limit.saturating_sub(count))
    }

    /// Returns whether a man's move and a capture each reset both counters, so that there is only
    /// one in effect.
    #[inline(always)]
    pub fn has_joint_draw_counter(&self) -> bool {
        self.rules.progress() == ProgressRule::AdvanceOrCapture
    }

    /// Returns the number of plies without progress that draw the game.
    #[inline(always)]
    pub fn draw_plies(&self) -> u32 {
        u32::from(self.rules.unpack().draw_plies)
    }

    /// Returns the number of plies since the last man's move or capture. An equal position cannot
    /// be further back.
    #[inline(always)]
    pub fn reversible_plies(&self) -> u32 {
        self.draw_counters.min()
    }

    /// Returns the pieces from the point of view of the side to move.
    #[inline(always)]
    fn pieces_for_mover(&self) -> Pieces {
        Pieces {
            own: self.pieces[self.side.index()],
            opponent: self.pieces[self.side.other().index()],
            kings: self.kings,
        }
    }

    /// Returns the squares where a man of the side to move becomes a king.
    #[inline(always)]
    fn crowning_squares(&self) -> u64 {
        if self.rules.kings() { king_row(self.side == Side::First) } else { 0 }
    }

    /// Returns whether the side to move has a legal move.
    fn can_move(&self) -> bool {
        let can_step = match self.side {
            Side::First => self.pieces_for_mover().can_step::<true>(),
            Side::Second => self.pieces_for_mover().can_step::<false>(),
        };
        can_step || self.capturing_pieces() != 0
    }

    /// Returns the pieces of the side to move that can capture.
    #[inline(always)]
    fn capturing_pieces(&self) -> u64 {
        let pieces = self.pieces_for_mover();
        pieces.capturing(match self.side {
            Side::First => Jumps::new::<true>(pieces.opponent, pieces.empty()),
            Side::Second => Jumps::new::<false>(pieces.opponent, pieces.empty()),
        })
    }

    /// [`after`](Position::after) with the side as a constant. Most moves are steps of men, which
    /// take a short path.
    #[inline(always)]
    fn after_for<const FIRST: bool>(&self, mv: Move) -> Self {
        if mv.kind() != 0 {
            return self.after_general::<FIRST>(mv);
        }
        let us = usize::from(!FIRST);
        let own = self.pieces[us] ^ mv.from() ^ mv.to();
        Checkers {
            pieces: if FIRST { [own, self.pieces[1]] } else { [self.pieces[0], own] },
            kings: self.kings,
            key: self.key ^ zobrist::SIDE_TO_MOVE ^ KEYS[us][mv.start()] ^ KEYS[us][mv.end()],
            side: if FIRST { Side::Second } else { Side::First },
            draw_counters: self.rules.counters_after(self.draw_counters, mv),
            rules: self.rules,
            variant: PhantomData,
        }
    }

    /// [`after_for`](Checkers::after_for) for captures, king moves and crownings.
    #[inline(never)]
    fn after_general<const FIRST: bool>(&self, mv: Move) -> Self {
        let (us, them) = if FIRST { (0, 1) } else { (1, 0) };
        let own = self.pieces[us] & !mv.from() | mv.to(); // a king may end where it started
        let other = self.pieces[them] & !mv.captured();
        let mut key = self.key ^ zobrist::SIDE_TO_MOVE ^ KEYS[us][mv.start()] ^ KEYS[us][mv.end()];
        for index in Bits(mv.captured()) {
            key ^= KEYS[them][piece_index(self.kings, index)];
        }
        Checkers {
            pieces: if FIRST { [own, other] } else { [other, own] },
            kings: self.kings & !(mv.from() | mv.captured()) | mv.crown(),
            key,
            side: if FIRST { Side::Second } else { Side::First },
            draw_counters: self.rules.counters_after(self.draw_counters, mv),
            rules: self.rules,
            variant: PhantomData,
        }
    }
}

/// Returns the index of a piece in [`KEYS`]; kings follow men.
#[inline(always)]
fn piece_index(kings: u64, index: u32) -> usize {
    ((index & 63) + if kings & 1 << index != 0 { 64 } else { 0 }) as usize
}

impl<V: Variant> Position for Checkers<V> {
    type Move = Move;
    type Options = Options<V>;

    fn start(options: &Options<V>) -> Self {
        // Squares 1 to 12 and 21 to 32.
        let first = SQUARES & (squares::bit(13) - 1);
        let second = SQUARES & !(squares::bit(21) - 1);
        Checkers::new([first, second], 0, Side::First, options)
    }

    #[inline(always)]
    fn side(&self) -> Side {
        self.side
    }

    #[inline(always)]
    fn each_move(&self, visit: impl FnMut(Move)) {
        let (pieces, crowning) = (self.pieces_for_mover(), self.crowning_squares());
        match self.side {
            Side::First => pieces.moves::<true, false>(crowning, visit),
            Side::Second => pieces.moves::<false, false>(crowning, visit),
        }
    }

    #[inline(always)]
    fn after(&self, mv: Move) -> Self {
        match self.side {
            Side::First => self.after_for::<true>(mv),
            Side::Second => self.after_for::<false>(mv),
        }
    }

    fn outcome(&self, past: &[u64]) -> Option<Outcome> {
        let rules = self.rules.unpack();
        let limit = rules.draw_plies;
        let no_progress = self.draw_counters.max() >= u32::from(limit);
        let drawn = |reason| Some(Outcome { winner: None, reason, score: None });
        if no_progress && rules.draw_before_loss {
            return drawn(EndReason::NoProgress(limit));
        }
        if !self.can_move() {
            let winner = Some(self.side.other());
            return Some(Outcome { winner, reason: EndReason::NoMove, score: None });
        }
        if no_progress {
            return drawn(EndReason::NoProgress(limit));
        }
        if rules.repetition && past.iter().filter(|&&key| key == self.key).count() >= 2 {
            return drawn(EndReason::Repetition);
        }
        None
    }

    #[inline(always)]
    fn key(&self) -> u64 {
        self.key
    }

    fn recompute_key(&self) -> u64 {
        let mut key = if self.side == Side::First { 0 } else { zobrist::SIDE_TO_MOVE };
        for side in [Side::First, Side::Second] {
            for index in Bits(self.pieces[side.index()]) {
                key ^= KEYS[side.index()][piece_index(self.kings, index)];
            }
        }
        key
    }
}

impl<V: Variant> PartialEq for Checkers<V> {
    fn eq(&self, other: &Self) -> bool {
        (self.pieces, self.kings, self.side) == (other.pieces, other.kings, other.side)
    }
}

impl<V: Variant> Eq for Checkers<V> {}

impl<V: Variant> Hash for Checkers<V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl<V: Variant> fmt::Debug for Checkers<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::Notation;
        write!(f, "{} {} {:?}", V::ID, self.format_position(), self.draw_counters)
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.is_capture() { 'x' } else { '-' };
        write!(f, "{}{separator}{}", squares::number(self.from()), squares::number(self.to()))?;
        if self.is_capture() {
            let captured: Vec<_> = Bits(self.captured()).map(|i| squares::number(1 << i)).collect();
            write!(f, " capturing {captured:?}")?;
        }
        Ok(())
    }
}
