//! The report of a tournament as a page.

use crownhead_play::counted;

use super::markup::{Html, html};
use super::viewer::ViewerData;
use super::{charts, date, page, player, points, signed};
use crate::data::{BracketPairing, BracketRound, CrosstableCell, Report, StandingsRow};

/// Maximum number of results in a cell of the crosstable; more are summed up.
const MAX_CELL_GAMES: usize = 6;
/// Maximum number of faults listed.
const MAX_FAULTS: usize = 200;

/// Formats a report with the pages of all players. What bots printed is not part of it. `games` is
/// the name of a PDN file beside the page.
pub fn report_page(report: &Report, games: Option<&'static str>) -> String {
    let mut body = Html::default();
    html!(body, "<main id=\"report\">\n");
    masthead(&mut body, report);
    standings(&mut body, report);
    if let Some(rounds) = &report.bracket {
        bracket(&mut body, report, rounds);
    }
    crosstable(&mut body, report);
    statistics(&mut body, report);
    faults(&mut body, report);
    html!(body, "<section id=\"games\"><h2>Games</h2><div id=\"game-table\"></div>");
    if let Some(file) = games {
        html!(body, "<p class=\"muted\">All games: <a href=\"", (file), "\">", (file), "</a></p>");
    }
    html!(body, "</section>\n</main>\n");
    replay_section(&mut body);
    for details in report.standings.iter().filter_map(|row| report.player(row.player)) {
        html!(
            body,
            "<main class=\"page\" id=\"player-",
            (details.player),
            "\" hidden><p class=\"topline\">\
             <a class=\"button\" href=\"#\" data-back>← Back</a></p>\n"
        );
        body.append(&player::section(report, details, false));
        html!(body, "</main>\n");
    }
    page(&report.tournament.name, &body, &ViewerData::new(report, None))
}

/// Adds the place where a game is replayed.
pub(super) fn replay_section(out: &mut Html) {
    html!(
        out,
        "<main id=\"replay\" hidden><p class=\"topline\">\
         <a class=\"button\" href=\"#\" data-back>← Back</a></p>\
         <div id=\"viewer\"></div></main>\n"
    );
}

fn masthead(out: &mut Html, report: &Report) {
    let info = &report.tournament;
    let state = match (info.state.as_str(), info.planned) {
        ("finished", _) | ("open", None) => counted(info.finished as u64, "game"),
        ("open", Some(planned)) => format!("{} of {planned} games so far", info.finished),
        (state, _) => format!("{}, {state}", counted(info.finished as u64, "game")),
    };
    html!(
        out,
        "<header class=\"masthead\"><h1>",
        (info.name),
        "</h1><p class=\"muted\">",
        (info.game_name),
        ", ",
        (info.schedule.replace('-', " ")),
        ", ",
        (state)
    );
    if let (Some(started), Some(ended)) = (info.started, info.ended) {
        html!(out, " · ", (date(started)));
        if date(started) != date(ended) {
            html!(out, " to ", (date(ended)));
        }
    }
    html!(
        out,
        "</p><nav class=\"contents\" aria-label=\"Contents\"><a href=\"#standings\">Standings</a>"
    );
    if report.bracket.is_some() {
        html!(out, "<a href=\"#bracket\">Bracket</a>");
    }
    html!(
        out,
        "<a href=\"#crosstable\">Crosstable</a><a href=\"#statistics\">Statistics</a>\
         <a href=\"#faults\">Faults</a>\
         <a href=\"#games\">Games</a></nav>"
    );
    html!(
        out,
        "<dl class=\"facts-row\"><div class=\"card\"><dt>Players</dt><dd>",
        (info.players),
        "</dd></div><div class=\"card\"><dt>Games</dt><dd>",
        (info.finished),
        "</dd></div><div class=\"card\"><dt>Rounds</dt><dd>",
        (info.rounds),
        "</dd></div><div class=\"card\"><dt>Time</dt><dd>",
        (info.time),
        "</dd></div><div class=\"card\"><dt>Draws</dt><dd>",
        (report.colours.draws),
        "</dd></div><div class=\"card\"><dt>Forfeits</dt><dd>",
        (info.forfeits),
        "</dd></div></dl></header>\n"
    );
}

fn standings(out: &mut Html, report: &Report) {
    let has_scores = report.standings.iter().any(|row| row.scores != [0, 0]);
    let has_forfeits = report.standings.iter().any(|row| !row.forfeits.is_empty());
    let tie_breaks: Vec<usize> = (0..report.tie_breaks.len())
        .filter(|&index| {
            // Wins and scores have columns of their own.
            !matches!(report.tie_breaks[index].code, "wins" | "score-differential")
                && report.standings.iter().any(|row| row.tie_breaks[index].is_some())
        })
        .collect();
    let sides = &report.tournament.sides;
    html!(
        out,
        "<section id=\"standings\"><h2>Standings</h2><div class=\"scroll\"><table class=\"list\">\
         <thead><tr>\
         <th scope=\"col\" class=\"n\">Rank</th><th scope=\"col\">Player</th>\
         <th scope=\"col\" class=\"n\">Points</th>\
         <th scope=\"col\" class=\"n wide-only\">Games</th><th scope=\"col\" class=\"n\">Won</th>\
         <th scope=\"col\" class=\"n\">Drawn</th>\
         <th scope=\"col\" class=\"n\">Lost</th>"
    );
    for side in sides {
        html!(out, "<th scope=\"col\" class=\"n wide-only\">As ", (side), "</th>");
    }
    if has_scores {
        html!(out, "<th scope=\"col\" class=\"n wide-only\">Score</th>");
    }
    for &index in &tie_breaks {
        html!(
            out,
            "<th scope=\"col\" class=\"n\">",
            (capitalised(report.tie_breaks[index].title)),
            "</th>"
        );
    }
    if has_forfeits {
        html!(out, "<th scope=\"col\" class=\"n\">Forfeits</th>");
    }
    if report.ratings.is_some() {
        html!(out, "<th scope=\"col\" class=\"n\">Rating</th>");
    }
    html!(out, "</tr></thead><tbody>\n");
    for (index, row) in report.standings.iter().enumerate() {
        let is_shared = index > 0 && report.standings[index - 1].rank == row.rank;
        out.raw(if row.rank <= 3 { "<tr class=\"medal\">" } else { "<tr>" });
        html!(out, "<td class=\"n\">");
        if is_shared {
            html!(out, "<span class=\"visually-hidden\">", (row.rank), "</span>");
        } else {
            html!(out, (row.rank));
        }
        let [wins, draws, losses] = row.results;
        html!(
            out,
            "</td><th scope=\"row\" class=\"name\"><a href=\"#player-",
            (row.player),
            "\">",
            (report.name(row.player)),
            "</a></th><td class=\"n\"><b>",
            (row.points),
            "</b></td><td class=\"n wide-only\">",
            (row.games),
            "</td><td class=\"n\">",
            (wins),
            "</td><td class=\"n\">",
            (draws),
            "</td><td class=\"n\">",
            (losses),
            "</td>"
        );
        for [wins, draws, losses] in row.by_colour {
            html!(
                out,
                "<td class=\"n wide-only\">",
                (format!("+{wins} ={draws} −{losses}")),
                "</td>"
            );
        }
        if has_scores {
            let [own, other] = row.scores;
            html!(out, "<td class=\"n wide-only\">", (own), ":", (other), "</td>");
        }
        for &index in &tie_breaks {
            html!(
                out,
                "<td class=\"n\">",
                (row.tie_breaks[index].map(points).unwrap_or_default()),
                "</td>"
            );
        }
        if has_forfeits {
            html!(out, "<td class=\"n\">", (forfeits(row)), "</td>");
        }
        if report.ratings.is_some() {
            let rating = report.player(row.player).and_then(|player| player.rating);
            html!(out, "<td class=\"n\">");
            if let Some([elo, error]) = rating {
                html!(out, (signed(elo, 0)), "<span class=\"wide-only\"> ± ", (error), "</span>");
            }
            html!(out, "</td>");
        }
        html!(out, "</tr>\n");
    }
    html!(out, "</tbody></table></div>\n");
    ranking_notes(out, report);
    html!(out, "</section>\n");
}

fn forfeits(row: &StandingsRow) -> String {
    match row.forfeits.values().sum::<u32>() {
        0 => String::new(),
        count => count.to_string(),
    }
}

/// Explains how players were ranked, and every rank that a tie-break decided.
fn ranking_notes(out: &mut Html, report: &Report) {
    html!(out, "<h3>How ranks are decided</h3>");
    if report.by_progress {
        let text = match report.bracket {
            Some(_) => "Players are ranked by the round they reached.",
            None => "Players are ranked by their place on the ladder.",
        };
        html!(out, "<p>", (text), "</p>");
    } else {
        html!(
            out,
            "<p>Players are ranked by points. Ties are broken by, in this order:</p>\
             <ol class=\"notes\">"
        );
        for tie_break in &report.tie_breaks {
            html!(out, "<li><b>", (capitalised(tie_break.title)), "</b>: ", (tie_break.meaning));
            match tie_break.decisions {
                0 => {
                    html!(out, " <span class=\"muted\">(decided no rank)</span>");
                }
                count => {
                    html!(
                        out,
                        " <span class=\"muted\">(decided ",
                        (counted(count as u64, "rank")),
                        ")</span>"
                    );
                }
            }
            html!(out, "</li>");
        }
        html!(out, "</ol>");
    }
    if !report.notes.is_empty() {
        html!(out, "<ul class=\"notes\">");
        for note in &report.notes {
            html!(out, "<li>", (note), "</li>");
        }
        html!(out, "</ul>");
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn crosstable(out: &mut Html, report: &Report) {
    let games = |cell: &CrosstableCell| cell.games.chars().filter(|c| *c != '*').count();
    let mut cells = report.crosstable.iter().flatten().flatten();
    html!(
        out,
        "<section id=\"crosstable\"><h2>Crosstable</h2>\
         <p class=\"muted\">+ won, = drawn, − lost, * forfeit",
        (if cells.any(|cell| games(cell) > MAX_CELL_GAMES) {
            "; 5/8: a score of 5 in 8 games"
        } else {
            ""
        }),
        ". Cells link to their games.</p><div class=\"scroll\"><table class=\"crosstable\"><thead>\
         <tr><td></td>"
    );
    for number in 1..=report.standings.len() {
        html!(out, "<th scope=\"col\">", (number), "</th>");
    }
    html!(out, "<th scope=\"col\">Points</th></tr></thead><tbody>\n");
    for (index, (row, cells)) in report.standings.iter().zip(&report.crosstable).enumerate() {
        html!(out, "<tr><th scope=\"row\">", (index + 1), ". ", (report.name(row.player)), "</th>");
        for (opponent, cell) in report.standings.iter().zip(cells) {
            match cell {
                _ if opponent.player == row.player => out.raw("<td class=\"self\"></td>"),
                None => out.raw("<td></td>"),
                Some(cell) => {
                    let text = match games(cell) {
                        0..=MAX_CELL_GAMES => cell.games.replace('-', "−"),
                        count => format!("{}/{count}", points(cell.score * count as f64)),
                    };
                    html!(
                        out,
                        "<td class=\"s",
                        ((cell.score * 4.0).round()),
                        "\"><a href=\"#pair-",
                        (row.player),
                        "-",
                        (opponent.player),
                        "\">",
                        (text),
                        "</a></td>"
                    );
                }
            }
        }
        html!(out, "<td><b>", (row.points), "</b></td></tr>\n");
    }
    html!(out, "</tbody></table></div></section>\n");
}

fn bracket(out: &mut Html, report: &Report, rounds: &[BracketRound]) {
    html!(
        out,
        "<section id=\"bracket\"><h2>Bracket</h2><div class=\"scroll\"><div class=\"bracket\">\n"
    );
    for round in rounds {
        html!(out, "<div class=\"round\"><h3>", (capitalised(&round.title)), "</h3><ol>");
        for pairing in &round.pairings {
            html!(out, "<li><div class=\"card\">");
            bracket_pairing(out, report, pairing);
            html!(out, "</div></li>");
        }
        html!(out, "</ol></div>\n");
    }
    html!(out, "</div></div></section>\n");
}

fn bracket_pairing(out: &mut Html, report: &Report, pairing: &BracketPairing) {
    for (place, player) in pairing.players.iter().enumerate() {
        let Some(player) = player else {
            html!(out, "<small class=\"muted\">bye</small>");
            continue;
        };
        out.raw(if pairing.winner == Some(place) { "<p class=\"through\">" } else { "<p>" });
        html!(
            out,
            "<a class=\"name\" href=\"#player-",
            (player),
            "\">",
            (report.name(*player)),
            "</a>"
        );
        if !pairing.games.is_empty() {
            html!(out, " <span>", (points(pairing.points[place])));
            if pairing.winner == Some(place) {
                html!(out, "<span class=\"visually-hidden\">, won</span>");
            }
            html!(out, "</span>");
        }
        html!(out, "</p>");
    }
    if let [Some(first), Some(second)] = pairing.players {
        html!(
            out,
            "<small><a href=\"#pair-",
            (first),
            "-",
            (second),
            "\">",
            (counted(pairing.games.len() as u64, "game")),
            "</a>"
        );
        if pairing.by_seed {
            html!(out, ", tied: the better seed advanced");
        }
        html!(out, "</small>");
    }
}

fn statistics(out: &mut Html, report: &Report) {
    html!(out, "<section id=\"statistics\"><h2>Statistics</h2>");
    if report.games.is_empty() {
        html!(out, "<p class=\"muted\">No game is finished.</p></section>\n");
        return;
    }
    html!(out, "<div class=\"charts\">\n");
    if let Some(ratings) = &report.ratings {
        charts::ratings(out, report, ratings);
    }
    charts::time_use(out, report);
    if let Some(progress) = &report.progress {
        charts::progress(out, report, progress);
    }
    charts::accuracy(out, report);
    charts::colours(out, report);
    charts::lengths(out, &report.lengths);
    charts::endings(out, report);
    if report.openings.len() > 1 {
        charts::openings(out, report);
    }
    html!(out, "</div></section>\n");
}

fn faults(out: &mut Html, report: &Report) {
    html!(out, "<section id=\"faults\"><h2>Faults</h2>");
    if report.faults.is_empty() {
        html!(out, "<p class=\"muted\">None.</p></section>\n");
        return;
    }
    html!(
        out,
        "<div class=\"scroll\"><table class=\"list\"><thead><tr><th scope=\"col\">Player</th>\
         <th scope=\"col\">Fault</th>\
         <th scope=\"col\" class=\"n\">On record</th></tr></thead><tbody>\n"
    );
    for player in report.standings.iter().filter_map(|row| report.player(row.player)) {
        for group in &player.faults {
            html!(
                out,
                "<tr><td class=\"name\"><a href=\"#player-",
                (player.player),
                "\">",
                (report.name(player.player)),
                "</a></td><td>",
                (group.code),
                "</td><td class=\"n\">",
                (group.count),
                "</td></tr>\n"
            );
        }
    }
    html!(
        out,
        "</tbody></table></div><p class=\"muted\">The journal has the first faults of each \
         game.</p><details><summary>What happened</summary><div class=\"scroll\"><table \
         class=\"list\"><thead><tr><th scope=\"col\">Player</th><th scope=\"col\" \
         class=\"n\">Game</th><th scope=\"col\">Fault</th></tr></thead><tbody>\n"
    );
    for fault in report.faults.iter().take(MAX_FAULTS) {
        html!(
            out,
            "<tr><td class=\"name\"><a href=\"#player-",
            (fault.player),
            "\">",
            (report.name(fault.player)),
            "</a></td><td class=\"n\"><a href=\"#game-",
            (fault.game),
            ".",
            (fault.ply),
            "\">",
            (fault.game),
            "</a></td><td>",
            (fault.summary),
            "</td></tr>\n"
        );
    }
    html!(out, "</tbody></table></div></details>");
    let more = report.faults.len().saturating_sub(MAX_FAULTS);
    if more > 0 {
        html!(out, "<p class=\"muted\">", (more), " more are on the pages of the players.</p>");
    }
    html!(out, "</section>\n");
}
