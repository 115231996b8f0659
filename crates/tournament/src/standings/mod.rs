//! The table of a tournament: points, and what decides between equal ones.
//!
//! Everything is computed from finished games and byes alone. [`tie_break`] has the values, [`text`]
//! and [`json`] show the table.

pub mod json;
pub mod text;
mod tie_break;

use std::collections::BTreeMap;

use crate::statistics::{GamePoints as Result, Wdl};

use crate::Points;
use crate::schedule::{PlayerIndex, SeedDecision};
pub use tie_break::{TieBreak, TieBreakValue};

/// A finished game, as far as the table needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The players, the one who moved first first.
    pub players: [PlayerIndex; 2],
    /// Who won: 0 or 1.
    pub winner: Option<usize>,
    /// The points that the game itself counts.
    pub score: Option<[i64; 2]>,
    /// Who lost it by a fault, and the word for that.
    pub forfeit: Option<(usize, String)>,
    /// Faults of both players.
    pub faults: [u32; 2],
}

/// A player in the table.
#[derive(Clone, PartialEq, Debug)]
pub struct StandingsRow {
    /// Who it is.
    pub player: PlayerIndex,
    /// The rank; equals share it.
    pub rank: usize,
    /// Points of all games and byes.
    pub points: i64,
    /// All games.
    pub all: Wdl,
    /// Those in which it moved first, and second.
    pub by_colour: [Wdl; 2],
    /// The games' own points, its own and its opponents'.
    pub scores: [i64; 2],
    /// Games that were lost by a fault, by the word for it.
    pub forfeits: BTreeMap<String, u32>,
    /// Games that were won because the opponent lost by a fault.
    pub forfeit_wins: u32,
    /// Faults of any kind.
    pub faults: u32,
    /// Rounds without an opponent.
    pub byes: u32,
    /// What each tie-break gives it, in their order; none where it did not come to that.
    pub values: Vec<Option<TieBreakValue>>,
    /// What put it behind the one above it, where their points are equal.
    pub decided_by: Option<TieBreakDecision>,
}

/// A tie-break that decided a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TieBreakDecision {
    /// Its place in the list of tie-breaks.
    pub tie_break: usize,
    /// What it gave the one above and the one below.
    pub values: [TieBreakValue; 2],
    /// Among how many it decided, if it was looked at again among fewer.
    pub among: Option<usize>,
}

/// A place in a group of equals: who it is, whether its rank is its own, and what put it behind the
/// one before.
type Place = (PlayerIndex, bool, Option<TieBreakDecision>);

/// The table.
#[derive(Clone, PartialEq, Debug)]
pub struct Standings {
    /// The players in the order of their ranks.
    pub rows: Vec<StandingsRow>,
    /// The tie-breaks that were asked for.
    pub tie_breaks: Vec<TieBreak>,
    /// What each player (by index) got from each other, in the order of the games.
    pub results: Vec<BTreeMap<PlayerIndex, Vec<(Result, bool)>>>,
    /// Whether ranks follow from how far a player came and not from points.
    pub by_progress: bool,
    /// Meetings that the seeds decided.
    pub seed_decisions: Vec<SeedDecision>,
}

/// What the table follows from.
pub struct StandingsInput<'a> {
    /// The players of the table.
    pub players: &'a [PlayerIndex],
    /// All games that count.
    pub games: &'a [Counted],
    /// Byes: who, and how many games it was spared.
    pub byes: &'a [(PlayerIndex, u32)],
    /// What games bring.
    pub points: Points,
    /// What decides between equal points, in this order.
    pub tie_breaks: &'a [TieBreak],
    /// How far each player came, where that makes the order.
    pub progress: Option<&'a [i64]>,
    /// Meetings that the seeds decided.
    pub seed_decisions: Vec<SeedDecision>,
}

impl Standings {
    /// Computes the table.
    pub fn compute(facts: &StandingsInput<'_>) -> Standings {
        let size = facts.players.iter().copied();
        let size = size.chain(facts.games.iter().flat_map(|game| game.players)).max();
        let size = size.map_or(0, |most| most + 1);
        let mut rows: Vec<StandingsRow> = (0..size).map(empty).collect();
        let mut results = vec![BTreeMap::<_, Vec<_>>::new(); size];
        for game in facts.games {
            for (own, &player) in game.players.iter().enumerate() {
                let (result, points) = match game.winner {
                    None => (Result::Draw, facts.points.draw),
                    Some(winner) if winner == own => (Result::Win, facts.points.win),
                    Some(_) => (Result::Loss, facts.points.loss),
                };
                let row = &mut rows[player];
                row.points += points;
                row.all.add(result);
                row.by_colour[own].add(result);
                row.faults += game.faults[own];
                if let Some([first, second]) = game.score {
                    let scores = if own == 0 { [first, second] } else { [second, first] };
                    row.scores[0] += scores[0];
                    row.scores[1] += scores[1];
                }
                let is_forfeit = match &game.forfeit {
                    Some((whose, code)) if *whose == own => {
                        *row.forfeits.entry(code.clone()).or_default() += 1;
                        true
                    }
                    Some(_) => {
                        row.forfeit_wins += 1;
                        true
                    }
                    None => false,
                };
                let other = game.players[1 - own];
                results[player].entry(other).or_default().push((result, is_forfeit));
            }
        }
        for &(player, games) in facts.byes {
            if let Some(row) = rows.get_mut(player) {
                row.points += facts.points.bye * i64::from(games);
                row.byes += 1;
            }
        }
        let by_progress = facts.progress.is_some();
        let mut standings = Standings {
            rows,
            tie_breaks: facts.tie_breaks.to_vec(),
            results,
            by_progress,
            seed_decisions: facts.seed_decisions.clone(),
        };
        standings.order(facts);
        standings
    }

    fn order(&mut self, facts: &StandingsInput<'_>) {
        let points: Vec<i64> = self.rows.iter().map(|row| row.points).collect();
        let key = |player: usize| match facts.progress {
            Some(progress) => progress.get(player).copied().unwrap_or(0),
            None => points[player],
        };
        let mut order: Vec<PlayerIndex> = facts.players.to_vec();
        order.sort_by_key(|&player| (-key(player), player));
        let groups = order.chunk_by(|one, other| key(*one) == key(*other));
        let mut ordered: Vec<Place> = Vec::new();
        let breaks = if facts.progress.is_some() { &[][..] } else { facts.tie_breaks };
        for group in groups {
            let from = ordered.len();
            self.split(group.to_vec(), breaks, 0, &points, facts.byes, &mut ordered);
            if let Some(first) = ordered.get_mut(from) {
                // It is behind by points.
                (first.1, first.2) = (true, None);
            }
        }
        let mut rank = 0;
        let mut rows = Vec::with_capacity(ordered.len());
        for (place, (player, is_new, behind_by)) in ordered.into_iter().enumerate() {
            if is_new {
                rank = place + 1;
            }
            let mut row = self.rows[player].clone();
            (row.rank, row.decided_by) = (rank, behind_by);
            rows.push(row);
        }
        self.rows = rows;
    }

    /// Puts a group of equals in order.
    fn split(
        &mut self,
        group: Vec<PlayerIndex>,
        breaks: &[TieBreak],
        from: usize,
        points: &[i64],
        byes: &[(PlayerIndex, u32)],
        ordered: &mut Vec<Place>,
    ) {
        let Some(&tie_break) = breaks.get(from).filter(|_| group.len() > 1) else {
            ordered.extend(group.into_iter().zip(0..).map(|(player, n)| (player, n == 0, None)));
            return;
        };
        let values = tie_break.values(&group, &self.rows, &self.results, points, byes);
        let Some(values) = values else {
            // It says nothing about this group.
            return self.split(group, breaks, from + 1, points, byes, ordered);
        };
        let is_again = shown_before(&self.rows, group[0], from);
        let mut sorted: Vec<_> = group.iter().copied().zip(values).collect();
        for &(player, value) in &sorted {
            let shown = &mut self.rows[player].values;
            shown.resize(breaks.len(), None);
            // What it says among all who are equal is the player's value; a second look decides only.
            shown[from] = shown[from].or(Some(value));
        }
        let among = is_again.then_some(group.len());
        sorted.sort_by_key(|&(player, value)| (-value.halves(), player));
        let parts: Vec<_> = sorted.chunk_by(|one, other| one.1 == other.1).collect();
        // Among fewer players the direct encounter may say more than it did among all.
        let again = tie_break == TieBreak::DirectEncounter && parts.len() > 1;
        let mut above = None;
        for part in parts {
            let at = ordered.len();
            let next = if again { from } else { from + 1 };
            let players = part.iter().map(|(player, _)| *player).collect();
            self.split(players, breaks, next, points, byes, ordered);
            let value = part[0].1;
            if let (Some(above), Some(first)) = (above, ordered.get_mut(at)) {
                let decision = TieBreakDecision { tie_break: from, values: [above, value], among };
                (first.1, first.2) = (true, Some(decision));
            }
            above = Some(value);
        }
    }
}

/// Whether a player has a value of this tie-break already.
fn shown_before(rows: &[StandingsRow], player: PlayerIndex, tie_break: usize) -> bool {
    rows[player].values.get(tie_break).is_some_and(Option::is_some)
}

fn empty(player: PlayerIndex) -> StandingsRow {
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
