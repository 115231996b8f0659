//! Breakthrough on a 4x4 board: a toy game for tests, and an example of what a game consists of.
//!
//! Each side has four pieces on its first row. A piece moves one cell forward, straight or
//! diagonally, to an empty cell; diagonally it may also capture. A side that reaches the last row
//! wins, and so does a side whose opponent cannot move.

use std::fmt;

use crate::hopping::board::HopBoard;
use crate::hopping::move_text::parse_cells;
use crate::notation::illegal;
use crate::parse::parse_key_values;
use crate::{
    Bits, BulkPerft, Cell, Colour, EndReason, GameInfo, MoveError, MoveErrorKind, MoveList,
    Notation, OptionsError, Outcome, PieceInfo, Position, PositionError, Side, SideInfo,
};

const CELLS: u64 = 0x0f0f_0f0f;
const ROWS: [u64; 2] = [0x0000_000f, 0x0f00_0000];
const TARGETS: [u64; 2] = [ROWS[1], ROWS[0]];
const MAX_PIECES: u32 = 4;
/// Eight pieces advance by at most three rows each.
const MAX_PLIES: u16 = 24;

/// A move: start, end and the captured piece, if any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    from: Cell,
    to: Cell,
    captured: u64,
}

/// A position of Breakthrough.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Breakthrough(HopBoard);

impl Position for Breakthrough {
    type Move = Move;
    type Options = ();

    fn start(_: &()) -> Self {
        Breakthrough(HopBoard::new(ROWS, Side::First, 0))
    }

    fn side(&self) -> Side {
        self.0.side()
    }

    fn each_move(&self, mut visit: impl FnMut(Move)) {
        let (own, opponent) = (self.0.own(), self.0.opponent());
        if opponent & TARGETS[self.side().other().index()] != 0 {
            return; // the opponent has won
        }
        let forward = if self.side() == Side::First { 1 } else { -1 };
        for from in Bits(own).map(Cell::from_index) {
            for sideways in [-1, 0, 1] {
                let Some(to) = from.offset(forward, sideways) else { continue };
                let captured = opponent & to.bit();
                if CELLS & !own & to.bit() != 0 && (captured == 0 || sideways != 0) {
                    visit(Move { from, to, captured });
                }
            }
        }
    }

    fn after(&self, mv: Move) -> Self {
        Breakthrough(self.0.after(mv.from, mv.to, mv.captured))
    }

    fn outcome(&self, _past: &[u64]) -> Option<Outcome> {
        let mut moves = MoveList::new();
        self.legal_moves(&mut moves);
        let winner = Some(self.side().other());
        moves.is_empty().then_some(Outcome { winner, reason: EndReason::NoMove, score: None })
    }

    fn key(&self) -> u64 {
        self.0.key()
    }

    fn recompute_key(&self) -> u64 {
        self.0.recompute_key()
    }
}

impl BulkPerft for Breakthrough {}

impl Notation for Breakthrough {
    const INFO: GameInfo = GameInfo {
        cells: CELLS,
        targets: Some(TARGETS),
        ..GameInfo::new(
            "breakthrough",
            "Breakthrough 4x4",
            [
                SideInfo { letter: 'x', name: "Black", colour: Colour::Black },
                SideInfo { letter: 'o', name: "White", colour: Colour::White },
            ],
            &[PieceInfo { name: "piece", plural: "pieces", letters: ['x', 'o'] }],
        )
    };

    fn parse_options(text: &str) -> Result<(), OptionsError> {
        parse_key_values(text, Self::ID, Self::OPTIONS).map(|_| ())
    }

    fn format_options(_: &()) -> String {
        String::new()
    }

    fn parse_position(text: &str, _: &()) -> Result<Self, PositionError> {
        let board = HopBoard::parse(text, Self::SIDES, MAX_PIECES, MAX_PLIES)?;
        if board.occupied() & !CELLS != 0 {
            let message = "pieces stand in rows and columns 1 to 4".into();
            return Err(PositionError { column: 1, message });
        }
        Ok(Breakthrough(board))
    }

    fn format_position(&self) -> String {
        self.0.format(Self::SIDES)
    }

    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        let cells = parse_cells(text, "1121")?;
        let (from, to) = (cells[0], cells[cells.len() - 1]);
        let mut legal = MoveList::new();
        self.legal_moves(&mut legal);
        match legal.iter().find(|mv| cells.len() == 2 && (mv.from, mv.to) == (from, to)) {
            Some(mv) => Ok(*mv),
            None => illegal(MoveErrorKind::Rule, format!("no piece moves from {from} to {to}")),
        }
    }

    fn format_move(&self, mv: Move) -> String {
        format!("{}{}", mv.from, mv.to)
    }

    fn path(&self, mv: Move) -> Vec<Cell> {
        vec![mv.from, mv.to]
    }

    fn paths(&self, mv: Move) -> Vec<Vec<Cell>> {
        vec![self.path(mv)]
    }

    fn captures(&self, mv: Move) -> Vec<Cell> {
        Bits(mv.captured).map(Cell::from_index).collect()
    }

    fn board(&self) -> [char; 64] {
        self.0.letters(Self::SIDES)
    }

    fn describe(&self, outcome: Outcome) -> String {
        format!("{} wins", outcome.winner.map_or("", |side| Self::SIDES[side.index()].name))
    }
}

impl fmt::Debug for Breakthrough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format_position())
    }
}
