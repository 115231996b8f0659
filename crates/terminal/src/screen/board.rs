//! The board widget. Shapes and letters carry all information; colours only help.
//!
//! ```text
//! ▗███▖   piece; without colours the first side is a ring and both have letters
//! ▸   ◂   under the cursor               »   «   selected piece, » ◂ under the cursor
//! •       can move; !  must capture       +     cell that can be selected
//! ▙█▟     crown of a king                 ∘     path of the last move
//!      *  end of the last move            ×     piece it captured
//! ```

use crownhead_rules::{Cell, Game, Side};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::disc::{crown, crown_area, disc, quadrant};
use super::theme::{Look, Role, Tone};

/// Position of the board and size of its cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Left edge of the cells.
    pub left: u16,
    /// Top edge of the cells.
    pub top: u16,
    /// Width of a cell.
    pub width: u16,
    /// Height of a cell.
    pub height: u16,
    /// Whether row 8 is at the top.
    pub flipped: bool,
}

/// Columns on the left and rows above the cells, for their numbers.
pub const COORDINATE_MARGIN: (u16, u16) = (3, 1);

impl Geometry {
    /// Returns the largest board that fits; `None` if even the smallest does not.
    pub fn fit(area: Rect, flipped: bool) -> Option<Geometry> {
        let sizes = [(13, 6), (11, 5), (9, 4), (7, 3), (5, 2)];
        let fits = |&(width, height): &(u16, u16)| {
            width * 8 + COORDINATE_MARGIN.0 <= area.width
                && height * 8 + COORDINATE_MARGIN.1 <= area.height
        };
        let (width, height) = sizes.into_iter().find(fits)?;
        Some(Geometry {
            left: area.x + COORDINATE_MARGIN.0,
            top: area.y + COORDINATE_MARGIN.1,
            width,
            height,
            flipped,
        })
    }

    /// Width of the board with its numbers.
    pub fn columns(&self) -> u16 {
        COORDINATE_MARGIN.0 + 8 * self.width
    }

    /// Returns the top left corner of a cell.
    fn corner(&self, cell: Cell) -> (u16, u16) {
        let (mut row, mut column) = (u16::from(cell.row()) - 1, u16::from(cell.column()) - 1);
        if self.flipped {
            (row, column) = (7 - row, 7 - column);
        }
        (self.left + column * self.width, self.top + row * self.height)
    }

    /// Returns the cell at a place on the screen.
    pub fn cell_at(&self, x: u16, y: u16) -> Option<Cell> {
        let column = x.checked_sub(self.left)? / self.width;
        let row = y.checked_sub(self.top)? / self.height;
        if row > 7 || column > 7 {
            return None;
        }
        let (row, column) = if self.flipped { (7 - row, 7 - column) } else { (row, column) };
        Cell::new(row as u8 + 1, column as u8 + 1)
    }
}

/// Highlighted cells.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Highlights {
    /// Keyboard cursor.
    pub cursor: Option<Cell>,
    /// Selected piece and steps.
    pub selected: Vec<Cell>,
    /// Cells that can be selected next.
    pub targets: Vec<Cell>,
    /// Pieces that can move.
    pub movable: Vec<Cell>,
    /// Whether they must capture.
    pub capture_mandatory: bool,
    /// Path of the last move.
    pub last_path: Vec<Cell>,
    /// Cells of the pieces it captured.
    pub captured: Vec<Cell>,
}

/// A board to draw.
pub struct BoardView<'a> {
    /// The game.
    pub game: &'a Game,
    /// Letters of the 64 cells.
    pub board: &'a [char; 64],
    /// Highlighted cells.
    pub highlights: &'a Highlights,
    /// Theme and colours.
    pub look: Look,
    /// Whether to show square numbers.
    pub show_numbers: bool,
}

/// Returns whether a cell is light, as on a chessboard.
fn is_light(cell: Cell) -> bool {
    (cell.row() + cell.column()).is_multiple_of(2)
}

/// Formats a piece; the brackets show its side.
pub(super) fn piece_text(side: Side, letter: char) -> String {
    match side {
        Side::First => format!("({letter})"),
        Side::Second => format!("[{letter}]"),
    }
}

impl BoardView<'_> {
    /// Draws the board.
    pub fn draw(&self, buffer: &mut Buffer, geometry: Geometry) {
        let style = Style::default();
        for index in 0..8u16 {
            let number = if geometry.flipped { 8 - index } else { index + 1 };
            let x = geometry.left + index * geometry.width + geometry.width / 2;
            buffer.set_string(x, geometry.top - 1, number.to_string(), style);
            let y = geometry.top + index * geometry.height + (geometry.height - 1) / 2;
            buffer.set_string(geometry.left - 2, y, number.to_string(), style);
        }
        for cell in Cell::all() {
            self.draw_cell(buffer, geometry, cell);
        }
    }

    fn draw_cell(&self, buffer: &mut Buffer, geometry: Geometry, cell: Cell) {
        let (x, y) = geometry.corner(cell);
        let (width, height) = (geometry.width, geometry.height);
        let square = self.square_style(cell);
        let colour = self.look.has_colours();
        // Without colours, cells outside the game are shaded.
        let shaded = !colour && !self.game.info().is_playable(cell);
        for row in 0..height {
            let fill = if shaded { "░" } else { " " };
            buffer.set_string(x, y + row, fill.repeat(width.into()), square);
        }
        let letter = self.board[cell.index() as usize];
        let side = self.side(letter);
        let middle = (y + (height - 1) / 2, x + width / 2 - 1);
        let highlights = self.highlights;
        if let Some(side) = side {
            self.draw_piece(buffer, geometry, cell, side, letter);
        } else {
            let is_path_end =
                highlights.selected.len() > 1 && highlights.selected.last() == Some(&cell);
            let content = if is_path_end {
                " ◎ "
            } else if highlights.targets.contains(&cell) {
                " + "
            } else if highlights.captured.contains(&cell) {
                " × "
            } else if highlights.last_path.contains(&cell) {
                " ∘ "
            } else if shaded {
                "░░░"
            } else if !colour && self.plays_on_all_cells() {
                // Without colours, nothing else shows the cell.
                " · "
            } else {
                "   "
            };
            buffer.set_string(middle.1, middle.0, content, square);
        }
        if self.show_numbers
            && let Some(number) = self.game.info().square_number(cell)
        {
            let number = number.to_string();
            // On the piece, whose disc fills the cell. Without colours only in the smallest cells:
            // elsewhere there is room in the corner.
            let (column, style) = match side {
                Some(side) if height == 2 => (1, self.piece_style(side, square)),
                Some(side) if colour => {
                    ((width - number.len() as u16) / 2, self.piece_style(side, square))
                }
                _ => (u16::from(height == 2), square),
            };
            buffer.set_string(x + column, y + height - 1, number, style);
        }
        if highlights.movable.contains(&cell) {
            let symbol = if highlights.capture_mandatory { "!" } else { "•" };
            buffer.set_string(x, y, symbol, square);
        }
        if highlights.last_path.last() == Some(&cell) {
            buffer.set_string(x + width - 1, y + height - 1, "*", square);
        }
        let is_selected = highlights.selected.first() == Some(&cell);
        if is_selected {
            buffer.set_string(x, middle.0, "»", square);
            buffer.set_string(x + width - 1, middle.0, "«", square);
        }
        if highlights.cursor == Some(cell) {
            buffer.set_string(x, middle.0, if is_selected { "»" } else { "▸" }, square);
            buffer.set_string(x + width - 1, middle.0, "◂", square);
        }
    }

    /// Draws a disc, and a crown on it for a promoted piece. Without colours the first side is a
    /// ring, and letters name the pieces.
    fn draw_piece(
        &self,
        buffer: &mut Buffer,
        geometry: Geometry,
        cell: Cell,
        side: Side,
        letter: char,
    ) {
        let (x, y) = geometry.corner(cell);
        let (width, height) = (geometry.width, geometry.height);
        let (square, colour) = (self.square_style(cell), self.look.has_colours());
        let is_ring = !colour && side == Side::First;
        let piece = self.game.info().sides[side.index()].colour;
        let edge = match colour {
            true => square.fg(self.look.colour(Role::Piece(piece))),
            false => square,
        };
        let mut put = |row: u16, column: u16, symbol: char, style: Style| {
            buffer.set_string(x + column, y + row, symbol.to_string(), style);
        };
        for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column)))
        {
            let pixels = disc(width, height, row, column, is_ring);
            if pixels != 0 {
                put(row, column, quadrant(pixels), edge);
            }
        }
        let on_piece = self.piece_style(side, square);
        let (rows, columns) = crown_area(width, height);
        if self.is_promoted(letter) {
            let style = match colour {
                true => on_piece.fg(self.look.colour(Role::Crown(piece))),
                false => on_piece,
            };
            let (top, left) = (*rows.start(), *columns.start());
            for (row, column) in rows.flat_map(|row| columns.clone().map(move |at| (row, at))) {
                let pixels = crown(height, row - top, column - left);
                // On a solid disc without colours, the crown is cut out.
                let pixels = if colour || is_ring { pixels } else { !pixels };
                put(row, column, quadrant(pixels), style);
            }
        }
        if !colour {
            put((height - 1) / 2, width / 2, letter, on_piece);
        }
    }

    fn side(&self, letter: char) -> Option<Side> {
        self.game.info().piece(letter).map(|(side, _)| side)
    }

    /// Returns whether a piece has been promoted.
    fn is_promoted(&self, letter: char) -> bool {
        let info = self.game.info();
        info.piece(letter).is_some_and(|(_, kind)| kind.name != info.pieces[0].name)
    }

    fn plays_on_all_cells(&self) -> bool {
        self.game.info().cells == !0
    }

    fn square_style(&self, cell: Cell) -> Style {
        if !self.look.has_colours() {
            return Style::default();
        }
        let highlights = self.highlights;
        let role = if highlights.selected.contains(&cell) || highlights.targets.contains(&cell) {
            Role::Target
        } else if highlights.last_path.contains(&cell) || highlights.captured.contains(&cell) {
            Role::LastMove
        } else {
            Role::Square(Tone::new(self.game.info(), !is_light(cell)))
        };
        Style::default().bg(self.look.colour(role)).fg(self.look.colour(Role::Ink))
    }

    /// Style of text on a piece.
    fn piece_style(&self, side: Side, square: Style) -> Style {
        if !self.look.has_colours() {
            return square;
        }
        let colour = self.game.info().sides[side.index()].colour;
        Style::default()
            .bg(self.look.colour(Role::Piece(colour)))
            .fg(self.look.colour(Role::PieceText(colour)))
            .add_modifier(Modifier::BOLD)
    }
}
