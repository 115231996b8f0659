//! The table for machines.

use crate::statistics::Wdl;
use serde_json::{Value, json};

use super::Standings;

/// The rows as a list, in the order of ranks. Players are named.
pub fn rows(standings: &Standings, names: &[String]) -> Value {
    let tally =
        |tally: &Wdl| json!({ "wins": tally.wins, "draws": tally.draws, "losses": tally.losses });
    let row = |row: &super::StandingsRow| {
        let breaks = standings.tie_breaks.iter().zip(0..).filter_map(|(tie_break, at)| {
            let value = row.values.get(at).copied().flatten()?;
            Some((tie_break.code().to_string(), json!(value.halves() as f64 / 2.0)))
        });
        let against: serde_json::Map<String, Value> = standings.results[row.player]
            .iter()
            .map(|(other, games)| {
                let letters = games.iter().map(|&(result, _)| super::text::letter(result));
                (names[*other].clone(), json!(letters.collect::<String>()))
            })
            .collect();
        json!({
            "rank": row.rank,
            "player": names[row.player],
            "points": row.points,
            "games": row.all.games(),
            "wins": row.all.wins,
            "draws": row.all.draws,
            "losses": row.all.losses,
            "first": tally(&row.by_colour[0]),
            "second": tally(&row.by_colour[1]),
            "score": row.scores[0],
            "opponents_score": row.scores[1],
            "forfeits": row.forfeits,
            "forfeit_wins": row.forfeit_wins,
            "faults": row.faults,
            "byes": row.byes,
            "tie_breaks": breaks.collect::<serde_json::Map<_, _>>(),
            "behind_by": row.decided_by.map(|decision| standings.tie_breaks[decision.tie_break].code()),
            "out_by_seed": standings.seed_decisions.iter().find(|tie| tie.loser == row.player).map(|tie| {
                json!({ "round": tie.round, "winner": names[tie.winner] })
            }),
            "against": against,
        })
    };
    standings.rows.iter().map(row).collect()
}
