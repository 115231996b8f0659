//! Charts as SVG, each with its numbers as a table.

mod bars;

pub(super) use bars::{accuracy, endings, expected, time_use};

use super::markup::{Html, html};
use super::signed;
use crate::data::{
    LengthBin, OpponentScore, PlayerReport, Progress, RatingTable, Report, ResultCounts,
};

/// Width of a chart in its own units: a column on a large screen, a whole phone.
const WIDTH: f64 = 460.0;
const ROW: f64 = 22.0;
/// Width of the names to the left of bars.
const NAMES: f64 = 146.0;
/// Maximum number of characters of a name in a chart.
const MAX_NAME_CHARS: usize = 18;
/// Players with a colour of their own in the progress chart.
const COLOURED_LINES: usize = 6;
/// Maximum number of opponents in the chart of a player; the table beside it has all of them.
const MAX_OPPONENTS: usize = 30;
/// Maximum number of openings in the chart; the table has all of them.
const MAX_OPENINGS: usize = 16;

/// The numbers of a chart.
struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new<const N: usize>(head: [&str; N]) -> Table {
        Table { head: head.map(String::from).to_vec(), rows: Vec::new() }
    }

    fn write(&self, out: &mut Html) {
        html!(out, "<div class=\"scroll\"><table class=\"list\"><thead><tr>");
        for (index, cell) in self.head.iter().enumerate() {
            out.raw(if index == 0 {
                "<th scope=\"col\">"
            } else {
                "<th scope=\"col\" class=\"n\">"
            });
            html!(out, (cell), "</th>");
        }
        html!(out, "</tr></thead><tbody>\n");
        for row in &self.rows {
            out.raw("<tr>");
            for (index, cell) in row.iter().enumerate() {
                match index {
                    0 => {
                        html!(out, "<th scope=\"row\" class=\"name\">", (cell), "</th>");
                    }
                    _ => {
                        html!(out, "<td class=\"n\">", (cell), "</td>");
                    }
                }
            }
            out.raw("</tr>\n");
        }
        html!(out, "</tbody></table></div>");
    }
}

/// Adds a chart with a title, a note and its numbers.
fn figure(out: &mut Html, title: &str, note: &str, drawing: &Html, table: &Table) {
    html!(out, "<figure class=\"card\"><figcaption>", (title));
    if !note.is_empty() {
        html!(out, "<small>", (note), "</small>");
    }
    html!(out, "</figcaption>");
    out.append(drawing);
    html!(out, "<details><summary>Numbers</summary>");
    table.write(out);
    html!(out, "</details></figure>\n");
}

/// Starts a drawing of some height.
fn drawing(height: f64) -> Html {
    let mut out = Html::default();
    // The table has the same numbers for screen readers.
    html!(
        out,
        "<svg class=\"chart\" viewBox=\"0 0 ",
        [WIDTH],
        " ",
        [height],
        "\" aria-hidden=\"true\" focusable=\"false\">"
    );
    out
}

fn short(name: &str) -> String {
    short_to(name, MAX_NAME_CHARS)
}

fn short_to(name: &str, max: usize) -> String {
    let mut chars = name.chars();
    let start: String = chars.by_ref().take(max).collect();
    if chars.next().is_some() { format!("{}…", start.trim_end()) } else { start }
}

fn name_label(out: &mut Html, name: &str, y: f64) {
    html!(
        out,
        "<text class=\"end\" x=\"",
        [NAMES - 8.0],
        "\" y=\"",
        [y + 15.0],
        "\">",
        (short(name)),
        "</text>"
    );
}

/// Returns round numbers between two values, about `count` of them.
fn ticks(min: f64, max: f64, count: f64) -> Vec<f64> {
    let raw = ((max - min) / count).max(1e-9);
    let magnitude = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * magnitude)
        .find(|step| *step >= raw)
        .unwrap_or(10.0 * magnitude);
    let first = (min / step).ceil() as i64;
    let last = (max / step).floor() as i64;
    (first..=last).map(|number| number as f64 * step).collect()
}

/// Ratings with error bars.
pub(super) fn ratings(out: &mut Html, report: &Report, table: &RatingTable) {
    let low = |row: &crate::data::RatingRow| row.elo - row.error;
    let high = |row: &crate::data::RatingRow| row.elo + row.error;
    // A player without a win has a very wide interval: the scale follows the others.
    let spread = table.rows.iter().map(|row| row.elo.abs()).fold(100.0, f64::max) * 1.6;
    let min = table.rows.iter().map(low).fold(0.0, f64::min).max(-spread);
    let max = table.rows.iter().map(high).fold(0.0, f64::max).min(spread);
    let x = |elo: f64| {
        NAMES + (elo.clamp(min, max) - min) / (max - min).max(1.0) * (WIDTH - NAMES - 8.0)
    };
    let height = ROW * table.rows.len() as f64;
    let mut svg = drawing(height + 22.0);
    for tick in ticks(min, max, 5.0) {
        html!(
            svg,
            "<line class=\"axis\" x1=\"",
            [x(tick)],
            "\" x2=\"",
            [x(tick)],
            "\" y1=\"0\" y2=\"",
            [height],
            "\"/><text class=\"label mid\" x=\"",
            [x(tick)],
            "\" y=\"",
            [height + 17.0],
            "\">",
            (if tick == 0.0 { "0".into() } else { signed(tick, 0) }),
            "</text>"
        );
    }
    let mut numbers = Table::new(["player", "Elo", "± 95 %", "better than the next"]);
    for (row, index) in table.rows.iter().zip(0u32..) {
        let y = ROW * f64::from(index);
        name_label(&mut svg, report.name(row.player), y);
        html!(
            svg,
            "<line class=\"error\" x1=\"",
            [x(low(row))],
            "\" x2=\"",
            [x(high(row))],
            "\" y1=\"",
            [y + 11.0],
            "\" y2=\"",
            [y + 11.0],
            "\"/><circle class=\"dot\" r=\"5\" cx=\"",
            [x(row.elo)],
            "\" cy=\"",
            [y + 11.0],
            "\"/>"
        );
        numbers.rows.push(vec![
            report.name(row.player).into(),
            signed(row.elo, 0),
            format!("{:.0}", row.error),
            row.los.map_or(String::new(), |los| format!("{:.0} %", 100.0 * los)),
        ]);
    }
    svg.raw("</svg>");
    let [first_move, error] = table.first_move;
    let mut note = format!(
        "Elo with 95 % intervals; 0 is the average. Moving first is worth {} ± \
         {error:.0}; equal players draw {:.0} % of their games.",
        signed(first_move, 0),
        100.0 * table.draw_rate
    );
    if table.prior > 0.0 {
        note.push_str(" A virtual game per player keeps the ratings finite.");
    }
    figure(out, "Ratings", &note, &svg, &numbers);
}

/// Points after each round.
pub(super) fn progress(out: &mut Html, report: &Report, progress: &Progress) {
    const HEIGHT: f64 = 260.0;
    const LEFT: f64 = 34.0;
    const RIGHT: f64 = 334.0;
    let rounds = progress.rounds.len();
    let max = progress.lines.iter().filter_map(|line| line.points.iter().max()).max();
    let max = max.copied().unwrap_or(1).max(1) as f64;
    let x = |round: usize| LEFT + (RIGHT - LEFT) * round as f64 / rounds.max(1) as f64;
    let y = |points: f64| 8.0 + (HEIGHT - 16.0) * (1.0 - points / max);
    let mut svg = drawing(HEIGHT + 20.0);
    for tick in ticks(0.0, max, 5.0) {
        html!(
            svg,
            "<line class=\"axis\" x1=\"",
            [LEFT],
            "\" x2=\"",
            [RIGHT],
            "\" y1=\"",
            [y(tick)],
            "\" y2=\"",
            [y(tick)],
            "\"/><text class=\"label end\" x=\"",
            [LEFT - 6.0],
            "\" y=\"",
            [y(tick) + 4.0],
            "\">",
            (tick),
            "</text>"
        );
    }
    for tick in ticks(0.0, rounds as f64, 6.0).into_iter().filter(|tick| tick.fract() == 0.0) {
        html!(
            svg,
            "<text class=\"label mid\" x=\"",
            [x(tick as usize)],
            "\" y=\"",
            [HEIGHT + 14.0],
            "\">",
            (tick),
            "</text>"
        );
    }
    let mut label_y: Vec<f64> = Vec::new();
    for (index, line) in progress.lines.iter().enumerate().rev() {
        let is_coloured = index < COLOURED_LINES;
        html!(svg, "<polyline class=\"");
        if is_coloured {
            html!(svg, "line hue-", (index));
        } else {
            html!(svg, "faint");
        }
        html!(svg, "\" points=\"", [x(0)], ",", [y(0.0)]);
        for (&points, round) in line.points.iter().zip(1..) {
            html!(svg, " ", [x(round)], ",", [y(points as f64)]);
        }
        html!(svg, "\"/>");
        label_y.push(y(line.points.last().copied().unwrap_or(0) as f64) + 4.0);
    }
    label_y.reverse();
    let mut next = f64::MIN;
    for (line, index) in progress.lines.iter().zip(0usize..).take(COLOURED_LINES) {
        // The best player is the topmost: labels are moved down until they do not overlap.
        next = label_y[index].max(next + 15.0);
        html!(
            svg,
            "<text class=\"end-label hue-",
            (index),
            "\" x=\"",
            [RIGHT + 6.0],
            "\" y=\"",
            [next],
            "\">",
            (short_to(report.name(line.player), 14)),
            "</text>"
        );
    }
    svg.raw("</svg>");
    let mut numbers = Table { head: vec!["player".into()], rows: Vec::new() };
    numbers.head.extend((1..=rounds).map(|round| format!("{round}")));
    for line in &progress.lines {
        let mut row = vec![report.name(line.player).to_string()];
        row.extend(line.points.iter().map(i64::to_string));
        numbers.rows.push(row);
    }
    figure(out, "Progress", "Points after each round.", &svg, &numbers);
}

/// Draws results as a bar of three parts.
fn result_bar(out: &mut Html, counts: &ResultCounts, [left, y, width, height]: [f64; 4]) {
    let total = f64::from(counts.games().max(1));
    let mut x = left;
    for (class, count) in
        [("first", counts.first), ("draw", counts.draws), ("second", counts.second)]
    {
        let part = width * f64::from(count) / total;
        html!(
            out,
            "<rect class=\"",
            (class),
            "\" x=\"",
            [x],
            "\" y=\"",
            [y],
            "\" width=\"",
            [part],
            "\" height=\"",
            [height],
            "\"/>"
        );
        x += part;
    }
}

fn result_cells(counts: &ResultCounts) -> Vec<String> {
    let percent = format!("{:.1} %", 100.0 * counts.score());
    let [games, first, draws, second] =
        [counts.games(), counts.first, counts.draws, counts.second].map(|count| count.to_string());
    vec![games, first, draws, second, percent]
}

fn results_table(first_column: &str, sides: &[String; 2]) -> Table {
    let [first, second] = sides.each_ref().map(|side| format!("{side} won"));
    let mut table = Table::new([first_column, "games", &first, "drawn", &second]);
    table.head.push(format!("score of {}", sides[0]));
    table
}

/// Score by colour.
pub(super) fn colours(out: &mut Html, report: &Report) {
    let (counts, sides) = (&report.colours, &report.tournament.sides);
    let mut svg = drawing(54.0);
    result_bar(&mut svg, counts, [0.0, 0.0, WIDTH, 30.0]);
    let percent = |count: u32| 100.0 * f64::from(count) / f64::from(counts.games().max(1));
    html!(
        svg,
        "<text x=\"0\" y=\"48\">",
        (sides[0]),
        " ",
        (format!("{:.0} %", percent(counts.first))),
        "</text><text class=\"mid\" x=\"",
        [WIDTH / 2.0],
        "\" y=\"48\">drawn ",
        (format!("{:.0} %", percent(counts.draws))),
        "</text><text class=\"end\" x=\"",
        [WIDTH],
        "\" y=\"48\">",
        (sides[1]),
        " ",
        (format!("{:.0} %", percent(counts.second))),
        "</text></svg>"
    );
    let mut table = results_table("colour", sides);
    let mut row = vec!["all games".to_string()];
    row.extend(result_cells(counts));
    table.rows.push(row);
    let note = format!("{} moves first and scores {:.1} %.", sides[0], 100.0 * counts.score());
    figure(out, "Score by colour", &note, &svg, &table);
}

/// Score by opening.
pub(super) fn openings(out: &mut Html, report: &Report) {
    let frequent = &report.openings[..report.openings.len().min(MAX_OPENINGS)];
    let mut svg = drawing(ROW * frequent.len() as f64);
    for (opening, index) in frequent.iter().zip(0u32..) {
        let y = ROW * f64::from(index);
        name_label(&mut svg, &opening.opening, y);
        result_bar(&mut svg, &opening.results, [NAMES, y + 3.0, WIDTH - NAMES - 44.0, ROW - 7.0]);
        html!(
            svg,
            "<text class=\"label end\" x=\"",
            [WIDTH],
            "\" y=\"",
            [y + 15.0],
            "\">",
            (opening.results.games()),
            "</text>"
        );
    }
    svg.raw("</svg>");
    let mut table = results_table("opening", &report.tournament.sides);
    for opening in &report.openings {
        let mut row = vec![opening.opening.clone()];
        row.extend(result_cells(&opening.results));
        table.rows.push(row);
    }
    let [first, second] = &report.tournament.sides;
    let more = match report.openings.len() - frequent.len() {
        0 => String::new(),
        more => format!(" {more} more are in the table."),
    };
    let note = format!("{first} won, drawn, {second} won, and the number of games.{more}");
    figure(out, "Score by opening", &note, &svg, &table);
}

/// Game lengths.
pub(super) fn lengths(out: &mut Html, bins: &[LengthBin]) {
    const HEIGHT: f64 = 150.0;
    let max = bins.iter().map(|bin| bin.games).max().unwrap_or(1).max(1) as f64;
    let width = WIDTH / bins.len().max(1) as f64;
    let mut svg = drawing(HEIGHT + 22.0);
    let every = bins.len().div_ceil(8).max(1);
    for (index, bin) in bins.iter().enumerate() {
        let height = (HEIGHT - 18.0) * bin.games as f64 / max;
        let (x, y) = (width * index as f64, HEIGHT - height);
        html!(
            svg,
            "<rect class=\"bar\" rx=\"2\" x=\"",
            [x + 1.0],
            "\" y=\"",
            [y],
            "\" width=\"",
            [(width - 2.0).min(60.0)],
            "\" height=\"",
            [height],
            "\"/>"
        );
        if bin.games > 0 {
            html!(
                svg,
                "<text class=\"label mid\" x=\"",
                [x + (width / 2.0).min(31.0)],
                "\" y=\"",
                [y - 4.0],
                "\">",
                (bin.games),
                "</text>"
            );
        }
        if index % every == 0 {
            html!(
                svg,
                "<text class=\"label\" x=\"",
                [x + 1.0],
                "\" y=\"",
                [HEIGHT + 16.0],
                "\">",
                (bin.from),
                "</text>"
            );
        }
    }
    svg.raw("</svg>");
    let mut table = Table::new(["plies", "games"]);
    for bin in bins {
        let range = if bin.from == bin.to {
            bin.from.to_string()
        } else {
            format!("{} to {}", bin.from, bin.to)
        };
        table.rows.push(vec![range, bin.games.to_string()]);
    }
    figure(out, "Game lengths", "Number of games by number of plies.", &svg, &table);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(ticks(0.0, 118.0, 5.0), [0.0, 50.0, 100.0]);
        assert_eq!(ticks(-130.0, 90.0, 5.0), [-100.0, -50.0, 0.0, 50.0]);
        assert_eq!(ticks(0.0, 0.0, 5.0), [0.0]);
    }
}
