//! Analyses as text for a terminal.

use std::fmt::Write;

use crownhead_play::knowledge::value_text;
use crownhead_records::GameResult;
use crownhead_rules::{Side, SideInfo, replace_invisible};

use crate::{
    GameAnalysis, Judgement, MoveAnalysis, MoveVerdict, PositionAnalysis, Progress, Variation,
};

/// Whether text is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    /// With escape sequences.
    Terminal,
    /// Plain text.
    None,
}

impl Colours {
    fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn judgement(self, judgement: Judgement, text: &str) -> String {
        let code = match judgement {
            Judgement::Inaccuracy => "33",
            Judgement::Mistake => "35",
            Judgement::Blunder => "1;31",
        };
        self.wrap(code, text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Colours::Terminal => format!("\x1b[{code}m{text}\x1b[0m"),
            Colours::None => text.to_string(),
        }
    }
}

/// Formats the best lines of a position, one per line, after its value from a table.
pub fn position(analysis: &PositionAnalysis) -> String {
    let mut text = String::new();
    if let Some((_, outcome)) = &analysis.end {
        let _ = writeln!(text, "{outcome}");
    }
    if let Some(value) = analysis.table {
        let side = analysis.sides[analysis.side.index()].name;
        let _ = writeln!(text, "Table: {side} {}", value_text(&analysis.game, value));
    }
    for line in numbered(&analysis.lines, &analysis.sides) {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Formats the state of a search, to be redrawn in place.
pub fn progress(progress: &Progress, sides: &[SideInfo; 2]) -> Vec<String> {
    let Progress { depth, seldepth, nodes, time, hashfull, .. } = progress;
    let seconds = time.as_secs_f64();
    let speed = *nodes as f64 / seconds.max(1e-3);
    let mut block = vec![format!(
        "depth {depth}/{seldepth}   {} nodes   {seconds:.1} s   {} nodes/s   hash {:.0} %",
        large(*nodes as f64),
        large(speed),
        f64::from(*hashfull) / 10.0,
    )];
    block.extend(numbered(&progress.lines, sides));
    block
}

/// Formats a large number with two or three digits: `1.2 million`.
fn large(number: f64) -> String {
    match number {
        n if n >= 1e10 => format!("{:.0} billion", n / 1e9),
        n if n >= 1e9 => format!("{:.1} billion", n / 1e9),
        n if n >= 1e7 => format!("{:.0} million", n / 1e6),
        n if n >= 1e6 => format!("{:.1} million", n / 1e6),
        n if n >= 1e4 => format!("{:.0} thousand", n / 1e3),
        n => format!("{n:.0}"),
    }
}

fn numbered(lines: &[Variation], sides: &[SideInfo; 2]) -> Vec<String> {
    let evals: Vec<_> = lines.iter().map(|line| line.eval.text(sides)).collect();
    let width = max_width(&evals);
    let digits = lines.len().to_string().len();
    (1..)
        .zip(lines)
        .zip(evals)
        .map(|((number, line), eval)| {
            format!("{number:>digits$}  {eval:>width$}  {}", line.moves_text(usize::MAX))
        })
        .collect()
}

fn max_width(texts: &[String]) -> usize {
    texts.iter().map(|text| text.chars().count()).max().unwrap_or(0)
}

/// Maximum number of moves of a better line in the table.
const MAX_BETTER_MOVES: usize = 6;

/// Formats a game: a table of moves and a summary.
pub fn game(analysis: &GameAnalysis, colours: Colours) -> String {
    let mut text = heading(analysis, colours);
    text.push('\n');
    let sides = &analysis.sides;
    let before: Vec<_> = analysis.moves.iter().map(|played| played.before.text(sides)).collect();
    let after: Vec<_> = analysis.moves.iter().map(|played| played.after.text(sides)).collect();
    let moves: Vec<_> =
        analysis.moves.iter().map(|played| format!("{} ??", played.step.text)).collect();
    let widths = (max_width(&moves).max(4), max_width(&before).max(6), max_width(&after).max(5));
    let (move_width, before_width, after_width) = widths;
    let _ = writeln!(
        text,
        "{:>4} {:6} {:move_width$}  {:>before_width$}  {:>after_width$}  loss  better",
        "", "", "move", "before", "after"
    );
    for (index, played) in analysis.moves.iter().enumerate() {
        let number = match played.side {
            _ if index > 0 && played.side == Side::Second => String::new(),
            _ => format!("{}.", analysis.move_number(index)),
        };
        let name = sides[played.side.index()].name;
        let (before, after) = (&before[index], &after[index]);
        let row = format!(
            "{number:>4} {name:6} {}  {before:>before_width$}  {after:>after_width$}  {}",
            move_cell(played, move_width, colours),
            last_cells(played, analysis),
        );
        let _ = writeln!(text, "{}", row.trim_end());
    }
    if let Some(end) = &analysis.end {
        let _ = writeln!(text, "\n{}", end.text);
        match analysis.moves.len() - end.plies {
            0 => {}
            1 => text.push_str("The last move was played after that.\n"),
            count => {
                let _ = writeln!(text, "The last {count} moves were played after that.");
            }
        }
    }
    text.push('\n');
    text.push_str(&summary(analysis));
    text
}

fn heading(analysis: &GameAnalysis, colours: Colours) -> String {
    let player = |side: Side| {
        let name = analysis.sides[side.index()].name;
        match analysis.player(side) {
            Some(player) => format!("{player} ({name})"),
            None => name.to_string(),
        }
    };
    let (first, second) = (player(Side::First), player(Side::Second));
    let result = match analysis.record.result {
        GameResult::Unknown => String::new(),
        result => format!(", {result}"),
    };
    let title = format!("{first} - {second}{result}");
    let mut text =
        format!("Game {}: {}\n", analysis.number, colours.bold(&replace_invisible(&title)));
    let tag = |name: &str| analysis.record.tag(name).map(str::to_string);
    let mut details = vec![analysis.game_name.to_string()];
    details.extend(tag("Event"));
    details.extend(tag("Round").map(|round| format!("round {round}")));
    details.extend(tag("Date"));
    let details = details.join(", ");
    let _ = writeln!(
        text,
        "{}. Scores: + is good for {}.",
        replace_invisible(&details),
        analysis.sides[0].name
    );
    text
}

fn move_cell(played: &MoveAnalysis, width: usize, colours: Colours) -> String {
    let Some(judgement) = played.verdict.judgement() else {
        return format!("{:width$}", played.step.text);
    };
    let cell = format!("{} {}", played.step.text, judgement.symbol());
    let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
    format!("{}{padding}", colours.judgement(judgement, &cell))
}

fn last_cells(played: &MoveAnalysis, analysis: &GameAnalysis) -> String {
    let loss = match played.verdict {
        MoveVerdict::AfterTheEnd => return "      after the end".to_string(),
        MoveVerdict::Forced => return "      forced".to_string(),
        _ if played.loss < 0.005 => "    ".to_string(),
        _ => format!("{:>3.0}%", 100.0 * played.loss),
    };
    match &played.better {
        Some(line) => {
            let eval = line.eval.text(&analysis.sides);
            format!("{loss}  {} ({eval})", line.moves_text(MAX_BETTER_MOVES))
        }
        None => loss,
    }
}

/// Formats how both sides played, and where the game turned.
pub fn summary(analysis: &GameAnalysis) -> String {
    let names = analysis.sides.map(|side| side.name.to_string());
    let width = max_width(&names).max(7);
    let mut text = String::new();
    let mut row = |title: &str, values: [String; 2]| {
        let _ = writeln!(text, "{title:18} {:>width$}  {:>width$}", values[0], values[1]);
    };
    row("", names);
    let percent = |value: Option<f64>| match value {
        Some(value) => format!("{:.1} %", 100.0 * value),
        None => "-".to_string(),
    };
    let summaries = &analysis.summaries;
    row("accuracy", [0, 1].map(|side| percent(summaries[side].accuracy)));
    row("mean loss", [0, 1].map(|side| percent(summaries[side].mean_loss)));
    for (index, title) in ["?! inaccuracies", "?  mistakes", "?? blunders"].iter().enumerate() {
        row(title, [0, 1].map(|side| summaries[side].judgements[index].to_string()));
    }
    row(
        "counted moves",
        [0, 1].map(|side| format!("{}/{}", summaries[side].counted_moves, summaries[side].moves)),
    );
    let _ = writeln!(text, "\n{}", turning_sentence(analysis));
    text
}

/// Returns a sentence about the turning point.
pub fn turning_sentence(analysis: &GameAnalysis) -> String {
    let Some((index, played)) =
        analysis.turning_point.and_then(|index| Some((index, analysis.moves.get(index)?)))
    else {
        return "No turning point: the standing never changed.".to_string();
    };
    let before = match index.checked_sub(1).and_then(|before| analysis.moves.get(before)) {
        Some(before) => before.after,
        None => analysis.eval,
    };
    let side = played.side;
    format!(
        "Turning point: {}. {}'s expected score changed from {:.0} % to {:.0} %.",
        analysis.move_text(index),
        analysis.sides[side.index()].name,
        100.0 * before.expected_for(side),
        100.0 * played.after.expected_for(side),
    )
}

/// Returns a sentence about the verdict on a move.
pub fn verdict_sentence(played: &MoveAnalysis) -> String {
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
