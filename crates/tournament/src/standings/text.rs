//! The table for people.

use std::fmt::Write;

use crate::statistics::{GamePoints as Result, Wdl};

use unicode_width::UnicodeWidthStr;

use super::{Standings, StandingsRow};

/// More players make no crosstable that fits on a screen.
pub const MAX_CROSSTABLE_PLAYERS: usize = 20;

/// A game for one of its players: `+`, `=` or `-`.
pub fn letter(result: Result) -> char {
    match result {
        Result::Win => '+',
        Result::Draw => '=',
        Result::Loss => '-',
    }
}

/// The table: ranks, points, results by colour and forfeits. `sides` are the names of the colours.
pub fn table(standings: &Standings, names: &[String], sides: [&str; 2]) -> String {
    let mut rows = vec![head(standings, sides)];
    rows.extend(standings.rows.iter().map(|row| cells(standings, row, names)));
    columns(&rows, &[1])
}

fn head(standings: &Standings, sides: [&str; 2]) -> Vec<String> {
    let mut head: Vec<String> =
        ["rank", "player", "points", "games", "won", "drawn", "lost"].map(String::from).to_vec();
    head.extend(sides.map(|side| format!("as {side}")));
    if has_scores(standings) {
        head.push("score".into());
    }
    head.push("forfeits".into());
    let is_shown = |at: usize| standings.rows.iter().any(|row| shown(row, at).is_some());
    for (tie_break, at) in standings.tie_breaks.iter().zip(0..) {
        if is_shown(at) && !has_column(*tie_break) {
            head.push(tie_break.short().into());
        }
    }
    head
}

/// Whether the game itself counts points.
fn has_scores(standings: &Standings) -> bool {
    standings.rows.iter().any(|row| row.scores != [0, 0])
}

/// Whether a value has a column anyhow.
fn has_column(tie_break: super::TieBreak) -> bool {
    matches!(tie_break, super::TieBreak::Wins | super::TieBreak::ScoreDifferential)
}

fn shown(row: &StandingsRow, at: usize) -> Option<super::TieBreakValue> {
    row.values.get(at).copied().flatten()
}

fn cells(standings: &Standings, row: &StandingsRow, names: &[String]) -> Vec<String> {
    let above = standings.rows.iter().take_while(|other| other.player != row.player).last();
    let is_shared = above.is_some_and(|other| other.rank == row.rank);
    let by_colour = |tally: &Wdl| format!("+{} ={} -{}", tally.wins, tally.draws, tally.losses);
    let forfeits: u32 = row.forfeits.values().sum();
    let [own, others] = row.scores;
    let mut cells = vec![
        if is_shared { "=".into() } else { row.rank.to_string() },
        names[row.player].clone(),
        row.points.to_string(),
        row.all.games().to_string(),
        row.all.wins.to_string(),
        row.all.draws.to_string(),
        row.all.losses.to_string(),
        by_colour(&row.by_colour[0]),
        by_colour(&row.by_colour[1]),
    ];
    if has_scores(standings) {
        cells.push(format!("{own}:{others} ({:+})", own - others));
    }
    cells.push(if forfeits == 0 { String::new() } else { forfeits.to_string() });
    let is_shown = |at: usize| standings.rows.iter().any(|row| shown(row, at).is_some());
    for (tie_break, at) in standings.tie_breaks.iter().zip(0..) {
        if is_shown(at) && !has_column(*tie_break) {
            cells.push(shown(row, at).map(|value| value.to_string()).unwrap_or_default());
        }
    }
    cells
}

/// A sentence for every rank that a tie-break or a seed decided, for every shared rank, and for every player who
/// forfeited games.
pub fn notes(standings: &Standings, names: &[String]) -> String {
    let mut text = String::new();
    for pair in standings.rows.windows(2) {
        let [above, below] = pair else { continue };
        let Some(decision) = below.decided_by else { continue };
        let tie_break = standings.tie_breaks[decision.tie_break];
        let among = decision.among.map(|count| format!(" among the {count} left equal"));
        let among = among.unwrap_or_default();
        let _ = writeln!(
            text,
            "rank {}: {} is before {} by {}{among} ({} to {})",
            above.rank,
            names[above.player],
            names[below.player],
            tie_break.title(),
            decision.values[0],
            decision.values[1]
        );
    }
    for tie in &standings.seed_decisions {
        let [winner, loser] = [tie.winner, tie.loser].map(|player| &names[player]);
        let _ = writeln!(
            text,
            "{}: {winner} and {loser} stayed even; {winner} went on as the better seed",
            tie.round
        );
    }
    for group in standings.rows.chunk_by(|one, other| one.rank == other.rank) {
        if group.len() > 1 {
            let named: Vec<_> = group.iter().map(|row| names[row.player].as_str()).collect();
            let why = if standings.by_progress { "came equally far" } else { "tie in everything" };
            let _ = writeln!(text, "rank {}: {} {why}", group[0].rank, named.join(", "));
        }
    }
    for row in &standings.rows {
        let name = &names[row.player];
        if !row.forfeits.is_empty() {
            let kinds: Vec<_> =
                row.forfeits.iter().map(|(code, n)| format!("{code} {n}")).collect();
            let _ = writeln!(text, "forfeits: {name}: {}", kinds.join(", "));
        } else if row.faults > 0 {
            let _ = writeln!(text, "faults: {name}: {}, and no game forfeited", row.faults);
        }
        if row.byes > 0 {
            let _ = writeln!(text, "byes: {name}: {}", row.byes);
        }
    }
    text
}

/// More games of a pair are counted, not listed.
const MAX_CELL_GAMES: usize = 6;

/// Everybody's results against everybody, in the order of ranks: game by game, a forfeited one marked by
/// `*`, or counted if they are many.
pub fn crosstable(standings: &Standings, names: &[String]) -> String {
    let mut head = vec![String::new(), String::new()];
    head.extend((1..=standings.rows.len()).map(|number| number.to_string()));
    let mut rows = vec![head];
    for (row, number) in standings.rows.iter().zip(1..) {
        let mut cells = vec![number.to_string(), names[row.player].clone()];
        for other in &standings.rows {
            let games = standings.results[row.player].get(&other.player);
            let own = other.player == row.player;
            let games = games.map_or(&[][..], Vec::as_slice);
            cells.push(if own { "·".into() } else { cell(games) });
        }
        rows.push(cells);
    }
    columns(&rows, &[1])
}

fn cell(games: &[(Result, bool)]) -> String {
    if games.len() > MAX_CELL_GAMES {
        let count = |wanted: Result| games.iter().filter(|(result, _)| *result == wanted).count();
        let (won, drawn) = (count(Result::Win), count(Result::Draw));
        return format!("+{won} ={drawn} -{}", count(Result::Loss));
    }
    let text = |&(result, is_forfeit): &(Result, bool)| {
        [Some(letter(result)), is_forfeit.then_some('*')].into_iter().flatten()
    };
    games.iter().flat_map(text).collect()
}

/// Cells in columns, two blanks between them: numbers to the right, and those of `left` to the left.
pub fn columns(rows: &[Vec<String>], left: &[usize]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let gap = if at == 0 { "" } else { "  " };
            let room = " ".repeat(widths[at] - cell.width());
            let _ = match left.contains(&at) {
                true => write!(line, "{gap}{cell}{room}"),
                false => write!(line, "{gap}{room}{cell}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
