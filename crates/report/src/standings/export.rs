//! Tables for other programs: CSV for spreadsheets, Markdown for web pages.

use crownhead_tournament::standings::{Standings, StandingsRow};

/// Returns the standings with one value per cell, the header first.
pub fn rows(standings: &Standings, names: &[String]) -> Vec<Vec<String>> {
    let mut header: Vec<String> = [
        "rank",
        "player",
        "points",
        "games",
        "wins",
        "draws",
        "losses",
        "first_wins",
        "first_draws",
        "first_losses",
        "second_wins",
        "second_draws",
        "second_losses",
        "score",
        "opponents_score",
        "forfeits",
        "faults",
        "byes",
    ]
    .map(String::from)
    .to_vec();
    header.extend(standings.tie_breaks.iter().map(|tie_break| tie_break.code().into()));
    let cells = |row: &StandingsRow| {
        let counts = [row.all, row.by_colour[0], row.by_colour[1]];
        let counts = counts.into_iter().flat_map(|wdl| [wdl.wins, wdl.draws, wdl.losses]);
        let mut cells =
            vec![row.rank.to_string(), names[row.player].clone(), row.points.to_string()];
        cells.push(row.all.games().to_string());
        cells.extend(counts.map(|count| count.to_string()));
        cells.extend(row.scores.map(|score| score.to_string()));
        let forfeits = row.forfeits.values().sum::<u32>();
        cells.extend([forfeits, row.faults, row.byes].map(|count| count.to_string()));
        // A tie-break that was not needed has no value.
        let values = row.values.iter();
        cells.extend(values.map(|value| value.map(|value| value.to_string()).unwrap_or_default()));
        cells
    };
    [header].into_iter().chain(standings.rows.iter().map(cells)).collect()
}

/// Formats a table as CSV (RFC 4180, but with line feeds only).
pub fn csv(rows: &[Vec<String>]) -> String {
    let cell = |text: &String| {
        // A spreadsheet would run such a name as a formula.
        let is_formula =
            text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
        let text = if is_formula { format!("'{text}") } else { text.clone() };
        match text.contains(['"', ',', '\n', '\r', ';']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text,
        }
    };
    let line = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
    rows.iter().map(line).collect()
}

/// Formats a table as Markdown. Columns in `left` are left-aligned, all others right-aligned.
pub fn markdown(rows: &[Vec<String>], left: &[usize]) -> String {
    let [header, rows @ ..] = rows else { return String::new() };
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let escaped = |row: &Vec<String>| line(row.iter().map(|text| escape(text)).collect());
    let rule = |column| if left.contains(&column) { "---".into() } else { "--:".into() };
    let mut text = escaped(header) + &line((0..header.len()).map(rule).collect());
    text.extend(rows.iter().map(escaped));
    text
}

/// Escapes what Markdown or HTML would interpret.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '!' | '#' | '~' | '$' => {
                escaped.extend(['\\', c]);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Vec<Vec<String>> {
        let names = ["=cmd|' /C calc'!A0", "Ada, \"the\" <b>", "-5", "a|b*\n"];
        let mut rows = vec![vec!["player".to_string(), "points".to_string()]];
        rows.extend(names.map(|name| vec![name.to_string(), "-1".to_string()]));
        rows
    }

    #[test]
    fn csv_quotes_names_and_defuses_formulas() {
        assert_eq!(
            csv(&table()),
            "player,points\n'=cmd|' /C calc'!A0,-1\n\"Ada, \"\"the\"\" \
             <b>\",-1\n-5,-1\n\"a|b*\n\",-1\n"
        );
    }

    #[test]
    fn markdown_shows_names_as_they_are() {
        let expected = "| player | points |\n| --- | --: |\n\
                        | =cmd\\|' /C calc'\\!A0 | -1 |\n\
                        | Ada, \"the\" &lt;b&gt; | -1 |\n| -5 | -1 |\n| a\\|b\\*  | -1 |\n";
        assert_eq!(markdown(&table(), &[0]), expected);
    }
}
