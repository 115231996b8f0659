//! Texts of Chinese checkers, and the sentence that says why a move is refused.

use super::jumps::{STEPS, jumps};
use super::{ChineseCheckers, MAX_PIECES, MAX_PLIES, Move};
use crate::cell::Bits;
use crate::hopping::board::HopBoard;
use crate::hopping::paths::{MAX_PATHS, shortest_paths};
use crate::notation::move_error;
use crate::parse::{
    check_from_to, explain_mixed_path, explain_pass, is_pass, parse_cells, parse_key_values,
};
use crate::{
    Cell, MoveError, MoveErrorKind, Notation, OptionInfo, OptionsError, Outcome, Position,
    PositionError, Side, SideInfo,
};

impl Notation for ChineseCheckers {
    const ID: &'static str = "chinese-checkers";
    const NAME: &'static str = "Chinese checkers 8x8";
    const SIDES: [SideInfo; 2] =
        [SideInfo { letter: '#', name: "Blue" }, SideInfo { letter: 'O', name: "Red" }];
    const OPTIONS: &'static [OptionInfo] = &[];

    fn parse_options(text: &str) -> Result<(), OptionsError> {
        parse_key_values(text, Self::ID, Self::OPTIONS).map(|_| ())
    }

    fn format_options(_: &()) -> String {
        String::new()
    }

    fn parse_position(text: &str, _: &()) -> Result<Self, PositionError> {
        HopBoard::parse(text, Self::SIDES, MAX_PIECES, MAX_PLIES).map(ChineseCheckers)
    }

    fn format_position(&self) -> String {
        self.0.format(Self::SIDES)
    }

    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        let must_pass = self.must_pass();
        if is_pass(text) {
            return if must_pass { Ok(Move::PASS) } else { explain_pass() };
        }
        let cells = parse_cells(text, "1131")?;
        check_from_to(&cells, &self.0, Self::SIDES)?;
        let (from, to) = (cells[0], cells[cells.len() - 1]);
        if from == to {
            return move_error(MoveErrorKind::End, "a turn may not end where it began");
        }
        let rule = |reason| move_error(MoveErrorKind::Rule, reason);
        if must_pass {
            return rule("no piece can move: the turn is a pass".into());
        }
        if let Some(reason) = explain_mixed_path(&cells, "jump", is_step) {
            return rule(reason);
        }
        if cells.len() > 2 {
            let lifted = self.0.occupied() & !from.bit();
            let bad =
                cells.windows(2).find(|hop| jumps(lifted, hop[0].index()) & hop[1].bit() == 0);
            if let Some(hop) = bad {
                return rule(self.explain_jump(from, hop[0], hop[1]));
            }
        } else if Self::destinations(self.0.occupied(), from.index()) & to.bit() == 0 {
            return rule(if is_straight(from, to) {
                self.explain_jump(from, from, to)
            } else {
                format!("no step and no chain of jumps leads from {from} to {to}")
            });
        }
        Ok(Move { from: from.index() as u8, to: to.index() as u8 })
    }

    fn format_move(&self, mv: Move) -> String {
        if mv.is_pass() { "pass".into() } else { format!("{}{}", mv.from(), mv.to()) }
    }

    /// A way with the fewest jumps.
    fn path(&self, mv: Move) -> Vec<Cell> {
        self.shortest_paths(mv, 1).pop().unwrap_or_default()
    }

    fn paths(&self, mv: Move) -> Vec<Vec<Cell>> {
        self.shortest_paths(mv, MAX_PATHS)
    }

    fn captures(&self, _: Move) -> Vec<Cell> {
        Vec::new()
    }

    fn board(&self) -> [char; 64] {
        self.0.letters(Self::SIDES)
    }

    fn describe(&self, outcome: Outcome) -> String {
        match outcome.winner {
            Some(Side::First) => "Blue(#) wins!".into(),
            Some(Side::Second) => "Red(O) wins!".into(),
            None => "Draw!".into(),
        }
    }
}

fn is_step(from: Cell, to: Cell) -> bool {
    STEPS[from.index() as usize] & to.bit() != 0
}

/// Whether two cells are on one row, column or diagonal.
fn is_straight(from: Cell, to: Cell) -> bool {
    let (rows, columns) = (from.row().abs_diff(to.row()), from.column().abs_diff(to.column()));
    rows == 0 || columns == 0 || rows == columns
}

impl ChineseCheckers {
    /// The ways of a move with the fewest jumps, at most so many.
    fn shortest_paths(&self, mv: Move, most: usize) -> Vec<Vec<Cell>> {
        if mv.is_pass() {
            return vec![Vec::new()];
        }
        let (from, to) = (mv.from(), mv.to());
        if is_step(from, to) {
            return vec![vec![from, to]];
        }
        let lifted = self.0.occupied() & !from.bit();
        let next = |cell: Cell| Bits(jumps(lifted, cell.index())).map(Cell::from_index).collect();
        shortest_paths(from, to, most, next)
    }

    fn must_pass(&self) -> bool {
        let mut moves = crate::MoveList::new();
        self.legal_moves(&mut moves);
        moves.iter().any(|mv| mv.is_pass())
    }

    /// Why the piece that started on `start` cannot jump from `from` to `to`.
    fn explain_jump(&self, start: Cell, from: Cell, to: Cell) -> String {
        let rows = i32::from(to.row()) - i32::from(from.row());
        let columns = i32::from(to.column()) - i32::from(from.column());
        let distance = rows.abs().max(columns.abs());
        if distance == 0 {
            return format!("{from}-{to} goes nowhere: a jump goes 2, 4 or 6 cells");
        }
        if !is_straight(from, to) {
            return format!("the jump {from}-{to} is not along a row, a column or a diagonal");
        }
        if distance % 2 != 0 {
            return format!(
                "the jump {from}-{to} has no cell in the middle: a jump goes 2, 4 or 6 cells"
            );
        }
        if to != start && self.0.occupied() & to.bit() != 0 {
            return format!("the jump {from}-{to} lands on an occupied cell");
        }
        let lifted = self.0.occupied() & !start.bit();
        let between: Vec<Cell> = (1..distance)
            .filter_map(|i| from.offset(rows.signum() * i, columns.signum() * i))
            .filter(|cell| lifted & cell.bit() != 0)
            .collect();
        let found = match between.as_slice() {
            [] => "there is none".into(),
            [one] => format!("the one there is stands on {one}"),
            [_, _] => "there are two".into(),
            more => format!("there are {}", ["three", "four", "five"][more.len().min(5) - 3]),
        };
        format!("the jump {from}-{to} needs exactly one piece, in the middle: {found}")
    }
}
