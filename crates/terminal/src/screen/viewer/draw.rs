//! Draws a recorded game.

use crownhead_records::GameResult;
use crownhead_rules::Side;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::board::{BoardView, Highlights, piece_text};
use super::super::layout::Layout;
use super::super::move_list::MoveList;
use super::super::widgets::{
    bold, dim, popup, popup_text, too_small, truncate, write_keys, write_line, write_message,
};
use super::ViewScreen;
use crate::analysis_thread::AnalysisUpdate;
use crate::game_file::{annotated_move, strip_control_chars, title};

/// Draws the screen.
pub(super) fn draw<R>(frame: &mut Frame<'_>, screen: &ViewScreen<R>) {
    let Some(layout) = Layout::new(frame.area(), screen.flipped) else {
        too_small(frame);
        return;
    };
    let (cursor, colour) = (&screen.cursor, screen.colour);
    let (game, position) = (&cursor.record().game, cursor.position());
    let playing = if screen.autoplay_since.is_some() { "   playing (space: stop)" } else { "" };
    let name = game.info().name;
    let top = format!("{name}   game {}{playing}: {}", screen.shown.1, title(cursor.record()));
    write_line(frame, layout.title, &truncate(&top, layout.title.width.into()), bold(colour));
    let highlights = Highlights {
        last_path: position.path.clone(),
        captured: position.captures.clone(),
        ..Highlights::default()
    };
    let view = BoardView {
        game,
        board: &position.board,
        highlights: &highlights,
        colour,
        show_numbers: screen.show_numbers,
    };
    view.draw(frame.buffer_mut(), layout.board);
    draw_panel(frame, screen, layout.panel);
    with_moves(screen, |list| list.draw(frame.buffer_mut(), layout.moves));
    write_message(frame, &layout, "", &message_text(screen));
    let short = "← → step · space play · n p game · v variation · a analysis · ? help · q quit";
    let long = format!("Home/End start/end · {short}");
    let shortest = "← → step · space play · n p game · v a · ? help · q quit";
    write_keys(frame, layout.keys, &[long, short.into(), shortest.into()], colour);
    if screen.show_help {
        popup(frame, "Keys", HELP.iter().map(ToString::to_string).collect());
    }
    if let Some(from) = screen.message_popup {
        popup_text(frame, &message_text(screen), from);
    }
}

/// Returns the message, or else the comment and the outcome.
pub(super) fn message_text<R>(screen: &ViewScreen<R>) -> String {
    let cursor = &screen.cursor;
    if !screen.message.is_empty() {
        return screen.message.clone();
    }
    let comment = cursor.comment();
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

fn with_moves<R, T>(screen: &ViewScreen<R>, work: impl FnOnce(&MoveList<'_>) -> T) -> T {
    let text = |ply: &&crownhead_records::Ply| {
        let more = if ply.variations.is_empty() { "" } else { "…" };
        format!("{}{more}", annotated_move(ply))
    };
    let texts: Vec<_> = screen.cursor.plies().iter().map(text).collect();
    work(&MoveList {
        sides: screen.cursor.record().game.info().sides,
        first: screen.cursor.first().side,
        texts: &texts,
        current_ply: screen.cursor.ply(),
        colour: screen.colour,
    })
}

/// Returns the ply of the move at a place on the screen.
pub(super) fn ply_at<R>(screen: &ViewScreen<R>, layout: &Layout, x: u16, y: u16) -> Option<usize> {
    with_moves(screen, |list| list.ply_at(layout.moves, x, y))
}

fn draw_panel<R>(frame: &mut Frame<'_>, screen: &ViewScreen<R>, place: Rect) {
    let (cursor, colour) = (&screen.cursor, screen.colour);
    let record = cursor.record();
    let room = usize::from(place.width) - 1;
    let mut y = place.y;
    let mut line = |text: &str, style: Style| {
        frame.buffer_mut().set_stringn(place.x, y, truncate(text, room), room, style);
        y += 1;
    };
    let sides = record.game.info().sides;
    // A recorded game may end by a resignation or an agreement.
    let has_result = cursor.depth() == 0 && record.result != GameResult::Unknown;
    let is_over = cursor.position().outcome_text.is_some() || (has_result && !cursor.has_more());
    for side in [Side::First, Side::Second] {
        let name = record.player(side).map(strip_control_chars).unwrap_or_default();
        let turn = if cursor.position().side == side && !is_over { "▶" } else { " " };
        let shape = piece_text(side, sides[side.index()].letter);
        line(&format!("{turn} {shape} {} {name}", sides[side.index()].name), bold(colour));
    }
    let event: Vec<_> = ["Event", "Date"].into_iter().filter_map(|name| record.tag(name)).collect();
    line(&strip_control_chars(&event.join(", ")), dim(colour));
    let others = cursor.sibling_moves();
    let branch = match (cursor.depth(), others.is_empty()) {
        (0, true) => String::new(),
        (0, false) => format!("variations (v): {}", others.join(", ")),
        (_, true) => "variation (Esc: leave)".into(),
        (_, false) => format!("variation; v: {}", others.join(", ")),
    };
    line(&branch, Style::default());
    match screen.analysis.as_ref().map(|analysis| &analysis.latest) {
        None => {}
        Some(None) => line("…", Style::default()),
        Some(Some(AnalysisUpdate::Unavailable(reason))) => line(reason, Style::default()),
        Some(Some(AnalysisUpdate::Lines { depth, lines })) => {
            for (index, (eval, moves)) in lines.iter().take(3).enumerate() {
                let depth = if index == 0 { format!(" (depth {depth})") } else { String::new() };
                line(&format!("{eval}{depth} {moves}"), Style::default());
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
