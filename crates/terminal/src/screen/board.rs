//! The board on the screen: square cells, pieces, marks. Shapes and letters carry everything;
//! colour, where there is one, only helps.
//!
//! ```text
//! ▸(b)◂   a man under the cursor        »(b)«   the chosen one, »(b)◂ under the cursor
//! •       it may move, ! and it must      +     a step that can be chosen
//!  [W]    a king stands on a stack        ∘     where the last move began or went through
//!  ═══ *  * the last move ended here      ×     what it took
//! ```

use crownhead_rules::{Cell, Colour, Game, Side};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

/// Where the board is and how large its cells are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// The top left corner of the first cell.
    pub left: u16,
    /// The top left corner of the first cell.
    pub top: u16,
    /// The width of a cell.
    pub width: u16,
    /// The height of a cell.
    pub height: u16,
    /// Whether row 8 is at the top.
    pub flipped: bool,
}

/// Rows and columns around the cells: numbers on the left and above.
pub const COORDINATE_MARGIN: (u16, u16) = (3, 1);

impl Geometry {
    /// The largest board that fits; none if not even the smallest does.
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

    /// Columns of the whole board with its numbers.
    pub fn columns(&self) -> u16 {
        COORDINATE_MARGIN.0 + 8 * self.width
    }

    /// The top left corner of a cell.
    fn corner(&self, cell: Cell) -> (u16, u16) {
        let (mut row, mut column) = (u16::from(cell.row()) - 1, u16::from(cell.column()) - 1);
        if self.flipped {
            (row, column) = (7 - row, 7 - column);
        }
        (self.left + column * self.width, self.top + row * self.height)
    }

    /// The cell at a place of the screen.
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

/// What is marked.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Highlights {
    /// Where the keyboard's cursor is.
    pub cursor: Option<Cell>,
    /// The chosen piece and the steps chosen so far.
    pub selected: Vec<Cell>,
    /// Steps that can be chosen next.
    pub targets: Vec<Cell>,
    /// Pieces that may move.
    pub movable: Vec<Cell>,
    /// Whether those must: they can capture, and capturing is compulsory.
    pub capture_mandatory: bool,
    /// The way of the last move.
    pub last_path: Vec<Cell>,
    /// What it took.
    pub captured: Vec<Cell>,
}

/// A board to draw.
pub struct BoardView<'a> {
    /// The game: its letters and colours.
    pub game: &'a Game,
    /// The letters of the 64 cells.
    pub board: &'a [char; 64],
    /// What is marked.
    pub highlights: &'a Highlights,
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether the dark squares carry their numbers, 1 to 32.
    pub show_numbers: bool,
}

/// A light square: on row and column, counted from 1, either both odd or both even.
fn is_light(cell: Cell) -> bool {
    (cell.row() + cell.column()).is_multiple_of(2)
}

/// A piece: its side by the shape around its letter.
pub(super) fn piece_text(side: Side, letter: char) -> String {
    match side {
        Side::First => format!("({letter})"),
        Side::Second => format!("[{letter}]"),
    }
}

impl BoardView<'_> {
    /// Draws the board.
    pub fn draw(&self, buffer: &mut Buffer, geometry: Geometry) {
        let numbers = Style::default();
        for index in 0..8u16 {
            let shown = if geometry.flipped { 8 - index } else { index + 1 };
            let x = geometry.left + index * geometry.width + geometry.width / 2;
            buffer.set_string(x, geometry.top - 1, shown.to_string(), numbers);
            let y = geometry.top + index * geometry.height + (geometry.height - 1) / 2;
            buffer.set_string(geometry.left - 2, y, shown.to_string(), numbers);
        }
        for cell in Cell::all() {
            self.draw_cell(buffer, geometry, cell);
        }
    }

    fn draw_cell(&self, buffer: &mut Buffer, geometry: Geometry, cell: Cell) {
        let (x, y) = geometry.corner(cell);
        let (width, height) = (geometry.width, geometry.height);
        let ground = self.square_style(cell);
        // Cells that are not played on are shaded if there is no colour.
        let shaded = !self.colour && !self.game.info().is_playable(cell);
        for row in 0..height {
            let fill = if shaded { "░" } else { " " };
            buffer.set_string(x, y + row, fill.repeat(width.into()), ground);
        }
        let letter = self.board[cell.index() as usize];
        let side = self.side(letter);
        let middle = (y + (height - 1) / 2, x + width / 2 - 1);
        let marks = self.highlights;
        let mut token = match side {
            Some(side) => piece_text(side, letter),
            None if marks.targets.contains(&cell) => " + ".into(),
            None if marks.captured.contains(&cell) => " × ".into(),
            None if marks.last_path.contains(&cell) => " ∘ ".into(),
            None if shaded => "░░░".into(),
            // Without colours nothing else shows where a cell is.
            None if !self.colour && self.plays_on_all_cells() => " · ".into(),
            None => "   ".into(),
        };
        let mut style = ground;
        if let Some(side) = side {
            style = self.piece_style(side, ground);
            if self.colour && height > 2 {
                for row in 0..height - 1 {
                    let blob = " ".repeat(usize::from(width) - 2);
                    buffer.set_string(x + 1, y + row, blob, style);
                }
            }
            if self.is_promoted(letter) {
                buffer.set_string(middle.1, y + height - 1, "═══", ground);
            }
        }
        if marks.selected.len() > 1 && marks.selected.last() == Some(&cell) && side.is_none() {
            token = " ◎ ".into();
        }
        buffer.set_string(middle.1, middle.0, token, style);
        if marks.movable.contains(&cell) {
            let mark = if marks.capture_mandatory { "!" } else { "•" };
            buffer.set_string(x, y + height - 1, mark, ground);
        }
        if marks.last_path.last() == Some(&cell) {
            buffer.set_string(x + width - 1, y + height - 1, "*", ground);
        }
        let is_chosen = marks.selected.first() == Some(&cell);
        if is_chosen {
            buffer.set_string(x, middle.0, "»", ground);
            buffer.set_string(x + width - 1, middle.0, "«", ground);
        }
        if marks.cursor == Some(cell) {
            buffer.set_string(x, middle.0, if is_chosen { "»" } else { "▸" }, ground);
            buffer.set_string(x + width - 1, middle.0, "◂", ground);
        }
        if self.show_numbers
            && let Some(number) = self.game.info().square_number(cell)
        {
            buffer.set_string(x + 1, y + height - 1, number.to_string(), ground);
        }
    }

    fn side(&self, letter: char) -> Option<Side> {
        self.game.info().piece(letter).map(|(side, _)| side)
    }

    /// Whether a piece has become one of another kind.
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
        let marks = self.highlights;
        let ground = if marks.selected.contains(&cell) || marks.targets.contains(&cell) {
            Color::Indexed(108)
        } else if marks.last_path.contains(&cell) || marks.captured.contains(&cell) {
            Color::Indexed(if light { 222 } else { 179 })
        } else if !self.plays_on_all_cells() {
            Color::Indexed(if light { 230 } else { 101 })
        } else {
            Color::Indexed(if light { 187 } else { 180 })
        };
        Style::default().bg(ground).fg(Color::Indexed(16))
    }

    fn piece_style(&self, side: Side, ground: Style) -> Style {
        if !self.colour {
            return ground;
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
