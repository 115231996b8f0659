//! Random openings that a short search finds balanced.

use crownhead_rules::{Game, MoveList};
use crownhead_search::{
    DynEngine, EngineConfig, GameVisitor, HasEngine, Knowledge, Score, SearchLimits, SearchRequest,
    Searchable, StopFlag, visit,
};

use super::Opening;
use crate::derive_seed;
use crate::session::line_texts;

/// Nodes searched to judge an opening.
const BALANCE_NODES: u64 = 3000;
/// Maximum score, for either side, of a balanced opening.
const MAX_IMBALANCE: Score = 60;
/// Maximum number of openings tried; after that the most balanced of them is used.
const MAX_ATTEMPTS: u32 = 200;

/// Picks random openings.
pub(super) trait RandomOpenings: Send {
    /// Returns the opening with this number, which depends on nothing else but the seed.
    fn pick(&mut self, number: u32) -> Opening;
}

/// Creates random openings of `plies` plies.
pub(super) fn random_openings(
    game: &Game,
    plies: u32,
    knowledge: &Knowledge,
    seed: u64,
) -> Box<dyn RandomOpenings> {
    visit(game, NewBalanced { plies, knowledge, seed })
}

struct NewBalanced<'a> {
    plies: u32,
    knowledge: &'a Knowledge,
    seed: u64,
}

impl GameVisitor for NewBalanced<'_> {
    type Output = Box<dyn RandomOpenings>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Box<dyn RandomOpenings> {
        let NewBalanced { plies, knowledge, seed } = self;
        let config = EngineConfig { hash_mb: 1, ..EngineConfig::default() };
        let engine = P::new_engine(config, knowledge).ok();
        Box::new(BalancedOpenings { start: P::start(options), plies, seed, engine })
    }
}

struct BalancedOpenings<P: HasEngine> {
    start: P,
    plies: u32,
    seed: u64,
    /// Judges openings; `None` if there was no memory for it, and then the first one is used.
    engine: Option<Box<dyn DynEngine<P>>>,
}

impl<P: HasEngine> RandomOpenings for BalancedOpenings<P> {
    fn pick(&mut self, number: u32) -> Opening {
        if self.plies == 0 {
            return Opening::default();
        }
        let mut rng = fastrand::Rng::with_seed(derive_seed(&[self.seed, number.into()]));
        let limits = SearchLimits { nodes: Some(BALANCE_NODES), ..SearchLimits::default() };
        let mut best: Option<(Score, Vec<P::Move>)> = None;
        for _ in 0..MAX_ATTEMPTS {
            let Some(RandomWalk { moves, position, history_keys }) =
                random_walk(self.start.clone(), self.plies, &mut rng)
            else {
                continue;
            };
            let score = self.engine.as_mut().map_or(0, |engine| {
                engine.clear();
                let request = SearchRequest {
                    history_keys: &history_keys,
                    ..SearchRequest::new(&position, limits)
                };
                engine.search(request, &StopFlag::new(), &mut |_| {}).score().abs()
            });
            if best.as_ref().is_none_or(|(best_score, _)| score < *best_score) {
                best = Some((score, moves));
            }
            if score <= MAX_IMBALANCE {
                break;
            }
        }
        let moves = best.map(|(_, moves)| moves).unwrap_or_default();
        Opening { start: None, moves: line_texts(&self.start, &moves) }
    }
}

struct RandomWalk<P: Searchable> {
    moves: Vec<P::Move>,
    position: P,
    /// Keys of the positions before it.
    history_keys: Vec<u64>,
}

/// Plays random moves; `None` if the game ends within them.
fn random_walk<P: Searchable>(
    mut position: P,
    plies: u32,
    rng: &mut fastrand::Rng,
) -> Option<RandomWalk<P>> {
    let (mut moves, mut history_keys) = (Vec::new(), Vec::new());
    let mut legal = MoveList::new();
    for _ in 0..plies {
        if position.outcome(&history_keys).is_some() {
            return None;
        }
        position.legal_moves(&mut legal);
        let mv = *legal.get(rng.usize(..legal.len()))?;
        history_keys.push(position.key());
        moves.push(mv);
        position.play(mv);
    }
    let is_over = position.outcome(&history_keys).is_some();
    (!is_over).then_some(RandomWalk { moves, position, history_keys })
}
