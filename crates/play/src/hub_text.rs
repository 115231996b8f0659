//! Positions and moves as the Hub protocol writes them, for both of its sides: the
//! [`engine`](crate::engine::hub) and the adapter that talks with engines.
//!
//! A position is a letter for the side to move and one for each of the 32 squares; a move is start and
//! end, and for a capture the captured squares in any order, `22x15x18`.

use crownhead_rules::Cell;

use crate::{LegalMove, Session};

/// The number of a dark cell's square.
fn square(cell: Cell) -> u8 {
    (cell.row() - 1) * 4 + cell.column().div_ceil(2)
}

/// A move as Hub writes it: the captured squares follow start and end.
fn hub_move(mv: &LegalMove) -> String {
    let (Some(&from), Some(&to)) = (mv.path.first(), mv.path.last()) else { return String::new() };
    if mv.captures.is_empty() {
        return format!("{}-{}", square(from), square(to));
    }
    let captured = mv.captures.iter().map(|&cell| format!("x{}", square(cell)));
    format!("{}x{}{}", square(from), square(to), captured.collect::<String>())
}

/// A line of moves as Hub writes them.
pub(crate) fn hub_line(session: &dyn Session, texts: &[String]) -> Vec<String> {
    let mut session = session.copy();
    let mut moves = Vec::new();
    for text in texts {
        let legal = session.legal_moves();
        let Some(mv) = legal.iter().find(|mv| mv.text == *text) else { break };
        moves.push(hub_move(mv));
        if session.play(text).is_err() {
            break;
        }
    }
    moves
}

/// Whether a text of Hub is this move; captured squares may come in any order.
pub(crate) fn is_move(text: &str, mv: &LegalMove) -> bool {
    let numbers = |text: &str| -> Option<Vec<u8>> {
        text.split(['-', 'x']).map(|number| number.parse().ok()).collect()
    };
    match (numbers(text), numbers(&hub_move(mv))) {
        (Some(mut one), Some(mut other)) if one.len() == other.len() && one.len() >= 2 => {
            one[2..].sort_unstable();
            other[2..].sort_unstable();
            one == other
        }
        _ => false,
    }
}

/// A position of Hub as FEN.
pub(crate) fn fen(text: &str) -> Option<String> {
    let side = text.chars().next().filter(|side| "WB".contains(*side))?;
    if text.len() != 33 || !text.is_ascii() {
        return None;
    }
    let mut pieces = [String::new(), String::new()];
    for (letter, number) in text.chars().skip(1).zip(1..) {
        let (list, king) = match letter {
            'w' | 'W' => (&mut pieces[0], letter == 'W'),
            'b' | 'B' => (&mut pieces[1], letter == 'B'),
            'e' => continue,
            _ => return None,
        };
        if !list.is_empty() {
            list.push(',');
        }
        list.push_str(&format!("{}{number}", if king { "K" } else { "" }));
    }
    let [white, black] = pieces;
    Some(format!("{side}:W{white}:B{black}"))
}

/// A position as Hub writes it, from its FEN.
pub(crate) fn hub_position(fen: &str) -> Option<String> {
    let mut parts = fen.split(':');
    let side = parts.next()?;
    let mut letters = ['e'; 32];
    for part in parts {
        let colour = part.chars().next().filter(|colour| "WB".contains(*colour))?;
        for piece in part[1..].split(',').filter(|piece| !piece.is_empty()) {
            let (number, letter) = match piece.strip_prefix('K') {
                Some(number) => (number, colour),
                None => (piece, colour.to_ascii_lowercase()),
            };
            let number: usize = number.parse().ok()?;
            *letters.get_mut(number.checked_sub(1)?)? = letter;
        }
    }
    Some(side.chars().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back() {
        let start = crate::session(&"english".parse().unwrap(), None).unwrap().position();
        let text = hub_position(&start).unwrap();
        assert_eq!(text, "Bbbbbbbbbbbbbeeeeeeeewwwwwwwwwwww");
        for text in [text, format!("W{}WeeBeeebw", "e".repeat(23))] {
            assert_eq!(hub_position(&fen(&text).unwrap()).unwrap(), text);
        }
    }
}
