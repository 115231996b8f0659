//! Knockout: single elimination.
//!
//! Players are seeded in the order of the tournament file, so the first two can only meet in the
//! final. If their number is not a power of two, the best seeds have a bye in the first round. A
//! tied pairing is replayed a few times with new openings and reversed colours; then the better
//! seed advances.

use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler, SeedDecision};

/// Scheduler of a knockout.
pub struct Knockout {
    /// The bracket of this stage; neighbours play each other.
    slots: Vec<Option<PlayerIndex>>,
    /// Tied pairings of this stage, to be replayed.
    tied: Vec<[PlayerIndex; 2]>,
    /// Number of replays in this stage.
    replay: u32,
    tie_replays: u32,
    scheduled: u32,
    is_open: bool,
    /// Stage that each player has reached.
    reached: Vec<i64>,
    seed_decisions: Vec<SeedDecision>,
    extra_pairings: u64,
}

/// Returns the seeds, from 0, from the top of the bracket to its bottom. Neighbours play each
/// other; a seed without a neighbour has a bye.
pub fn bracket_slots(players: usize) -> Vec<Option<usize>> {
    // Each time the bracket doubles, the new seeds are paired with the old ones in reverse.
    let mut seeds = vec![0];
    while seeds.len() < players {
        let size = 2 * seeds.len();
        seeds = seeds.into_iter().flat_map(|seed| [seed, size - 1 - seed]).collect();
    }
    seeds.into_iter().map(|seed| (seed < players).then_some(seed)).collect()
}

impl Knockout {
    /// Creates a knockout; ties are replayed `tie_replays` times.
    pub fn new(players: usize, tie_replays: u32) -> Knockout {
        Knockout {
            slots: bracket_slots(players),
            tied: Vec::new(),
            replay: 0,
            tie_replays,
            scheduled: 0,
            is_open: false,
            reached: vec![0; players],
            seed_decisions: Vec::new(),
            extra_pairings: 0,
        }
    }

    fn stage(&self) -> String {
        match self.slots.len() {
            2 => "final".into(),
            4 => "semi-finals".into(),
            8 => "quarter-finals".into(),
            count => format!("round of {count}"),
        }
    }

    fn title(&self) -> String {
        match self.replay {
            0 => self.stage(),
            replay => format!("{}, replay {replay}", self.stage()),
        }
    }
}

impl Scheduler for Knockout {
    fn next(&self) -> NextRound {
        if self.is_open {
            return NextRound::Wait;
        }
        if self.slots.len() < 2 {
            return NextRound::Over;
        }
        let mut round =
            Round { number: self.scheduled + 1, title: self.title(), ..Round::default() };
        if self.replay > 0 {
            round.pairs.clone_from(&self.tied);
            return NextRound::Round(round);
        }
        for pair in self.slots.chunks_exact(2) {
            match *pair {
                [Some(first), Some(second)] => round.pairs.push([first, second]),
                [Some(player), None] | [None, Some(player)] => round.byes.push(player),
                _ => {}
            }
        }
        NextRound::Round(round)
    }

    fn on_scheduled(&mut self, round: &Round) {
        (self.scheduled, self.is_open) = (round.number, true);
        if self.replay > 0 {
            self.extra_pairings += round.pairs.len() as u64;
        }
    }

    fn on_round_finished(&mut self, results: &[PairingResult]) {
        self.is_open = false;
        self.tied.clear();
        for result in results {
            let [first, second] = result.players;
            let winner = match result.winner() {
                Some(winner) => winner,
                None if self.replay < self.tie_replays => {
                    // Reversed colours.
                    self.tied.push([second, first]);
                    continue;
                }
                None => {
                    // The lower number is the better seed.
                    let (winner, loser) = (first.min(second), first.max(second));
                    let round = self.stage();
                    self.seed_decisions.push(SeedDecision { round, winner, loser });
                    winner
                }
            };
            for slot in &mut self.slots {
                let is_loser = |player| player != winner && result.players.contains(&player);
                if slot.is_some_and(is_loser) {
                    *slot = None;
                }
            }
        }
        if !self.tied.is_empty() {
            self.replay += 1;
            return;
        }
        self.replay = 0;
        let winner = |pair: &[Option<PlayerIndex>]| pair[0].or(pair[1]);
        self.slots = self.slots.chunks_exact(2).map(winner).collect();
        for &player in self.slots.iter().flatten() {
            self.reached[player] += 1;
        }
    }

    fn progress(&self) -> Option<Vec<i64>> {
        Some(self.reached.clone())
    }

    fn seed_decisions(&self) -> Vec<SeedDecision> {
        self.seed_decisions.clone()
    }

    fn extra_pairings(&self) -> u64 {
        self.extra_pairings
    }
}
