//! Analyses as a web page: a board to step through, a graph of the expected score, and the moves with
//! judgements and better lines.
//!
//! The page is self-contained: it can be sent by mail and opened from a folder. It contains no rules,
//! only boards. Text from a game file is inserted as text, never as markup.

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

/// Formats the analysis of a file of games.
pub fn page(analysis: &FileAnalysis) -> String {
    let games: Vec<_> = analysis.games.iter().map(game).collect();
    let title = match analysis.games.as_slice() {
        [only] => title(only),
        _ => analysis.file.clone(),
    };
    // `</script>` would end the element; JSON allows `<` to be escaped.
    let data = json!({ "file": analysis.file, "games": games }).to_string();
    let data = data.replace('<', "\\u003c");
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    let mut rest = PAGE;
    // Each placeholder is filled once; inserted text is not searched for placeholders.
    let escaped_title = escaped(&title);
    for (placeholder, content) in [
        ("@TITLE@", escaped_title.as_str()),
        ("/*STYLE*/", STYLE),
        ("@DATA@", &data),
        ("/*SCRIPT*/", SCRIPT),
    ] {
        let (before, after) = rest.split_once(placeholder).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(content);
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
    let mut details: Vec<_> =
        ["Event", "Site"].iter().filter_map(|name| tag(analysis, name)).collect();
    details.extend(tag(analysis, "Round").map(|round| format!("round {round}")));
    details.extend(tag(analysis, "Date"));
    if analysis.record.result != GameResult::Unknown {
        details.push(analysis.record.result.to_string());
    }
    let moves: Vec<_> =
        (0..analysis.moves.len()).map(|index| move_object(analysis, index)).collect();
    json!({
        "title": title(analysis),
        "game": analysis.game_name,
        "details": details,
        "pieces": pieces(analysis),
        "squares": squares(&analysis.record.game),
        "sides": [side_object(analysis, Side::First), side_object(analysis, Side::Second)],
        "board": analysis.board,
        "eval": analysis.eval.text(&analysis.sides),
        "expected": rounded(analysis.eval.expected_score()),
        "comment": analysis.record.line.comment,
        "moves": moves,
        "turningPoint": analysis.turning_point,
        "turningText": turning_sentence(analysis),
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
        "colour": analysis.sides[side.index()].colour.code(),
        "player": analysis.player(side),
        "accuracy": percent(summary.accuracy),
        "meanLoss": percent(summary.mean_loss),
        "judgements": summary.judgements,
        "moves": summary.moves,
        "countedMoves": summary.counted_moves,
    })
}

/// Maps board letters to piece colours and kinds.
fn pieces(analysis: &GameAnalysis) -> Value {
    let mut pieces = serde_json::Map::new();
    let info = analysis.record.game.info();
    for (side, side_info) in info.sides.iter().enumerate() {
        for (kind, piece) in info.pieces.iter().enumerate() {
            let json = json!({ "colour": side_info.colour.code(), "king": kind > 0 });
            pieces.insert(piece.letters[side].to_string(), json);
        }
    }
    pieces.into()
}

/// Square numbers by cell; null in games that name cells by row and column.
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
    object["eval"] = after.text(&analysis.sides).into();
    object["expected"] = rounded(after.expected_score()).into();
    object["mark"] = json!(verdict.judgement().map(Judgement::symbol));
    object["verdict"] = verdict_text(played).into();
    object["better"] = json!(better.as_ref().map(|line| line_object(line, analysis)));
    if !lines.is_empty() {
        object["lines"] = lines.iter().map(|line| line_object(line, analysis)).collect();
    }
    if let Some(comment) = recorded {
        object["comment"] = comment.into();
    }
    object
}

fn verdict_text(played: &MoveAnalysis) -> String {
    let percent = |expected: f64| format!("{:.0} %", 100.0 * expected);
    let (side, loss) = (played.side, played.loss);
    let word = match played.verdict {
        MoveVerdict::AfterTheEnd => return "The game was already over.".to_string(),
        MoveVerdict::Forced => return "The only move.".to_string(),
        MoveVerdict::Best => return "No better move was found.".to_string(),
        MoveVerdict::Fine if loss < 0.005 => return "As good as the best move.".to_string(),
        MoveVerdict::Fine => return format!("The best move scores {} more.", percent(loss)),
        MoveVerdict::Judged(Judgement::Inaccuracy) => "An inaccuracy",
        MoveVerdict::Judged(Judgement::Mistake) => "A mistake",
        MoveVerdict::Judged(Judgement::Blunder) => "A blunder",
    };
    let (before, after) = (played.before.expected_for(side), played.after.expected_for(side));
    format!("{word}: the expected score drops from {} to {}.", percent(before), percent(after))
}

fn line_object(line: &Variation, analysis: &GameAnalysis) -> Value {
    json!({
        "eval": line.eval.text(&analysis.sides),
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

/// Rounds to four digits, enough for a graph.
fn rounded(expected: f64) -> f64 {
    (expected * 10_000.0).round() / 10_000.0
}
