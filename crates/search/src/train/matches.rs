//! Matches between two evaluators of the same game.

use std::ops::Range;
use std::time::Duration;

use crownhead_rules::Side;

use super::self_play::{MAX_OPENING_SCORE, play_random};
use crate::network::NetworkError;
use crate::{
    Engine, EngineConfig, Evaluator, HashAllocError, Knowledge, Learnable, SearchLimits,
    SearchRequest, StopFlag, Stopwatch, parallel,
};

/// Options of a match.
#[derive(Clone, Copy, Debug)]
pub struct MatchOptions {
    /// Limit of every search.
    pub limits: SearchLimits,
    /// Random plies at the start of each pair; up to five more are added.
    pub random_plies: u32,
    /// Random seed.
    pub seed: u64,
    /// Threads; each plays its own pairs.
    pub threads: usize,
}

/// Result of two games from the same opening, one with each colour.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PairResult {
    /// Result of each game for the first player, in half points.
    pub half_points: [u8; 2],
    /// CPU time of both players.
    pub time: [Duration; 2],
    /// Nodes of both players.
    pub nodes: [u64; 2],
}

/// Why a match cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// The network of the first (0) or second player (1) cannot be used.
    #[error("{1}")]
    Network(usize, NetworkError),
    /// An engine cannot be created.
    #[error(transparent)]
    Memory(#[from] HashAllocError),
}

/// Openings that are tried for a pair until one is balanced.
const MAX_OPENINGS: u32 = 100;
/// Nodes of the search that judges an opening.
const OPENING_NODES: u64 = 2000;
/// Transposition table of a player.
const HASH_MB: usize = 16;

/// A match, as its threads share it.
pub(super) struct Matches<'a, P: Learnable> {
    pub(super) rules: &'a P::Options,
    pub(super) knowledge: &'a Knowledge,
    pub(super) pairs: Range<u32>,
    pub(super) options: &'a MatchOptions,
    pub(super) stop: &'a StopFlag,
}

impl<P: Learnable> Matches<'_, P> {
    /// Plays all pairs; see [`Trainer::play_match`](super::Trainer::play_match).
    pub(super) fn play<A: Evaluator<P> + 'static, B: Evaluator<P> + 'static>(
        &self,
        first: impl Fn() -> A,
        second: impl Fn() -> B,
    ) -> Result<Option<Vec<PairResult>>, MatchError> {
        let config =
            EngineConfig { hash_mb: HASH_MB, contempt: P::contempt(), ..EngineConfig::default() };
        let players = (0..self.options.threads.max(1))
            .map(|_| {
                Ok(Players {
                    judge: Engine::new(EngineConfig { contempt: 0, ..config }, self.knowledge)?,
                    first: Engine::with_evaluator(first(), config, self.knowledge)?,
                    second: Engine::with_evaluator(second(), config, self.knowledge)?,
                })
            })
            .collect::<Result<Vec<_>, HashAllocError>>()?;
        let results = parallel::map(players, self.pairs.clone(), self.stop, |players, number| {
            self.play_pair(players, number)
        });
        Ok((!self.stop.is_set()).then_some(results))
    }

    fn play_pair<A: Evaluator<P> + 'static, B: Evaluator<P> + 'static>(
        &self,
        players: &mut Players<P, A, B>,
        number: u32,
    ) -> PairResult {
        let seed =
            self.options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number.into());
        let (start, keys) = self.opening(&mut players.judge, &mut fastrand::Rng::with_seed(seed));
        let mut result = PairResult::default();
        for (game, first_side) in [Side::First, Side::Second].into_iter().enumerate() {
            players.first.clear();
            players.second.clear();
            let (mut position, mut keys) = (start.clone(), keys.clone());
            let winner = loop {
                if let Some(outcome) = position.outcome(&keys) {
                    break outcome.winner;
                }
                let limits = self.options.limits;
                let request =
                    SearchRequest { position: &position, history_keys: &keys, limits, multipv: 1 };
                let watch = Stopwatch::start();
                let (player, report) = if position.side() == first_side {
                    (0, players.first.search(request, self.stop, |_| {}))
                } else {
                    (1, players.second.search(request, self.stop, |_| {}))
                };
                result.time[player] += watch.elapsed();
                result.nodes[player] += report.nodes;
                let Some(best) = report.best_move() else { break None };
                if self.stop.is_set() {
                    break None;
                }
                keys.push(position.key());
                position.play(best);
            };
            result.half_points[game] = winner.map_or(1, |side| 2 * u8::from(side == first_side));
        }
        result
    }

    /// A random opening that is not won for a side, and the keys of the positions before it.
    fn opening(&self, judge: &mut Engine<P>, rng: &mut fastrand::Rng) -> (P, Vec<u64>) {
        for _ in 0..MAX_OPENINGS {
            let (mut position, mut keys) = (P::training_start(self.rules, rng), Vec::new());
            let plies = self.options.random_plies + rng.u32(0..6);
            if play_random(&mut position, &mut keys, plies, rng) {
                judge.clear();
                let limits = SearchLimits { nodes: Some(OPENING_NODES), ..Default::default() };
                let report = judge.search(SearchRequest::new(&position, limits), self.stop, |_| {});
                if report.score().abs() <= MAX_OPENING_SCORE {
                    return (position, keys);
                }
            }
        }
        (P::start(self.rules), Vec::new())
    }
}

/// The players of a thread, and the engine that judges openings.
struct Players<P: Learnable, A: Evaluator<P>, B: Evaluator<P>> {
    judge: Engine<P>,
    first: Engine<P, A>,
    second: Engine<P, B>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::trainer;

    #[test]
    fn an_evaluation_scores_half_of_the_points_against_itself() {
        for game in ["english", "contest", "capture-halma", "chinese-checkers"] {
            let trainer = trainer(&game.parse().unwrap(), &Knowledge::default()).unwrap();
            let limits = SearchLimits { nodes: Some(40), ..SearchLimits::default() };
            let options = MatchOptions { limits, random_plies: 3, seed: 1, threads: 2 };
            let results = trainer.play_match([None, None], 0..6, &options, &StopFlag::new());
            for pair in results.unwrap().unwrap() {
                assert_eq!(pair.half_points.iter().sum::<u8>(), 2, "{game}");
            }
        }
    }
}
