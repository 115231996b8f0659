//! Standings and crosstable as text.

use std::fmt::Write;

use crownhead_statistics::{GamePoints, Wdl};
use unicode_width::UnicodeWidthStr;

use crownhead_tournament::standings::{
    GameResults, Standings, StandingsRow, TieBreak, TieBreakValue,
};

/// Maximum number of players in a crosstable that is shown by default: more do not fit on a screen.
pub const MAX_CROSSTABLE_PLAYERS: usize = 20;
/// Maximum number of games listed one by one in a cell of the crosstable.
const MAX_CELL_GAMES: usize = 6;

/// Returns the letter of a result: `+`, `=` or `-`.
pub fn letter(result: GamePoints) -> char {
    match result {
        GamePoints::Win => '+',
        GamePoints::Draw => '=',
        GamePoints::Loss => '-',
    }
}

/// Formats the standings; `sides` are the names of the colours.
pub fn table(standings: &Standings, names: &[String], sides: [&str; 2]) -> String {
    columns(&rows(standings, names, sides), &[1])
}

/// Returns the cells of the standings as people read them, the header first.
pub fn rows(standings: &Standings, names: &[String], sides: [&str; 2]) -> Vec<Vec<String>> {
    let mut rows = vec![header(standings, sides)];
    rows.extend(standings.rows.iter().map(|row| cells(standings, row, names)));
    rows
}

fn header(standings: &Standings, sides: [&str; 2]) -> Vec<String> {
    let mut header: Vec<String> =
        ["rank", "player", "points", "games", "won", "drawn", "lost"].map(String::from).to_vec();
    header.extend(sides.map(|side| format!("as {side}")));
    if has_scores(standings) {
        header.push("score".into());
    }
    header.push("forfeits".into());
    header.extend(tie_break_columns(standings).map(|(_, tie_break)| tie_break.short().into()));
    header
}

/// Returns whether the game itself has a score.
fn has_scores(standings: &Standings) -> bool {
    standings.rows.iter().any(|row| row.scores != [0, 0])
}

/// Returns the tie-breaks that were needed and do not show in another column, with their indices.
fn tie_break_columns(standings: &Standings) -> impl Iterator<Item = (usize, TieBreak)> {
    let has_other_column =
        |tie_break| matches!(tie_break, TieBreak::Wins | TieBreak::ScoreDifferential);
    let was_needed = |index: usize| standings.rows.iter().any(|row| value(row, index).is_some());
    let tie_breaks = standings.tie_breaks.iter().copied().enumerate();
    tie_breaks.filter(move |&(index, tie_break)| was_needed(index) && !has_other_column(tie_break))
}

fn value(row: &StandingsRow, tie_break: usize) -> Option<TieBreakValue> {
    row.values.get(tie_break).copied().flatten()
}

fn cells(standings: &Standings, row: &StandingsRow, names: &[String]) -> Vec<String> {
    let above = standings.rows.iter().take_while(|other| other.player != row.player).last();
    let is_shared = above.is_some_and(|other| other.rank == row.rank);
    let wdl = |wdl: &Wdl| format!("+{} ={} -{}", wdl.wins, wdl.draws, wdl.losses);
    let forfeits: u32 = row.forfeits.values().sum();
    let mut cells = vec![
        if is_shared { "=".into() } else { row.rank.to_string() },
        names[row.player].clone(),
        row.points.to_string(),
        row.all.games().to_string(),
        row.all.wins.to_string(),
        row.all.draws.to_string(),
        row.all.losses.to_string(),
        wdl(&row.by_colour[0]),
        wdl(&row.by_colour[1]),
    ];
    if has_scores(standings) {
        let [score, opponents] = row.scores;
        cells.push(format!("{score}:{opponents} ({:+})", score - opponents));
    }
    cells.push(if forfeits == 0 { String::new() } else { forfeits.to_string() });
    cells
        .extend(tie_break_columns(standings).map(|(index, _)| {
            value(row, index).map(|value| value.to_string()).unwrap_or_default()
        }));
    cells
}

/// Lists ranks decided by a tie-break or a seed, shared ranks, forfeits, faults and byes.
pub fn notes(standings: &Standings, names: &[String]) -> String {
    let mut text = String::new();
    for rows in standings.rows.windows(2) {
        let [above, below] = rows else { continue };
        let Some(decision) = below.decided_by else { continue };
        let tie_break = standings.tie_breaks[decision.tie_break];
        let among = decision.among.map(|count| format!(" among the {count} still tied"));
        let _ = writeln!(
            text,
            "rank {}: {} ahead of {} by {}{} ({} to {})",
            above.rank,
            names[above.player],
            names[below.player],
            tie_break.title(),
            among.unwrap_or_default(),
            decision.values[0],
            decision.values[1]
        );
    }
    for decision in &standings.seed_decisions {
        let [winner, loser] = [decision.winner, decision.loser].map(|player| &names[player]);
        let _ = writeln!(
            text,
            "{}: {winner} and {loser} tied; {winner} advanced as the better seed",
            decision.round
        );
    }
    for group in standings.rows.chunk_by(|a, b| a.rank == b.rank) {
        if group.len() > 1 {
            let tied: Vec<_> = group.iter().map(|row| names[row.player].as_str()).collect();
            let reason = match standings.by_progress {
                true => "reached the same round",
                false => "tied in every tie-break",
            };
            let _ = writeln!(text, "rank {}: {} {reason}", group[0].rank, tied.join(", "));
        }
    }
    for row in &standings.rows {
        let name = &names[row.player];
        if !row.forfeits.is_empty() {
            let counts: Vec<_> =
                row.forfeits.iter().map(|(code, count)| format!("{code} {count}")).collect();
            let _ = writeln!(text, "forfeits: {name}: {}", counts.join(", "));
        } else if row.faults > 0 {
            let _ = writeln!(text, "faults: {name}: {}, no game forfeited", row.faults);
        }
        if row.byes > 0 {
            let _ = writeln!(text, "byes: {name}: {}", row.byes);
        }
    }
    text
}

/// Formats the crosstable, in the order of ranks. Cells list the games, with `*` after a forfeit,
/// or count them if there are many.
pub fn crosstable(standings: &Standings, names: &[String]) -> String {
    let mut header = vec![String::new(), String::new()];
    header.extend((1..=standings.rows.len()).map(|number| number.to_string()));
    let mut rows = vec![header];
    for (row, number) in standings.rows.iter().zip(1..) {
        let mut cells = vec![number.to_string(), names[row.player].clone()];
        cells.extend(standings.rows.iter().map(|opponent| {
            match standings.results[row.player].get(&opponent.player) {
                _ if opponent.player == row.player => "·".into(),
                Some(games) => cell(games),
                None => String::new(),
            }
        }));
        rows.push(cells);
    }
    columns(&rows, &[1])
}

fn cell(games: &GameResults) -> String {
    if games.len() > MAX_CELL_GAMES {
        let count = |wanted| games.iter().filter(|(result, _)| *result == wanted).count();
        let [won, drawn, lost] = [GamePoints::Win, GamePoints::Draw, GamePoints::Loss].map(count);
        return format!("+{won} ={drawn} -{lost}");
    }
    symbols(games)
}

/// Returns `+`, `=` or `-` for each game, with `*` after a forfeit.
pub(crate) fn symbols(games: &GameResults) -> String {
    let symbols = |&(result, is_forfeit): &(GamePoints, bool)| {
        [Some(letter(result)), is_forfeit.then_some('*')].into_iter().flatten()
    };
    games.iter().flat_map(symbols).collect()
}

/// Aligns cells in columns separated by two spaces. Columns in `left` are left-aligned, all others
/// right-aligned.
pub fn columns(rows: &[Vec<String>], left: &[usize]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let separator = if column == 0 { "" } else { "  " };
            let padding = " ".repeat(widths[column] - cell.width());
            let _ = match left.contains(&column) {
                true => write!(line, "{separator}{cell}{padding}"),
                false => write!(line, "{separator}{padding}{cell}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
