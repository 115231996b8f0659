//! Seeds and numbers. A director counts players from 0 in the order of their seeds; in the journal a
//! player keeps its number when others leave, come or change places in the tournament file.

use std::collections::HashMap;

use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler, SeedDecision};

/// A director whose players have these numbers, the best seed first.
pub struct SeedMapping<D> {
    scheduler: D,
    players: Vec<PlayerIndex>,
    seats: HashMap<PlayerIndex, usize>,
}

impl<D: Scheduler> SeedMapping<D> {
    /// Puts the players in their seats.
    pub fn new(director: D, players: &[PlayerIndex]) -> SeedMapping<D> {
        let seats = players.iter().zip(0..).map(|(&player, seat)| (player, seat)).collect();
        SeedMapping { scheduler: director, players: players.to_vec(), seats }
    }

    fn player(&self, seat: usize) -> PlayerIndex {
        self.players[seat]
    }

    /// The seats of two players; none if one of them has none.
    fn seats(&self, players: [PlayerIndex; 2]) -> Option<[usize; 2]> {
        let [one, other] = players.map(|player| self.seats.get(&player).copied());
        Some([one?, other?])
    }
}

impl<D: Scheduler> Scheduler for SeedMapping<D> {
    fn next(&self) -> NextRound {
        let NextRound::Round(mut round) = self.scheduler.next() else {
            return self.scheduler.next();
        };
        for pair in &mut round.pairs {
            *pair = pair.map(|seat| self.player(seat));
        }
        for seat in &mut round.byes {
            *seat = self.player(*seat);
        }
        NextRound::Round(round)
    }

    fn on_scheduled(&mut self, round: &Round) {
        let pairs = round.pairs.iter().filter_map(|pair| self.seats(*pair)).collect();
        let byes = round.byes.iter().filter_map(|player| self.seats.get(player).copied()).collect();
        self.scheduler.on_scheduled(&Round { pairs, byes, ..round.clone() });
    }

    fn on_round_finished(&mut self, meetings: &[PairingResult]) {
        let seated = |meeting: &PairingResult| {
            Some(PairingResult { players: self.seats(meeting.players)?, ..*meeting })
        };
        let meetings: Vec<PairingResult> = meetings.iter().filter_map(seated).collect();
        self.scheduler.on_round_finished(&meetings);
    }

    fn progress(&self) -> Option<Vec<i64>> {
        let by_seat = self.scheduler.progress()?;
        let mut progress = vec![0; self.players.iter().max().map_or(0, |most| most + 1)];
        for (&player, reached) in self.players.iter().zip(by_seat) {
            progress[player] = reached;
        }
        Some(progress)
    }

    fn seed_decisions(&self) -> Vec<SeedDecision> {
        let named = |tie: SeedDecision| SeedDecision {
            winner: self.player(tie.winner),
            loser: self.player(tie.loser),
            ..tie
        };
        self.scheduler.seed_decisions().into_iter().map(named).collect()
    }

    fn extra_pairings(&self) -> u64 {
        self.scheduler.extra_pairings()
    }
}
