//! Analyses as one page: a board to step through, a graph of the expected result, the moves with
//! their marks and better lines.
//!
//! The page needs nothing but itself, so it can be sent to somebody and opened from a folder. It
//! holds no rules: every board it can show is in it. Whatever comes from a file is data to it; the
//! script puts texts on the page as texts, never as markup.

use crownhead_records::GameResult;
use crownhead_rules::{Cell, Game, Side};
use serde_json::{Value, json};

use super::text::turning_sentence;
use super::{
    FileAnalysis, GameAnalysis, Judgement, MoveAnalysis, MoveStep, MoveVerdict, Variation,
};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page about a file of games.
pub fn page(analysis: &FileAnalysis) -> String {
    let games: Vec<_> = analysis.games.iter().map(game).collect();
    let title = match analysis.games.as_slice() {
        [only] => title(only),
        _ => analysis.file.clone(),
    };
    // In a script `<` could end it; in JSON it need not be written as itself.
    let data = json!({ "file": analysis.file, "games": games }).to_string();
    let data = data.replace('<', "\\u003c");
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    let mut rest = PAGE;
    // Each gap is filled once, so what is filled in is not searched for gaps.
    let escaped_title = escaped(&title);
    for (gap, filling) in [
        ("@TITLE@", escaped_title.as_str()),
        ("/*STYLE*/", STYLE),
        ("@DATA@", &data),
        ("/*SCRIPT*/", SCRIPT),
    ] {
        let (before, after) = rest.split_once(gap).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(filling);
        rest = after;
    }
    page.push_str(rest);
    page
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

fn title(analysis: &GameAnalysis) -> String {
    let player =
        |side: Side| analysis.player(side).unwrap_or(analysis.sides[side.index()].name).to_string();
    format!("{} – {}", player(Side::First), player(Side::Second))
}

fn game(analysis: &GameAnalysis) -> Value {
    let mut about: Vec<_> =
        ["Event", "Site"].iter().filter_map(|name| tag(analysis, name)).collect();
    about.extend(tag(analysis, "Round").map(|round| format!("round {round}")));
    about.extend(tag(analysis, "Date"));
    if analysis.record.result != GameResult::Unknown {
        about.push(analysis.record.result.to_string());
    }
    let moves: Vec<_> =
        (0..analysis.moves.len()).map(|index| move_object(analysis, index)).collect();
    json!({
        "title": title(analysis),
        "game": analysis.name,
        "about": about,
        "pieces": pieces(analysis),
        "squares": squares(&analysis.record.game),
        "sides": [side_object(analysis, Side::First), side_object(analysis, Side::Second)],
        "board": analysis.board,
        "worth": analysis.worth.text(&analysis.sides),
        "expected": rounded(analysis.worth.expected_score()),
        "comment": analysis.record.line.comment,
        "moves": moves,
        "turn": analysis.turning_point,
        "turnText": turning_sentence(analysis),
        "end": analysis.end.as_ref().map(|end| json!({ "plies": end.plies, "text": end.text })),
    })
}

fn tag(analysis: &GameAnalysis, name: &str) -> Option<String> {
    analysis.record.tag(name).map(str::to_string)
}

fn side_object(analysis: &GameAnalysis, side: Side) -> Value {
    let summary = &analysis.summaries[side.index()];
    let percent = |value: Option<f64>| {
        value.map_or("–".to_string(), |value| format!("{:.1} %", 100.0 * value))
    };
    json!({
        "name": analysis.sides[side.index()].name,
        "player": analysis.player(side),
        "accuracy": percent(summary.accuracy),
        "lost": percent(summary.lost),
        "marks": summary.marks,
        "moves": summary.moves,
        "counted": summary.counted,
    })
}

/// Which letter of a board is whose piece. Kings have the capital of a small letter.
fn pieces(analysis: &GameAnalysis) -> Value {
    let mut pieces = serde_json::Map::new();
    let info = analysis.record.game.info();
    for (side, facts) in info.sides.iter().enumerate() {
        for (kind, piece) in info.pieces.iter().enumerate() {
            let json = json!({ "colour": facts.colour.code(), "king": kind > 0 });
            pieces.insert(piece.letters[side].to_string(), json);
        }
    }
    pieces.into()
}

/// The numbers of the squares that are played on, where they are called by numbers.
fn squares(game: &Game) -> Value {
    let info = game.info();
    let numbers = || Cell::all().map(|cell| info.square_number(cell)).collect::<Vec<_>>();
    info.numbered_squares.then(numbers).into()
}

fn move_object(analysis: &GameAnalysis, index: usize) -> Value {
    let played = &analysis.moves[index];
    let MoveAnalysis { step, after, verdict, better, lines, .. } = played;
    let recorded = analysis.record.line.plies.get(index).and_then(|ply| ply.comment.as_deref());
    let mut object = step_object(step);
    object["side"] = played.side.index().into();
    object["number"] = analysis.move_number(index).into();
    object["worth"] = after.text(&analysis.sides).into();
    object["expected"] = rounded(after.expected_score()).into();
    object["mark"] = json!(verdict.mark().map(Judgement::sign));
    object["said"] = sentence(played).into();
    object["better"] = json!(better.as_ref().map(|line| line_object(line, analysis)));
    if !lines.is_empty() {
        object["lines"] = lines.iter().map(|line| line_object(line, analysis)).collect();
    }
    if let Some(comment) = recorded {
        object["comment"] = comment.into();
    }
    object
}

fn sentence(played: &MoveAnalysis) -> String {
    let percent = |expected: f64| format!("{:.0} %", 100.0 * expected);
    let (side, lost) = (played.side, played.lost);
    let word = match played.verdict {
        MoveVerdict::AfterTheEnd => return "The game was over already.".to_string(),
        MoveVerdict::Forced => return "The only move.".to_string(),
        MoveVerdict::Best => return "No better move was found.".to_string(),
        MoveVerdict::Fine if lost < 0.005 => return "As good as the best move.".to_string(),
        MoveVerdict::Fine => return format!("The best move expects {} more.", percent(lost)),
        MoveVerdict::Marked(Judgement::Inaccuracy) => "An inaccuracy",
        MoveVerdict::Marked(Judgement::Mistake) => "A mistake",
        MoveVerdict::Marked(Judgement::Blunder) => "A blunder",
    };
    let (best, kept) = (played.before.expected_by(side), played.after.expected_by(side));
    format!("{word}: the expected result falls from {} to {}.", percent(best), percent(kept))
}

fn line_object(line: &Variation, analysis: &GameAnalysis) -> Value {
    json!({
        "worth": line.worth.text(&analysis.sides),
        "steps": line.steps.iter().map(step_object).collect::<Vec<_>>(),
    })
}

fn step_object(step: &MoveStep) -> Value {
    let cells = |cells: &[Cell]| cells.iter().map(|cell| cell.index()).collect::<Vec<_>>();
    json!({
        "text": step.text,
        "path": cells(&step.path),
        "captures": cells(&step.captures),
        "board": step.board,
    })
}

/// Enough digits for a graph.
fn rounded(expected: f64) -> f64 {
    (expected * 10_000.0).round() / 10_000.0
}
