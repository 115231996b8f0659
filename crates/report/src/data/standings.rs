//! Standings, crosstable and ratings.

use std::collections::BTreeMap;

use crownhead_statistics::Wdl;
use crownhead_statistics::ratings::Ratings;
use crownhead_tournament::standings::{GameResults, Standings, TieBreak};
use serde::Serialize;

use super::round_to;
use crate::standings::text;

/// A row of the standings.
#[derive(Debug, Serialize)]
pub struct StandingsRow {
    /// Rank; tied players share it.
    pub rank: usize,
    /// The player.
    pub player: usize,
    /// Points of all games and byes.
    pub points: i64,
    /// Number of games.
    pub games: u32,
    /// Games won, drawn and lost.
    pub results: [u32; 3],
    /// The same for games in which the player moved first, and second.
    pub by_colour: [[u32; 3]; 2],
    /// Total score of the games themselves: its own and its opponents'.
    pub scores: [i64; 2],
    /// Games lost by a fault, by code.
    pub forfeits: BTreeMap<String, u32>,
    /// Number of faults.
    pub faults: u32,
    /// Rounds without an opponent.
    pub byes: u32,
    /// Value of each tie-break, where it was needed.
    pub tie_breaks: Vec<Option<f64>>,
}

/// A tie-break and what it means.
#[derive(Debug, Serialize)]
pub struct TieBreakInfo {
    /// Name in tournament files.
    pub code: &'static str,
    /// Name in sentences.
    pub title: &'static str,
    /// Definition.
    pub meaning: &'static str,
    /// Number of players ranked by it.
    pub decisions: usize,
}

/// Results against one opponent.
#[derive(Debug, Serialize)]
pub struct CrosstableCell {
    /// `+`, `=` or `-` for each game, with `*` after a forfeit.
    pub games: String,
    /// Points per game, 0 to 1.
    pub score: f64,
}

/// Ratings of all players.
#[derive(Debug, Serialize)]
pub struct RatingTable {
    /// Players from the strongest to the weakest.
    pub rows: Vec<RatingRow>,
    /// Advantage of moving first, in Elo, and half the width of its 95 % confidence interval.
    pub first_move: [f64; 2],
    /// Probability of a draw between equal players.
    pub draw_rate: f64,
    /// Virtual games per player that were added to get finite ratings.
    pub prior: f64,
}

/// Rating of a player.
#[derive(Debug, Serialize)]
pub struct RatingRow {
    /// The player.
    pub player: usize,
    /// Elo; the average player has 0.
    pub elo: f64,
    /// Half the width of the 95 % confidence interval.
    pub error: f64,
    /// Likelihood of superiority over the next player.
    pub los: Option<f64>,
}

fn counts(wdl: &Wdl) -> [u32; 3] {
    [wdl.wins, wdl.draws, wdl.losses]
}

/// Returns the rows by rank.
pub(super) fn rows(standings: &Standings) -> Vec<StandingsRow> {
    let rows = standings.rows.iter().map(|row| StandingsRow {
        rank: row.rank,
        player: row.player,
        points: row.points,
        games: row.all.games(),
        results: counts(&row.all),
        by_colour: [counts(&row.by_colour[0]), counts(&row.by_colour[1])],
        scores: row.scores,
        forfeits: row.forfeits.clone(),
        faults: row.faults,
        byes: row.byes,
        tie_breaks: (0..standings.tie_breaks.len())
            .map(|index| Some(row.values.get(index).copied()??.to_f64()))
            .collect(),
    });
    rows.collect()
}

/// Returns the tie-breaks with their meaning.
pub(super) fn tie_breaks(standings: &Standings) -> Vec<TieBreakInfo> {
    let decided = |index: usize| {
        let by = |row: &&crownhead_tournament::standings::StandingsRow| {
            row.decided_by.is_some_and(|decision| decision.tie_break == index)
        };
        standings.rows.iter().filter(by).count()
    };
    let info = |(index, tie_break): (usize, &TieBreak)| TieBreakInfo {
        code: tie_break.code(),
        title: tie_break.title(),
        meaning: tie_break.meaning(),
        decisions: decided(index),
    };
    standings.tie_breaks.iter().enumerate().map(info).collect()
}

/// Returns the notes below the standings.
pub(super) fn notes(standings: &Standings, names: &[String]) -> Vec<String> {
    let notes = text::notes(standings, names);
    notes.lines().map(crownhead_play::to_sentence).collect()
}

/// Returns the crosstable in the order of the standings.
pub(super) fn crosstable(standings: &Standings) -> Vec<Vec<Option<CrosstableCell>>> {
    let cell = |games: &GameResults| {
        let points: f64 = games.iter().map(|&(result, _)| f64::from(result as u8) / 2.0).sum();
        CrosstableCell { games: text::symbols(games), score: points / games.len().max(1) as f64 }
    };
    let players = || standings.rows.iter().map(|row| row.player);
    let row = |player: usize| {
        let results = standings.results.get(player);
        players().map(|opponent| results?.get(&opponent).map(cell)).collect()
    };
    players().map(row).collect()
}

impl RatingTable {
    /// Lists the ranked players by rating.
    pub(super) fn new(ratings: &Ratings, standings: &Standings) -> RatingTable {
        let is_ranked = |player: &usize| standings.rows.iter().any(|row| row.player == *player);
        let order: Vec<usize> = ratings.order().into_iter().filter(is_ranked).collect();
        let row = |(index, &player): (usize, &usize)| {
            let rating = ratings.players[player];
            RatingRow {
                player,
                elo: round_to(rating.value, 1),
                error: round_to(rating.error, 1),
                los: order.get(index + 1).map(|&next| round_to(ratings.los(player, next), 3)),
            }
        };
        RatingTable {
            rows: order.iter().enumerate().map(row).collect(),
            first_move: [ratings.first_move.value, ratings.first_move.error]
                .map(|elo| round_to(elo, 1)),
            draw_rate: round_to(ratings.draw_rate, 3),
            prior: ratings.prior,
        }
    }
}
