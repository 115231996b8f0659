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
/// Rows of the frames for players and for captured pieces: one line per side.
const SIDES_HEIGHT: u16 = 4;
/// Rows of the engine's frame, at least and at most.
const ENGINE_HEIGHT: (u16, u16) = (4, 7);
/// Rows that the move list has before the engine's frame grows.
const MOVES_HEIGHT: u16 = 10;

/// Areas of the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Title line at the top.
    pub title: Rect,
    /// Cells of the board.
    pub board: Geometry,
    /// Panel beside the board.
    pub panel: Rect,
    /// Frame of the players.
    pub players: Rect,
    /// Frame of the captured pieces.
    pub captured: Rect,
    /// Frame of the engine.
    pub engine: Rect,
    /// Frame of the move list, in the lower part of the panel.
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
        let captured = Rect { y: panel.y + SIDES_HEIGHT, height: SIDES_HEIGHT, ..panel };
        let rest = height - 2 * SIDES_HEIGHT;
        let engine_height =
            rest.saturating_sub(MOVES_HEIGHT).clamp(ENGINE_HEIGHT.0, ENGINE_HEIGHT.1);
        let engine = Rect { y: captured.bottom(), height: engine_height, ..panel };
        Some(Layout {
            title: Rect { height: 1, ..inner },
            board,
            panel,
            players: Rect { height: SIDES_HEIGHT, ..panel },
            captured,
            engine,
            moves: Rect { y: engine.bottom(), height: rest - engine_height, ..panel },
            message: Rect { y: area.bottom() - FOOTER_HEIGHT, height: FOOTER_HEIGHT - 1, ..inner },
            keys: Rect { y: area.bottom() - 1, height: 1, ..inner },
        })
    }

    /// Area of the moves inside their frame.
    pub fn move_list(&self) -> Rect {
        inside(self.moves)
    }
}

/// Returns the area for text inside a frame.
pub fn inside(frame: Rect) -> Rect {
    Rect {
        x: frame.x + 2,
        y: frame.y + 1,
        width: frame.width.saturating_sub(4),
        height: frame.height.saturating_sub(2),
    }
}
