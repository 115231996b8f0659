//! Maps seeds to the player indices of the journal. A scheduler numbers players by seed; in the
//! journal a player keeps its index when others leave, join or move in the tournament file.

use std::collections::HashMap;

use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler, SeedDecision};

/// A scheduler whose seeds are mapped to player indices.
pub struct SeedMapping<S> {
    scheduler: S,
    /// Players by seed.
    players: Vec<PlayerIndex>,
    seeds: HashMap<PlayerIndex, usize>,
}

impl<S: Scheduler> SeedMapping<S> {
    /// Wraps a scheduler for these players, best seed first.
    pub fn new(scheduler: S, players: &[PlayerIndex]) -> SeedMapping<S> {
        let seeds = players.iter().zip(0..).map(|(&player, seed)| (player, seed)).collect();
        SeedMapping { scheduler, players: players.to_vec(), seeds }
    }

    fn player(&self, seed: usize) -> PlayerIndex {
        self.players[seed]
    }

    /// Returns the seeds of two players; `None` if one has left.
    fn seeds(&self, players: [PlayerIndex; 2]) -> Option<[usize; 2]> {
        let [first, second] = players.map(|player| self.seeds.get(&player).copied());
        Some([first?, second?])
    }
}

impl<S: Scheduler> Scheduler for SeedMapping<S> {
    fn next(&self) -> NextRound {
        let mut next = self.scheduler.next();
        if let NextRound::Round(round) = &mut next {
            for player in round.pairs.as_flattened_mut().iter_mut().chain(&mut round.byes) {
                *player = self.player(*player);
            }
        }
        next
    }

    fn on_scheduled(&mut self, round: &Round) {
        let pairs = round.pairs.iter().filter_map(|pair| self.seeds(*pair)).collect();
        let byes = round.byes.iter().filter_map(|player| self.seeds.get(player).copied()).collect();
        self.scheduler.on_scheduled(&Round { pairs, byes, ..round.clone() });
    }

    fn on_round_finished(&mut self, results: &[PairingResult]) {
        let by_seed = |result: &PairingResult| {
            Some(PairingResult { players: self.seeds(result.players)?, ..*result })
        };
        let results: Vec<PairingResult> = results.iter().filter_map(by_seed).collect();
        self.scheduler.on_round_finished(&results);
    }

    fn progress(&self) -> Option<Vec<i64>> {
        let by_seed = self.scheduler.progress()?;
        let mut progress = vec![0; self.players.iter().max().map_or(0, |max| max + 1)];
        for (&player, reached) in self.players.iter().zip(by_seed) {
            progress[player] = reached;
        }
        Some(progress)
    }

    fn seed_decisions(&self) -> Vec<SeedDecision> {
        let by_player = |decision: SeedDecision| SeedDecision {
            winner: self.player(decision.winner),
            loser: self.player(decision.loser),
            ..decision
        };
        self.scheduler.seed_decisions().into_iter().map(by_player).collect()
    }

    fn extra_pairings(&self) -> u64 {
        self.scheduler.extra_pairings()
    }
}
