//! Moves as paths of cells: parsing, and the checks that do not depend on how pieces move.

use super::board::HopBoard;
use crate::notation::{illegal, move_error};
use crate::parse::{split_numbers, truncate};
use crate::{Cell, MoveError, MoveErrorKind, SideInfo};

/// Parses the cells of a move: `1131`, `11-31` or a path `11-13-31` of any length.
pub(crate) fn parse_cells(text: &str, example: &str) -> Result<Vec<Cell>, MoveError> {
    let invalid = |hint: &str| {
        let text = truncate(text.trim(), 40);
        let message = format!("invalid move {text:?}: {hint}, for example {example}");
        move_error(MoveErrorKind::Format, message)
    };
    let Some(mut names) = split_numbers(text) else {
        return invalid("write cells by row and column");
    };
    if let [digits] = names[..]
        && digits.len() > 2
        && digits.len() % 2 == 0
    {
        names = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]).collect();
    }
    if names.iter().any(|name| name.len() != 2) {
        return invalid("write each cell with two digits");
    }
    if names.len() < 2 {
        return invalid("write the start and the end");
    }
    let cell = |name: &&str| Cell::parse(name).ok_or_else(|| name.to_string());
    names.iter().map(cell).collect::<Result<_, _>>().or_else(|name: String| {
        let message = format!("invalid cell {name}: rows and columns are 1 to 8");
        move_error(MoveErrorKind::OffBoard, message)
    })
}

/// Checks that a move starts on a piece of the side to move and ends on an empty cell.
pub(crate) fn check_from_to(
    cells: &[Cell],
    board: &HopBoard,
    sides: [SideInfo; 2],
) -> Result<(), MoveError> {
    let (from, to) = (cells[0], cells[cells.len() - 1]);
    if board.opponent() & from.bit() != 0 {
        let owner = sides[board.side().other().index()].name;
        let mover = sides[board.side().index()].name;
        let reason = format!("the piece on {from} is {owner}'s, and it is {mover}'s turn");
        return illegal(MoveErrorKind::Start, reason);
    }
    if board.own() & from.bit() == 0 {
        return illegal(MoveErrorKind::Start, format!("there is no piece on {from}"));
    }
    if to != from && board.occupied() & to.bit() != 0 {
        return illegal(MoveErrorKind::End, format!("{to} is occupied"));
    }
    Ok(())
}

/// Explains why a path that contains a step is illegal; `None` if it consists of jumps only or is a
/// single step. `jump` is the word for a jump in the game.
pub(crate) fn explain_mixed_path(
    cells: &[Cell],
    jump: &str,
    is_step: impl Fn(Cell, Cell) -> bool,
) -> Option<String> {
    let steps: Vec<bool> = cells.windows(2).map(|pair| is_step(pair[0], pair[1])).collect();
    let first = steps.iter().position(|step| *step).filter(|_| steps.len() > 1)?;
    let (from, to) = (cells[first], cells[first + 1]);
    Some(match (first, steps[1]) {
        (0, true) => "a turn is one step, not several".into(),
        (0, false) => format!("a piece cannot {jump} after a step, and {from}-{to} is a step"),
        _ => format!("a piece cannot step after a {jump}, and {from}-{to} is a step"),
    })
}

/// Explains why `pass` is illegal if a piece can move.
pub(crate) fn explain_pass<T>() -> Result<T, MoveError> {
    illegal(MoveErrorKind::Rule, "a player who can move cannot pass")
}

/// Formats a path: `22-24-44`.
pub(crate) fn format_path(cells: &[Cell]) -> String {
    let mut text = String::with_capacity(3 * cells.len());
    for (number, cell) in cells.iter().enumerate() {
        if number > 0 {
            text.push('-');
        }
        cell.push_to(&mut text);
    }
    text
}
