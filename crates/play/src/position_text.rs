//! Text of a position that was set up piece by piece.

use crownhead_rules::{Cell, Game, Side};

use crate::new_session;

/// Returns the text of a position from the letters of its cells; `.` is empty. It is PDN FEN in
/// games with numbered squares, else rows with the number of turns played. The position may be
/// invalid.
pub fn position_text(game: &Game, board: &[char; 64], side: Side, plies: u32) -> String {
    let info = game.info();
    let letter = info.sides[side.index()].letter;
    if !info.numbered_squares {
        let rows = board
            .chunks(8)
            .map(|row| row.iter().map(|c| if *c == '.' { '1' } else { *c }).collect::<String>());
        let text = format!("{} {letter} {plies}", rows.collect::<Vec<_>>().join("/"));
        // A valid one with digits for runs of empty cells.
        return new_session(game, Some(&text)).map_or(text, |session| session.position());
    }
    let pieces = |owner: Side| {
        let squares = Cell::all().filter_map(|cell| {
            let (side, kind) = info.piece(board[cell.index() as usize])?;
            let king = if kind.name == info.pieces[0].name { "" } else { "K" };
            let number = info.square_number(cell).filter(|_| side == owner)?;
            Some(format!("{king}{number}"))
        });
        let letter = info.sides[owner.index()].letter.to_ascii_uppercase();
        format!("{letter}{}", squares.collect::<Vec<_>>().join(","))
    };
    let turn = letter.to_ascii_uppercase();
    format!("{turn}:{}:{}", pieces(Side::Second), pieces(Side::First))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_position_set_up_by_hand_has_its_own_text() {
        for game in Game::all() {
            let session = new_session(&game, None).unwrap();
            let text = position_text(&game, &session.board(), session.side(), 0);
            assert_eq!(text, game.start_position());
        }
    }

    #[test]
    fn invalid_position_has_a_text_too() {
        let text = position_text(&"english".parse().unwrap(), &['.'; 64], Side::Second, 0);
        assert_eq!(text, "W:W:B");
    }
}
