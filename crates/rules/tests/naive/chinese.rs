//! Moves and wins of Chinese checkers.

use std::collections::BTreeSet;

use super::{Board, Cell, Cells, DIAGONALS, EMPTY, Move, ORTHOGONALS, all_cells, shift};

const BLUE_CAMP: [Cell; 6] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)];
const RED_CAMP: [Cell; 6] = [(7, 7), (7, 6), (7, 5), (6, 7), (6, 6), (5, 7)];

/// Returns all moves except the pass.
pub(super) fn moves(board: &Board) -> Vec<Move> {
    let mut moves = Vec::new();
    for from in all_cells().filter(|&cell| board.at(cell) == board.side) {
        for direction in directions() {
            if let Some(to) = shift(from, direction, 1)
                && board.at(to) == EMPTY
            {
                moves.push(Move::new(from, to, []));
            }
        }
        for to in jump_ends(&board.cells, from) {
            moves.push(Move::new(from, to, []));
        }
    }
    moves
}

/// Returns the cells reached by one or more jumps, except the start.
fn jump_ends(cells: &Cells, from: Cell) -> BTreeSet<Cell> {
    // "The starting cell of a piece counts as empty while it jumps."
    let mut cells = *cells;
    cells[from.0][from.1] = EMPTY;

    let mut reached = BTreeSet::from([from]);
    let mut to_visit = vec![from];
    while let Some(at) = to_visit.pop() {
        for direction in directions() {
            for distance in [2, 4, 6] {
                if let Some(to) = jump(&cells, at, direction, distance)
                    && reached.insert(to)
                {
                    to_visit.push(to);
                }
            }
        }
    }
    // "A turn may not end where it began."
    reached.remove(&from);
    reached
}

/// Returns where one jump of this distance lands, if it is possible: "over exactly one piece of
/// either colour, which must be exactly in the middle between start and landing cell. The landing
/// cell and all other cells in between must be empty."
fn jump(cells: &Cells, at: Cell, direction: (i32, i32), distance: i32) -> Option<Cell> {
    let landing = shift(at, direction, distance)?;
    for step in 1..=distance {
        let cell = shift(at, direction, step)?;
        let is_occupied = cells[cell.0][cell.1] != EMPTY;
        let is_middle = step == distance / 2;
        if is_occupied != is_middle {
            return None;
        }
    }
    Some(landing)
}

fn directions() -> impl Iterator<Item = (i32, i32)> {
    ORTHOGONALS.into_iter().chain(DIAGONALS)
}

/// "All six cells of its target are occupied, by pieces of any colour, at least one of them its
/// own."
pub(super) fn has_won(cells: &Cells, mover: char) -> bool {
    let target = if mover == '#' { RED_CAMP } else { BLUE_CAMP };
    let pieces = target.map(|cell| cells[cell.0][cell.1]);
    !pieces.contains(&EMPTY) && pieces.contains(&mover)
}
