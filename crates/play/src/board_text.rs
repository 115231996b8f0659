//! The board as text.

/// Formats the board as the assignments do: column numbers above, row numbers on the left.
pub fn board_text(board: &[char; 64]) -> String {
    let mut text = String::from("  1 2 3 4 5 6 7 8\n");
    for (cells, row) in board.chunks(8).zip(1..) {
        let cells: String = cells.iter().flat_map(|cell| [' ', *cell]).collect();
        text.push_str(&format!("{row}{cells}\n"));
    }
    text
}
