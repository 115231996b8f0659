//! Analyses as annotated games: scores in comments, marks as annotations, better lines as
//! variations.
//!
//! What a file said about its moves before is kept, except what an earlier analysis said: that gives
//! way to what is known now.

use crownhead_records::{GameRecord, Line, Ply};
use crownhead_rules::{Side, SideInfo};

use super::{Eval, GameAnalysis, Judgement, Variation};

/// The game with its annotations.
pub fn annotated(analysis: &GameAnalysis) -> GameRecord {
    let mut record = analysis.record.clone();
    let sides = &analysis.sides;
    let again = record.tag("Annotator").is_some_and(|name| name.starts_with("crownhead "));
    record.set_tag("Annotator", concat!("crownhead ", env!("CARGO_PKG_VERSION")));
    for side in [Side::First, Side::Second] {
        if let Some(accuracy) = analysis.summaries[side.index()].accuracy {
            let name = format!("{}Accuracy", crownhead_records::player_tag(side));
            record.set_tag(&name, format!("{:.1}", 100.0 * accuracy));
        }
    }
    let judged = analysis.end.as_ref().map_or(usize::MAX, |end| end.plies);
    for (ply, played) in record.line.plies.iter_mut().zip(&analysis.moves).take(judged) {
        ply.comment = Some(with_score(ply.comment.as_deref(), played.after, sides));
        let known = ply.variations.len();
        ply.variations.retain(|line| !(again && is_better_line(line, sides)));
        // A better line and a mark always go together, so this mark was ours as well.
        let was_marked = ply.variations.len() < known;
        let mark = played.verdict.mark();
        if was_marked || mark.is_some() {
            ply.nags.retain(|nag| !Judgement::ALL.iter().any(|mark| mark.nag() == *nag));
        }
        if let Some(mark) = mark {
            ply.nags.insert(0, mark.nag());
        }
        if let Some(better) = &played.better {
            ply.variations.push(variation(better, sides));
        }
    }
    record
}

fn variation(better: &Variation, sides: &[SideInfo; 2]) -> Line {
    let mut plies: Vec<_> = better.steps.iter().map(|step| Ply::new(step.text.clone())).collect();
    if let Some(first) = plies.first_mut() {
        first.comment = Some(with_score(None, better.worth, sides));
    }
    Line { comment: None, plies }
}

/// Whether a variation is as an analysis writes it: a score, and nothing that a person added.
fn is_better_line(line: &Line, sides: &[SideInfo; 2]) -> bool {
    let scored = |ply: &Ply| {
        let comment = ply.comment.as_deref().unwrap_or_default();
        comment.contains(OPEN) && without_score(comment, sides).is_empty()
    };
    let bare = |ply: &Ply| ply.nags.is_empty() && ply.variations.is_empty();
    let Some((first, rest)) = line.plies.split_first() else { return false };
    let rest = rest.iter().all(|ply| ply.comment.is_none() && bare(ply));
    line.comment.is_none() && scored(first) && bare(first) && rest
}

const OPEN: &str = "[%eval ";

/// A comment with the score in the form that other programs read, `[%eval -0.35]`, a win in seven
/// moves being `#7` or `#-7`, a won game `#0`, before what was said already.
fn with_score(comment: Option<&str>, worth: Eval, sides: &[SideInfo; 2]) -> String {
    let mut text = format!("{OPEN}{}]", eval(worth));
    if !matches!(worth, Eval::Points(_)) {
        text.push_str(&format!(" {}.", worth.text(sides)));
    }
    let rest = comment.map(|comment| without_score(comment, sides)).unwrap_or_default();
    if !rest.is_empty() {
        text.push(' ');
        text.push_str(&rest);
    }
    text
}

fn eval(worth: Eval) -> String {
    match worth {
        Eval::Points(points) => format!("{:.2}", f64::from(points) / 100.0),
        Eval::Win { plies: 0, .. } => "#0".to_string(),
        Eval::Win { winner, plies } => {
            let sign = if winner == Side::First { "" } else { "-" };
            format!("#{sign}{}", plies.div_ceil(2))
        }
        Eval::Drawn => "0.00".to_string(),
    }
}

/// What a comment says besides a score and the words that went with it.
fn without_score(comment: &str, sides: &[SideInfo; 2]) -> String {
    let Some((before, rest)) = comment.split_once(OPEN) else { return comment.to_string() };
    let Some((eval, after)) = rest.split_once(']') else { return comment.to_string() };
    let mut after = after.trim_start();
    let number = eval.trim_start_matches(['#', '-']);
    let words = sides.iter().flat_map(|side| {
        [format!("{} wins in {number}.", side.name), format!("{} has won.", side.name)]
    });
    for words in words.chain(["drawn.".to_string()]) {
        after = after.strip_prefix(words.as_str()).unwrap_or(after);
    }
    [before.trim_end(), after.trim_start()].join(" ").trim().to_string()
}
