//! Notation of Chinese checkers, and why a move is illegal.

use super::jumps::{STEPS, jumps};
use super::{CAMPS, ChineseCheckers, MAX_PIECES, MAX_PLIES, Move};
use crate::cell::Bits;
use crate::hopping::board::HopBoard;
use crate::hopping::move_text::{check_from_to, explain_mixed_path, explain_pass, parse_cells};
use crate::hopping::paths::shortest_paths;
use crate::notation::{MAX_PATHS, illegal};
use crate::parse::{is_pass, parse_key_values};
use crate::{
    AssignmentTexts, Cell, Colour, ExamplePosition, GameInfo, MoveError, MoveErrorKind, Notation,
    OptionsError, Outcome, PieceInfo, Position, PositionError, SideInfo,
};

impl Notation for ChineseCheckers {
    const INFO: GameInfo = GameInfo {
        targets: Some([CAMPS[1], CAMPS[0]]),
        bot_protocols: &["c-function"],
        examples: &[
            ExamplePosition {
                name: "many moves",
                position: "3O4/1O3O1O/1O6/4O1#1/2#1#3/4#3/1#1#4/8 # 10",
                one_turn: true,
            },
            ExamplePosition {
                // Two pieces cannot fill a camp, so the game lasts until the turn limit.
                name: "a very long game",
                position: "#7/8/8/8/8/8/8/7O # 0",
                one_turn: false,
            },
            ExamplePosition {
                name: "a forced pass",
                position: "5OO#/6OO/5O1O/8/8/8/8/8 # 10",
                one_turn: true,
            },
        ],
        assignment_texts: Some(AssignmentTexts {
            invalid_move: [
                "Invalid input format, please input again:",
                "Input out of the game board, please input again:",
                "Invalid starting location, please input again:",
                "Invalid ending location, please input again:",
                "The move violates the game rule, please input again:",
            ],
            results: ["Blue(#) wins!", "Red(O) wins!", "Draw!"],
        }),
        ..GameInfo::new(
            "chinese-checkers",
            "Chinese checkers 8x8",
            [
                SideInfo { letter: '#', name: "Blue", colour: Colour::Blue },
                SideInfo { letter: 'O', name: "Red", colour: Colour::Red },
            ],
            &[PieceInfo { name: "piece", plural: "pieces", letters: ['#', 'O'] }],
        )
    };

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
            return illegal(MoveErrorKind::End, "a turn cannot end where it started");
        }
        let rule_error = |reason: String| illegal(MoveErrorKind::Rule, reason);
        if must_pass {
            return rule_error("no piece can move: write pass".into());
        }
        if let Some(reason) = explain_mixed_path(&cells, "jump", is_step) {
            return rule_error(reason);
        }
        if cells.len() > 2 {
            let lifted = self.0.occupied() & !from.bit();
            let mut jumped = cells.windows(2);
            let impossible =
                jumped.find(|jump| jumps(lifted, jump[0].index()) & jump[1].bit() == 0);
            if let Some(jump) = impossible {
                return rule_error(self.explain_jump(from, jump[0], jump[1]));
            }
        } else if Self::destinations(self.0.occupied(), from.index()) & to.bit() == 0 {
            return rule_error(if is_straight(from, to) {
                self.explain_jump(from, from, to)
            } else {
                format!("no step or series of jumps leads from {from} to {to}")
            });
        }
        Ok(Move { from: from.index() as u8, to: to.index() as u8 })
    }

    fn format_move(&self, mv: Move) -> String {
        if mv.is_pass() {
            return "pass".into();
        }
        let mut text = String::with_capacity(4);
        mv.from().push_to(&mut text);
        mv.to().push_to(&mut text);
        text
    }

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
        Self::INFO.assignment_texts.map_or("", |texts| texts.result(outcome.winner)).into()
    }
}

fn is_step(from: Cell, to: Cell) -> bool {
    STEPS[from.index() as usize] & to.bit() != 0
}

/// Returns whether two cells are on one row, column or diagonal.
fn is_straight(from: Cell, to: Cell) -> bool {
    let (rows, columns) = (from.row().abs_diff(to.row()), from.column().abs_diff(to.column()));
    rows == 0 || columns == 0 || rows == columns
}

impl ChineseCheckers {
    /// Returns the paths of a move with the fewest jumps, at most `limit`.
    fn shortest_paths(&self, mv: Move, limit: usize) -> Vec<Vec<Cell>> {
        if mv.is_pass() {
            return vec![Vec::new()];
        }
        let (from, to) = (mv.from(), mv.to());
        if is_step(from, to) {
            return vec![vec![from, to]];
        }
        let lifted = self.0.occupied() & !from.bit();
        let next = |cell: Cell| Bits(jumps(lifted, cell.index())).map(Cell::from_index).collect();
        shortest_paths(from, to, limit, next)
    }

    fn must_pass(&self) -> bool {
        let mut moves = crate::MoveList::new();
        self.legal_moves(&mut moves);
        moves.iter().any(|mv| mv.is_pass())
    }

    /// Explains why the piece that started on `start` cannot jump from `from` to `to`.
    fn explain_jump(&self, start: Cell, from: Cell, to: Cell) -> String {
        let rows = i32::from(to.row()) - i32::from(from.row());
        let columns = i32::from(to.column()) - i32::from(from.column());
        let distance = rows.abs().max(columns.abs());
        if distance == 0 {
            return format!("{from}-{to} is not a jump: a jump goes 2, 4 or 6 cells");
        }
        if !is_straight(from, to) {
            return format!("the jump {from}-{to} does not follow a row, column or diagonal");
        }
        if distance % 2 != 0 {
            return format!("the jump {from}-{to} has no middle cell: a jump goes 2, 4 or 6 cells");
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
            [cell] => format!("the only piece is on {cell}"),
            [_, _] => "there are two".into(),
            more => format!("there are {}", ["three", "four", "five"][more.len().min(5) - 3]),
        };
        format!("the jump {from}-{to} needs exactly one piece, in the middle: {found}")
    }
}
