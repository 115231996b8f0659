//! Self-play games.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crownhead_rules::{MoveList, Side};

use super::{LinearTuner, Sample, Tunable};
use crate::eval::weights::{FeatureSink, MAX_PHASE};
use crate::{
    Engine, EngineConfig, HashAllocError, Quiescence, SearchLimits, SearchRequest, Searchable,
    StopFlag, plies_to_end,
};

/// Options of the self-play games.
#[derive(Clone, Copy, Debug)]
pub struct SelfPlayOptions {
    /// Number of games.
    pub games: usize,
    /// Nodes per move.
    pub nodes: u64,
    /// Random plies at the start of each game; up to three more are added.
    pub random_plies: u32,
    /// Random seed.
    pub seed: u64,
    /// Threads; each plays its own games.
    pub threads: usize,
}

pub(super) fn generate_samples<P: Searchable, E: Tunable<P>>(
    tuner: &LinearTuner<P, E>,
    options: &SelfPlayOptions,
    stop: &StopFlag,
    on_game: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Sample>, HashAllocError> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let games = Mutex::new(Vec::new());
    let config = EngineConfig { hash_mb: 2, ..EngineConfig::default() };
    let new_engine = || Engine::with_evaluator(tuner.evaluator.clone(), config, &tuner.knowledge);
    let run = |mut engine: Engine<P, E>| {
        while !stop.is_set() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= options.games {
                break;
            }
            let samples = play_game(&tuner.options, &mut engine, options, number as u32, stop);
            games.lock().unwrap_or_else(PoisonError::into_inner).push((number, samples));
            on_game(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let main_engine = new_engine()?;
    let engines: Vec<_> = (1..options.threads).map(|_| new_engine()).collect::<Result<_, _>>()?;
    std::thread::scope(|scope| {
        for engine in engines {
            // Threads that cannot be started are not needed: the others play all games.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || run(engine));
        }
        run(main_engine);
    });
    let mut games = games.into_inner().unwrap_or_else(PoisonError::into_inner);
    games.sort_by_key(|(number, _)| *number);
    Ok(games.into_iter().flat_map(|(_, samples)| samples).collect())
}

/// Plays a game and returns its samples; none if it ended during the random moves or was stopped.
fn play_game<P: Searchable, E: Tunable<P>>(
    rules: &P::Options,
    engine: &mut Engine<P, E>,
    options: &SelfPlayOptions,
    number: u32,
    stop: &StopFlag,
) -> Vec<Sample> {
    let mut rng = fastrand::Rng::with_seed(
        options.seed.wrapping_mul(0x9e37_79b9).wrapping_add(number.into()),
    );
    engine.clear();
    let mut position = P::start(rules);
    let mut keys = Vec::new();
    let mut moves = MoveList::new();
    for _ in 0..options.random_plies + rng.u32(0..4) {
        position.legal_moves(&mut moves);
        if position.outcome(&keys).is_some() || moves.is_empty() {
            return Vec::new();
        }
        keys.push(position.key());
        position.play(moves[rng.usize(0..moves.len())]);
    }
    let mut samples = Vec::new();
    let limits = SearchLimits { nodes: Some(options.nodes), ..SearchLimits::default() };
    let winner = loop {
        if let Some(outcome) = position.outcome(&keys) {
            break outcome.winner;
        }
        let request =
            SearchRequest { position: &position, history_keys: &keys, limits, multipv: 1 };
        let report = engine.search(request, stop, |_| {});
        if stop.is_set() {
            return Vec::new();
        }
        let Some(best) = report.best_move() else { break None };
        let is_quiet =
            position.quiescence() != Quiescence::ForcedCaptures && P::capture_count(best) == 0;
        if is_quiet && plies_to_end(report.score()).is_none() {
            let sample = sample(engine.evaluator(), &position, report.score(), number);
            samples.push((position.side(), sample));
        }
        keys.push(position.key());
        position.play(best);
    };
    let result = |side: Side| match winner {
        None => 0.5,
        Some(winner) => f32::from(u8::from(winner == side)),
    };
    samples.into_iter().map(|(side, sample)| Sample { result: result(side), ..sample }).collect()
}

fn sample<P: Searchable, E: Tunable<P>>(
    evaluator: &E,
    position: &P,
    score: i32,
    game: u32,
) -> Sample {
    let mut recorder = FeatureRecorder(Vec::with_capacity(40));
    evaluator.features(position, &mut recorder);
    Sample {
        features: recorder.0.into(),
        opening_share: evaluator.phase(position) as f32 / MAX_PHASE as f32,
        scale: evaluator.scale(position),
        score: score as f32,
        result: 0.5,
        game,
    }
}

/// Records features instead of adding their weights.
struct FeatureRecorder(Vec<u32>);

impl FeatureSink for FeatureRecorder {
    fn add(&mut self, index: usize, count: i32) {
        if count != 0 {
            self.0.push((index as u32) << 8 | u32::from(count as i8 as u8));
        }
    }
}

impl Sample {
    /// Feature indices and counts.
    pub(super) fn features(&self) -> impl Iterator<Item = (usize, f32)> {
        self.features.iter().map(|&word| ((word >> 8) as usize, f32::from(word as u8 as i8)))
    }
}
