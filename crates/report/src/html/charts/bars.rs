//! Charts with a bar per player, opponent or kind of ending.

use super::*;

/// A horizontal bar with a name and a value.
struct Bar {
    name: String,
    value: f64,
    text: String,
}

fn bars(bars: &[Bar], min: f64) -> Html {
    let max = bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = drawing(ROW * bars.len() as f64);
    for (bar, index) in bars.iter().zip(0u32..) {
        let y = ROW * f64::from(index);
        name_label(&mut svg, &bar.name, y);
        let length =
            (WIDTH - NAMES - 70.0) * ((bar.value - min) / (max - min).max(1e-9)).clamp(0.0, 1.0);
        html!(
            svg,
            "<rect class=\"bar\" rx=\"2\" x=\"",
            [NAMES],
            "\" y=\"",
            [y + 4.0],
            "\" width=\"",
            [length.max(1.0)],
            "\" height=\"",
            [ROW - 8.0],
            "\"/><text class=\"label\" x=\"",
            [NAMES + length + 6.0],
            "\" y=\"",
            [y + 15.0],
            "\">",
            (bar.text),
            "</text>"
        );
    }
    svg.raw("</svg>");
    svg
}

/// Reasons for the end of games.
pub(in crate::html) fn endings(out: &mut Html, report: &Report) {
    let bar = |(reason, count): &(String, usize)| Bar {
        name: reason.clone(),
        value: *count as f64,
        text: count.to_string(),
    };
    let svg = bars(&report.endings.iter().map(bar).collect::<Vec<_>>(), 0.0);
    let mut table = Table::new(["reason", "games"]);
    table.rows =
        report.endings.iter().map(|(reason, n)| vec![reason.clone(), n.to_string()]).collect();
    figure(out, "How games ended", "", &svg, &table);
}

/// Time used by each player, in the order of the standings.
pub(in crate::html) fn time_use(out: &mut Html, report: &Report) {
    let mut rows = Vec::new();
    let mut table = Table::new(["player", "moves", "mean", "median", "slowest"]);
    for row in &report.standings {
        let Some(time) = report.player(row.player).and_then(|player| player.time) else { continue };
        let name = report.name(row.player).to_string();
        let [mean, median, max] =
            [time.mean, time.median as f64, time.max as f64].map(crate::html::seconds);
        table.rows.push(vec![name.clone(), time.moves.to_string(), mean.clone(), median, max]);
        rows.push(Bar { name, value: time.mean, text: mean });
    }
    if !rows.is_empty() {
        let note = "Mean time per move, by rank.";
        figure(out, "Time use", note, &bars(&rows, 0.0), &table);
    }
}

/// Accuracy of each player, in the order of the standings.
pub(in crate::html) fn accuracy(out: &mut Html, report: &Report) {
    let mut rows = Vec::new();
    let mut table =
        Table::new(["player", "games", "accuracy", "inaccuracies", "mistakes", "blunders"]);
    for row in &report.standings {
        let quality = report.player(row.player).and_then(|player| player.quality);
        let Some((quality, accuracy)) =
            quality.and_then(|quality| Some((quality, quality.accuracy?)))
        else {
            continue;
        };
        let name = report.name(row.player).to_string();
        let text = format!("{:.1} %", 100.0 * accuracy);
        let mut cells = vec![name.clone(), quality.games.to_string(), text.clone()];
        cells.extend(quality.judgements.iter().map(usize::to_string));
        table.rows.push(cells);
        rows.push(Bar { name, value: accuracy, text });
    }
    if !rows.is_empty() {
        let min = rows.iter().map(|bar| bar.value).fold(1.0, f64::min) - 0.02;
        let note = "How close moves are to the engine's choice, by rank.";
        figure(out, "Accuracy", note, &bars(&rows, min.max(0.0)), &table);
    }
}

/// Score against each opponent, achieved and expected.
pub(in crate::html) fn expected(out: &mut Html, report: &Report, player: &PlayerReport) {
    let rows: Vec<_> = player.opponents.iter().filter(|score| score.expected.is_some()).collect();
    if rows.is_empty() || rows.len() > MAX_OPPONENTS {
        return;
    }
    let max = rows.iter().map(|score| score.games.len()).max().unwrap_or(1) as f64;
    let x = |points: f64| NAMES + (WIDTH - NAMES) * points / max;
    let mut svg = drawing(ROW * rows.len() as f64);
    // One path for all bars of a kind: a class has thousands of them.
    let bars = |svg: &mut Html, length: &dyn Fn(&OpponentScore) -> f64| {
        for (score, index) in rows.iter().zip(0u32..) {
            let y = ROW * f64::from(index) + 4.0;
            html!(
                svg,
                "M",
                [NAMES],
                " ",
                [y],
                "h",
                [x(length(score)) - NAMES],
                "v14H",
                [NAMES],
                "z"
            );
        }
    };
    html!(svg, "<path class=\"bar-soft\" d=\"");
    bars(&mut svg, &|_| max);
    html!(svg, "\"/><path class=\"bar\" d=\"");
    bars(&mut svg, &|score| score.achieved);
    html!(svg, "\"/><path class=\"error\" d=\"");
    for (score, index) in rows.iter().zip(0u32..) {
        html!(
            svg,
            "M",
            [x(score.expected.unwrap_or(0.0))],
            " ",
            [ROW * f64::from(index) + 1.0],
            "v20"
        );
    }
    html!(svg, "\"/>");
    for (score, index) in rows.iter().zip(0u32..) {
        name_label(&mut svg, report.name(score.opponent), ROW * f64::from(index));
    }
    svg.raw("</svg>");
    // The table of results beside it has the numbers.
    html!(
        out,
        "<figure class=\"card\"><figcaption>Achieved and expected<small>The bar is the score; the \
         line is what the ratings predict.</small></figcaption>"
    );
    out.append(&svg);
    html!(out, "</figure>\n");
}
