//! Standings as JSON.

use crownhead_statistics::Wdl;
use crownhead_tournament::standings::{Standings, StandingsRow};
use serde_json::{Map, Value, json};

use super::text;

/// Returns the rows by rank, with names instead of player indices.
pub fn rows(standings: &Standings, names: &[String]) -> Value {
    let wdl = |wdl: &Wdl| json!({ "wins": wdl.wins, "draws": wdl.draws, "losses": wdl.losses });
    let row = |row: &StandingsRow| {
        let tie_breaks = standings.tie_breaks.iter().zip(&row.values);
        let tie_breaks = tie_breaks.filter_map(|(tie_break, value)| {
            Some((tie_break.code().to_string(), json!((*value)?.to_f64())))
        });
        let results = standings.results[row.player].iter();
        let against = results.map(|(opponent, games)| {
            let letters = games.iter().map(|&(result, _)| text::letter(result));
            (names[*opponent].clone(), json!(letters.collect::<String>()))
        });
        let decided_by = row.decided_by.map(|decision| standings.tie_breaks[decision.tie_break]);
        let mut decisions = standings.seed_decisions.iter();
        let eliminated = decisions.find(|decision| decision.loser == row.player);
        json!({
            "rank": row.rank,
            "player": names[row.player],
            "points": row.points,
            "games": row.all.games(),
            "wins": row.all.wins,
            "draws": row.all.draws,
            "losses": row.all.losses,
            "first": wdl(&row.by_colour[0]),
            "second": wdl(&row.by_colour[1]),
            "score": row.scores[0],
            "opponents_score": row.scores[1],
            "forfeits": row.forfeits,
            "forfeit_wins": row.forfeit_wins,
            "faults": row.faults,
            "byes": row.byes,
            "tie_breaks": tie_breaks.collect::<Map<_, _>>(),
            "decided_by": decided_by.map(|tie_break| tie_break.code()),
            "eliminated_by_seed": eliminated.map(|decision| {
                json!({ "round": decision.round, "winner": names[decision.winner] })
            }),
            "against": against.collect::<Map<_, _>>(),
        })
    };
    standings.rows.iter().map(row).collect()
}
