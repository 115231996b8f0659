//! Move texts of checkers, and the sentence that says why a move is refused.

use smallvec::SmallVec;

use super::movegen::king_row;
use super::squares::{self, DIRECTIONS, step};
use super::{Checkers, Move, Variant, fen, variant};
use crate::cell::Bits;
use crate::hopping::paths::MAX_PATHS;
use crate::notation::move_error;
use crate::parse::{is_pass, split_numbers, truncate};
use crate::{
    Cell, EndReason, MoveError, MoveErrorKind, MoveList, Notation, OptionInfo, OptionsError,
    Outcome, Position, PositionError, Side, SideInfo,
};

impl<V: Variant> Notation for Checkers<V> {
    const ID: &'static str = V::ID;
    const NAME: &'static str = V::NAME;
    const SIDES: [SideInfo; 2] = V::SIDES;
    const OPTIONS: &'static [OptionInfo] = V::OPTIONS;

    fn parse_options(text: &str) -> Result<Self::Options, OptionsError> {
        variant::Options::parse(text)
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
        let (from, to) = (squares[0], squares[squares.len() - 1]);
        let ends = |mv: &Move| mv.from() == squares::bit(from) && mv.to() == squares::bit(to);
        let mut fitting: Vec<Move> = legal.iter().copied().filter(ends).collect();
        if squares.len() > 2 || fitting.len() > 1 {
            // The whole path singles a move out, be it one jump only; some of its squares may be
            // enough.
            let whole =
                |mv: &Move| self.square_paths(*mv).iter().any(|path| path[..] == squares[..]);
            let part = |mv: &Move| {
                self.square_paths(*mv).iter().any(|path| is_subsequence(&squares, path))
            };
            let exact: Vec<_> = fitting.iter().copied().filter(whole).collect();
            fitting.retain(part);
            if !exact.is_empty() {
                fitting = exact;
            }
        }
        match fitting.as_slice() {
            [mv] => Ok(*mv),
            [] => Err(self.illegal_move_error(&squares, &legal)),
            several => {
                let paths: Vec<_> =
                    several.iter().take(3).map(|mv| self.format_square_path(*mv)).collect();
                move_error(
                    MoveErrorKind::Rule,
                    format!(
                        "{} fits {} captures: write {}",
                        truncate(&text.split_whitespace().collect::<Vec<_>>().join(" "), 40),
                        several.len(),
                        paths.join(" or ")
                    ),
                )
            }
        }
    }

    fn format_move(&self, mv: Move) -> String {
        let between = if mv.is_capture() { 'x' } else { '-' };
        let short = format!("{}{between}{}", squares::number(mv.from()), squares::number(mv.to()));
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
        let cells = |way: Vec<u32>| way.into_iter().map(squares::cell).collect();
        self.square_paths(mv).into_iter().take(MAX_PATHS).map(cells).collect()
    }

    fn captures(&self, mv: Move) -> Vec<Cell> {
        Bits(mv.captured()).map(|index| squares::cell(squares::number(1 << index))).collect()
    }

    fn board(&self) -> [char; 64] {
        fen::board(self)
    }

    fn describe(&self, outcome: Outcome) -> String {
        let name = |side: Side| V::SIDES[side.index()].name;
        match (outcome.winner, outcome.reason) {
            (Some(side), _) => format!("{} wins: {} has no move", name(side), name(side.other())),
            (None, EndReason::NoProgress(plies)) => {
                self.rules.progress().describe(self.draw_counters, plies, self.rules.kings())
            }
            (None, _) => "Draw: the same position for the third time".into(),
        }
    }
}

/// Reads `11-15`, `22x15x8`, `22:15`, `11 15` and the four digits `1115`.
fn parse_squares(text: &str) -> Result<SmallVec<[u32; 4]>, MoveError> {
    let Some(mut numbers) = split_numbers(text) else {
        if is_pass(text) {
            return move_error(
                MoveErrorKind::Format,
                "nobody passes in this game: who cannot move loses",
            );
        }
        let shown = truncate(text.trim(), 40);
        let message = format!("{shown:?} is no move: write 11-15 or 22x15");
        return move_error(MoveErrorKind::Format, message);
    };
    if let [number] = numbers[..]
        && number.len() == 4
    {
        numbers = SmallVec::from_slice(&[&number[..2], &number[2..]]);
    }
    // Twelve jumps take every piece there is.
    if numbers.len() < 2 || numbers.len() > 13 {
        let message =
            "a move has a start, an end and at most 11 squares between: write 11-15 or 22x15x8";
        return move_error(MoveErrorKind::Format, message);
    }
    let square = |number: &str| match number.parse() {
        Ok(square @ 1..=32) => Ok(square),
        _ => {
            let shown = truncate(number, 12);
            let message = format!("there is no square {shown}: squares are 1 to 32");
            move_error(MoveErrorKind::OffBoard, message)
        }
    };
    numbers.iter().map(|number| square(number)).collect()
}

/// Whether `part` has the ends of `whole` and some of the squares between, in order.
fn is_subsequence(part: &[u32], whole: &[u32]) -> bool {
    let mut rest = whole.iter();
    part.first() == whole.first()
        && part.last() == whole.last()
        && part.iter().all(|square| rest.any(|other| other == square))
}

impl<V: Variant> Checkers<V> {
    /// All ways to make a capture (there may be two round a circle), in a fixed order; a step is
    /// one way.
    fn square_paths(&self, mv: Move) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        if mv.is_capture() {
            self.extend_paths(mv, vec![mv.from()], mv.captured(), &mut found);
        } else {
            found.push(vec![mv.from(), mv.to()]);
        }
        found.iter().map(|path| path.iter().map(|bit| squares::number(*bit)).collect()).collect()
    }

    fn extend_paths(&self, mv: Move, path: Vec<u64>, left: u64, found: &mut Vec<Vec<u64>>) {
        let at = path[path.len() - 1];
        if left == 0 {
            if at == mv.to() {
                found.push(path);
            }
            return;
        }
        let free = self.pieces_for_mover().empty() | mv.from();
        for direction in self.directions(mv.from()) {
            let over = step(at, direction) & left;
            let to = step(over, direction) & free;
            if to != 0 {
                let mut longer = path.clone();
                longer.push(to);
                self.extend_paths(mv, longer, left & !over, found);
            }
        }
    }

    /// The directions in which the piece on a square may go.
    fn directions(&self, bit: u64) -> impl Iterator<Item = i32> + use<V> {
        let (king, first) = (self.kings & bit != 0, self.side == Side::First);
        DIRECTIONS.into_iter().filter(move |&direction| king || (direction > 0) == first)
    }

    /// The squares a legal move touches.
    fn square_path(&self, mv: Move) -> Vec<u32> {
        let ends = || vec![squares::number(mv.from()), squares::number(mv.to())];
        self.square_paths(mv).into_iter().next().unwrap_or_else(ends)
    }

    fn format_square_path(&self, mv: Move) -> String {
        let squares: Vec<_> = self.square_path(mv).iter().map(u32::to_string).collect();
        squares.join(if mv.is_capture() { "x" } else { "-" })
    }

    /// Why no legal move fits these squares.
    fn illegal_move_error(&self, squares: &[u32], legal: &[Move]) -> MoveError {
        let (from, to) = (squares[0], squares[squares.len() - 1]);
        let name = |side: Side| V::SIDES[side.index()].name;
        let (us, them) = (self.side, self.side.other());
        let on = |square: u32, side: Side| self.pieces[side.index()] & squares::bit(square) != 0;
        let error = |kind, reason: String| MoveError { kind, reason };
        if on(from, them) {
            let reason =
                format!("the piece on {from} is {}'s, and it is {}'s turn", name(them), name(us));
            return error(MoveErrorKind::Start, reason);
        }
        if !on(from, us) {
            return error(MoveErrorKind::Start, format!("there is no piece on {from}"));
        }
        if from != to && (on(to, us) || on(to, them)) {
            // Who points at the piece to be taken has still to learn that it is jumped.
            let points_at_piece = on(to, them) && squares.len() == 2 && are_diagonal(from, to, 1);
            let reason = if points_at_piece && legal.iter().any(|mv| mv.is_capture()) {
                self.explain_mandatory_capture(from, to, legal)
            } else {
                format!("{to} is occupied: a move ends on a free square")
            };
            return error(MoveErrorKind::End, reason);
        }
        if legal.is_empty() {
            let reason = format!("{} has no legal move: the game is over", name(us));
            return error(MoveErrorKind::Rule, reason);
        }
        error(MoveErrorKind::Rule, self.explain_rule(squares, legal))
    }

    fn explain_rule(&self, squares: &[u32], legal: &[Move]) -> String {
        let (from, to) = (squares[0], squares[squares.len() - 1]);
        let rows = row_distance(from, squares[1]);
        let looks_like_step = squares.len() == 2 && rows.abs() <= 1 && from != to;
        let captures: Vec<_> = legal.iter().filter(|mv| mv.is_capture()).collect();
        if looks_like_step && !captures.is_empty() {
            return self.explain_mandatory_capture(from, to, legal);
        }
        if looks_like_step {
            return self.explain_step(from, to);
        }
        if squares.len() == 2 && from == to {
            return format!(
                "{from}-{to} goes nowhere: a step goes to the next square, a jump over one piece"
            );
        }
        if squares.len() == 2 && rows.abs() != 2 {
            let own: Vec<_> =
                captures.iter().filter(|mv| mv.from() == squares::bit(from)).collect();
            if own.is_empty() {
                return format!(
                    "{from}-{to} is too far: a step goes to the next square, a jump over one piece"
                );
            }
            let texts = || format_alternatives(own.iter().map(|mv| self.format_square_path(***mv)));
            if own.iter().flat_map(|mv| self.square_paths(***mv)).any(|path| path.contains(&to)) {
                return format!(
                    "{from}x{to} is not the whole move: a jump is carried to its end, {}",
                    texts()
                );
            }
            return format!("no capture leads from {from} to {to}: {from} can play {}", texts());
        }
        self.explain_jumps(squares, &captures)
    }

    fn explain_mandatory_capture(&self, from: u32, to: u32, legal: &[Move]) -> String {
        let captures = legal.iter().filter(|mv| mv.is_capture());
        let texts = captures.map(|mv| self.format_move(*mv));
        format!("{from}-{to} is not possible: {} must be taken", format_alternatives(texts))
    }

    fn explain_step(&self, from: u32, to: u32) -> String {
        if !are_diagonal(from, to, 1) {
            return format!("{from}-{to} is no diagonal step to a neighbouring square");
        }
        // Diagonal, to a free square, no capture to be made: only the direction is left to be
        // wrong.
        self.explain_forward_only(from, "moves")
    }

    fn explain_forward_only(&self, from: u32, verb: &str) -> String {
        let last_row = squares::bit(from) & king_row(self.side == Side::First) != 0;
        match (self.rules.kings(), last_row) {
            (false, true) => {
                format!(
                    "the man on {from} is on the last row and stays there: this game has no kings"
                )
            }
            (false, false) => {
                format!("the man on {from} {verb} forward only: this game has no kings")
            }
            (true, _) => format!("the man on {from} {verb} forward only: it is no king yet"),
        }
    }

    /// Follows the jumps until one breaks a rule.
    fn explain_jumps(&self, squares: &[u32], captures: &[&Move]) -> String {
        let from = squares::bit(squares[0]);
        let king = self.kings & from != 0;
        let crown = self.crowning_squares();
        let mut targets = self.pieces_for_mover().opponent;
        let free = self.pieces_for_mover().empty() | from;
        for hop in squares.windows(2) {
            let (start, end) = (hop[0], hop[1]);
            let text = format!("{start}x{end}");
            if squares.len() > 2 && are_diagonal(start, end, 1) {
                return format!("a turn is one step, or jumps: {start}-{end} is a step");
            }
            if !are_diagonal(start, end, 2) {
                return format!("{text} is no jump: a jump goes two squares along a diagonal");
            }
            if !king && squares::bit(start) & crown != 0 && start != squares[0] {
                return format!(
                    "the turn ends on {start}: a man that reaches the king-row becomes a king and stops"
                );
            }
            let middle = middle(start, end);
            let bit = squares::bit(middle);
            if !self.directions(from).any(|d| step(squares::bit(start), d) == bit) {
                return self.explain_forward_only(squares[0], "captures");
            }
            if targets & bit == 0 {
                return if self.pieces_for_mover().opponent & bit != 0 {
                    format!(
                        "{text}: the piece on {middle} has been jumped already, and may be jumped once only"
                    )
                } else if self.pieces_for_mover().own & bit & !from != 0 {
                    format!(
                        "{text}: the piece on {middle} is your own, and only the opponent's are jumped"
                    )
                } else {
                    format!("{text}: there is no piece on {middle} to jump over")
                };
            }
            if squares::bit(end) & free == 0 {
                return format!("{text}: {end} is occupied, a jump lands on a free square");
            }
            targets &= !bit;
        }
        // Every jump is good, so the chain goes on where this text stops.
        let longer = captures
            .iter()
            .flat_map(|mv| self.square_paths(**mv))
            .filter(|path| path.starts_with(squares))
            .map(|path| path.iter().map(u32::to_string).collect::<Vec<_>>().join("x"));
        let so_far: Vec<_> = squares.iter().map(u32::to_string).collect();
        let so_far = so_far.join("x");
        format!(
            "{so_far} is not the whole move: a jump is carried to its end, {}",
            format_alternatives(longer)
        )
    }
}

/// The first few of many texts.
fn format_alternatives(mut texts: impl Iterator<Item = String>) -> String {
    let shown: Vec<_> = texts.by_ref().take(3).collect();
    let more = if texts.next().is_some() { " or others" } else { "" };
    shown.join(" or ") + more
}

/// Rows from one square down to another.
fn row_distance(from: u32, to: u32) -> i32 {
    i32::from(squares::cell(to).row()) - i32::from(squares::cell(from).row())
}

/// Whether two squares are `distance` apart on a diagonal.
fn are_diagonal(from: u32, to: u32, distance: u8) -> bool {
    let (a, b) = (squares::cell(from), squares::cell(to));
    a.row().abs_diff(b.row()) == distance && a.column().abs_diff(b.column()) == distance
}

/// The square between two that are one jump apart.
fn middle(from: u32, to: u32) -> u32 {
    let (a, b) = (squares::cell(from), squares::cell(to));
    let cell = Cell::new((a.row() + b.row()) / 2, (a.column() + b.column()) / 2);
    cell.and_then(squares::from_cell).unwrap_or(from)
}
