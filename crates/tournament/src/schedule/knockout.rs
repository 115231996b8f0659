//! A knockout: who loses a meeting is out.
//!
//! Players are seeded in the order in which they are named: the first two can meet only in the final.
//! Where their number is no power of two, the first seeds rest in the first round. A tied meeting is
//! repeated with new openings and exchanged colours a few times; then the better seed goes on.

use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler, SeedDecision};

/// The director of a knockout.
pub struct Knockout {
    /// Who stands where in the tree; neighbours meet.
    slots: Vec<Option<PlayerIndex>>,
    /// The meetings of this stage that are tied, to be repeated.
    tied: Vec<[PlayerIndex; 2]>,
    repeated: u32,
    tie_replays: u32,
    issued: u32,
    is_open: bool,
    /// The stage that each player has reached.
    reached: Vec<i64>,
    /// Meetings that the seeds decided, and how many were repeated.
    ties: Vec<SeedDecision>,
    added: u64,
}

impl Knockout {
    /// So many players, the best seed first.
    pub fn new(players: usize, replays: u32) -> Knockout {
        // Each time the field doubles, the newcomers meet the old ones in reverse order.
        let mut seeds = vec![0];
        while seeds.len() < players {
            let size = 2 * seeds.len();
            seeds = seeds.into_iter().flat_map(|seed| [seed, size - 1 - seed]).collect();
        }
        let slots = seeds.into_iter().map(|seed| (seed < players).then_some(seed)).collect();
        Knockout {
            slots,
            tied: Vec::new(),
            repeated: 0,
            tie_replays: replays,
            issued: 0,
            is_open: false,
            reached: vec![0; players],
            ties: Vec::new(),
            added: 0,
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
        match self.repeated {
            0 => self.stage(),
            again => format!("{}, replay {again}", self.stage()),
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
        let mut round = Round { number: self.issued + 1, title: self.title(), ..Round::default() };
        if self.repeated > 0 {
            round.pairs.clone_from(&self.tied);
            return NextRound::Round(round);
        }
        for pair in self.slots.chunks_exact(2) {
            match *pair {
                [Some(one), Some(other)] => round.pairs.push([one, other]),
                [Some(alone), None] | [None, Some(alone)] => round.byes.push(alone),
                _ => {}
            }
        }
        NextRound::Round(round)
    }

    fn on_scheduled(&mut self, round: &Round) {
        (self.issued, self.is_open) = (round.number, true);
        if self.repeated > 0 {
            self.added += round.pairs.len() as u64;
        }
    }

    fn on_round_finished(&mut self, meetings: &[PairingResult]) {
        self.is_open = false;
        self.tied.clear();
        for meeting in meetings {
            let winner = match meeting.winner() {
                Some(winner) => winner,
                None if self.repeated < self.tie_replays => {
                    // Who moved first does so second now.
                    let [first, second] = meeting.players;
                    self.tied.push([second, first]);
                    continue;
                }
                None => {
                    // The lower number is the better seed.
                    let [one, other] = meeting.players;
                    let (winner, loser) = (one.min(other), one.max(other));
                    self.ties.push(SeedDecision { round: self.stage(), winner, loser });
                    winner
                }
            };
            for slot in &mut self.slots {
                if slot.is_some_and(|p| p != winner && meeting.players.contains(&p)) {
                    *slot = None;
                }
            }
        }
        if !self.tied.is_empty() {
            self.repeated += 1;
            return;
        }
        self.repeated = 0;
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
        self.ties.clone()
    }

    fn extra_pairings(&self) -> u64 {
        self.added
    }
}
