//! Text shared by plain text and full screen: boards, clocks, scores, hints.

use std::time::Duration;

use crownhead_play::{Choice, LegalMove, Session, counted, hint_reason};
use crownhead_records::GameResult;
use crownhead_rules::{Cell, Game, Side};
use crownhead_search::{Score, plies_to_end};

/// Formats the board as the assignments do: column numbers above, row numbers on the left.
pub fn board_text(board: &[char; 64]) -> String {
    let mut text = String::from("  1 2 3 4 5 6 7 8\n");
    for (row, cells) in board.chunks(8).enumerate() {
        text.push_str(&(row + 1).to_string());
        for cell in cells {
            text.push(' ');
            text.push(*cell);
        }
        text.push('\n');
    }
    text
}

/// Formats a board with square numbers; `None` in games that name cells by row and column.
pub fn square_numbers(game: &Game) -> Option<String> {
    let info = game.info();
    if !info.numbered_squares {
        return None;
    }
    let mut text = String::from("Square numbers:\n");
    for cell in Cell::all() {
        match info.square_number(cell) {
            Some(number) => text.push_str(&format!(" {number:2}")),
            None => text.push_str("  ."),
        }
        if cell.column() == 8 {
            text.push('\n');
        }
    }
    Some(text)
}

/// Formats a side: `Blue(#)`.
pub fn side_text(game: &Game, side: Side) -> String {
    let info = game.info().sides[side.index()];
    format!("{}({})", info.name, info.letter)
}

/// The announcement of a result that an assignment prescribes.
pub fn assignment_result(game: &Game, result: GameResult) -> Option<&'static str> {
    let texts = game.info().assignment_texts?;
    match result {
        GameResult::FirstWins => Some(texts.result(Some(Side::First))),
        GameResult::SecondWins => Some(texts.result(Some(Side::Second))),
        GameResult::Draw => Some(texts.result(None)),
        GameResult::BothLose | GameResult::Unknown => None,
    }
}

/// Formats a clock: `4:58`, or `9.3` below 20 seconds.
pub fn clock_text(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 20 {
        format!("{}.{}", seconds, time.subsec_millis() / 100)
    } else {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }
}

/// Formats the speed at which moves are shown.
pub fn speed_text(move_interval: Duration) -> String {
    format!("One move every {} s.", move_interval.as_secs_f64())
}

/// Formats a move, with its path if the text has only start and end: `1155 by 11-13-33-55`.
pub fn move_text(mv: &LegalMove) -> String {
    let path: Vec<_> = mv.path.iter().map(ToString::to_string).collect();
    if mv.path.len() > 2 && mv.text.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{} by {}", mv.text, path.join("-"))
    } else {
        mv.text.clone()
    }
}

/// Formats a score from the view of the side it is for.
pub fn score_text(score: Score) -> String {
    match plies_to_end(score) {
        Some(plies) if plies > 0 => {
            format!("wins in {}", counted(plies.unsigned_abs().div_ceil(2).into(), "move"))
        }
        Some(plies) => {
            format!("loses in {}", counted(plies.unsigned_abs().div_ceil(2).into(), "move"))
        }
        None => format!("{:+.2}", f64::from(score) / 100.0),
    }
}

/// Formats a hint with its reason.
pub fn hint_text(session: &dyn Session, choice: &Choice) -> String {
    let legal = session.legal_moves();
    let mv = legal.iter().find(|mv| mv.text == choice.text);
    let mut text = format!("Try {}", mv.map_or_else(|| choice.text.clone(), move_text));
    if let Some(reason) = hint_reason(session, choice) {
        text.push_str(&format!(": {reason}"));
    }
    if choice.pv.len() > 1 {
        let pv = choice.pv.iter().take(5).map(String::as_str).collect::<Vec<_>>();
        text.push_str(&format!(" ({}: {})", score_text(choice.score.unwrap_or(0)), pv.join(" ")));
    }
    text.push('.');
    text
}
