//! Moves and positions of English and contest checkers.

use super::{Board, Cell, Cells, DIAGONALS, EMPTY, Move, all_cells, shift};

/// Returns every path of every move.
pub(super) fn paths(board: &Board) -> Vec<Move> {
    let mut captures = Vec::new();
    let mut steps = Vec::new();
    for from in all_cells() {
        let piece = board.at(from);
        if piece.to_ascii_lowercase() != board.side {
            continue;
        }
        for &direction in directions(piece) {
            if let Some(to) = shift(from, direction, 1)
                && board.at(to) == EMPTY
            {
                steps.push(Move::new(from, to, []));
            }
        }
        // The piece is lifted: a king may return to its start or pass over it.
        let mut cells = board.cells;
        cells[from.0][from.1] = EMPTY;
        let jumper = Jumper { piece, from, kings: board.kings };
        jumper.extend(&cells, from, &[], &mut captures);
    }
    // "Captures are mandatory. A player may choose any capture, not only the longest."
    if captures.is_empty() { steps } else { captures }
}

struct Jumper {
    piece: char,
    from: Cell,
    kings: bool,
}

impl Jumper {
    /// Continues a multiple jump to its end in every possible way.
    ///
    /// Jumped pieces are removed at once, so that none is jumped twice. Removing them at the end of
    /// the turn would be equivalent: a piece lands on every second row and jumps over the rows
    /// between, so no jump lands where a piece was captured.
    fn extend(&self, cells: &Cells, at: Cell, captured: &[Cell], moves: &mut Vec<Move>) {
        let mut could_jump = false;
        for &direction in directions(self.piece) {
            let (Some(over), Some(to)) = (shift(at, direction, 1), shift(at, direction, 2)) else {
                continue;
            };
            let jumped = cells[over.0][over.1];
            let is_enemy = jumped != EMPTY && !jumped.eq_ignore_ascii_case(&self.piece);
            if !is_enemy || cells[to.0][to.1] != EMPTY {
                continue;
            }
            could_jump = true;
            let mut cells_after = *cells;
            cells_after[over.0][over.1] = EMPTY;
            let mut captured_after = captured.to_vec();
            captured_after.push(over);
            if self.kings && is_man(self.piece) && to.0 == last_row(self.piece) {
                // "A man that reaches the king-row becomes a king and its turn ends."
                moves.push(Move::new(self.from, to, captured_after));
            } else {
                self.extend(&cells_after, to, &captured_after, moves);
            }
        }
        if !could_jump && !captured.is_empty() {
            moves.push(Move::new(self.from, at, captured.iter().copied()));
        }
    }
}

/// Returns the directions of a piece. Black's men move down the board, toward square 32; White's
/// move up.
fn directions(piece: char) -> &'static [(i32, i32)] {
    match piece {
        'b' => &[(1, 1), (1, -1)],
        'w' => &[(-1, 1), (-1, -1)],
        _ => &DIAGONALS,
    }
}

pub(super) fn is_man(piece: char) -> bool {
    piece == 'b' || piece == 'w'
}

pub(super) fn crowned(man: char) -> char {
    man.to_ascii_uppercase()
}

/// Returns the last row of a man, its king-row if there are kings.
pub(super) fn last_row(man: char) -> usize {
    if man == 'b' { 7 } else { 0 }
}

/// Returns the cell of a square, 1 to 32. Row 1 has its dark squares in columns 2, 4, 6 and 8.
fn square_cell(square: usize) -> Cell {
    let row = (square - 1) / 4;
    let pair = (square - 1) % 4;
    let column = if row.is_multiple_of(2) { 2 * pair + 1 } else { 2 * pair };
    (row, column)
}

/// Parses `B:W21,22,K23:B1,K2`.
pub(super) fn parse(board: &mut Board, text: &str) {
    let mut parts = text.split(':');
    board.side = match parts.next() {
        Some("B") => 'b',
        Some("W") => 'w',
        _ => panic!("expected a side to move: {text}"),
    };
    for part in parts {
        let (colour, squares) = part.split_at(1);
        let man = match colour {
            "B" => 'b',
            "W" => 'w',
            _ => panic!("expected a colour: {part}"),
        };
        for square in squares.split(',').filter(|square| !square.is_empty()) {
            let (piece, number) = match square.strip_prefix('K') {
                Some(number) => (crowned(man), number),
                None => (man, square),
            };
            assert!(board.kings || is_man(piece), "king in a game without kings: {text}");
            let number: usize = number.parse().unwrap();
            assert!((1..=32).contains(&number), "square out of range: {text}");
            let cell = square_cell(number);
            assert_eq!(board.at(cell), EMPTY, "two pieces on a square: {text}");
            board.put(cell, piece);
        }
    }
}

pub(super) fn format(board: &Board) -> String {
    let list = |man: char| {
        let mut squares = Vec::new();
        for square in 1..=32 {
            let piece = board.at(square_cell(square));
            if piece == man {
                squares.push(format!("{square}"));
            } else if piece == crowned(man) {
                squares.push(format!("K{square}"));
            }
        }
        squares.join(",")
    };
    let side = board.side.to_ascii_uppercase();
    format!("{side}:W{}:B{}", list('w'), list('b'))
}
