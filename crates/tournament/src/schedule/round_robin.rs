//! Schedules that are known from the beginning: everybody against everybody, and some against all.

use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler};

/// Rounds in which everybody meets everybody once, and nobody twice in a round. With an odd number of
/// players one of them rests in each round.
///
/// The circle method: one player stays, all others move on by one place from round to round, and
/// opposite places meet. Who moves first alternates, so that each player does so as often as not, as
/// nearly as that is possible.
pub fn round_robin(players: &[PlayerIndex]) -> Vec<Round> {
    let count = players.len();
    if count < 2 {
        return Vec::new();
    }
    let places = count + count % 2;
    let circle = places - 1;
    let one_round = |turn: usize| {
        let mut round = Round { number: turn as u32 + 1, ..Round::default() };
        round.title = format!("round {}", turn + 1);
        for row in 0..places / 2 {
            // The one who stays has the last place; the others walk round the circle.
            let one = (turn + row) % circle;
            let other = if row == 0 { circle } else { (turn + circle - row) % circle };
            match (players.get(one), players.get(other)) {
                (Some(&one), Some(&other)) => {
                    let swap = if row == 0 { turn % 2 == 1 } else { row % 2 == 1 };
                    round.pairs.push(if swap { [other, one] } else { [one, other] });
                }
                (Some(&alone), None) | (None, Some(&alone)) => round.byes.push(alone),
                (None, None) => {}
            }
        }
        round
    };
    (0..circle).map(one_round).collect()
}

/// Rounds in which each of some players meets everybody once.
pub fn gauntlet(heroes: &[PlayerIndex], others: &[PlayerIndex]) -> Vec<Round> {
    let mut rounds = round_robin(heroes);
    for round in &mut rounds {
        // Those without an opponent wait for the others; that is no bye.
        round.byes.clear();
    }
    // With fewer others than heroes some heroes wait.
    let turns = if heroes.is_empty() { 0 } else { others.len().max(heroes.len()) };
    for turn in 0..turns * usize::from(!others.is_empty()) {
        let pair = |(place, &hero): (usize, &PlayerIndex)| {
            let &other = others.get((turn + place) % turns)?;
            Some(if (turn + place) % 2 == 1 { [other, hero] } else { [hero, other] })
        };
        let number = rounds.len() as u32 + 1;
        let pairs = heroes.iter().enumerate().filter_map(pair).collect();
        rounds.push(Round { number, title: format!("round {number}"), pairs, byes: Vec::new() });
    }
    rounds
}

/// A director with a list of rounds, all of which may begin at once.
pub struct FixedRounds {
    rounds: Vec<Round>,
    scheduled: usize,
}

impl FixedRounds {
    /// These rounds.
    pub fn new(rounds: Vec<Round>) -> FixedRounds {
        FixedRounds { rounds, scheduled: 0 }
    }
}

impl Scheduler for FixedRounds {
    fn next(&self) -> NextRound {
        self.rounds
            .get(self.scheduled)
            .map_or(NextRound::Over, |round| NextRound::Round(round.clone()))
    }

    fn on_scheduled(&mut self, _: &Round) {
        self.scheduled += 1;
    }

    fn on_round_finished(&mut self, _: &[PairingResult]) {}
}
