//! Games of the search against itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crownhead_rules::{MoveList, Side};

use super::Sample;
use crate::engine::HashAllocError;
use crate::eval::Tunable;
use crate::eval::weights::{FeatureSink, MAX_PHASE};
use crate::{
    Engine, EngineConfig, Quiescence, SearchLimits, SearchRequest, Searchable, StopFlag,
    plies_to_end,
};

/// How the games are played.
#[derive(Clone, Copy, Debug)]
pub struct SelfPlayOptions {
    /// How many.
    pub games: usize,
    /// Nodes a move.
    pub nodes: u64,
    /// Random plies at the beginning: this many, or up to three more.
    pub random_plies: u32,
    /// Decides the random moves.
    pub seed: u64,
    /// Threads that play, each its own games.
    pub threads: usize,
}

/// Plays the games and returns the samples, in the order of the games. `heard` is told how many
/// games are done.
pub fn generate_samples<P: Searchable>(
    rules: &P::Options,
    evaluation: &P::Evaluator,
    options: &SelfPlayOptions,
    stop: &StopFlag,
    heard: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Sample>, HashAllocError> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let settings = EngineConfig { hash_mb: 2, ..EngineConfig::default() };
    let engines: Result<Vec<_>, _> = (0..options.threads.max(1))
        .map(|_| Engine::<P>::with_evaluator(evaluation.clone(), settings))
        .collect();
    std::thread::scope(|scope| {
        for mut engine in engines? {
            let (next, done, all) = (&next, &done, &all);
            scope.spawn(move || {
                while !stop.is_set() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= options.games {
                        break;
                    }
                    let samples = play_game(rules, &mut engine, options, number as u32, stop);
                    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((number, samples));
                    drop(all);
                    heard(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
        Ok(())
    })?;
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().flat_map(|(_, samples)| samples).collect())
}

/// A game and its samples; none if it was over before the search had a move, or was stopped.
fn play_game<P: Searchable>(
    rules: &P::Options,
    engine: &mut Engine<P>,
    options: &SelfPlayOptions,
    number: u32,
    stop: &StopFlag,
) -> Vec<Sample> {
    let mut random = fastrand::Rng::with_seed(
        options.seed.wrapping_mul(0x9e37_79b9).wrapping_add(number.into()),
    );
    engine.clear();
    let mut position = P::start(rules);
    let mut past = Vec::new();
    let mut moves = MoveList::new();
    for _ in 0..options.random_plies + random.u32(0..4) {
        position.legal_moves(&mut moves);
        if position.outcome(&past).is_some() || moves.is_empty() {
            return Vec::new();
        }
        past.push(position.key());
        position.play(moves[random.usize(0..moves.len())]);
    }
    let mut samples = Vec::new();
    let limits = SearchLimits { nodes: Some(options.nodes), ..SearchLimits::default() };
    let winner = loop {
        if let Some(outcome) = position.outcome(&past) {
            break outcome.winner;
        }
        let task = SearchRequest { position: &position, history_keys: &past, limits, multipv: 1 };
        let report = engine.search(task, stop, |_| {});
        if stop.is_set() {
            return Vec::new();
        }
        let Some(best) = report.best_move() else { break None };
        let quiet =
            position.quiescence() != Quiescence::ForcedCaptures && P::capture_count(best) == 0;
        if quiet && plies_to_end(report.score()).is_none() {
            let sample = sample(engine.evaluation(), &position, report.score(), number);
            samples.push((position.side(), sample));
        }
        past.push(position.key());
        position.play(best);
    };
    let result = |side: Side| match winner {
        None => 0.5,
        Some(winner) => f32::from(u8::from(winner == side)),
    };
    samples.into_iter().map(|(side, sample)| Sample { result: result(side), ..sample }).collect()
}

fn sample<P: Searchable>(evaluation: &P::Evaluator, position: &P, score: i32, game: u32) -> Sample {
    let mut notes = FeatureRecorder(Vec::with_capacity(40));
    evaluation.features(position, &mut notes);
    Sample {
        features: notes.0.into(),
        opening_share: evaluation.phase(position) as f32 / MAX_PHASE as f32,
        scale: evaluation.scale(position),
        score: score as f32,
        result: 0.5,
        game,
    }
}

/// Writes features down instead of adding them up.
struct FeatureRecorder(Vec<u32>);

impl FeatureSink for FeatureRecorder {
    fn add(&mut self, index: usize, count: i32) {
        if count != 0 {
            self.0.push((index as u32) << 8 | u32::from(count as i8 as u8));
        }
    }
}

impl Sample {
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, f32)> {
        self.features.iter().map(|&word| ((word >> 8) as usize, f32::from(word as u8 as i8)))
    }
}
