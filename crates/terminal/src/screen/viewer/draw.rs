//! Draws a recorded game.

use crownhead_records::GameResult;
use crownhead_rules::{Side, replace_invisible};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::board::{BoardView, Highlights};
use super::super::layout::Layout;
use super::super::move_list::MoveList;
use super::super::widgets::{
    framed, too_small, truncate, write_keys, write_line, write_message, write_player,
};
use super::ViewScreen;
use crate::analysis_thread::AnalysisUpdate;
use crate::text::{clock_text, comment_text, game_title, recorded_eval_text};

/// Draws the screen.
pub(super) fn draw(frame: &mut Frame<'_>, screen: &ViewScreen<'_>) {
    let Some(layout) = Layout::new(frame.area(), screen.flipped) else {
        too_small(frame);
        return;
    };
    let (cursor, look) = (&screen.cursor, screen.look);
    let (game, position) = (&cursor.record().game, cursor.position());
    let playing = if screen.autoplay_since.is_some() { "   playing (space: stop)" } else { "" };
    let name = game.info().name;
    let top = format!("{name}   game {}{playing}: {}", screen.shown.1, game_title(cursor.record()));
    write_line(frame, layout.title, &truncate(&top, layout.title.width.into()), look.bold());
    let highlights = Highlights {
        last_path: position.path.clone(),
        captured: position.captures.clone(),
        ..Highlights::default()
    };
    let view = BoardView {
        game,
        board: &position.board,
        highlights: &highlights,
        look,
        show_numbers: screen.show_numbers,
    };
    view.draw(frame.buffer_mut(), layout.board);
    draw_players(frame, screen, &layout);
    draw_engine(frame, screen, layout.engine);
    let moves = framed(frame, layout.moves, "Moves", look);
    with_moves(screen, |list| list.draw(frame.buffer_mut(), moves));
    write_message(frame, &layout, "", &message_text(screen));
    let short = "← → step · space play · n p game · v variation · a analysis · ? help · q quit";
    let long = format!("Home/End start/end · {short}");
    let shortest = "← → step · space play · n p game · v a · ? help · q quit";
    write_keys(frame, layout.keys, &[long, short.into(), shortest.into()], look);
    if let Some(popup) = screen.popup {
        popup.draw(frame, HELP, &message_text(screen));
    }
}

/// Returns the message, or else the comment and the outcome.
pub(super) fn message_text(screen: &ViewScreen<'_>) -> String {
    let cursor = &screen.cursor;
    if !screen.message.is_empty() {
        return screen.message.clone();
    }
    let comment = comment_text(cursor);
    let outcome = cursor.position().outcome_text.as_deref().unwrap_or_default();
    match (comment.is_empty(), outcome.is_empty()) {
        (true, true) if !cursor.has_more() && cursor.depth() > 0 => {
            "The variation ends here.".into()
        }
        (true, true) if !cursor.has_more() => {
            format!("The record ends here: {}.", cursor.record().result)
        }
        (true, _) => outcome.into(),
        (false, true) => comment,
        (false, false) => format!("{comment} — {outcome}"),
    }
}

fn with_moves<T>(screen: &ViewScreen<'_>, work: impl FnOnce(&MoveList<'_>) -> T) -> T {
    let text = |ply: &&crownhead_records::Ply| {
        let more = if ply.variations.is_empty() { "" } else { "…" };
        format!("{}{more}", ply.annotated())
    };
    let texts: Vec<_> = screen.cursor.plies().iter().map(text).collect();
    work(&MoveList {
        sides: screen.cursor.record().game.info().sides,
        first: screen.cursor.first().side,
        texts: &texts,
        current_ply: screen.cursor.ply(),
        look: screen.look,
    })
}

/// Returns the ply of the move at a place on the screen.
pub(super) fn ply_at(screen: &ViewScreen<'_>, layout: &Layout, x: u16, y: u16) -> Option<usize> {
    with_moves(screen, |list| list.ply_at(layout.move_list(), x, y))
}

fn draw_players(frame: &mut Frame<'_>, screen: &ViewScreen<'_>, layout: &Layout) {
    let (cursor, look) = (&screen.cursor, screen.look);
    let record = cursor.record();
    let area = framed(frame, layout.players, "Players", look);
    // A recorded game may end by a resignation or an agreement.
    let has_result = cursor.depth() == 0 && record.result != GameResult::Unknown;
    let is_over = cursor.position().outcome_text.is_some() || (has_result && !cursor.has_more());
    let clocks = cursor.clocks();
    for side in [Side::First, Side::Second] {
        let name = record.player(side).map(replace_invisible).unwrap_or_default();
        let is_to_move = cursor.position().side == side && !is_over;
        let line = Rect { y: area.y + side.index() as u16, height: 1, ..area };
        let clock = clocks[side.index()].map(clock_text).unwrap_or_default();
        write_player(frame, line, (&record.game, side), is_to_move, (&name, &clock), look);
    }
    let area = framed(frame, layout.captured, "Game", look);
    let tag = |name| record.tag(name).map(replace_invisible).unwrap_or_default();
    write_line(frame, area, &truncate(&tag("Event"), area.width.into()), Style::default());
    let others = cursor.sibling_moves();
    let branch = match (cursor.depth(), others.is_empty()) {
        (0, true) => tag("Date"),
        (0, false) => format!("variations (v): {}", others.join(", ")),
        (_, true) => "variation (Esc: leave)".into(),
        (_, false) => format!("variation; v: {}", others.join(", ")),
    };
    let line = Rect { y: area.y + 1, ..area };
    write_line(frame, line, &truncate(&branch, area.width.into()), Style::default());
}

/// Draws the lines of the running analysis, or else the recorded evaluation.
fn draw_engine(frame: &mut Frame<'_>, screen: &ViewScreen<'_>, place: Rect) {
    let title = if screen.analysis.is_some() { "Analysis" } else { "Evaluation" };
    let area = framed(frame, place, title, screen.look);
    let mut row = 0;
    let mut line = |text: &str| {
        if row < area.height {
            let place = Rect { y: area.y + row, ..area };
            write_line(frame, place, &truncate(text, area.width.into()), Style::default());
        }
        row += 1;
    };
    match screen.analysis.as_ref().map(|analysis| &analysis.latest) {
        None => line(&recorded_eval_text(&screen.cursor).unwrap_or_default()),
        Some(None) => line("…"),
        Some(Some(AnalysisUpdate::Unavailable(reason))) => line(reason),
        Some(Some(AnalysisUpdate::Lines { table, depth, lines })) => {
            table.iter().for_each(|table| line(table));
            for (index, (eval, moves)) in lines.iter().take(3).enumerate() {
                let depth = if index == 0 { format!(" (depth {depth})") } else { String::new() };
                line(&format!("{eval}{depth} {moves}"));
            }
        }
    }
}

const HELP: &[&str] = &[
    "→ l Enter  forward      ← h  back",
    "Home g  start           End G  end",
    "PgUp PgDn  ten moves    mouse: list, wheel, board",
    "space  autoplay         + -  faster, slower",
    "n  next game            p  previous game",
    "v  next variation       Esc  leave the variation",
    "a  analysis on, off     t  full comment",
    "f  flip the board       c  square numbers",
    "q  quit",
];
