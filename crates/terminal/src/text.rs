//! Text shared by plain text and full screen: boards, clocks, scores, hints, recorded games.

use std::time::Duration;

use crownhead_analysis::hint_reason;
use crownhead_play::replay::RecordCursor;
use crownhead_play::{Choice, LegalMove, Session, counted};
use crownhead_records::{EvalScore, GameRecord, GameResult, MoveData, MoveEval};
use crownhead_rules::{Cell, Game, Side, SideInfo, replace_invisible};
use crownhead_search::{Score, plies_to_end};

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

/// Formats the comments at a position of a recorded game, without the data of the move.
pub(crate) fn comment_text(cursor: &RecordCursor) -> String {
    let sides = &cursor.record().game.info().sides;
    let texts = cursor.comments().map(|text| replace_invisible(&split_data(text, sides).1));
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Formats the recorded evaluation of a position, with its depth.
pub(crate) fn recorded_eval_text(cursor: &RecordCursor) -> Option<String> {
    let eval = cursor.last_ply()?.data().eval?;
    Some(eval_text(eval, &cursor.record().game.info().sides))
}

/// Splits a comment into the text of its data, such as `+0.13, depth 18, 4:59 left`, and the rest.
/// The sentence that an analysis writes after the evaluation is dropped, because it repeats it.
pub(crate) fn split_data(comment: &str, sides: &[SideInfo; 2]) -> (Option<String>, String) {
    let (data, rest) = MoveData::split(comment);
    let eval = data.eval.map(|eval| eval_text(eval, sides));
    let repeated = eval.as_ref().and_then(|eval| rest.strip_prefix(&format!("{eval}.")));
    let rest = repeated.unwrap_or(&rest).trim_start().to_string();
    let texts: Vec<_> = [
        eval,
        data.clock.map(|left| match left.as_secs() {
            ..20 => format!("{} s left", clock_text(left)),
            _ => format!("{} left", clock_text(left)),
        }),
        data.elapsed.map(|used| format!("{:.1} s", used.as_secs_f64())),
    ]
    .into_iter()
    .flatten()
    .collect();
    ((!texts.is_empty()).then(|| texts.join(", ")), rest)
}

/// Formats a recorded evaluation: `+0.13, depth 18`, or `Black wins in 7`.
fn eval_text(eval: MoveEval, sides: &[SideInfo; 2]) -> String {
    match (eval.score, eval.depth) {
        (EvalScore::WinIn(0), _) => "won".into(),
        (EvalScore::WinIn(moves), _) => {
            let side = sides[usize::from(moves < 0)];
            format!("{} wins in {}", side.name, moves.unsigned_abs())
        }
        (EvalScore::Points(points), Some(depth)) => {
            format!("{:+.2}, depth {depth}", f64::from(points) / 100.0)
        }
        (EvalScore::Points(points), None) => format!("{:+.2}", f64::from(points) / 100.0),
    }
}

/// Returns players and result: `A - B, 1-0`.
pub(crate) fn game_title(record: &GameRecord) -> String {
    let sides = record.game.info().sides;
    let name = |side: Side| match record.player(side) {
        Some(name) => replace_invisible(name),
        None => sides[side.index()].name.to_string(),
    };
    format!("{} - {}, {}", name(Side::First), name(Side::Second), record.result)
}
