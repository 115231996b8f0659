//! Notation of Capture Halma, and why a move is illegal.

use super::{CaptureHalma, MAX_PIECES, MAX_PLIES, Move, TARGETS, neighbours};
use crate::cell::Bits;
use crate::hopping::board::HopBoard;
use crate::hopping::move_text::{
    check_from_to, explain_mixed_path, explain_pass, format_path, parse_cells,
};
use crate::hopping::paths::shortest_paths;
use crate::notation::{MAX_PATHS, illegal, move_error};
use crate::parse::{is_pass, parse_key_values};
use crate::{
    Cell, Colour, EndReason, ExamplePosition, GameInfo, IllegalMoveRule, MoveError, MoveErrorKind,
    MoveList, Notation, OptionsError, Outcome, PieceInfo, Position, PositionError, Side, SideInfo,
};

/// Maximum number of hops in a turn. Every legal move has a shorter path: at most nine captures,
/// and between two of them at most eight hops over the other eight pieces of the side.
const MAX_HOPS: usize = 99;

impl Notation for CaptureHalma {
    const INFO: GameInfo = GameInfo {
        targets: Some(TARGETS),
        counts_points: true,
        illegal_move_rule: IllegalMoveRule::SkipTurn,
        bot_protocols: &["tcp-int32"],
        examples: &[
            ExamplePosition {
                name: "many moves",
                position: "5b2/1w3b2/2w1b1bb/1b1w1w2/2w1w1w1/1w1w1b2/2b1b3/8 b 10",
                one_turn: true,
            },
            ExamplePosition {
                name: "few pieces",
                position: "8/8/b7/8/8/7w/8/8 b 0",
                one_turn: false,
            },
            ExamplePosition {
                name: "a forced pass",
                position: "8/8/8/4w3/8/8/8/8 b 10",
                one_turn: true,
            },
        ],
        ..GameInfo::new(
            "capture-halma",
            "Capture Halma",
            [
                SideInfo { letter: 'b', name: "Black", colour: Colour::Black },
                SideInfo { letter: 'w', name: "White", colour: Colour::White },
            ],
            &[PieceInfo { name: "piece", plural: "pieces", letters: ['b', 'w'] }],
        )
    };

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
            return illegal(MoveErrorKind::Rule, "no piece can move: write pass");
        }
        self.follow_path(&cells).or_else(|reason| {
            // Start and end are enough if only one move has them.
            let same_ends = |mv: &&Move| mv.from() == cells[0] && mv.to() == cells[cells.len() - 1];
            let matches: Vec<_> =
                legal.iter().filter(same_ends).filter(|_| cells.len() == 2).collect();
            match matches.as_slice() {
                [mv] => Ok(**mv),
                [] => illegal(MoveErrorKind::Rule, reason),
                several => {
                    let paths: Vec<_> =
                        several.iter().take(3).map(|mv| self.format_move(**mv)).collect();
                    let message = format!(
                        "ambiguous: {} matches {} moves; write the path, for example {}",
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
        let reason = match outcome.reason {
            EndReason::AllHome => format!("all pieces of {} are in the target", home.join(" and ")),
            _ => "both players have had 200 turns".into(),
        };
        format!("{result}: {reason}")
    }
}

fn is_step(from: Cell, to: Cell) -> bool {
    neighbours(from.bit()) & to.bit() != 0
}

impl CaptureHalma {
    /// Returns the paths of a move with the fewest hops, at most `limit`.
    fn shortest_paths(&self, mv: Move, limit: usize) -> Vec<Vec<Cell>> {
        if mv.is_pass() {
            return vec![Vec::new()];
        }
        let (from, to) = (mv.from(), mv.to());
        if mv.captured == 0 && is_step(from, to) {
            return vec![vec![from, to]];
        }
        // A node is a cell and the pieces captured so far. Opponents' pieces that the move does not
        // capture must not be hopped over.
        let empty = !self.0.occupied() | from.bit();
        let next = |(at, captured): (Cell, u64)| {
            let hop = |(rows, columns): (i32, i32)| {
                let (over, landing) =
                    (at.offset(rows, columns)?, at.offset(2 * rows, 2 * columns)?);
                let capture = over.bit() & mv.captured & !captured;
                let hops_own = self.0.own() & !from.bit() & over.bit() != 0;
                let possible = landing.bit() & empty != 0 && (capture != 0 || hops_own);
                possible.then_some((landing, captured | capture))
            };
            [(-1, 0), (0, -1), (0, 1), (1, 0)].into_iter().filter_map(hop).collect()
        };
        let paths = shortest_paths((from, 0), (to, mv.captured), limit, next);
        paths.into_iter().map(|path| path.into_iter().map(|(cell, _)| cell).collect()).collect()
    }

    /// Returns the move that follows exactly this path, or why it is illegal.
    fn follow_path(&self, cells: &[Cell]) -> Result<Move, String> {
        let (from, to) = (cells[0], cells[cells.len() - 1]);
        let mv = |captured| Move { captured, from: from.index() as u8, to: to.index() as u8 };
        if let Some(reason) = explain_mixed_path(cells, "hop", is_step) {
            return Err(reason);
        }
        if cells.len() - 1 > MAX_HOPS {
            let hops = cells.len() - 1;
            return Err(format!("a turn has at most {MAX_HOPS} hops, not {hops}"));
        }
        if is_step(from, to) && cells.len() == 2 {
            return Ok(mv(0));
        }
        let empty = !self.0.occupied() | from.bit();
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
                return Err(if rows.abs() == 1 && columns.abs() == 1 {
                    format!("{text} is diagonal: pieces move along rows and columns")
                } else if cells.len() == 2 && start != end {
                    format!("no step or series of hops leads from {start} to {end}")
                } else {
                    format!("{text} is not a hop: a hop goes two cells along a row or column")
                });
            };
            if end.bit() & empty == 0 {
                return Err(format!("the hop {text} lands on an occupied cell"));
            }
            if captured & over.bit() != 0 {
                return Err(format!(
                    "the hop {text}: the piece on {over} has already been captured this turn"
                ));
            }
            if self.0.opponent() & over.bit() != 0 {
                captured |= over.bit();
            } else if own & over.bit() == 0 {
                return Err(format!("the hop {text}: there is no piece on {over} to hop over"));
            }
        }
        if captured == 0 && from == to {
            return Err("a turn without a capture cannot end where it started".into());
        }
        Ok(mv(captured))
    }
}
