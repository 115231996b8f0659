//! The picture of a game being played.

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

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, screen: &GameScreen) {
    let Some(layout) = Layout::new(frame.area(), screen.flipped) else {
        too_small(frame);
        return;
    };
    let (game, colour) = (&screen.game.setup().game, screen.colour);
    write_line(frame, layout.title, game.info().name, bold(colour));
    let (board, marks) = (screen.shown_session().board(), screen.highlights());
    let view = BoardView {
        game,
        board: &board,
        highlights: &marks,
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

/// Lines that say which keys there are, the longest first.
fn keys(screen: &GameScreen) -> [String; 2] {
    if screen.game.is_over() {
        let [start, end] = ["n new game", "look back · s save · f flip · ? help · q quit"];
        return [format!("{start} · PgUp [ ] PgDn {end}"), format!("{start} · [ ] {end}")];
    }
    if !screen.game.has_human() {
        let short = "space pause · + - pace · f flip · s save · ? help · q quit";
        let long = format!("PgUp [ ] PgDn look back · {short}");
        return [long, short.into()];
    }
    // While the cursor is in use, the small letter moves it.
    let hint = if screen.input.cursor.is_some() { 'H' } else { 'h' };
    let short = match screen.input.must_pass() && screen.game.human_to_move() {
        true => format!("p pass · u undo · {hint} hint · s save · r resign · ? help · q quit"),
        false => format!("u undo · {hint} hint · f flip · s save · r resign · ? help · q quit"),
    };
    [format!("arrows+Enter, mouse or type a move · {short}"), short]
}

fn with_moves<T>(screen: &GameScreen, work: impl FnOnce(&MoveList<'_>) -> T) -> T {
    let texts = screen.game.session().moves();
    work(&MoveList {
        sides: screen.game.setup().game.info().sides,
        first: screen.game.session_at(0).side(),
        texts: &texts,
        shown_ply: screen.shown_ply(),
        colour: screen.colour,
    })
}

/// The ply whose move is written at a place of the screen.
pub(super) fn ply_at(screen: &GameScreen, layout: &Layout, x: u16, y: u16) -> Option<usize> {
    with_moves(screen, |list| list.ply_at(layout.moves, x, y))
}

/// How far a side has come since the start: what the game counts.
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
    let (live, colour) = (&screen.game, screen.colour);
    let game = &live.setup().game;
    let Rect { x, mut y, width, .. } = place;
    let buffer = frame.buffer_mut();
    let (to_move, start) = (live.session().side(), live.session_at(0).board());
    for side in [Side::First, Side::Second] {
        let sides = game.info().sides[side.index()];
        let turn = if !live.is_over() && side == to_move { "▶" } else { " " };
        let who = match live.seat(side) {
            Seat::Human if live.seat(side.other()) == &Seat::Human => String::new(),
            Seat::Human => "you".to_string(),
            Seat::Computer(spec) => spec.to_string(),
        };
        let shape = piece_text(side, sides.letter);
        let clock = live.time_left(side).map(clock_text).unwrap_or_default();
        let name = format!("{turn} {shape} {} {who}", sides.name);
        let room = usize::from(width) - clock.len() - 1;
        buffer.set_stringn(x, y, truncate(&name, room), room, bold(colour));
        buffer.set_stringn(x + room as u16, y, &clock, clock.len(), bold(colour));
        let tally = tally(game, &start, board, side);
        buffer.set_stringn(x + 6, y + 1, tally, (width - 6).into(), dim(colour));
        y += 2;
    }
    y += 1;
    let room = usize::from(width) - 1;
    // Who draws lots has thought of nothing.
    let thought = screen.shown_info().filter(|(_, choice)| choice.depth > 0);
    if let Some((side, choice)) = thought {
        let name = game.info().sides[side.index()].name;
        let verb = if screen.is_thinking() { "thinks" } else { "thought" };
        let score = choice.score.map(|score| format!(" {},", score_text(score)));
        let text = format!("{name} {verb}:{} depth {}", score.unwrap_or_default(), choice.depth);
        buffer.set_stringn(x, y, truncate(&text, room), room, Style::default());
        let line = truncate(&choice.pv.join(" "), room);
        buffer.set_stringn(x, y + 1, line, room, dim(colour));
    } else if screen.is_thinking() {
        buffer.set_stringn(x, y, "…", room, Style::default());
    }
    if screen.paused {
        buffer.set_stringn(x, y + 2, "paused (space goes on)", room, bold(colour));
    }
}

const HELP: &[&str] = &[
    "Choose a piece, then where it goes: with the mouse, or",
    "with the arrow keys (or j k l h) and Enter. Or type the",
    "move, as in the list, and Enter.",
    "",
    "•  may move   !  must capture   +  can be chosen",
    "∘ *  the last move   ×  what it took",
    "",
    "u  take back to your last move     d  offer a draw",
    "h  hint with its reason (H while the cursor is in use)",
    "f  turn the board   c  numbers   p  pass, without a move",
    "[ ] PgUp PgDn Home End, mouse in the list: earlier positions",
    "s  save    r  resign    q  quit    Esc  drop a choice",
    "t  what is said, where there was no room for all of it",
    "space + -  pause, faster, slower: two computers",
];

fn draw_dialog(frame: &mut Frame<'_>, screen: &GameScreen, dialog: &Dialog) {
    let side = screen.game.session().side();
    let names = screen.game.setup().game.info().sides.map(|side| side.name);
    let kept = match (&screen.autosave, screen.autosave_error()) {
        (Some(_), Some(_)) => " It cannot be kept.",
        (Some(kept), None) if kept.is_saved() => " It is kept and can be taken up again.",
        (None, _) if screen.game.session().plies() > 0 => " It is not kept.",
        _ => "",
    };
    let (title, lines): (&str, Vec<String>) = match dialog {
        Dialog::Help => ("Keys", HELP.iter().map(ToString::to_string).collect()),
        Dialog::Quit => {
            ("Quit", vec![format!("Leave this game?{kept}"), "y: leave   n: play on".into()])
        }
        Dialog::Resign => {
            let name = names[side.index()];
            ("Resign", vec![format!("Does {name} give up?"), "y: resign   n: play on".into()])
        }
        Dialog::Draw => {
            let (one, other) = (names[side.index()], names[side.other().index()]);
            let offer = format!("{one} offers a draw. {other}, do you accept?");
            ("Draw", vec![offer, "y: draw   n: play on".into()])
        }
        Dialog::Save { name, .. } => {
            // The end of a long name, where it is being typed.
            let room = usize::from(frame.area().width).saturating_sub(16);
            let hidden = name.chars().count().saturating_sub(room);
            let seen: String = name.chars().skip(hidden).collect();
            let dots = if hidden > 0 { "…" } else { "" };
            ("Save", vec![format!("File: {dots}{seen}_"), "Enter: save   Esc: do not".into()])
        }
        Dialog::Text(from) => return popup_text(frame, &screen.message, *from),
    };
    popup(frame, title, lines);
}
