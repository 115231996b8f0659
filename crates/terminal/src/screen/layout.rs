//! Areas of a screen with a board.

use ratatui::layout::Rect;

use super::board::Geometry;

/// Minimum width and height of the screen.
pub const MIN_SIZE: (u16, u16) = (70, 22);
/// Rows below the board: the message and the key bar.
const FOOTER_HEIGHT: u16 = 4;
/// Minimum width of the panel beside the board.
const MIN_PANEL_WIDTH: u16 = 26;
/// Maximum width of the panel: longer lines are hard to read.
const MAX_PANEL_WIDTH: u16 = 60;
/// Rows of the panel above the move list.
const PANEL_HEADER_HEIGHT: u16 = 8;

/// Areas of the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Title line at the top.
    pub title: Rect,
    /// Cells of the board.
    pub board: Geometry,
    /// Panel beside the board.
    pub panel: Rect,
    /// Move list, in the lower part of the panel.
    pub moves: Rect,
    /// Message below the board.
    pub message: Rect,
    /// Key bar at the bottom.
    pub keys: Rect,
}

impl Layout {
    /// Divides the screen; `None` if it is smaller than [`MIN_SIZE`].
    pub fn new(area: Rect, flipped: bool) -> Option<Layout> {
        if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
            return None;
        }
        let inner = Rect { x: area.x + 1, width: area.width - 2, ..area };
        let height = area.height - FOOTER_HEIGHT - 1;
        let board_area =
            Rect { y: area.y + 1, width: area.width - MIN_PANEL_WIDTH, height, ..area };
        let board = Geometry::fit(board_area, flipped)?;
        let left = area.x + board.columns() + 2;
        let width = (area.right() - left).min(MAX_PANEL_WIDTH);
        let panel = Rect { x: left, y: area.y + 1, width, height };
        Some(Layout {
            title: Rect { height: 1, ..inner },
            board,
            panel,
            moves: Rect {
                y: panel.y + PANEL_HEADER_HEIGHT,
                height: height - PANEL_HEADER_HEIGHT,
                ..panel
            },
            message: Rect { y: area.bottom() - FOOTER_HEIGHT, height: FOOTER_HEIGHT - 1, ..inner },
            keys: Rect { y: area.bottom() - 1, height: 1, ..inner },
        })
    }
}
