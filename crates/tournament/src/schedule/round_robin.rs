//! Fixed schedules: round robin and gauntlet.

use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler};

/// Returns rounds in which every player plays every other once. With an odd number of players, one
/// has a bye in each round.
///
/// The circle method: one player stays in place, all others advance one place per round, and
/// opposite places play each other. First moves alternate, so that colours are as balanced as
/// possible.
pub fn round_robin(players: &[PlayerIndex]) -> Vec<Round> {
    let count = players.len();
    if count < 2 {
        return Vec::new();
    }
    let places = count + count % 2;
    let circle = places - 1;
    let make_round = |turn: usize| {
        let mut round = Round { number: turn as u32 + 1, ..Round::default() };
        round.title = format!("round {}", turn + 1);
        for row in 0..places / 2 {
            // The last place is the one that does not move.
            let left = (turn + row) % circle;
            let right = if row == 0 { circle } else { (turn + circle - row) % circle };
            match (players.get(left), players.get(right)) {
                (Some(&left), Some(&right)) => {
                    let swap = if row == 0 { turn % 2 == 1 } else { row % 2 == 1 };
                    round.pairs.push(if swap { [right, left] } else { [left, right] });
                }
                (Some(&player), None) | (None, Some(&player)) => round.byes.push(player),
                (None, None) => {}
            }
        }
        round
    };
    (0..circle).map(make_round).collect()
}

/// Returns rounds in which every challenger plays every other player once.
pub fn gauntlet(challengers: &[PlayerIndex], others: &[PlayerIndex]) -> Vec<Round> {
    let mut rounds = round_robin(challengers);
    for round in &mut rounds {
        // Players who wait for their next game have no bye.
        round.byes.clear();
    }
    // With fewer others than challengers, some challengers wait.
    let is_possible = !challengers.is_empty() && !others.is_empty();
    let turns = if is_possible { others.len().max(challengers.len()) } else { 0 };
    for turn in 0..turns {
        let pair = |(place, &challenger): (usize, &PlayerIndex)| {
            let &other = others.get((turn + place) % turns)?;
            let swap = (turn + place) % 2 == 1;
            Some(if swap { [other, challenger] } else { [challenger, other] })
        };
        let number = rounds.len() as u32 + 1;
        let pairs = challengers.iter().enumerate().filter_map(pair).collect();
        rounds.push(Round { number, title: format!("round {number}"), pairs, byes: Vec::new() });
    }
    rounds
}

/// A scheduler with a list of rounds that may all start at once.
pub struct FixedRounds {
    rounds: Vec<Round>,
    scheduled: usize,
}

impl FixedRounds {
    /// Creates a scheduler for these rounds.
    pub fn new(rounds: Vec<Round>) -> FixedRounds {
        FixedRounds { rounds, scheduled: 0 }
    }
}

impl Scheduler for FixedRounds {
    fn next(&self) -> NextRound {
        let round = self.rounds.get(self.scheduled);
        round.map_or(NextRound::Over, |round| NextRound::Round(round.clone()))
    }

    fn on_scheduled(&mut self, _: &Round) {
        self.scheduled += 1;
    }

    fn on_round_finished(&mut self, _: &[PairingResult]) {}
}
