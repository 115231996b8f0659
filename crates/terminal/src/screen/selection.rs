//! Choosing a move on the board, step by step.

use crownhead_play::LegalMove;
use crownhead_rules::Cell;

/// What a choice of a cell led to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selection {
    /// The move is complete.
    Move(String),
    /// A piece is chosen, or a further step of its way.
    Extended,
    /// Nothing is chosen any more.
    Cleared,
    /// No legal move goes there.
    Rejected,
}

/// The moves that begin with the cells chosen so far.
pub fn candidates<'a>(legal: &'a [LegalMove], chosen: &[Cell]) -> Vec<&'a LegalMove> {
    legal.iter().filter(|mv| mv.path.starts_with(chosen)).collect()
}

/// The cells that can be chosen next: the next steps, and ends that single a move out.
pub fn destinations(legal: &[LegalMove], chosen: &[Cell]) -> Vec<Cell> {
    if chosen.is_empty() {
        return Vec::new();
    }
    let moves = candidates(legal, chosen);
    Cell::all()
        .filter(|&cell| {
            moves.iter().any(|mv| mv.path.get(chosen.len()) == Some(&cell))
                || ends_at(&moves, chosen, cell).len() == 1
        })
        .collect()
}

fn ends_at<'a>(moves: &[&'a LegalMove], chosen: &[Cell], cell: Cell) -> Vec<&'a LegalMove> {
    let longer = |mv: &&&LegalMove| mv.path.len() > chosen.len();
    moves.iter().filter(longer).filter(|mv| mv.path.last() == Some(&cell)).copied().collect()
}

/// Chooses a cell.
///
/// The way is completed as soon as one move is left. Where a way may end or go on, choosing its last
/// cell once more ends it.
pub fn select(legal: &[LegalMove], chosen: &mut Vec<Cell>, cell: Cell) -> Selection {
    let starts = legal.iter().any(|mv| mv.path.first() == Some(&cell));
    if chosen.is_empty() {
        if !starts {
            return Selection::Rejected;
        }
        chosen.push(cell);
        return Selection::Extended;
    }
    let moves = candidates(legal, chosen);
    if chosen.last() == Some(&cell) {
        if let Some(mv) = moves.iter().find(|mv| mv.path == *chosen) {
            return Selection::Move(mv.text.clone());
        }
        if chosen.len() == 1 {
            chosen.clear();
            return Selection::Cleared;
        }
    }
    let ends = ends_at(&moves, chosen, cell);
    let mut further = chosen.clone();
    further.push(cell);
    let through = candidates(legal, &further);
    // Where nothing is taken, the way does not matter: its end says which move it is.
    let only_ends = through.is_empty() || moves.iter().all(|mv| mv.captures.is_empty());
    if let ([mv], true) = (ends.as_slice(), only_ends) {
        return Selection::Move(mv.text.clone());
    }
    match through.as_slice() {
        [] => {
            // Another piece may be chosen instead, as long as no step has been made.
            if starts && chosen.len() == 1 {
                *chosen = vec![cell];
                return Selection::Extended;
            }
            Selection::Rejected
        }
        [mv] => Selection::Move(mv.text.clone()),
        _ => {
            *chosen = further;
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
            .map(|(text, takes)| LegalMove {
                text: (*text).into(),
                path: text.split('-').map(cell).collect(),
                other_paths: Vec::new(),
                captures: takes.split_whitespace().map(cell).collect(),
            })
            .collect()
    }

    fn steps(legal: &[LegalMove], cells: &str) -> Vec<Selection> {
        let mut chosen = Vec::new();
        let cells = cells.split_whitespace().map(|name| Cell::parse(name).unwrap());
        cells.map(|cell| select(legal, &mut chosen, cell)).collect()
    }

    #[test]
    fn a_piece_and_its_end_make_a_move() {
        let legal = legal(&[("11-12", ""), ("11-21", "")]);
        assert_eq!(steps(&legal, "11 21"), [Selection::Extended, Selection::Move("11-21".into())]);
        assert_eq!(steps(&legal, "33"), [Selection::Rejected]);
        assert_eq!(steps(&legal, "11 11"), [Selection::Extended, Selection::Cleared]);
        assert_eq!(steps(&legal, "11 88"), [Selection::Extended, Selection::Rejected]);
    }

    #[test]
    fn a_way_with_captures_is_chosen_step_by_step_and_completed_when_one_is_left() {
        let legal = legal(&[("11-33-55", "22 44"), ("11-33-51", "22 42")]);
        assert_eq!(steps(&legal, "11 33 51")[2], Selection::Move("11-33-51".into()));
        assert_eq!(steps(&legal, "11 55")[1], Selection::Move("11-33-55".into()));
        let one = &legal[..1];
        assert_eq!(steps(one, "11 33")[1], Selection::Move("11-33-55".into()));
    }

    #[test]
    fn a_way_that_may_end_or_go_on_ends_where_its_last_cell_is_chosen_again() {
        let legal = legal(&[("11-13", "12"), ("11-13-33", "12 23"), ("11-13-15", "12 14")]);
        let end = Selection::Move("11-13".into());
        assert_eq!(steps(&legal, "11 13 13"), [Selection::Extended, Selection::Extended, end]);
        assert_eq!(steps(&legal, "11 13 33")[2], Selection::Move("11-13-33".into()));
    }

    #[test]
    fn two_ways_to_one_end_that_take_different_men_are_told_apart() {
        let legal = legal(&[("11-13-33", "12 23"), ("11-31-33", "21 32")]);
        assert_eq!(destinations(&legal, &[Cell::parse("11").unwrap()]).len(), 2);
        assert_eq!(steps(&legal, "11 33")[1], Selection::Rejected);
        assert_eq!(steps(&legal, "11 31")[1], Selection::Move("11-31-33".into()));
    }
}
