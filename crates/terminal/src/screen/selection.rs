//! Selecting a move on the board, step by step.

use crownhead_play::LegalMove;
use crownhead_rules::Cell;

/// The result of selecting a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selection {
    /// The move is complete.
    Move(String),
    /// A piece or the next step of its path is selected.
    Extended,
    /// The selection was cleared.
    Cleared,
    /// No legal move goes there.
    Rejected,
}

/// Returns the moves whose path starts with the selected cells.
pub fn candidates<'a>(legal: &'a [LegalMove], selected: &[Cell]) -> Vec<&'a LegalMove> {
    legal.iter().filter(|mv| mv.path.starts_with(selected)).collect()
}

/// Returns the cells that can be selected next: next steps, and ends of exactly one move.
pub fn destinations(legal: &[LegalMove], selected: &[Cell]) -> Vec<Cell> {
    if selected.is_empty() {
        return Vec::new();
    }
    let moves = candidates(legal, selected);
    Cell::all()
        .filter(|&cell| {
            moves.iter().any(|mv| mv.path.get(selected.len()) == Some(&cell))
                || ends_at(&moves, selected, cell).len() == 1
        })
        .collect()
}

fn ends_at<'a>(moves: &[&'a LegalMove], selected: &[Cell], cell: Cell) -> Vec<&'a LegalMove> {
    let longer = |mv: &&&LegalMove| mv.path.len() > selected.len();
    moves.iter().filter(longer).filter(|mv| mv.path.last() == Some(&cell)).copied().collect()
}

/// Selects a cell.
///
/// The move is complete as soon as only one is left. Where a path may end or continue, selecting
/// its last cell again ends it.
pub fn select(legal: &[LegalMove], selected: &mut Vec<Cell>, cell: Cell) -> Selection {
    let is_start = legal.iter().any(|mv| mv.path.first() == Some(&cell));
    if selected.is_empty() {
        if !is_start {
            return Selection::Rejected;
        }
        selected.push(cell);
        return Selection::Extended;
    }
    let moves = candidates(legal, selected);
    if selected.last() == Some(&cell) {
        if let Some(mv) = moves.iter().find(|mv| mv.path == *selected) {
            return Selection::Move(mv.text.clone());
        }
        if selected.len() == 1 {
            selected.clear();
            return Selection::Cleared;
        }
    }
    let ends = ends_at(&moves, selected, cell);
    let mut extended = selected.clone();
    extended.push(cell);
    let through = candidates(legal, &extended);
    // Without captures the path does not matter: the end identifies the move.
    let end_decides = through.is_empty() || moves.iter().all(|mv| mv.captures.is_empty());
    if let ([mv], true) = (ends.as_slice(), end_decides) {
        return Selection::Move(mv.text.clone());
    }
    match through.as_slice() {
        [] => {
            // Another piece may be selected instead, as long as no step is.
            if is_start && selected.len() == 1 {
                *selected = vec![cell];
                return Selection::Extended;
            }
            Selection::Rejected
        }
        [mv] => Selection::Move(mv.text.clone()),
        _ => {
            *selected = extended;
            Selection::Extended
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legal(moves: &[(&str, &str)]) -> Vec<LegalMove> {
        let cell = |name: &str| Cell::parse(name).unwrap();
        moves
            .iter()
            .map(|(text, captures)| LegalMove {
                text: (*text).into(),
                path: text.split('-').map(cell).collect(),
                other_paths: Vec::new(),
                captures: captures.split_whitespace().map(cell).collect(),
            })
            .collect()
    }

    fn steps(legal: &[LegalMove], cells: &str) -> Vec<Selection> {
        let mut selected = Vec::new();
        let cells = cells.split_whitespace().map(|name| Cell::parse(name).unwrap());
        cells.map(|cell| select(legal, &mut selected, cell)).collect()
    }

    #[test]
    fn start_and_end_select_a_move() {
        let legal = legal(&[("11-12", ""), ("11-21", "")]);
        assert_eq!(steps(&legal, "11 21"), [Selection::Extended, Selection::Move("11-21".into())]);
        assert_eq!(steps(&legal, "33"), [Selection::Rejected]);
        assert_eq!(steps(&legal, "11 11"), [Selection::Extended, Selection::Cleared]);
        assert_eq!(steps(&legal, "11 88"), [Selection::Extended, Selection::Rejected]);
    }

    #[test]
    fn captures_are_selected_step_by_step_and_completed_when_one_move_is_left() {
        let legal = legal(&[("11-33-55", "22 44"), ("11-33-51", "22 42")]);
        assert_eq!(steps(&legal, "11 33 51")[2], Selection::Move("11-33-51".into()));
        assert_eq!(steps(&legal, "11 55")[1], Selection::Move("11-33-55".into()));
        let first_only = &legal[..1];
        assert_eq!(steps(first_only, "11 33")[1], Selection::Move("11-33-55".into()));
    }

    #[test]
    fn selecting_the_last_cell_again_ends_a_path_that_may_continue() {
        let legal = legal(&[("11-13", "12"), ("11-13-33", "12 23"), ("11-13-15", "12 14")]);
        let end = Selection::Move("11-13".into());
        assert_eq!(steps(&legal, "11 13 13"), [Selection::Extended, Selection::Extended, end]);
        assert_eq!(steps(&legal, "11 13 33")[2], Selection::Move("11-13-33".into()));
    }

    #[test]
    fn paths_to_the_same_end_with_different_captures_are_distinguished() {
        let legal = legal(&[("11-13-33", "12 23"), ("11-31-33", "21 32")]);
        assert_eq!(destinations(&legal, &[Cell::parse("11").unwrap()]).len(), 2);
        assert_eq!(steps(&legal, "11 33")[1], Selection::Rejected);
        assert_eq!(steps(&legal, "11 31")[1], Selection::Move("11-31-33".into()));
    }
}
