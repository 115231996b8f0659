//! Ratings as text and JSON.

use crownhead_statistics::ratings::{Estimated, RatedGame, Ratings};
use serde_json::{Value, json};

use crate::standings::text::columns;

/// Games and points of each player.
fn scores(players: usize, games: &[RatedGame]) -> Vec<(u32, f64)> {
    let mut scores = vec![(0, 0.0); players];
    for (players, winner) in games {
        for (side, &player) in players.iter().enumerate() {
            scores[player].0 += 1;
            scores[player].1 += winner.map_or(0.5, |winner| f64::from(winner == side));
        }
    }
    scores
}

/// Formats ratings, strongest player first. LOS is that over the next player.
pub fn ratings_text(ratings: &Ratings, names: &[String], games: &[RatedGame]) -> String {
    let header = ["", "player", "Elo", "±", "games", "score", "LOS"];
    let mut rows = vec![header.map(String::from).to_vec()];
    let scores = scores(names.len(), games);
    let order: Vec<_> = ratings.order().into_iter().filter(|&p| scores[p].0 > 0).collect();
    for (place, &player) in order.iter().enumerate() {
        let Estimated { value, error } = ratings.players[player];
        let (count, points) = scores[player];
        let next = order.get(place + 1);
        rows.push(vec![
            (place + 1).to_string(),
            names[player].clone(),
            format!("{:.0}", value + 0.0),
            format!("{error:.0}"),
            count.to_string(),
            format!("{:.1} %", 100.0 * points / f64::from(count.max(1))),
            next.map_or(String::new(), |&next| {
                format!("{:.0} %", 100.0 * ratings.los(player, next))
            }),
        ]);
    }
    let Estimated { value, error } = ratings.first_move;
    let mut text = columns(&rows, &[1]);
    text.push_str(&format!(
        "\nfirst move {value:+.0} ± {error:.0} Elo; draws between equal players {:.0} %\n",
        100.0 * ratings.draw_rate
    ));
    if ratings.prior > 0.0 {
        let games = if ratings.prior == 1.0 { "game" } else { "games" };
        text.push_str(&format!(
            "{} virtual {games} per player against an average one\n",
            ratings.prior
        ));
    }
    text
}

/// Formats the likelihood of superiority of every player over every other one, in per cent.
pub fn los_table(ratings: &Ratings, names: &[String]) -> String {
    let order = ratings.order();
    let mut header = vec!["LOS in %".to_string()];
    header.extend((1..=order.len()).map(|place| place.to_string()));
    let mut rows = vec![header];
    for (&player, place) in order.iter().zip(1..) {
        let mut row = vec![format!("{place}  {}", names[player])];
        row.extend(order.iter().map(|&other| match other == player {
            true => "·".into(),
            false => format!("{:.0}", 100.0 * ratings.los(player, other)),
        }));
        rows.push(row);
    }
    columns(&rows, &[0])
}

/// Returns ratings as JSON, strongest player first, with the LOS over every other player.
pub fn ratings_json(ratings: &Ratings, names: &[String], games: &[RatedGame]) -> Value {
    let order = ratings.order();
    let scores = scores(names.len(), games);
    let player = |&player: &usize| {
        let Estimated { value, error } = ratings.players[player];
        let others = order.iter().filter(|&&other| other != player);
        let los: serde_json::Map<_, _> = others
            .map(|&other| (names[other].clone(), json!(ratings.los(player, other))))
            .collect();
        let (count, points) = scores[player];
        json!({
            "player": names[player],
            "elo": value,
            "error": error,
            "games": count,
            "points": points,
            "los": los,
        })
    };
    json!({
        "ratings": order.iter().map(player).collect::<Value>(),
        "first_move": { "elo": ratings.first_move.value, "error": ratings.first_move.error },
        "draw_rate": ratings.draw_rate,
        "prior": ratings.prior,
    })
}
