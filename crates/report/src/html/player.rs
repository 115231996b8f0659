//! The page of one player.

use crownhead_play::counted;

use super::markup::{Html, html};
use super::viewer::ViewerData;
use super::{charts, page, points, seconds, signed};
use crate::data::{FaultGroup, PlayerReport, Report};

/// Maximum number of games listed in which a costly move was repeated.
const MAX_SAME_DROPS: usize = 3;

/// Formats the page of one player as a file of its own. It contains the player's own games and log
/// lines; about others it has names and results only. `None` if the player is not ranked.
pub fn player_page(report: &Report, player: usize) -> Option<String> {
    let details = report.player(player)?;
    let mut body = Html::default();
    html!(body, "<main id=\"report\">\n");
    body.append(&section(report, details, true));
    html!(
        body,
        "<section id=\"games\"><h2>Your games</h2><div id=\"game-table\"></div>\
         </section>\n</main>\n"
    );
    super::report::replay_section(&mut body);
    let mut data = ViewerData::new(report, Some(player));
    data.keep_players_of_games();
    let title = format!("{} – {}", report.name(player), report.tournament.name);
    Some(page(&title, &body, &data))
}

/// Returns the facts about a player, with what the bot printed if they are for the player alone.
pub(super) fn section(report: &Report, player: &PlayerReport, is_private: bool) -> Html {
    let mut out = Html::default();
    html!(
        out,
        "<header class=\"masthead\"><h1>",
        (report.name(player.player)),
        "</h1><p class=\"muted\">",
        (report.tournament.name),
        " · ",
        (report.tournament.game_name),
        "</p></header>\n"
    );
    facts(&mut out, report, player);
    html!(out, "<section><h2>Three things to try next</h2><ol class=\"try\">");
    for suggestion in &player.suggestions {
        html!(out, "<li class=\"card\">");
        out.prose(suggestion);
        html!(out, "</li>");
    }
    html!(out, "</ol></section>\n");
    drops(&mut out, report, player);
    results(&mut out, report, player);
    html!(out, "<div class=\"columns\">");
    comparison(&mut out, player);
    slowest(&mut out, report, player);
    html!(out, "</div>\n");
    faults(&mut out, report, player, is_private);
    out
}

fn facts(out: &mut Html, report: &Report, player: &PlayerReport) {
    let [wins, draws, losses] = player.results;
    let games = wins + draws + losses;
    html!(
        out,
        "<dl class=\"facts-row\"><div class=\"card\"><dt>Rank</dt><dd>",
        (player.rank),
        " <small>of ",
        (report.standings.len()),
        "</small></dd></div><div class=\"card\"><dt>Points</dt><dd>",
        (player.points),
        " <small>in ",
        (counted(games.into(), "game")),
        "</small></dd></div><div class=\"card\"><dt>Won, drawn, lost</dt><dd>",
        (wins),
        " · ",
        (draws),
        " · ",
        (losses),
        "</dd></div>"
    );
    if let Some([elo, error]) = player.rating {
        html!(
            out,
            "<div class=\"card\"><dt>Rating</dt><dd>",
            (signed(elo, 0)),
            " <small>± ",
            (format!("{error:.0}")),
            "</small></dd></div>"
        );
    }
    if games > 0 {
        html!(
            out,
            "<div class=\"card\"><dt>Score</dt><dd>",
            (format!("{:.0} %", 100.0 * player.achieved / f64::from(games))),
            " <small>",
            (points(player.achieved)),
            " of ",
            (games),
            "</small></dd></div>"
        );
    }
    if let Some(accuracy) = player.quality.and_then(|quality| quality.accuracy) {
        html!(
            out,
            "<div class=\"card\"><dt>Accuracy</dt><dd>",
            (format!("{:.1} %", 100.0 * accuracy)),
            "</dd></div>"
        );
    }
    html!(out, "</dl>\n");
}

/// Number of the move that is played after `ply` plies, as the viewer counts.
fn move_number(report: &Report, game: i64, ply: usize) -> usize {
    let replay = report.game(game).and_then(|game| game.replay.as_ref());
    (ply + replay.map_or(0, |replay| replay.side)) / 2 + 1
}

/// Name of the side that a player had in a game.
fn side_name<'a>(report: &'a Report, player: &PlayerReport, game: i64) -> &'a str {
    let side = report.game(game).and_then(|game| game.side_of(player.player));
    side.map_or("", |side| &report.tournament.sides[side])
}

fn drops(out: &mut Html, report: &Report, player: &PlayerReport) {
    html!(out, "<section><h2>Costliest moves</h2>");
    match (&player.quality, player.drops.as_slice()) {
        (None, _) => {
            html!(
                out,
                "<p class=\"muted\">The games were not analysed. <code>crownhead tournament report \
                 --analyse</code> finds the moves that cost most.</p>"
            );
        }
        (Some(quality), []) => {
            html!(
                out,
                "<p>No inaccuracy, mistake or blunder in ",
                (counted(quality.games as u64, "analysed game")),
                ".</p>"
            );
        }
        (Some(_), drops) => {
            html!(out, "<ol class=\"drops\">");
            for drop in drops {
                html!(
                    out,
                    "<li class=\"card\"><div class=\"position\" data-position=\"game-",
                    (drop.game),
                    ".",
                    (drop.ply),
                    "\"></div><p><b>Game ",
                    (drop.game),
                    ", move ",
                    (move_number(report, drop.game, drop.ply)),
                    "</b> <span class=\"muted\">as ",
                    (side_name(report, player, drop.game)),
                    " against ",
                    (report.name(drop.opponent)),
                    "</span></p><p>",
                    (drop.sentence)
                );
                same_drops(out, &drop.also_in);
                html!(
                    out,
                    "</p><a class=\"button\" href=\"#game-",
                    (drop.game),
                    ".",
                    (drop.ply + 1),
                    "\">Replay</a></li>"
                );
            }
            html!(out, "</ol>");
        }
    }
    html!(out, "</section>\n");
}

/// Lists the other games with the same move in the same position.
fn same_drops(out: &mut Html, also_in: &[(i64, usize)]) {
    for (index, (game, ply)) in also_in.iter().take(MAX_SAME_DROPS).enumerate() {
        out.raw(if index == 0 { " The same in game " } else { ", " });
        html!(out, "<a href=\"#game-", (game), ".", (ply + 1), "\">", (game), "</a>");
    }
    let more = also_in.len().saturating_sub(MAX_SAME_DROPS);
    if more > 0 {
        html!(out, " and ", (counted(more as u64, "more game")));
    }
    out.raw(if also_in.is_empty() { "" } else { "." });
}

fn results(out: &mut Html, report: &Report, player: &PlayerReport) {
    html!(
        out,
        "<section><h2>Results</h2><div class=\"columns\"><div class=\"scroll\">\
         <table class=\"list\"><thead><tr>\
         <th scope=\"col\">Opponent</th><th scope=\"col\">Games</th>\
         <th scope=\"col\" class=\"n\">Score</th>\
         <th scope=\"col\" class=\"n\">Expected</th><th scope=\"col\" class=\"n\">Difference</th>\
         </tr></thead><tbody>\n"
    );
    for score in &player.opponents {
        html!(out, "<tr><td class=\"name\">", (report.name(score.opponent)), "</td><td>");
        for (number, letter) in &score.games {
            let word = match letter {
                '+' => "won",
                '-' => "lost",
                _ => "drawn",
            };
            html!(
                out,
                "<a href=\"#game-",
                (number),
                "\" title=\"",
                (word),
                "\">",
                (if *letter == '-' { '−' } else { *letter }),
                "</a> "
            );
        }
        html!(out, "</td><td class=\"n\">", (points(score.achieved)), "</td>");
        match score.expected {
            Some(expected) => {
                let difference = score.achieved - expected;
                html!(
                    out,
                    "<td class=\"n\">",
                    (format!("{expected:.2}")),
                    "</td><td class=\"n ",
                    (if difference < 0.0 { "minus" } else { "plus" }),
                    "\">",
                    (signed(difference, 2)),
                    "</td>"
                );
            }
            None => {
                html!(out, "<td></td><td></td>");
            }
        }
        html!(out, "</tr>\n");
    }
    html!(out, "</tbody></table>");
    if player.expected.is_some() {
        html!(
            out,
            "<p class=\"muted\">The expected score follows from the ratings of these same games, \
             so the differences add up to about zero. They show against whom you did better or \
             worse than on average.</p>"
        );
    }
    html!(out, "</div>");
    charts::expected(out, report, player);
    html!(out, "</div></section>\n");
}

fn comparison(out: &mut Html, player: &PlayerReport) {
    let mut rows: Vec<[String; 3]> = Vec::new();
    if let Some(time) = player.time {
        rows.push(["Mean time per move".into(), seconds(time.mean), seconds(time.class_mean)]);
        rows.push(["Median time per move".into(), seconds(time.median as f64), String::new()]);
        rows.push(["Slowest move".into(), seconds(time.max as f64), String::new()]);
    }
    if let Some([depth, class]) = player.depth {
        rows.push(["Mean search depth".into(), format!("{depth:.1}"), format!("{class:.1}")]);
    }
    if let Some(quality) = player.quality {
        let percent = |value: Option<f64>| {
            value.map_or(String::new(), |value| format!("{:.1} %", 100.0 * value))
        };
        rows.push(["Accuracy".into(), percent(quality.accuracy), percent(quality.class_accuracy)]);
        let names = ["Inaccuracies per game", "Mistakes per game", "Blunders per game"];
        for (kind, name) in names.into_iter().enumerate() {
            let own = quality.judgements[kind] as f64 / quality.games.max(1) as f64;
            let class = quality.class_judgements[kind];
            rows.push([name.into(), format!("{own:.1}"), format!("{class:.1}")]);
        }
        rows.push([
            "Winning positions not won".into(),
            quality.missed_wins.to_string(),
            String::new(),
        ]);
    }
    if rows.is_empty() {
        return;
    }
    html!(
        out,
        "<section><h2>Compared with the class</h2><div class=\"scroll\"><table class=\"list\">\
         <thead><tr><td></td>\
         <th scope=\"col\" class=\"n\">You</th><th scope=\"col\" class=\"n\">Class</th></tr>\
         </thead><tbody>\n"
    );
    for [name, own, class] in rows {
        html!(
            out,
            "<tr><th scope=\"row\">",
            (name),
            "</th><td class=\"n\">",
            (own),
            "</td><td class=\"n\">",
            (class),
            "</td></tr>\n"
        );
    }
    html!(out, "</tbody></table></div></section>\n");
}

fn slowest(out: &mut Html, report: &Report, player: &PlayerReport) {
    if player.slowest.is_empty() {
        return;
    }
    html!(
        out,
        "<section><h2>Slowest moves</h2><div class=\"scroll\"><table class=\"list\"><thead><tr>\
         <th scope=\"col\" class=\"n\">Game</th><th scope=\"col\">Opponent</th>\
         <th scope=\"col\">Move</th>\
         <th scope=\"col\" class=\"n\">Time</th></tr></thead><tbody>\n"
    );
    for slow in &player.slowest {
        html!(
            out,
            "<tr><td class=\"n\"><a href=\"#game-",
            (slow.game),
            ".",
            (slow.ply),
            "\">",
            (slow.game),
            "</a></td><td>",
            (report.name(slow.opponent)),
            "</td><td>",
            (slow.played),
            "</td><td class=\"n\">",
            (seconds(slow.milliseconds as f64)),
            "</td></tr>\n"
        );
    }
    html!(out, "</tbody></table></div></section>\n");
}

fn faults(out: &mut Html, report: &Report, player: &PlayerReport, is_private: bool) {
    html!(out, "<section><h2>Faults</h2>");
    if player.faults.is_empty() {
        html!(out, "<p class=\"muted\">None.</p>");
    }
    for group in &player.faults {
        fault_group(out, group, is_private);
    }
    let recorded: usize = player.faults.iter().map(|group| group.count).sum();
    let row = report.standings.iter().find(|row| row.player == player.player);
    let all = row.map_or(0, |row| row.faults as usize);
    if all > recorded {
        html!(
            out,
            "<p class=\"muted\">",
            (counted(all as u64, "fault")),
            " in all; the journal has the first ones of each game.</p>"
        );
    }
    html!(out, "</section>\n");
}

fn fault_group(out: &mut Html, group: &FaultGroup, is_private: bool) {
    html!(out, "<div class=\"card fault\"><h3>", (group.code), " × ", (group.count), "</h3>");
    if !group.advice.is_empty() {
        html!(out, "<p class=\"advice\">");
        out.prose(&group.advice);
        html!(out, "</p>");
    }
    html!(out, "<ul>");
    for fault in &group.occurrences {
        html!(
            out,
            "<li><a href=\"#game-",
            (fault.game),
            ".",
            (fault.ply),
            "\">Game ",
            (fault.game),
            "</a>: ",
            (if is_private { &fault.description } else { &fault.summary })
        );
        if is_private && !fault.log.is_empty() {
            html!(out, "<pre class=\"log\">", (fault.log.join("\n")), "</pre>");
        }
        html!(out, "</li>");
    }
    html!(out, "</ul>");
    let more = group.count.saturating_sub(group.occurrences.len());
    if more > 0 {
        html!(out, "<p class=\"muted\">and ", (more), " more</p>");
    }
    html!(out, "</div>\n");
}
