//! Moves and scores of Capture Halma.

use std::collections::BTreeSet;

use super::{Board, Cell, Cells, EMPTY, Move, ORTHOGONALS, all_cells, shift};

/// State of a hop sequence: the cell and the captured pieces. Apart from the number of hops,
/// nothing else affects how it can continue.
type State = (Cell, BTreeSet<Cell>);

/// "A turn is one step, or 1 to 99 hops by one piece."
///
/// With nine pieces per side 89 are enough: at most 9 captures, and before, between and after them
/// 10 series of hops over the 8 other pieces of the side, each of them at most once per series.
const MAX_HOPS: usize = 99;

/// Returns all moves except the pass.
pub(super) fn moves(board: &Board) -> Vec<Move> {
    let mut moves = Vec::new();
    for from in all_cells().filter(|&cell| board.at(cell) == board.side) {
        for direction in ORTHOGONALS {
            if let Some(to) = shift(from, direction, 1)
                && board.at(to) == EMPTY
            {
                moves.push(Move::new(from, to, []));
            }
        }
        for (to, captured) in hop_ends(&board.cells, board.side, from) {
            moves.push(Move::new(from, to, captured));
        }
    }
    moves
}

/// Returns the states reached by 1 to 99 hops, except the unchanged one.
fn hop_ends(cells: &Cells, side: char, from: Cell) -> BTreeSet<State> {
    let unchanged = (from, BTreeSet::new());
    let mut reached = BTreeSet::from([unchanged.clone()]);
    // Breadth-first, so that a state is found with the fewest hops.
    let mut frontier = vec![unchanged.clone()];
    for _ in 1..=MAX_HOPS {
        let mut next = Vec::new();
        for state in &frontier {
            for after in hops(cells, side, from, state) {
                if reached.insert(after.clone()) {
                    next.push(after);
                }
            }
        }
        frontier = next;
    }
    // "A sequence that captures nothing and ends where it began is not a legal move."
    reached.remove(&unchanged);
    reached
}

/// Returns the states one hop away.
fn hops(cells: &Cells, side: char, from: Cell, (at, captured): &State) -> Vec<State> {
    // "The starting cell counts as empty during the sequence", and "an opponent's piece that is
    // hopped over is captured: it is removed at once, hop by hop".
    let piece_on = |cell: Cell| {
        if cell == from || captured.contains(&cell) { EMPTY } else { cells[cell.0][cell.1] }
    };
    let mut states = Vec::new();
    for direction in ORTHOGONALS {
        let (Some(over), Some(to)) = (shift(*at, direction, 1), shift(*at, direction, 2)) else {
            continue;
        };
        if piece_on(over) == EMPTY || piece_on(to) != EMPTY {
            continue;
        }
        let mut captured_after = captured.clone();
        if piece_on(over) != side {
            captured_after.insert(over);
        }
        states.push((to, captured_after));
    }
    states
}

/// Targets: columns 7 and 8 for Black, columns 1 and 2 for White.
fn is_target(side: char, cell: Cell) -> bool {
    if side == 'b' { cell.1 >= 6 } else { cell.1 <= 1 }
}

fn pieces(cells: &Cells, side: char) -> Vec<Cell> {
    all_cells().filter(|cell| cells[cell.0][cell.1] == side).collect()
}

/// Returns whether a player "has at least one piece and all its pieces on the board are in its
/// target".
pub(super) fn is_home(cells: &Cells, side: char) -> bool {
    let pieces = pieces(cells, side);
    !pieces.is_empty() && pieces.iter().all(|&cell| is_target(side, cell))
}

/// "A player's score is the number of its pieces in the target."
pub(super) fn score(cells: &Cells, side: char) -> usize {
    pieces(cells, side).into_iter().filter(|&cell| is_target(side, cell)).count()
}
