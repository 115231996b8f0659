//! Standings of a tournament: points, ranks and tie-breaks.
//!
//! Everything is computed from finished games and byes. [`tie_break`] defines the tie-breaks;
//! [`text`] and [`json`] format the standings.

pub mod json;
pub mod text;
mod tie_break;

use std::collections::BTreeMap;

use crownhead_statistics::{GamePoints, Wdl};

use crate::schedule::{PlayerIndex, SeedDecision};
use crate::{GameSummary, Points};
pub use tie_break::{TieBreak, TieBreakValue};

/// A player in the standings.
#[derive(Clone, PartialEq, Debug)]
pub struct StandingsRow {
    /// The player.
    pub player: PlayerIndex,
    /// Rank, from 1; tied players share it.
    pub rank: usize,
    /// Points of all games and byes.
    pub points: i64,
    /// All games.
    pub all: Wdl,
    /// Games in which it moved first, and games in which it moved second.
    pub by_colour: [Wdl; 2],
    /// Total score of the games themselves: its own and its opponents'.
    pub scores: [i64; 2],
    /// Games lost by a fault, by code of the fault.
    pub forfeits: BTreeMap<String, u32>,
    /// Games won by the opponent's fault.
    pub forfeit_wins: u32,
    /// Faults of any kind.
    pub faults: u32,
    /// Rounds without an opponent.
    pub byes: u32,
    /// Value of each tie-break; `None` where it was not needed.
    pub values: Vec<Option<TieBreakValue>>,
    /// Tie-break that ranked it below a player with equal points.
    pub decided_by: Option<TieBreakDecision>,
}

/// A tie-break that decided a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TieBreakDecision {
    /// Index of the tie-break.
    pub tie_break: usize,
    /// Values of the player above and of the player below.
    pub values: [TieBreakValue; 2],
    /// Number of players it was applied to, if it was applied again to a smaller group.
    pub among: Option<usize>,
}

/// Results against one opponent, in order, and whether each was a forfeit.
type GameResults = Vec<(GamePoints, bool)>;

/// A player within a group of equal points.
struct RankedPlayer {
    player: PlayerIndex,
    /// Whether it ranks below the player before it.
    has_new_rank: bool,
    decided_by: Option<TieBreakDecision>,
}

/// The standings.
#[derive(Clone, PartialEq, Debug)]
pub struct Standings {
    /// Players by rank.
    pub rows: Vec<StandingsRow>,
    /// Tie-breaks, in order.
    pub tie_breaks: Vec<TieBreak>,
    /// Results of each player, by index, against each opponent.
    pub results: Vec<BTreeMap<PlayerIndex, GameResults>>,
    /// Whether players are ranked by progress instead of points.
    pub by_progress: bool,
    /// Pairings decided by seed.
    pub seed_decisions: Vec<SeedDecision>,
}

/// Input for the standings.
pub struct StandingsInput<'a> {
    /// Players to rank.
    pub players: &'a [PlayerIndex],
    /// Finished games.
    pub games: &'a [([PlayerIndex; 2], &'a GameSummary)],
    /// Byes: the player, and the number of games missed.
    pub byes: &'a [(PlayerIndex, u32)],
    /// Points per result.
    pub points: Points,
    /// Tie-breaks, in order.
    pub tie_breaks: &'a [TieBreak],
    /// Progress of each player, in formats ranked by progress.
    pub progress: Option<&'a [i64]>,
    /// Pairings decided by seed.
    pub seed_decisions: Vec<SeedDecision>,
}

impl Standings {
    /// Computes the standings.
    pub fn compute(input: &StandingsInput<'_>) -> Standings {
        let players = input.players.iter().copied();
        let max = players.chain(input.games.iter().flat_map(|(players, _)| *players)).max();
        let size = max.map_or(0, |max| max + 1);
        let mut rows: Vec<StandingsRow> = (0..size).map(empty_row).collect();
        let mut results = vec![BTreeMap::<_, GameResults>::new(); size];
        for &(players, summary) in input.games {
            for (side, &player) in players.iter().enumerate() {
                let result = rows[player].add_game(side, summary, input.points);
                let is_forfeit = summary.forfeit.is_some();
                let opponent = players[1 - side];
                results[player].entry(opponent).or_default().push((result, is_forfeit));
            }
        }
        for &(player, games) in input.byes {
            if let Some(row) = rows.get_mut(player) {
                row.points += input.points.bye * i64::from(games);
                row.byes += 1;
            }
        }
        let mut standings = Standings {
            rows,
            tie_breaks: input.tie_breaks.to_vec(),
            results,
            by_progress: input.progress.is_some(),
            seed_decisions: input.seed_decisions.clone(),
        };
        standings.rank(input);
        standings
    }

    /// Sorts the rows and assigns ranks.
    fn rank(&mut self, input: &StandingsInput<'_>) {
        let points: Vec<i64> = self.rows.iter().map(|row| row.points).collect();
        let key = |player: usize| match input.progress {
            Some(progress) => progress.get(player).copied().unwrap_or(0),
            None => points[player],
        };
        let mut order: Vec<PlayerIndex> = input.players.to_vec();
        order.sort_by_key(|&player| (-key(player), player));
        let mut ranked: Vec<RankedPlayer> = Vec::new();
        let tie_breaks = if input.progress.is_some() { &[][..] } else { input.tie_breaks };
        for group in order.chunk_by(|a, b| key(*a) == key(*b)) {
            let start = ranked.len();
            self.break_ties(group.to_vec(), tie_breaks, 0, &points, input.byes, &mut ranked);
            if let Some(first) = ranked.get_mut(start) {
                // Ranked below the previous group by points.
                (first.has_new_rank, first.decided_by) = (true, None);
            }
        }
        let mut rank = 0;
        let mut rows = Vec::with_capacity(ranked.len());
        for (index, RankedPlayer { player, has_new_rank, decided_by }) in
            ranked.into_iter().enumerate()
        {
            if has_new_rank {
                rank = index + 1;
            }
            rows.push(StandingsRow { rank, decided_by, ..self.rows[player].clone() });
        }
        self.rows = rows;
    }

    /// Ranks a group of tied players, starting with the tie-break at `index`.
    fn break_ties(
        &mut self,
        group: Vec<PlayerIndex>,
        tie_breaks: &[TieBreak],
        index: usize,
        points: &[i64],
        byes: &[(PlayerIndex, u32)],
        ranked: &mut Vec<RankedPlayer>,
    ) {
        let Some(&tie_break) = tie_breaks.get(index).filter(|_| group.len() > 1) else {
            ranked.extend(group.into_iter().enumerate().map(|(position, player)| RankedPlayer {
                player,
                has_new_rank: position == 0,
                decided_by: None,
            }));
            return;
        };
        let values = tie_break.values(&group, &self.rows, &self.results, points, byes);
        let Some(values) = values else {
            // Not applicable to this group.
            return self.break_ties(group, tie_breaks, index + 1, points, byes, ranked);
        };
        let is_repeated = self.rows[group[0]].values.get(index).is_some_and(Option::is_some);
        let mut sorted: Vec<_> = group.iter().copied().zip(values).collect();
        for &(player, value) in &sorted {
            let values = &mut self.rows[player].values;
            values.resize(tie_breaks.len(), None);
            // The column shows the value within the whole group.
            values[index] = values[index].or(Some(value));
        }
        let among = is_repeated.then_some(group.len());
        sorted.sort_by_key(|&(player, value)| (-value.halves(), player));
        let subgroups: Vec<_> = sorted.chunk_by(|a, b| a.1 == b.1).collect();
        // Within a smaller group the direct encounter may separate more players.
        let repeat = tie_break == TieBreak::DirectEncounter && subgroups.len() > 1;
        let next = if repeat { index } else { index + 1 };
        let mut above = None;
        for subgroup in subgroups {
            let start = ranked.len();
            let players = subgroup.iter().map(|(player, _)| *player).collect();
            self.break_ties(players, tie_breaks, next, points, byes, ranked);
            let value = subgroup[0].1;
            if let (Some(above), Some(first)) = (above, ranked.get_mut(start)) {
                let decision = TieBreakDecision { tie_break: index, values: [above, value], among };
                (first.has_new_rank, first.decided_by) = (true, Some(decision));
            }
            above = Some(value);
        }
    }
}

impl StandingsRow {
    /// Adds a game that the player played on this side, and returns its result.
    fn add_game(&mut self, side: usize, summary: &GameSummary, points: Points) -> GamePoints {
        let (result, points) = match summary.winner {
            None => (GamePoints::Draw, points.draw),
            Some(winner) if winner == side => (GamePoints::Win, points.win),
            Some(_) => (GamePoints::Loss, points.loss),
        };
        self.points += points;
        self.all.add(result);
        self.by_colour[side].add(result);
        self.faults += summary.faults[side];
        if let Some(score) = summary.score {
            self.scores[0] += score[side];
            self.scores[1] += score[1 - side];
        }
        match summary.forfeit {
            Some(loser) if loser == side => {
                *self.forfeits.entry(summary.reason.clone()).or_default() += 1;
            }
            Some(_) => self.forfeit_wins += 1,
            None => {}
        }
        result
    }
}

fn empty_row(player: PlayerIndex) -> StandingsRow {
    StandingsRow {
        player,
        rank: 0,
        points: 0,
        all: Wdl::default(),
        by_colour: [Wdl::default(); 2],
        scores: [0; 2],
        forfeits: BTreeMap::new(),
        forfeit_wins: 0,
        faults: 0,
        byes: 0,
        values: Vec::new(),
        decided_by: None,
    }
}
