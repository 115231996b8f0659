//! Draws a game being played.

use crownhead_rules::{Cell, Game, Side};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::board::BoardView;
use super::super::layout::Layout;
use super::super::move_list::MoveList;
use super::super::widgets::{
    file_name_line, framed, popup, too_small, truncate, write_captured, write_keys, write_line,
    write_message, write_player, write_text,
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
    let (game, look) = (&screen.game.setup().game, screen.look);
    write_line(frame, layout.title, game.info().name, look.bold());
    let (board, highlights) = (screen.viewed_session().board(), screen.highlights());
    let view = BoardView {
        game,
        board: &board,
        highlights: &highlights,
        look,
        show_numbers: screen.show_numbers,
    };
    view.draw(frame.buffer_mut(), layout.board);
    draw_players(frame, screen, &layout, &board);
    draw_engine(frame, screen, layout.engine);
    let moves = framed(frame, layout.moves, "Moves", look);
    with_moves(screen, |list| list.draw(frame.buffer_mut(), moves));
    write_message(frame, &layout, &screen.input.typed, &screen.message);
    write_keys(frame, layout.keys, &keys(screen), look);
    if let Some(dialog) = &screen.dialog {
        draw_dialog(frame, screen, dialog);
    }
}

/// Returns the key bar in two lengths, the longer first.
fn keys(screen: &GameScreen) -> [String; 2] {
    if screen.game.is_over() {
        let [start, end] = ["n new game · a analyse", "look back · s save · ? help · q quit"];
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
        look: screen.look,
    })
}

/// Returns the ply of the move at a place on the screen.
pub(super) fn ply_at(screen: &GameScreen, layout: &Layout, x: u16, y: u16) -> Option<usize> {
    with_moves(screen, |list| list.ply_at(layout.move_list(), x, y))
}

/// Returns how many pieces of a side are on a board, and how many of them are in its target, if
/// reaching it is the aim of the game.
fn piece_counts(game: &Game, board: &[char; 64], side: Side) -> (usize, Option<usize>) {
    let info = game.info();
    let owned = |cell: &Cell| {
        info.piece(board[cell.index() as usize]).is_some_and(|(owner, _)| owner == side)
    };
    let count = |cells: u64| {
        Cell::all().filter(|cell| cell.bit() & cells != 0).filter(|cell| owned(cell)).count()
    };
    (count(!0), info.targets.map(|targets| count(targets[side.index()])))
}

fn draw_players(frame: &mut Frame<'_>, screen: &GameScreen, layout: &Layout, board: &[char; 64]) {
    let (local_game, look) = (&screen.game, screen.look);
    let game = &local_game.setup().game;
    let players = framed(frame, layout.players, "Players", look);
    let title = if game.info().targets.is_some() { "Pieces home" } else { "Captured" };
    let captured = framed(frame, layout.captured, title, look);
    let (to_move, start) = (local_game.session().side(), local_game.session_at(0).board());
    for side in [Side::First, Side::Second] {
        let player = match local_game.seat(side) {
            Seat::Human if local_game.seat(side.other()) == &Seat::Human => String::new(),
            Seat::Human => "you".to_string(),
            Seat::Computer(spec) => spec.to_string(),
        };
        let clock = local_game.time_left(side).map(clock_text).unwrap_or_default();
        let line = |area: Rect| Rect { y: area.y + side.index() as u16, height: 1, ..area };
        let is_to_move = !local_game.is_over() && side == to_move;
        let name = (player.as_str(), clock.as_str());
        write_player(frame, line(players), (game, side), is_to_move, name, look);
        let (pieces, home) = piece_counts(game, board, side);
        let note = home.map(|home| format!("{home} of {pieces}")).unwrap_or_default();
        let other = side.other();
        let lost =
            piece_counts(game, &start, other).0.saturating_sub(piece_counts(game, board, other).0);
        write_captured(frame, line(captured), (game, side), (&note, lost), look);
    }
}

fn draw_engine(frame: &mut Frame<'_>, screen: &GameScreen, place: Rect) {
    let look = screen.look;
    let title = if screen.paused { "paused (space: continue)" } else { "Engine" };
    let area = framed(frame, place, title, look);
    let room = usize::from(area.width);
    // A random player has no search information.
    let info = screen.search_info().filter(|(_, choice)| choice.depth > 0);
    if let Some((side, choice)) = info {
        let name = screen.game.name(side);
        let verb = if screen.is_thinking() { "thinking" } else { "searched" };
        let score = choice.score.map(|score| format!(" {},", score_text(score)));
        let text = format!("{name} {verb}:{} depth {}", score.unwrap_or_default(), choice.depth);
        write_line(frame, area, &truncate(&text, room), Style::default());
        let pv = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        write_text(frame, pv, &choice.pv.join(" "), "…");
    } else if screen.is_thinking() {
        write_line(frame, area, "…", Style::default());
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
    "n  new game: other game, level or side   T  next theme",
    "a  analyse the finished game   t  full text of a message",
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
            let file_name = file_name_line(name, frame.area().width);
            ("Save", vec![file_name, "Enter: save   Esc: cancel".into()])
        }
        Dialog::NewGame(form) => ("New game", form.lines()),
        Dialog::Text(popup) => return popup.draw(frame, HELP, &screen.message),
    };
    popup(frame, title, lines);
}
