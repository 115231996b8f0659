//! Self-play games for training data.

use std::ops::Range;

use crownhead_rules::{MoveList, Side, TableValue};

use super::data::Record;
use crate::{
    Engine, EngineConfig, HashAllocError, Knowledge, Learnable, Quiescence, SearchLimits,
    SearchRequest, StopFlag, parallel, plies_to_end,
};

/// Options of the self-play games.
#[derive(Clone, Copy, Debug)]
pub struct SelfPlayOptions {
    /// Nodes per move.
    pub nodes: u64,
    /// Random plies at the start of each game; up to five more are added.
    pub random_plies: u32,
    /// Percentage of the positions that are followed by one off the game: one or two random moves
    /// later.
    pub off_game: u32,
    /// Random seed.
    pub seed: u64,
    /// Threads; each plays its own games.
    pub threads: usize,
}

/// A game whose opening is worse than this for a side, in points, is not played.
pub(super) const MAX_OPENING_SCORE: i32 = 200;

// Most plies of a game are played in its ending, and most lost games are lost long before. So
// endings are played faster, few of their positions are stored, and clear draws are not played out.

/// Endings have this fraction of the nodes per move.
const ENDING_NODES: u64 = 2;
/// One position of an ending in this many is stored.
const ENDING_STORED: u32 = 3;
/// An ending is drawn after this many plies with a score of at most [`DRAW_SCORE`] points.
const DRAW_PLIES: u32 = 12;
const DRAW_SCORE: i32 = 20;

/// Score of a position that is proved to be won: a certain win in the target.
const PROVED_SCORE: i32 = 2000;

/// Plays games and returns their positions in the order of the games. They depend on the options
/// and the numbers of the games only. Returns `None` if `stop` was set.
pub(super) fn play_games<P: Learnable>(
    rules: &P::Options,
    knowledge: &Knowledge,
    games: Range<u32>,
    options: &SelfPlayOptions,
    stop: &StopFlag,
) -> Result<Option<Vec<Record>>, HashAllocError> {
    let config = EngineConfig { hash_mb: 2, ..EngineConfig::default() };
    let engines: Vec<Engine<P>> = (0..options.threads.max(1))
        .map(|_| Engine::new(config, knowledge))
        .collect::<Result<_, _>>()?;
    let finished = parallel::map(engines, games, stop, |engine, number| {
        play_game(rules, knowledge, engine, options, number, stop)
    });
    Ok((!stop.is_set()).then(|| finished.into_iter().flatten().collect()))
}

/// Plays a game and returns its positions; none if its opening is bad or it was stopped.
fn play_game<P: Learnable>(
    rules: &P::Options,
    knowledge: &Knowledge,
    engine: &mut Engine<P>,
    options: &SelfPlayOptions,
    number: u32,
    stop: &StopFlag,
) -> Vec<Record> {
    let mut rng = fastrand::Rng::with_seed(
        options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number.into()),
    );
    engine.clear();
    let mut position = P::training_start(rules, &mut rng);
    let mut keys = Vec::new();
    let random_plies = options.random_plies + rng.u32(0..6);
    if !play_random(&mut position, &mut keys, random_plies, &mut rng) {
        return Vec::new();
    }
    let search = |engine: &mut Engine<P>, position: &P, keys: &[u64]| {
        let nodes = options.nodes.div_ceil(if position.is_ending() { ENDING_NODES } else { 1 });
        let limits = SearchLimits { nodes: Some(nodes), ..SearchLimits::default() };
        let request = SearchRequest { position, history_keys: keys, limits, multipv: 1 };
        engine.search(request, stop, |_| {})
    };
    let mut records: Vec<(Option<Side>, Record)> = Vec::new();
    let mut drawn_plies = 0;
    let winner = loop {
        if let Some(outcome) = position.outcome(&keys) {
            break outcome.winner;
        }
        let report = search(engine, &position, &keys);
        if stop.is_set() {
            return Vec::new();
        }
        let Some(best) = report.best_move() else { break None };
        let score = report.score();
        if keys.len() == random_plies as usize && score.abs() > MAX_OPENING_SCORE {
            return Vec::new();
        }
        if let Some(plies) = plies_to_end(score) {
            if is_quiet(&position, best) {
                records.push((None, record(engine, knowledge, &position, score, number)));
            }
            // The result is forced: the rest of the game is not played.
            break Some(if plies > 0 { position.side() } else { position.side().other() });
        }
        let is_ending = position.is_ending();
        drawn_plies = if is_ending && score.abs() <= DRAW_SCORE { drawn_plies + 1 } else { 0 };
        if drawn_plies > DRAW_PLIES {
            break None;
        }
        let is_stored = !is_ending || rng.u32(0..ENDING_STORED) == 0;
        if is_stored && is_quiet(&position, best) {
            let stored = record(engine, knowledge, &position, score, number);
            records.push((Some(position.side()), stored));
            if rng.u32(0..100) < options.off_game {
                let (mut off_game, mut off_keys) = (position.clone(), keys.clone());
                let plies = rng.u32(1..3);
                if play_random(&mut off_game, &mut off_keys, plies, &mut rng) {
                    let report = search(engine, &off_game, &off_keys);
                    if let Some(best) = report.best_move()
                        && is_quiet(&off_game, best)
                    {
                        let score = report.score();
                        records.push((None, record(engine, knowledge, &off_game, score, number)));
                    }
                }
            }
        }
        keys.push(position.key());
        position.play(best);
    };
    let result = |side: Side| match winner {
        None => 1,
        Some(winner) => 2 * u8::from(winner == side),
    };
    let with_result = |(side, record): (Option<Side>, Record)| Record {
        result: record.result.or(side.map(result)),
        ..record
    };
    records.into_iter().map(with_result).collect()
}

/// Plays random moves. Returns false if the game ends.
pub(super) fn play_random<P: Learnable>(
    position: &mut P,
    keys: &mut Vec<u64>,
    plies: u32,
    rng: &mut fastrand::Rng,
) -> bool {
    let mut moves = MoveList::new();
    for _ in 0..plies {
        position.legal_moves(&mut moves);
        if moves.is_empty() || position.outcome(keys).is_some() {
            return false;
        }
        keys.push(position.key());
        position.play(moves[rng.usize(0..moves.len())]);
    }
    position.outcome(keys).is_none()
}

/// Whether no capture is forced and the best move is not a capture.
fn is_quiet<P: Learnable>(position: &P, best: P::Move) -> bool {
    position.quiescence() != Quiescence::ForcedCaptures && P::capture_count(best) == 0
}

/// A position with the score of the search, or with what a table or the search proves: result and
/// score.
fn record<P: Learnable>(
    engine: &Engine<P>,
    knowledge: &Knowledge,
    position: &P,
    score: i32,
    game: u32,
) -> Record {
    let (score, result) = match knowledge.value(position) {
        Some(TableValue::Win { .. }) => (PROVED_SCORE, Some(2)),
        Some(TableValue::Draw) => (0, Some(1)),
        Some(TableValue::Loss { .. }) => (-PROVED_SCORE, Some(0)),
        Some(TableValue::AtLeastDraw { .. } | TableValue::AtMostDraw { .. }) | None => {
            match plies_to_end(score) {
                Some(1..) => (PROVED_SCORE, Some(2)),
                Some(_) => (-PROVED_SCORE, Some(0)),
                None => (score, None),
            }
        }
    };
    Record {
        boards: position.boards(engine.evaluator()),
        score: score.clamp(i16::MIN.into(), i16::MAX.into()) as i16,
        result,
        plies_left: position.plies_left().min(255) as u8,
        game,
    }
}
