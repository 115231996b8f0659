//! Explains why a move is illegal.

use super::move_text::format_alternatives;
use super::movegen::king_row;
use super::squares::{self, step};
use super::{Checkers, Move, Variant};
use crate::notation::illegal;
use crate::{Cell, MoveError, MoveErrorKind, Notation, Side};

impl<V: Variant> Checkers<V> {
    /// Returns why no legal move matches these squares.
    pub(super) fn illegal_move_error<T>(
        &self,
        squares: &[u32],
        legal: &[Move],
    ) -> Result<T, MoveError> {
        let (from, to) = (squares[0], squares[squares.len() - 1]);
        let name = |side: Side| V::INFO.sides[side.index()].name;
        let (us, them) = (self.side, self.side.other());
        let on = |square: u32, side: Side| self.pieces[side.index()] & squares::bit(square) != 0;
        if on(from, them) {
            let reason =
                format!("the piece on {from} is {}'s, and it is {}'s turn", name(them), name(us));
            return illegal(MoveErrorKind::Start, reason);
        }
        if !on(from, us) {
            return illegal(MoveErrorKind::Start, format!("there is no piece on {from}"));
        }
        if from != to && (on(to, us) || on(to, them)) {
            // Beginners write the square of the piece they want to capture.
            let names_captured = on(to, them) && squares.len() == 2 && are_diagonal(from, to, 1);
            let reason = if names_captured && legal.iter().any(|mv| mv.is_capture()) {
                self.explain_mandatory_capture(legal)
            } else {
                format!("{to} is occupied")
            };
            return illegal(MoveErrorKind::End, reason);
        }
        if legal.is_empty() {
            let reason = format!("{} has no legal move, and the game is over", name(us));
            return illegal(MoveErrorKind::Rule, reason);
        }
        illegal(MoveErrorKind::Rule, self.explain_rule(squares, legal))
    }

    fn explain_rule(&self, squares: &[u32], legal: &[Move]) -> String {
        let (from, to) = (squares[0], squares[squares.len() - 1]);
        let rows = row_distance(from, squares[1]);
        let looks_like_step = squares.len() == 2 && rows.abs() <= 1 && from != to;
        let captures: Vec<_> = legal.iter().filter(|mv| mv.is_capture()).collect();
        if looks_like_step && !captures.is_empty() {
            return self.explain_mandatory_capture(legal);
        }
        if looks_like_step {
            return self.explain_step(from, to);
        }
        if squares.len() == 2 && from == to {
            return format!("{from}-{to} does not move the piece");
        }
        if squares.len() == 2 && rows.abs() != 2 {
            let from_here: Vec<_> =
                captures.iter().filter(|mv| mv.from() == squares::bit(from)).collect();
            if from_here.is_empty() {
                return format!("{from}-{to} is too far: a step goes one square, a jump two");
            }
            let texts =
                || format_alternatives(from_here.iter().map(|mv| self.format_square_path(***mv)));
            if from_here
                .iter()
                .flat_map(|mv| self.square_paths(***mv))
                .any(|path| path.contains(&to))
            {
                return format!("{from}x{to} is incomplete: play {}", texts());
            }
            return format!("no capture leads from {from} to {to}: play {}", texts());
        }
        self.explain_jumps(squares, &captures)
    }

    fn explain_mandatory_capture(&self, legal: &[Move]) -> String {
        let captures = legal.iter().filter(|mv| mv.is_capture());
        let texts = captures.map(|mv| self.format_move(*mv));
        format!("{} is mandatory", format_alternatives(texts))
    }

    fn explain_step(&self, from: u32, to: u32) -> String {
        if !are_diagonal(from, to, 1) {
            return format!("{from}-{to} is not a diagonal step");
        }
        // A diagonal step to an empty square, with no capture available: only the direction can be
        // wrong.
        self.explain_forward_only(from, "moves")
    }

    fn explain_forward_only(&self, from: u32, verb: &str) -> String {
        let last_row = squares::bit(from) & king_row(self.side == Side::First) != 0;
        match (self.rules.kings(), last_row) {
            (false, true) => {
                format!("the man on {from} stays on the last row: this game has no kings")
            }
            (false, false) => {
                format!("the man on {from} {verb} forward only: this game has no kings")
            }
            (true, _) => format!("the man on {from} {verb} forward only: it is not a king"),
        }
    }

    /// Follows the jumps until one breaks a rule.
    fn explain_jumps(&self, squares: &[u32], captures: &[&Move]) -> String {
        let pieces = self.pieces_for_mover();
        let from = squares::bit(squares[0]);
        let king = self.kings & from != 0;
        let crowning = self.crowning_squares();
        let empty = pieces.empty() | from;
        let mut remaining = pieces.opponent;
        for jump in squares.windows(2) {
            let (start, end) = (jump[0], jump[1]);
            let text = format!("{start}x{end}");
            if squares.len() > 2 && are_diagonal(start, end, 1) {
                return format!("a turn is one step or several jumps, and {start}-{end} is a step");
            }
            if !are_diagonal(start, end, 2) {
                return format!("{text} is not a jump: a jump goes two squares along a diagonal");
            }
            if !king && squares::bit(start) & crowning != 0 && start != squares[0] {
                return format!("the turn ends on {start}, where the man becomes a king");
            }
            let middle = middle(start, end);
            let bit = squares::bit(middle);
            if !self.directions(from).any(|d| step(squares::bit(start), d) == bit) {
                return self.explain_forward_only(squares[0], "captures");
            }
            if remaining & bit == 0 {
                return if pieces.opponent & bit != 0 {
                    format!("{text}: the piece on {middle} has already been jumped")
                } else if pieces.own & bit & !from != 0 {
                    format!("{text}: the piece on {middle} is your own")
                } else {
                    format!("{text}: there is no piece on {middle} to jump over")
                };
            }
            if squares::bit(end) & empty == 0 {
                return format!("{text}: the landing square is occupied");
            }
            remaining &= !bit;
        }
        // Every jump is possible, so the capture must continue.
        let longer = captures
            .iter()
            .flat_map(|mv| self.square_paths(**mv))
            .filter(|path| path.starts_with(squares))
            .map(|path| format_capture(&path));
        format!("{} is incomplete: play {}", format_capture(squares), format_alternatives(longer))
    }
}

fn format_capture(squares: &[u32]) -> String {
    squares.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

/// Returns the number of rows from one square down to another.
fn row_distance(from: u32, to: u32) -> i32 {
    i32::from(squares::cell(to).row()) - i32::from(squares::cell(from).row())
}

/// Returns whether two squares are `distance` apart on a diagonal.
fn are_diagonal(from: u32, to: u32, distance: u8) -> bool {
    let (a, b) = (squares::cell(from), squares::cell(to));
    a.row().abs_diff(b.row()) == distance && a.column().abs_diff(b.column()) == distance
}

/// Returns the square between two that are one jump apart.
fn middle(from: u32, to: u32) -> u32 {
    let (a, b) = (squares::cell(from), squares::cell(to));
    let cell = Cell::new((a.row() + b.row()) / 2, (a.column() + b.column()) / 2);
    cell.and_then(squares::from_cell).unwrap_or(from)
}
