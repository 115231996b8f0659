//! Texts of Capture Halma, and the sentence that says why a move is refused.

use super::{CaptureHalma, MAX_PIECES, MAX_PLIES, Move, neighbours};
use crate::cell::Bits;
use crate::hopping::board::HopBoard;
use crate::hopping::paths::{MAX_PATHS, shortest_paths};
use crate::notation::move_error;
use crate::parse::{
    check_from_to, explain_mixed_path, explain_pass, format_path, is_pass, parse_cells,
    parse_key_values,
};
use crate::{
    Cell, EndReason, MoveError, MoveErrorKind, MoveList, Notation, OptionInfo, OptionsError,
    Outcome, Position, PositionError, Side, SideInfo,
};

/// A turn has at most so many hops. Every legal move can be made with fewer: at most nine captures,
/// and between them at most eight hops over the eight other own pieces.
const MAX_HOPS: usize = 99;

impl Notation for CaptureHalma {
    const ID: &'static str = "capture-halma";
    const NAME: &'static str = "Capture Halma";
    const SIDES: [SideInfo; 2] =
        [SideInfo { letter: 'b', name: "Black" }, SideInfo { letter: 'w', name: "White" }];
    const OPTIONS: &'static [OptionInfo] = &[];

    fn parse_options(text: &str) -> Result<(), OptionsError> {
        parse_key_values(text, Self::ID, Self::OPTIONS).map(|_| ())
    }

    fn format_options(_: &()) -> String {
        String::new()
    }

    fn parse_position(text: &str, _: &()) -> Result<Self, PositionError> {
        HopBoard::parse(text, Self::SIDES, MAX_PIECES, MAX_PLIES).map(CaptureHalma)
    }

    fn format_position(&self) -> String {
        self.0.format(Self::SIDES)
    }

    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        let mut legal = MoveList::new();
        self.legal_moves(&mut legal);
        let must_pass = legal.iter().any(|mv| mv.is_pass());
        if is_pass(text) {
            return if must_pass { Ok(Move::PASS) } else { explain_pass() };
        }
        let cells = parse_cells(text, "22-24-44")?;
        check_from_to(&cells, &self.0, Self::SIDES)?;
        if must_pass {
            return move_error(MoveErrorKind::Rule, "no piece can move: the turn is a pass");
        }
        self.follow_path(&cells).or_else(|reason| {
            // Start and end may be enough.
            let ends = |mv: &&Move| mv.from() == cells[0] && mv.to() == cells[cells.len() - 1];
            let fitting: Vec<_> = legal.iter().filter(ends).filter(|_| cells.len() == 2).collect();
            match fitting.as_slice() {
                [mv] => Ok(**mv),
                [] => move_error(MoveErrorKind::Rule, reason),
                several => {
                    let paths: Vec<_> =
                        several.iter().take(3).map(|mv| self.format_move(**mv)).collect();
                    let message = format!(
                        "{} fits {} moves: write the path, such as {}",
                        format_path(&cells),
                        several.len(),
                        paths.join(" or ")
                    );
                    move_error(MoveErrorKind::Rule, message)
                }
            }
        })
    }

    fn format_move(&self, mv: Move) -> String {
        if mv.is_pass() { "pass".into() } else { format_path(&self.path(mv)) }
    }

    /// A way with the fewest hops.
    fn path(&self, mv: Move) -> Vec<Cell> {
        self.shortest_paths(mv, 1).pop().unwrap_or_default()
    }

    fn paths(&self, mv: Move) -> Vec<Vec<Cell>> {
        self.shortest_paths(mv, MAX_PATHS)
    }

    fn captures(&self, mv: Move) -> Vec<Cell> {
        Bits(mv.captured).map(Cell::from_index).collect()
    }

    fn board(&self) -> [char; 64] {
        self.0.letters(Self::SIDES)
    }

    fn describe(&self, outcome: Outcome) -> String {
        let (first, second) = outcome.score.unwrap_or_default();
        let result = match outcome.winner {
            Some(side) => format!("{} wins {first}-{second}", Self::SIDES[side.index()].name),
            None => format!("Draw {first}-{second}"),
        };
        let home: Vec<_> = [Side::First, Side::Second]
            .into_iter()
            .filter(|&side| self.is_home(side))
            .map(|side| Self::SIDES[side.index()].name)
            .collect();
        let why = match outcome.reason {
            EndReason::AllHome => format!("all pieces of {} are in the target", home.join(" and ")),
            _ => "both players have had 200 turns".into(),
        };
        format!("{result}: {why}")
    }
}

fn is_step(from: Cell, to: Cell) -> bool {
    neighbours(from.bit()) & to.bit() != 0
}

impl CaptureHalma {
    /// The ways of a move with the fewest hops, at most so many.
    fn shortest_paths(&self, mv: Move, most: usize) -> Vec<Vec<Cell>> {
        if mv.is_pass() {
            return vec![Vec::new()];
        }
        let (from, to) = (mv.from(), mv.to());
        if mv.captured == 0 && is_step(from, to) {
            return vec![vec![from, to]];
        }
        // From a cell with the pieces taken so far to the next; only pieces that the move takes may be
        // hopped.
        let free = !(self.0.own() | self.0.opponent()) | from.bit();
        let next = |(at, taken): (Cell, u64)| {
            let hop = |(rows, columns): (i32, i32)| {
                let (over, landing) =
                    (at.offset(rows, columns)?, at.offset(2 * rows, 2 * columns)?);
                let takes = over.bit() & mv.captured & !taken;
                let hops_own = self.0.own() & !from.bit() & over.bit() != 0;
                let may = landing.bit() & free != 0 && (takes != 0 || hops_own);
                may.then_some((landing, taken | takes))
            };
            [(-1, 0), (0, -1), (0, 1), (1, 0)].into_iter().filter_map(hop).collect()
        };
        let ways = shortest_paths((from, 0), (to, mv.captured), most, next);
        ways.into_iter().map(|way| way.into_iter().map(|(cell, _)| cell).collect()).collect()
    }

    /// The move that makes exactly these steps or hops, or why it cannot be made.
    fn follow_path(&self, cells: &[Cell]) -> Result<Move, String> {
        let (from, to) = (cells[0], cells[cells.len() - 1]);
        let mv = |captured| Move { captured, from: from.index() as u8, to: to.index() as u8 };
        if let Some(reason) = explain_mixed_path(cells, "hop", is_step) {
            return Err(reason);
        }
        if cells.len() - 1 > MAX_HOPS {
            return Err(format!(
                "a turn has at most {MAX_HOPS} hops: this one has {}",
                cells.len() - 1
            ));
        }
        if is_step(from, to) && cells.len() == 2 {
            return Ok(mv(0));
        }
        let free = !(self.0.own() | self.0.opponent()) | from.bit();
        let own = self.0.own() & !from.bit();
        let mut captured = 0;
        for pair in cells.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            let rows = i32::from(end.row()) - i32::from(start.row());
            let columns = i32::from(end.column()) - i32::from(start.column());
            let text = format!("{start}-{end}");
            let over = match (rows, columns) {
                (-2 | 2, 0) | (0, -2 | 2) => start.offset(rows / 2, columns / 2),
                _ => None,
            };
            let Some(over) = over else {
                return Err(if start == end {
                    format!("{text} goes nowhere: a hop goes two cells along a row or a column")
                } else if rows.abs() == 1 && columns.abs() == 1 {
                    format!("{text} is diagonal: pieces go along rows and columns")
                } else if cells.len() == 2 {
                    format!("no step and no chain of hops leads from {start} to {end}")
                } else {
                    format!("{text} is no hop: a hop goes two cells along a row or a column")
                });
            };
            if end.bit() & free == 0 {
                return Err(format!("the hop {text} lands on an occupied cell"));
            }
            if captured & over.bit() != 0 {
                return Err(format!(
                    "the hop {text}: the piece on {over} has been taken already in this turn"
                ));
            }
            if self.0.opponent() & over.bit() != 0 {
                captured |= over.bit();
            } else if own & over.bit() == 0 {
                return Err(format!("the hop {text} needs a piece on {over} to hop over"));
            }
        }
        if captured == 0 && from == to {
            return Err(
                "a turn that takes nothing and ends where it began changes nothing: it is no move"
                    .into(),
            );
        }
        Ok(mv(captured))
    }
}
