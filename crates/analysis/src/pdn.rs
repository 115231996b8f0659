//! Annotated PDN: evaluations in comments, judgements as NAGs, better lines as variations.
//!
//! Existing annotations are kept, except those of an earlier analysis, which are replaced.

use crownhead_records::{EvalScore, GameRecord, Line, MoveData, MoveEval, Ply};
use crownhead_rules::{Side, SideInfo};

use crate::{Eval, GameAnalysis, Judgement, Variation};

/// Returns the game with its annotations.
pub fn annotated(analysis: &GameAnalysis) -> GameRecord {
    let mut record = analysis.record.clone();
    let sides = &analysis.sides;
    let was_analysed = record.tag("Annotator").is_some_and(|name| name.starts_with("crownhead "));
    record.set_tag("Annotator", concat!("crownhead ", env!("CARGO_PKG_VERSION")));
    for side in [Side::First, Side::Second] {
        if let Some(accuracy) = analysis.summaries[side.index()].accuracy {
            let name = format!("{}Accuracy", crownhead_records::player_tag(side));
            record.set_tag(&name, format!("{:.1}", 100.0 * accuracy));
        }
    }
    let judged_plies = analysis.end.as_ref().map_or(usize::MAX, |end| end.plies);
    for (ply, played) in record.line.plies.iter_mut().zip(&analysis.moves).take(judged_plies) {
        ply.comment = Some(with_eval(ply.comment.as_deref(), played.after, sides));
        let variations_before = ply.variations.len();
        ply.variations.retain(|line| !(was_analysed && is_better_line(line, sides)));
        // A better line always comes with a judgement, so the NAG was ours as well.
        let was_judged = ply.variations.len() < variations_before;
        let judgement = played.verdict.judgement();
        if was_judged || judgement.is_some() {
            ply.nags.retain(|nag| !Judgement::ALL.iter().any(|other| other.nag() == *nag));
        }
        if let Some(judgement) = judgement {
            ply.nags.insert(0, judgement.nag());
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
        first.comment = Some(with_eval(None, better.eval, sides));
    }
    Line { comment: None, plies }
}

/// Returns whether a variation is exactly what an analysis writes: an evaluation on the first move
/// and no other annotation.
fn is_better_line(line: &Line, sides: &[SideInfo; 2]) -> bool {
    let has_only_eval = |ply: &Ply| {
        let (data, rest) = split(ply.comment.as_deref().unwrap_or_default(), sides);
        data.eval.is_some() && rest.is_empty()
    };
    let is_bare = |ply: &Ply| ply.nags.is_empty() && ply.variations.is_empty();
    let Some((first, rest)) = line.plies.split_first() else { return false };
    let rest = rest.iter().all(|ply| ply.comment.is_none() && is_bare(ply));
    line.comment.is_none() && has_only_eval(first) && is_bare(first) && rest
}

/// Puts the evaluation before a comment, in the form other programs read: `[%eval -0.35]`, `#7` or
/// `#-7` for a win in seven moves, `#0` for a won game. Clock times are kept.
fn with_eval(comment: Option<&str>, eval: Eval, sides: &[SideInfo; 2]) -> String {
    let (mut data, rest) = split(comment.unwrap_or_default(), sides);
    data.eval = Some(MoveEval { score: eval.record(), depth: None });
    let mut text = data.to_string();
    if !matches!(eval, Eval::Points(_)) {
        text.push_str(&format!(" {}.", eval.text(sides)));
    }
    if !rest.is_empty() {
        text.push(' ');
        text.push_str(&rest);
    }
    text
}

/// Splits a comment into its data and the rest, without the phrase that [`with_eval`] writes.
fn split(comment: &str, sides: &[SideInfo; 2]) -> (MoveData, String) {
    let (data, rest) = MoveData::split(comment);
    let phrase = |eval: MoveEval| match eval.score {
        EvalScore::Points(0) => vec![format!("{}.", Eval::Drawn.text(sides))],
        EvalScore::Points(_) => Vec::new(),
        EvalScore::WinIn(0) => sides.iter().map(|side| format!("{} has won.", side.name)).collect(),
        EvalScore::WinIn(moves) => {
            let side = sides[usize::from(moves < 0)];
            vec![format!("{} wins in {}.", side.name, moves.unsigned_abs())]
        }
    };
    let phrases = data.eval.map(phrase).unwrap_or_default();
    let after = phrases.iter().find_map(|phrase| rest.strip_prefix(phrase.as_str()));
    let rest = after.unwrap_or(&rest).trim_start().to_string();
    (data, rest)
}
