//! Chinese checkers on 8x8: two camps of six in opposite corners, steps and jumps in eight directions.
//!
//! [`jumps`] finds where a piece can jump, [`texts`] reads and writes; this module is the position and its moves.

mod jumps;
mod texts;

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::cell::Bits;
use crate::cpu::{self, Work};
use crate::{Cell, EndReason, Outcome, Perft, Position, Side, zobrist};
use jumps::{STEPS, reachable};

/// Blue's camp, 11 12 13 21 22 31, and red's, 88 87 86 78 77 68. Each is the other's target.
const CAMPS: [u64; 2] = [0x0001_0307, 0xe0c0_8000_0000_0000];
/// Drawn after 100 turns by each player.
const MAX_PLIES: u16 = 200;
/// Pieces of each player; they are never captured.
const MAX_PIECES: u32 = 6;

static KEYS: [[u64; 64]; 2] = zobrist::table(2);

/// A turn: start and end. The path between is not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    from: u8,
    to: u8,
}

impl Move {
    /// The turn of a player who cannot move. It starts where it ends, which no other turn may.
    const PASS: Move = Move { from: 0, to: 0 };

    /// Whether this is the turn of a player who cannot move.
    pub fn is_pass(self) -> bool {
        self == Move::PASS
    }

    fn from(self) -> Cell {
        Cell::from_index(self.from.into())
    }

    fn to(self) -> Cell {
        Cell::from_index(self.to.into())
    }
}

/// A position of Chinese checkers.
#[derive(Clone)]
pub struct ChineseCheckers {
    pieces: [u64; 2],
    key: u64,
    side: Side,
    plies: u16,
}

impl ChineseCheckers {
    fn new(pieces: [u64; 2], side: Side, plies: u16) -> Self {
        let mut position = ChineseCheckers { pieces, key: 0, side, plies };
        position.key = position.computed_key();
        position
    }

    /// Turns played so far, by both players together.
    pub fn plies(&self) -> u16 {
        self.plies
    }

    /// The pieces of a player, bit 0 for cell `11`.
    pub fn pieces(&self, side: Side) -> u64 {
        self.pieces[side.index()]
    }

    fn occupied(&self) -> u64 {
        self.pieces[0] | self.pieces[1]
    }

    /// Where the piece on a cell can go in one turn.
    #[inline(always)]
    fn targets(occupied: u64, from: u32) -> u64 {
        let lifted = occupied & !(1 << from);
        STEPS[from as usize & 63] & !occupied | reachable(lifted, from)
    }

    /// Whether the player who has just moved has won.
    #[inline(always)]
    fn is_won(&self) -> bool {
        let target = CAMPS[self.side.index()];
        let mover = self.pieces[self.side.other().index()];
        target & !self.occupied() == 0 && mover & target != 0
    }
}

impl Position for ChineseCheckers {
    type Move = Move;
    type Options = ();

    fn start(_: &()) -> Self {
        ChineseCheckers::new(CAMPS, Side::First, 0)
    }

    #[inline(always)]
    fn side(&self) -> Side {
        self.side
    }

    #[inline(always)]
    fn each_move(&self, mut visit: impl FnMut(Move)) {
        let occupied = self.occupied();
        let mut any = 0;
        for from in Bits(self.pieces[self.side.index()]) {
            let targets = Self::targets(occupied, from);
            any |= targets;
            for to in Bits(targets) {
                visit(Move { from: from as u8, to: to as u8 });
            }
        }
        if any == 0 {
            visit(Move::PASS);
        }
    }

    #[inline(always)]
    fn after(&self, mv: Move) -> Self {
        let us = self.side.index();
        let mut pieces = self.pieces;
        pieces[us] ^= mv.from().bit() ^ mv.to().bit();
        let moved = KEYS[us][mv.from().index() as usize] ^ KEYS[us][mv.to().index() as usize];
        ChineseCheckers {
            pieces,
            key: self.key ^ zobrist::TURN ^ moved,
            side: self.side.other(),
            plies: self.plies.saturating_add(1),
        }
    }

    fn outcome(&self, _past: &[u64]) -> Option<Outcome> {
        if self.is_won() {
            let winner = Some(self.side.other());
            return Some(Outcome { winner, reason: EndReason::CampFilled, score: None });
        }
        let drawn = Outcome { winner: None, reason: EndReason::TurnLimit, score: None };
        (self.plies >= MAX_PLIES).then_some(drawn)
    }

    #[inline(always)]
    fn key(&self) -> u64 {
        self.key
    }

    fn computed_key(&self) -> u64 {
        let mut key = if self.side == Side::First { 0 } else { zobrist::TURN };
        for side in 0..2 {
            key =
                Bits(self.pieces[side]).fold(key, |key, cell| key ^ KEYS[side][cell as usize & 63]);
        }
        key
    }
}

impl Perft for ChineseCheckers {
    fn horizon(&self) -> u32 {
        u32::from(MAX_PLIES.saturating_sub(self.plies))
    }

    fn decided(&self) -> bool {
        self.is_won()
    }

    fn leaves(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if self.is_won() {
            return 0;
        }
        if depth == 1 {
            return cpu::bits(CountMoves(self));
        }
        let mut total = 0;
        self.each_move(|mv| total += self.after(mv).leaves(depth - 1));
        total
    }
}

/// Counts the moves of a position without listing them.
struct CountMoves<'a>(&'a ChineseCheckers);

impl Work for CountMoves<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let position = self.0;
        let occupied = position.occupied();
        let targets = Bits(position.pieces[position.side.index()])
            .map(|from| ChineseCheckers::targets(occupied, from));
        u64::from(targets.map(u64::count_ones).sum::<u32>().max(1)) // none: the pass
    }
}

impl PartialEq for ChineseCheckers {
    fn eq(&self, other: &Self) -> bool {
        (self.pieces, self.side) == (other.pieces, other.side)
    }
}

impl Eq for ChineseCheckers {}

impl Hash for ChineseCheckers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Debug for ChineseCheckers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::Notation;
        f.write_str(&self.write())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())
    }
}
