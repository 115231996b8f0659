//! Sentences that both ways of playing say: boards as text, sides, hints, answers to offers.

use std::time::Duration;

use crownhead_play::{Choice, LegalMove, Session};
use crownhead_records::GameResult;
use crownhead_rules::{Cell, Game, Side};
use crownhead_search::{Score, plies_to_end};

/// The board as the assignment prints it: column numbers above, row numbers at the left.
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

/// A board with the numbers of the squares; `None` in games that name cells by row and column.
pub fn square_numbers(game: &Game) -> Option<String> {
    let info = game.info();
    if !info.numbered_squares {
        return None;
    }
    let mut text = String::from("The squares have these numbers:\n");
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

/// `Blue(#)`.
pub fn side_text(game: &Game, side: Side) -> String {
    let text = game.info().sides[side.index()];
    format!("{}({})", text.name, text.letter)
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

/// What a clock shows: `4:58`, and tenths of a second when there are few: `9.3`.
pub fn clock_text(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 20 {
        format!("{}.{}", seconds, time.subsec_millis() / 100)
    } else {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }
}

/// How long a move stays on the screen.
pub fn speed_text(pace: Duration) -> String {
    format!("A move every {} s.", pace.as_secs_f64())
}

/// A move with its way, where the way says more than the move: `1155 by 11-13-33-55`.
pub fn move_text(mv: &LegalMove) -> String {
    let way: Vec<_> = mv.path.iter().map(ToString::to_string).collect();
    if mv.path.len() > 2 && mv.text.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{} by {}", mv.text, way.join("-"))
    } else {
        mv.text.clone()
    }
}

/// What a score means to the side it is for.
pub fn score_text(score: Score) -> String {
    match plies_to_end(score) {
        Some(plies) if plies > 0 => format!("wins in {}", moves((plies as u32).div_ceil(2))),
        Some(plies) => format!("loses in {}", moves((plies.unsigned_abs()).div_ceil(2))),
        None => format!("{:+.2}", f64::from(score) / 100.0),
    }
}

fn moves(count: u32) -> String {
    if count == 1 { "1 move".into() } else { format!("{count} moves") }
}

/// A hint with its reason.
pub fn hint_text(session: &dyn Session, choice: &Choice) -> String {
    let legal = session.legal_moves();
    let Some(mv) = legal.iter().find(|mv| mv.text == choice.text) else {
        return format!("Try {}.", choice.text);
    };
    let mut text = format!("Try {}", move_text(mv));
    let reason = if legal.len() == 1 {
        "it is the only legal move".to_string()
    } else if !mv.captures.is_empty() && legal.iter().all(|mv| !mv.captures.is_empty()) {
        format!("a capture is compulsory, and of {} this is the best", legal.len())
    } else {
        match (choice.score.and_then(plies_to_end), mv.captures.len()) {
            (Some(plies), _) if plies > 0 => {
                format!("it wins by force in {}", moves((plies as u32).div_ceil(2)))
            }
            (Some(_), _) => "everything loses against best play, this last".to_string(),
            (None, 0) => score_phrase(choice.score.unwrap_or(0)).to_string(),
            (None, 1) => format!("it takes a man and {}", score_phrase(choice.score.unwrap_or(0))),
            (None, men) => {
                format!("it takes {men} men and {}", score_phrase(choice.score.unwrap_or(0)))
            }
        }
    };
    text.push_str(&format!(": {reason}"));
    if choice.pv.len() > 1 {
        let line = choice.pv.iter().take(5).map(String::as_str).collect::<Vec<_>>();
        text.push_str(&format!(" ({}: {})", score_text(choice.score.unwrap_or(0)), line.join(" ")));
    }
    text.push('.');
    text
}

fn score_phrase(score: Score) -> &'static str {
    match score {
        150.. => "leaves you clearly ahead",
        40..150 => "leaves you a little ahead",
        -39..40 => "keeps the game level",
        -149..-39 => "keeps the loss small",
        _ => "is the best defence",
    }
}
