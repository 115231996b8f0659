//! The move list: one column per side, scrolled to the current move.

use crownhead_rules::{Side, SideInfo};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::theme::Look;
use super::widgets::truncate;

/// The moves of a game.
pub struct MoveList<'a> {
    /// Names of the sides.
    pub sides: [SideInfo; 2],
    /// Side of the first move.
    pub first: Side,
    /// Texts of the moves.
    pub texts: &'a [String],
    /// Number of plies on the board.
    pub current_ply: usize,
    /// Theme and colours.
    pub look: Look,
}

/// Width of the move numbers.
const NUMBER_WIDTH: u16 = 4;

impl MoveList<'_> {
    /// Number of rows, without the title.
    fn rows(place: Rect) -> usize {
        usize::from(place.height.saturating_sub(1))
    }

    /// Column of the first move: 1 if the second side starts.
    fn first_slot(&self) -> usize {
        self.first.index()
    }

    /// First visible row, so that the current move is visible.
    fn first_row(&self, place: Rect) -> usize {
        let row = (self.current_ply + self.first_slot()).saturating_sub(1) / 2;
        (row + 1).saturating_sub(Self::rows(place))
    }

    /// Offset of the second side's column.
    fn second_column(place: Rect) -> u16 {
        NUMBER_WIDTH + (place.width - NUMBER_WIDTH) / 2
    }

    /// Returns the number of plies up to the move at a place on the screen.
    pub fn ply_at(&self, place: Rect, x: u16, y: u16) -> Option<usize> {
        let row = usize::from(y.checked_sub(place.y + 1)?);
        if row >= Self::rows(place) || x < place.x || x >= place.right() {
            return None;
        }
        let second = x >= place.x + Self::second_column(place);
        let slot = 2 * (self.first_row(place) + row) + usize::from(second);
        let ply = (slot + 1).checked_sub(self.first_slot()).filter(|&ply| ply > 0)?;
        (ply <= self.texts.len()).then_some(ply)
    }

    /// Draws the list.
    pub fn draw(&self, buffer: &mut Buffer, place: Rect) {
        if place.height < 2 {
            return;
        }
        let second = Self::second_column(place);
        let columns = [
            (place.x + NUMBER_WIDTH, second - NUMBER_WIDTH),
            (place.x + second, place.width - second),
        ];
        for ((x, room), side) in columns.into_iter().zip(self.sides) {
            buffer.set_stringn(x + 1, place.y, side.name, (room - 1).into(), self.look.dim());
        }
        let first = self.first_row(place);
        for (index, text) in self.texts.iter().enumerate() {
            let slot = index + self.first_slot();
            let Some(row) = (slot / 2).checked_sub(first).filter(|&row| row < Self::rows(place))
            else {
                continue;
            };
            let y = place.y + 1 + row as u16;
            if slot.is_multiple_of(2) || index == 0 {
                let number = format!("{:3}.", slot / 2 + 1);
                buffer.set_stringn(place.x, y, number, NUMBER_WIDTH.into(), self.look.dim());
            }
            let is_current = self.current_ply == index + 1;
            let (x, room) = columns[slot % 2];
            let text = format!("{}{text}", if is_current { '>' } else { ' ' });
            let style = if is_current { self.look.bold() } else { Style::default() };
            buffer.set_stringn(x, y, truncate(&text, usize::from(room) - 1), room.into(), style);
        }
    }
}
