//! Defaults of a new game, the same in every interface: [`Game::default`] against
//! [`DEFAULT_PLAYER`], the user plays [`DEFAULT_SIDE`] and sees the board as [`is_flipped_for`]
//! says. A user who plays both sides or none sees row 1 at the top.

use crownhead_rules::{Cell, Game, Side};

use crate::new_session;

/// The computer that a person plays against.
pub const DEFAULT_PLAYER: &str = "level:5";

/// The side that a person plays against a computer.
pub const DEFAULT_SIDE: Side = Side::First;

/// Whether a player of this side sees the board with row 8 at the top: if all their pieces start
/// above those of the opponent.
pub fn is_flipped_for(game: &Game, side: Side) -> bool {
    let Ok(session) = new_session(game, None) else { return false };
    let (info, board) = (game.info(), session.board());
    let rows = |owner: Side| {
        let is_owned = move |cell: &Cell| {
            info.piece(board[cell.index() as usize]).is_some_and(|(side, _)| side == owner)
        };
        Cell::all().filter(is_owned).map(Cell::row)
    };
    rows(side).max() < rows(side.other()).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CATALOG;

    #[test]
    fn own_pieces_start_at_the_bottom_and_the_default_player_is_on_offer() {
        // In Capture Halma the sides start at the left and at the right.
        for (game, first) in
            [("english", true), ("chinese-checkers", true), ("capture-halma", false)]
        {
            let game: Game = game.parse().unwrap();
            let flipped = [Side::First, Side::Second].map(|side| is_flipped_for(&game, side));
            assert_eq!(flipped, [first, false], "{game}");
        }
        assert!(CATALOG.iter().any(|player| player.spec == DEFAULT_PLAYER));
    }
}
