//! The turns and the score of Capture Halma.

use std::collections::BTreeSet;

use super::{Board, Cell, Cells, EMPTY, Move, ORTHOGONALS, all_cells, shift};

/// A piece on its way: where it stands and what it has removed. How it came there does not matter
/// for what it may do next, except for the number of hops.
type State = (Cell, BTreeSet<Cell>);

/// "A turn is one step, or 1 to 99 hops by one piece."
///
/// With nine pieces a side no turn needs so many: before, between and after at most 9 captures
/// there are at most 10 stretches over own pieces, and the shortest stretch hops over each of the
/// 8 at most once, which makes 89.
const MOST_HOPS: usize = 99;

/// Every turn, without the pass.
pub(super) fn moves(board: &Board) -> Vec<Move> {
    let mut turns = Vec::new();
    for from in all_cells().filter(|&cell| board.at(cell) == board.side) {
        for direction in ORTHOGONALS {
            if let Some(to) = shift(from, direction, 1)
                && board.at(to) == EMPTY
            {
                turns.push(Move::new(from, to, []));
            }
        }
        for (to, captured) in hop_ends(&board.cells, board.side, from) {
            turns.push(Move::new(from, to, captured));
        }
    }
    turns
}

/// Every state that 1 to 99 hops reach, except the one that changes nothing.
fn hop_ends(cells: &Cells, side: char, from: Cell) -> BTreeSet<State> {
    let nothing_changed = (from, BTreeSet::new());
    let mut reached = BTreeSet::from([nothing_changed.clone()]);
    // Round by round, so that a state is first met after the fewest hops that lead to it.
    let mut newest = vec![nothing_changed.clone()];
    for _ in 1..=MOST_HOPS {
        let mut next = Vec::new();
        for state in &newest {
            for after in hops(cells, side, from, state) {
                if reached.insert(after.clone()) {
                    next.push(after);
                }
            }
        }
        newest = next;
    }
    // "A sequence that captures nothing and ends where it began changes nothing: it is no legal
    // move."
    reached.remove(&nothing_changed);
    reached
}

/// The states that one more hop leads to.
fn hops(cells: &Cells, side: char, from: Cell, (at, captured): &State) -> Vec<State> {
    // "The starting cell is empty while the piece travels", and "an opponent's piece that is
    // hopped over is removed at once, hop by hop".
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

/// Black's target is columns 7 and 8, White's columns 1 and 2.
fn is_target(side: char, cell: Cell) -> bool {
    if side == 'b' { cell.1 >= 6 } else { cell.1 <= 1 }
}

fn pieces(cells: &Cells, side: char) -> Vec<Cell> {
    all_cells().filter(|cell| cells[cell.0][cell.1] == side).collect()
}

/// Whether a player "has at least one piece and all its pieces on the board are in its target".
pub(super) fn is_home(cells: &Cells, side: char) -> bool {
    let pieces = pieces(cells, side);
    !pieces.is_empty() && pieces.iter().all(|&cell| is_target(side, cell))
}

/// "Score = own pieces in the target."
pub(super) fn score(cells: &Cells, side: char) -> usize {
    pieces(cells, side).into_iter().filter(|&cell| is_target(side, cell)).count()
}
