//! Moves of checkers as text.

use smallvec::SmallVec;

use super::squares::{self, DIRECTIONS, step};
use super::variant::Options;
use super::{Checkers, Move, Variant, fen};
use crate::cell::Bits;
use crate::notation::{MAX_PATHS, move_error};
use crate::parse::{is_pass, split_numbers, truncate};
use crate::{
    Cell, EndReason, GameInfo, MoveError, MoveErrorKind, MoveList, Notation, OptionsError, Outcome,
    Position, PositionError, Side,
};

impl<V: Variant> Notation for Checkers<V> {
    const INFO: GameInfo = V::INFO;

    fn parse_options(text: &str) -> Result<Self::Options, OptionsError> {
        Options::parse(text)
    }

    fn format_options(options: &Self::Options) -> String {
        options.format()
    }

    fn parse_position(text: &str, options: &Self::Options) -> Result<Self, PositionError> {
        fen::parse(text, options)
    }

    fn format_position(&self) -> String {
        fen::format(self)
    }

    fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        let squares = parse_squares(text)?;
        let mut legal = MoveList::new();
        self.legal_moves(&mut legal);
        let (from, to) = (squares::bit(squares[0]), squares::bit(squares[squares.len() - 1]));
        let same_ends = |mv: &Move| mv.from() == from && mv.to() == to;
        let mut matches: Vec<Move> = legal.iter().copied().filter(same_ends).collect();
        if squares.len() > 2 || matches.len() > 1 {
            // A complete path identifies a move, even if it also is part of a longer one. Some
            // squares of a path are enough if only one move has them.
            let is_path =
                |mv: &Move| self.square_paths(*mv).iter().any(|path| path[..] == squares[..]);
            let is_part = |mv: &Move| {
                self.square_paths(*mv).iter().any(|path| is_subsequence(&squares, path))
            };
            let exact: Vec<_> = matches.iter().copied().filter(is_path).collect();
            matches.retain(is_part);
            if !exact.is_empty() {
                matches = exact;
            }
        }
        match matches.as_slice() {
            [mv] => Ok(*mv),
            [] => self.illegal_move_error(&squares, &legal),
            several => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let paths = several.iter().map(|mv| self.format_square_path(*mv));
                let message = format!(
                    "ambiguous: {} matches {} captures; write {}",
                    truncate(&text, 40),
                    several.len(),
                    format_alternatives(paths)
                );
                move_error(MoveErrorKind::Rule, message)
            }
        }
    }

    fn format_move(&self, mv: Move) -> String {
        let ends = [squares::number(mv.from()), squares::number(mv.to())];
        let short = format_squares(&ends, mv.is_capture());
        if !mv.is_capture() {
            return short;
        }
        let mut legal = MoveList::new();
        self.legal_moves(&mut legal);
        let same_ends = |other: &&Move| other.from() == mv.from() && other.to() == mv.to();
        if legal.iter().filter(same_ends).count() > 1 { self.format_square_path(mv) } else { short }
    }

    fn path(&self, mv: Move) -> Vec<Cell> {
        self.square_path(mv).into_iter().map(squares::cell).collect()
    }

    fn paths(&self, mv: Move) -> Vec<Vec<Cell>> {
        let cells = |path: Vec<u32>| path.into_iter().map(squares::cell).collect();
        self.square_paths(mv).into_iter().take(MAX_PATHS).map(cells).collect()
    }

    fn captures(&self, mv: Move) -> Vec<Cell> {
        Bits(mv.captured()).map(|index| squares::cell(squares::number(1 << index))).collect()
    }

    fn board(&self) -> [char; 64] {
        fen::board(self)
    }

    fn describe(&self, outcome: Outcome) -> String {
        let name = |side: Side| V::INFO.sides[side.index()].name;
        match (outcome.winner, outcome.reason) {
            (Some(side), _) => format!("{} wins: {} has no move", name(side), name(side.other())),
            (None, EndReason::NoProgress(plies)) => {
                self.rules.progress().describe(self.draw_counters, plies, self.rules.kings())
            }
            (None, _) => "Draw: the same position for the third time".into(),
        }
    }
}

/// Parses `11-15`, `22x15x8`, `22:15`, `11 15` and the four digits `1115`.
fn parse_squares(text: &str) -> Result<SmallVec<[u32; 4]>, MoveError> {
    let invalid = |hint: &str| {
        let message = format!("invalid move {:?}: {hint}", truncate(text.trim(), 40));
        move_error(MoveErrorKind::Format, message)
    };
    let Some(mut numbers) = split_numbers(text) else {
        return invalid(match is_pass(text) {
            true => "passing is not allowed in this game",
            false => "write 11-15 or 22x15",
        });
    };
    if let [number] = numbers[..]
        && number.len() == 4
    {
        numbers = SmallVec::from_slice(&[&number[..2], &number[2..]]);
    }
    // Twelve jumps capture all pieces.
    if numbers.len() < 2 || numbers.len() > 13 {
        return invalid("write 2 to 13 squares, for example 11-15 or 22x15x8");
    }
    let square = |number: &str| match number.parse() {
        Ok(square @ 1..=32) => Ok(square),
        _ => {
            let number = truncate(number, 12);
            let message = format!("invalid square {number}: squares are 1 to 32");
            move_error(MoveErrorKind::OffBoard, message)
        }
    };
    numbers.iter().map(|number| square(number)).collect()
}

/// Returns whether `part` has the ends of `path` and some of the squares between, in order.
fn is_subsequence(part: &[u32], path: &[u32]) -> bool {
    let mut rest = path.iter();
    part.first() == path.first()
        && part.last() == path.last()
        && part.iter().all(|square| rest.any(|other| other == square))
}

impl<V: Variant> Checkers<V> {
    /// Returns all paths of a legal move in a fixed order; a capture around a cycle has several.
    pub(super) fn square_paths(&self, mv: Move) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        if mv.is_capture() {
            self.extend_paths(mv, vec![mv.from()], mv.captured(), &mut found);
        } else {
            found.push(vec![mv.from(), mv.to()]);
        }
        found.iter().map(|path| path.iter().map(|bit| squares::number(*bit)).collect()).collect()
    }

    fn extend_paths(&self, mv: Move, path: Vec<u64>, remaining: u64, found: &mut Vec<Vec<u64>>) {
        let at = path[path.len() - 1];
        if remaining == 0 {
            if at == mv.to() {
                found.push(path);
            }
            return;
        }
        let empty = self.pieces_for_mover().empty() | mv.from();
        for direction in self.directions(mv.from()) {
            let over = step(at, direction) & remaining;
            let to = step(over, direction) & empty;
            if to != 0 {
                let mut longer = path.clone();
                longer.push(to);
                self.extend_paths(mv, longer, remaining & !over, found);
            }
        }
    }

    /// Iterates over the directions in which the piece on a square moves.
    pub(super) fn directions(&self, bit: u64) -> impl Iterator<Item = i32> + use<V> {
        let (king, first) = (self.kings & bit != 0, self.side == Side::First);
        DIRECTIONS.into_iter().filter(move |&direction| king || (direction > 0) == first)
    }

    /// Returns the first path of a legal move.
    fn square_path(&self, mv: Move) -> Vec<u32> {
        let ends = || vec![squares::number(mv.from()), squares::number(mv.to())];
        self.square_paths(mv).into_iter().next().unwrap_or_else(ends)
    }

    pub(super) fn format_square_path(&self, mv: Move) -> String {
        format_squares(&self.square_path(mv), mv.is_capture())
    }
}

fn format_squares(squares: &[u32], is_capture: bool) -> String {
    let mut text = String::with_capacity(3 * squares.len());
    for (index, &square) in squares.iter().enumerate() {
        if index > 0 {
            text.push(if is_capture { 'x' } else { '-' });
        }
        squares::push_number(square, &mut text);
    }
    text
}

/// Formats a choice, at most three texts: `a`, `a or b`, `a, b or c`, `a, b, c or another`.
pub(super) fn format_alternatives(mut texts: impl Iterator<Item = String>) -> String {
    let mut choices: Vec<_> = texts.by_ref().take(3).collect();
    if texts.next().is_some() {
        choices.push("another".into());
    }
    match choices.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => choices.concat(),
    }
}
