//! The board widget. Shapes and letters carry all information; colours only help.
//!
//! ```text
//! ▸(b)◂   piece under the cursor        »(b)«   selected piece, »(b)◂ under the cursor
//! •       can move; !  must capture       +     cell that can be selected
//!  [W]    king                            ∘     path of the last move
//!  ═══ *  *  end of the last move         ×     piece it captured
//! ```

use crownhead_rules::{Cell, Colour, Game, Side};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

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
    /// Whether to use colours.
    pub colour: bool,
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
        // Without colours, cells outside the game are shaded.
        let shaded = !self.colour && !self.game.info().is_playable(cell);
        for row in 0..height {
            let fill = if shaded { "░" } else { " " };
            buffer.set_string(x, y + row, fill.repeat(width.into()), square);
        }
        let letter = self.board[cell.index() as usize];
        let side = self.side(letter);
        let middle = (y + (height - 1) / 2, x + width / 2 - 1);
        let highlights = self.highlights;
        let mut content = match side {
            Some(side) => piece_text(side, letter),
            None if highlights.targets.contains(&cell) => " + ".into(),
            None if highlights.captured.contains(&cell) => " × ".into(),
            None if highlights.last_path.contains(&cell) => " ∘ ".into(),
            None if shaded => "░░░".into(),
            // Without colours, nothing else shows the cell.
            None if !self.colour && self.plays_on_all_cells() => " · ".into(),
            None => "   ".into(),
        };
        let mut style = square;
        if let Some(side) = side {
            style = self.piece_style(side, square);
            if self.colour && height > 2 {
                for row in 0..height - 1 {
                    let disc = " ".repeat(usize::from(width) - 2);
                    buffer.set_string(x + 1, y + row, disc, style);
                }
            }
            if self.is_promoted(letter) {
                buffer.set_string(middle.1, y + height - 1, "═══", square);
            }
        }
        if highlights.selected.len() > 1
            && highlights.selected.last() == Some(&cell)
            && side.is_none()
        {
            content = " ◎ ".into();
        }
        buffer.set_string(middle.1, middle.0, content, style);
        if highlights.movable.contains(&cell) {
            let symbol = if highlights.capture_mandatory { "!" } else { "•" };
            buffer.set_string(x, y + height - 1, symbol, square);
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
        if self.show_numbers
            && let Some(number) = self.game.info().square_number(cell)
        {
            buffer.set_string(x + 1, y + height - 1, number.to_string(), square);
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
        if !self.colour {
            return Style::default();
        }
        let light = is_light(cell);
        let highlights = self.highlights;
        let background =
            if highlights.selected.contains(&cell) || highlights.targets.contains(&cell) {
                Color::Indexed(108)
            } else if highlights.last_path.contains(&cell) || highlights.captured.contains(&cell) {
                Color::Indexed(if light { 222 } else { 179 })
            } else if !self.plays_on_all_cells() {
                Color::Indexed(if light { 230 } else { 101 })
            } else {
                Color::Indexed(if light { 187 } else { 180 })
            };
        Style::default().bg(background).fg(Color::Indexed(16))
    }

    fn piece_style(&self, side: Side, square: Style) -> Style {
        if !self.colour {
            return square;
        }
        let (back, front) = match self.game.info().sides[side.index()].colour {
            Colour::Black => (16, 231),
            Colour::White => (255, 16),
            Colour::Red => (160, 231),
            Colour::Blue => (26, 231),
        };
        let style = Style::default().bg(Color::Indexed(back)).fg(Color::Indexed(front));
        style.add_modifier(Modifier::BOLD)
    }
}
