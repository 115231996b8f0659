//! A whole game of each kind between two people, one using the keyboard, one the mouse.

use crownhead_play::{LegalMove, Session, new_session};
use crownhead_rules::{Cell, Game, Side};
use crownhead_terminal::screen::selection::{Selection, select};

use crate::tty::Tty;

/// Returns the cells to select for a move: start and end if that is unambiguous, otherwise the path
/// as far as needed, or the whole path with its last cell repeated.
fn cells_to_select(legal: &[LegalMove], mv: &LegalMove) -> Vec<Cell> {
    let (first, last) = (mv.path[0], mv.path[mv.path.len() - 1]);
    let whole: Vec<_> = mv.path.iter().copied().chain([last]).collect();
    for cells in [vec![first, last], whole] {
        let mut selected = Vec::new();
        let steps: Vec<_> = cells.iter().map(|&cell| select(legal, &mut selected, cell)).collect();
        let done =
            steps.iter().position(|step| matches!(step, Selection::Move(text) if *text == mv.text));
        if let Some(done) = done
            && steps[..done].iter().all(|step| *step == Selection::Extended)
        {
            return cells[..=done].to_vec();
        }
    }
    panic!("{} cannot be selected", mv.text)
}

/// Returns a capture or the longest move forward, so that games end.
fn next_move(session: &dyn Session, legal: &[LegalMove]) -> LegalMove {
    let forward = match session.side() {
        Side::First => 1,
        Side::Second => -1,
    };
    let ahead = |cell: Cell| match session.game() {
        Game::CaptureHalma(()) => forward * i32::from(cell.column()),
        _ => forward * (i32::from(cell.row()) + i32::from(cell.column())),
    };
    let score = |mv: &&LegalMove| {
        let (from, to) = (mv.path[0], mv.path[mv.path.len() - 1]);
        // Among equals, the rearmost piece moves.
        (8 * mv.captures.len() as i32 + ahead(to) - ahead(from), -ahead(from))
    };
    legal.iter().max_by_key(score).unwrap().clone()
}

/// Returns the keys that move the cursor from one cell to another.
fn arrows(from: Cell, to: Cell) -> String {
    let [rows, columns] = [(from.row(), to.row()), (from.column(), to.column())]
        .map(|(from, to)| i32::from(to) - i32::from(from));
    let vertical = if rows > 0 { "\x1b[B" } else { "k" };
    let horizontal = if columns > 0 { "l" } else { "\x1b[D" };
    let times = |count: i32| count.unsigned_abs() as usize;
    format!("{}{}", vertical.repeat(times(rows)), horizontal.repeat(times(columns)))
}

fn play_whole_game(id: &str, position: Option<&str>) {
    let data = tempfile::tempdir().unwrap();
    let mut arguments = vec!["play", id, "--first", "human", "--second", "human"];
    arguments.extend(position.iter().flat_map(|position| ["--position", position]));
    let mut tty = Tty::start(data.path(), (80, 24), &arguments);
    let game: Game = id.parse().unwrap();
    let mut session = new_session(&game, position).unwrap();
    while session.outcome().is_none() {
        let legal = session.legal_moves();
        let turn = format!("▶  ●  {}", game.info().sides[session.side().index()].name);
        let last = session.moves().pop().map(|text| format!(">{text}")).unwrap_or_default();
        let truncated: String = last.chars().take(10).collect();
        tty.wait_until(&format!("{turn} after {last}"), |text| {
            text.contains(&turn) && text.contains(&truncated)
        });
        let mv = next_move(session.as_ref(), &legal);
        let cells = cells_to_select(&legal, &mv);
        if session.side() == Side::First {
            // The cursor appears with the first key, on the first piece that may move.
            let mut cursor = legal[0].path[0];
            tty.send("\x1b[C");
            for cell in cells {
                let keys = arrows(cursor, cell);
                tty.send(&format!("{keys}\r"));
                cursor = cell;
            }
        } else {
            for cell in cells {
                let (row, column) = (u16::from(cell.row()) - 1, u16::from(cell.column()) - 1);
                tty.click(3 + 5 * column + 2, 2 + 2 * row);
            }
        }
        session.play(&mv.text).unwrap();
    }
    let ending = session.outcome_text().unwrap();
    let words = ending.split_whitespace().collect::<Vec<_>>().join(" ");
    tty.wait_until(&ending, |text| {
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words)
    });
    tty.send("q");
    assert_eq!(tty.wait_exit(), 0);
    tty.wait_restored();
    // A finished game is not saved.
    let saved = std::fs::read_dir(data.path().join("crownhead/unfinished"));
    assert_eq!(saved.map_or(0, Iterator::count), 0);
}

#[test]
fn english_checkers() {
    play_whole_game("english", None);
}

#[test]
fn contest_checkers() {
    play_whole_game("contest", None);
}

#[test]
fn chinese_checkers() {
    play_whole_game("chinese-checkers", None);
}

#[test]
fn capture_halma() {
    play_whole_game("capture-halma", None);
}
