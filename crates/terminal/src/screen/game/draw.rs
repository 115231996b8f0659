//! Draws a game being played.

use crownhead_rules::{Cell, Game, Side};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::board::{BoardView, piece_text};
use super::super::layout::Layout;
use super::super::move_list::MoveList;
use super::super::widgets::{
    bold, dim, popup, popup_text, too_small, truncate, write_keys, write_line, write_message,
};
use super::{Dialog, GameScreen};
use crate::local_game::Seat;
use crate::text::{clock_text, score_text};

/// Draws the screen.
pub(super) fn draw(frame: &mut Frame<'_>, screen: &GameScreen) {
    let Some(layout) = Layout::new(frame.area(), screen.flipped) else {
        too_small(frame);
        return;
    };
    let (game, colour) = (&screen.game.setup().game, screen.colour);
    write_line(frame, layout.title, game.info().name, bold(colour));
    let (board, highlights) = (screen.viewed_session().board(), screen.highlights());
    let view = BoardView {
        game,
        board: &board,
        highlights: &highlights,
        colour,
        show_numbers: screen.show_numbers,
    };
    view.draw(frame.buffer_mut(), layout.board);
    draw_panel(frame, screen, layout.panel, &board);
    with_moves(screen, |list| list.draw(frame.buffer_mut(), layout.moves));
    write_message(frame, &layout, &screen.input.typed, &screen.message);
    write_keys(frame, layout.keys, &keys(screen), colour);
    if let Some(dialog) = &screen.dialog {
        draw_dialog(frame, screen, dialog);
    }
}

/// Returns the key bar in two lengths, the longer first.
fn keys(screen: &GameScreen) -> [String; 2] {
    if screen.game.is_over() {
        let [start, end] = ["n new game", "look back · s save · f flip · ? help · q quit"];
        return [format!("{start} · PgUp [ ] PgDn {end}"), format!("{start} · [ ] {end}")];
    }
    if !screen.game.has_human() {
        let short = "space pause · + - speed · f flip · s save · ? help · q quit";
        let long = format!("PgUp [ ] PgDn look back · {short}");
        return [long, short.into()];
    }
    // While the cursor is in use, `h` moves it.
    let hint = if screen.input.cursor.is_some() { 'H' } else { 'h' };
    let short = match screen.input.must_pass() && screen.game.human_to_move() {
        true => format!("p pass · u undo · {hint} hint · s save · r resign · ? help · q quit"),
        false => format!("u undo · {hint} hint · f flip · s save · r resign · ? help · q quit"),
    };
    [format!("arrows+Enter, mouse, or type a move · {short}"), short]
}

fn with_moves<T>(screen: &GameScreen, work: impl FnOnce(&MoveList<'_>) -> T) -> T {
    let texts = screen.game.session().moves();
    work(&MoveList {
        sides: screen.game.setup().game.info().sides,
        first: screen.game.session_at(0).side(),
        texts: &texts,
        current_ply: screen.viewed_plies(),
        colour: screen.colour,
    })
}

/// Returns the ply of the move at a place on the screen.
pub(super) fn ply_at(screen: &GameScreen, layout: &Layout, x: u16, y: u16) -> Option<usize> {
    with_moves(screen, |list| list.ply_at(layout.moves, x, y))
}

/// Formats the progress of a side: pieces in the target, or pieces left and lost.
fn tally(game: &Game, start: &[char; 64], board: &[char; 64], side: Side) -> String {
    let info = game.info();
    let count = |board: &[char; 64], letter: char| board.iter().filter(|c| **c == letter).count();
    let letters = || info.pieces.iter().map(|kind| kind.letters[side.index()]);
    let total = |board| letters().map(|letter| count(board, letter)).sum::<usize>();
    if let Some(targets) = info.targets {
        let owner = |cell: &Cell| info.piece(board[cell.index() as usize]).map(|piece| piece.0);
        let in_target = |cell: &Cell| cell.bit() & targets[side.index()] != 0;
        let home = Cell::all().filter(in_target).filter(|cell| owner(cell) == Some(side)).count();
        return format!("{home} of {} home", total(board));
    }
    let mut parts = Vec::new();
    for (index, kind) in info.pieces.iter().enumerate() {
        match count(board, kind.letters[side.index()]) {
            0 if index > 0 => {}
            1 => parts.push(format!("1 {}", kind.name)),
            count => parts.push(format!("{count} {}", kind.plural)),
        }
    }
    parts.push(format!("{} lost", total(start).saturating_sub(total(board))));
    parts.join(", ")
}

fn draw_panel(frame: &mut Frame<'_>, screen: &GameScreen, place: Rect, board: &[char; 64]) {
    let (local_game, colour) = (&screen.game, screen.colour);
    let game = &local_game.setup().game;
    let Rect { x, mut y, width, .. } = place;
    let buffer = frame.buffer_mut();
    let (to_move, start) = (local_game.session().side(), local_game.session_at(0).board());
    for side in [Side::First, Side::Second] {
        let side_info = game.info().sides[side.index()];
        let turn = if !local_game.is_over() && side == to_move { "▶" } else { " " };
        let player = match local_game.seat(side) {
            Seat::Human if local_game.seat(side.other()) == &Seat::Human => String::new(),
            Seat::Human => "you".to_string(),
            Seat::Computer(spec) => spec.to_string(),
        };
        let piece = piece_text(side, side_info.letter);
        let clock = local_game.time_left(side).map(clock_text).unwrap_or_default();
        let name = format!("{turn} {piece} {} {player}", side_info.name);
        let room = usize::from(width) - clock.len() - 1;
        buffer.set_stringn(x, y, truncate(&name, room), room, bold(colour));
        buffer.set_stringn(x + room as u16, y, &clock, clock.len(), bold(colour));
        let tally = tally(game, &start, board, side);
        buffer.set_stringn(x + 6, y + 1, tally, (width - 6).into(), dim(colour));
        y += 2;
    }
    y += 1;
    let room = usize::from(width) - 1;
    // A random player has no search information.
    let info = screen.search_info().filter(|(_, choice)| choice.depth > 0);
    if let Some((side, choice)) = info {
        let name = game.info().sides[side.index()].name;
        let verb = if screen.is_thinking() { "thinking" } else { "searched" };
        let score = choice.score.map(|score| format!(" {},", score_text(score)));
        let text = format!("{name} {verb}:{} depth {}", score.unwrap_or_default(), choice.depth);
        buffer.set_stringn(x, y, truncate(&text, room), room, Style::default());
        let pv = truncate(&choice.pv.join(" "), room);
        buffer.set_stringn(x, y + 1, pv, room, dim(colour));
    } else if screen.is_thinking() {
        buffer.set_stringn(x, y, "…", room, Style::default());
    }
    if screen.paused {
        buffer.set_stringn(x, y + 2, "paused (space: continue)", room, bold(colour));
    }
}

const HELP: &[&str] = &[
    "Select a piece, then its target: with the mouse, or with",
    "the arrow keys (or h j k l) and Enter. Or type the move",
    "as in the move list, and press Enter.",
    "",
    "•  can move   !  must capture   +  possible target",
    "∘ *  last move   ×  captured piece",
    "",
    "u  take back your last move    d  offer a draw",
    "h  hint (H while the cursor is in use)",
    "f  flip the board   c  square numbers   p  pass",
    "[ ] PgUp PgDn Home End, mouse in the move list: look back",
    "s  save    r  resign    q  quit    Esc  deselect",
    "t  full text of a long message",
    "space + -  pause, faster, slower (two computers)",
];

fn draw_dialog(frame: &mut Frame<'_>, screen: &GameScreen, dialog: &Dialog) {
    let side = screen.game.session().side();
    let names = screen.game.setup().game.info().sides.map(|side| side.name);
    let saved = match (&screen.autosave, screen.autosave_error()) {
        (Some(_), Some(_)) => " It cannot be saved.",
        (Some(autosave), None) if autosave.is_saved() => " It is saved and can be resumed.",
        (None, _) if screen.game.session().plies() > 0 => " It will not be saved.",
        _ => "",
    };
    let (title, lines): (&str, Vec<String>) = match dialog {
        Dialog::Help => ("Keys", HELP.iter().map(ToString::to_string).collect()),
        Dialog::Quit => {
            ("Quit", vec![format!("Leave this game?{saved}"), "y: leave   n: continue".into()])
        }
        Dialog::Resign => {
            let name = names[side.index()];
            ("Resign", vec![format!("Does {name} resign?"), "y: resign   n: continue".into()])
        }
        Dialog::Draw => {
            let [by, to] = [side, side.other()].map(|side| names[side.index()]);
            let question = format!("{by} offers a draw. {to}, do you accept?");
            ("Draw", vec![question, "y: accept   n: decline".into()])
        }
        Dialog::Save { name, .. } => {
            // Of a long name, the end is shown: that is where the user types.
            let room = usize::from(frame.area().width).saturating_sub(16);
            let hidden = name.chars().count().saturating_sub(room);
            let visible: String = name.chars().skip(hidden).collect();
            let dots = if hidden > 0 { "…" } else { "" };
            ("Save", vec![format!("File: {dots}{visible}_"), "Enter: save   Esc: cancel".into()])
        }
        Dialog::Text(from) => return popup_text(frame, &screen.message, *from),
    };
    popup(frame, title, lines);
}
