//! Levels 1 to 9: limited searches that make human-like mistakes.
//!
//! Nothing here depends on time, so a level is equally strong on every machine. Levels differ in
//! search depth, in the random error added to the score of each move, and in how many moves they
//! miss: backward moves and long jumps more often than simple ones.

use crownhead_rules::{GameInfo, Side};
use crownhead_search::{
    DynEngine, EngineConfig, HasEngine, Knowledge, SearchLimits, SearchRequest, Searchable,
    StopFlag,
};

use super::{choice, limits, only_move, typed};
use crate::{Choice, Clock, GameStart, Player, PlayerError, PlayerOptions, Session};

/// Parameters of a level.
struct Level {
    /// Search depth in plies.
    depth: u32,
    /// Maximum nodes per move.
    nodes: u64,
    /// Number of best moves it chooses from.
    candidates: usize,
    /// Standard deviation of the error in the score of a move, in hundredths of a man.
    noise: i32,
    /// Simple moves missed, per thousand.
    miss_permille: u32,
}

/// Returns the levels 1 to 9 of a game.
fn levels(info: &GameInfo) -> &'static [Level; 9] {
    if info.drawish { &DRAWISH_LEVELS } else { &LEVELS }
}

#[rustfmt::skip]
const LEVELS: [Level; 9] = [
    Level { depth: 1, nodes:    500, candidates: 20, noise: 150, miss_permille: 350 },
    Level { depth: 1, nodes:  1_000, candidates: 16, noise:  60, miss_permille: 180 },
    Level { depth: 2, nodes:  3_000, candidates: 12, noise:  40, miss_permille: 120 },
    Level { depth: 3, nodes:  6_000, candidates: 10, noise:  25, miss_permille:  80 },
    Level { depth: 4, nodes: 10_000, candidates:  8, noise:  15, miss_permille:  50 },
    Level { depth: 5, nodes: 20_000, candidates:  6, noise:   9, miss_permille:  30 },
    Level { depth: 6, nodes: 30_000, candidates:  4, noise:   5, miss_permille:  18 },
    Level { depth: 7, nodes: 50_000, candidates:  3, noise:   3, miss_permille:  10 },
    Level { depth: 8, nodes: 80_000, candidates:  3, noise:   1, miss_permille:   4 },
];

/// Levels of a game in which most games are drawn and depth gains little. The lower levels differ
/// in noise instead. Tuned for contest checkers.
#[rustfmt::skip]
const DRAWISH_LEVELS: [Level; 9] = [
    Level { depth:  1, nodes:     500, candidates: 30, noise: 600, miss_permille: 400 },
    Level { depth:  1, nodes:   1_000, candidates: 30, noise:  85, miss_permille: 100 },
    Level { depth:  1, nodes:   1_000, candidates: 30, noise:  38, miss_permille:  55 },
    Level { depth:  1, nodes:   1_000, candidates: 30, noise:  13, miss_permille:  28 },
    Level { depth:  3, nodes:   8_000, candidates: 30, noise:  11, miss_permille:  17 },
    Level { depth:  4, nodes:  12_000, candidates: 20, noise:   4, miss_permille:   4 },
    Level { depth:  6, nodes:  40_000, candidates: 12, noise:   1, miss_permille:   1 },
    Level { depth:  8, nodes: 120_000, candidates:  3, noise:   0, miss_permille:   0 },
    Level { depth: 11, nodes: 800_000, candidates:  3, noise:   0, miss_permille:   0 },
];

/// Default hash table size in megabytes: enough for these node limits, and quick to clear.
const DEFAULT_HASH_MB: usize = 2;

pub(crate) struct LevelPlayer<P: HasEngine> {
    engine: Box<dyn DynEngine<P>>,
    level: &'static Level,
    options: PlayerOptions,
    rng: fastrand::Rng,
    /// Direction of the first side's advance, in rows and columns.
    forward: (i32, i32),
}

impl<P: HasEngine> LevelPlayer<P> {
    /// Creates the player of a level from 1 to 9.
    pub(crate) fn new(
        level: u8,
        rules: &P::Options,
        options: PlayerOptions,
        knowledge: &Knowledge,
    ) -> Result<LevelPlayer<P>, PlayerError> {
        let config = EngineConfig {
            threads: options.threads.map_or(1, usize::from),
            hash_mb: options.hash.map_or(DEFAULT_HASH_MB, |hash| hash as usize),
            contempt: P::contempt(),
            ..EngineConfig::default()
        };
        let engine = P::new_engine(config, knowledge);
        Ok(LevelPlayer {
            engine: engine.map_err(|error| PlayerError::OutOfMemory(error.to_string()))?,
            level: &levels(&P::INFO)[usize::from(level.clamp(1, 9)) - 1],
            options,
            rng: fastrand::Rng::with_seed(0),
            forward: forward_direction::<P>(rules),
        })
    }

    /// Decides at random whether the player misses a move.
    fn misses(&mut self, position: &P, mv: P::Move) -> bool {
        let path = position.path(mv);
        let (Some(from), Some(to)) = (path.first(), path.last()) else { return false };
        let rows = to.row() as i32 - from.row() as i32;
        let columns = to.column() as i32 - from.column() as i32;
        let progress = rows * self.forward.0 + columns * self.forward.1;
        let is_backward = match position.side() {
            Side::First => progress < 0,
            Side::Second => progress > 0,
        };
        // Every hop after the first adds half, and a backward move counts twice.
        let hops = (path.len() as u32).saturating_sub(2).min(4);
        let chance = self.level.miss_permille * (2 + hops) / 2 * if is_backward { 2 } else { 1 };
        self.rng.u32(..1000) < chance.min(900)
    }

    /// Returns a random error of a score: bell-shaped, at most 3.5 times the noise.
    fn score_error(&mut self) -> i32 {
        let sum: i32 = (0..4).map(|_| self.rng.i32(-1000..=1000)).sum();
        // The sum of four has a standard deviation of 1155.
        sum * self.level.noise / 1155
    }
}

/// Returns the direction from the first side's start to the second side's, in rows and columns.
fn forward_direction<P: Searchable>(options: &P::Options) -> (i32, i32) {
    let board = P::start(options).board();
    let sum_of_cells = |side: Side| {
        let letter = P::letter(side);
        let cells = (0..64).filter(|&cell: &i32| board[cell as usize] == letter);
        cells.fold((0, 0), |(rows, columns), cell| (rows + cell / 8, columns + cell % 8))
    };
    let (first, second) = (sum_of_cells(Side::First), sum_of_cells(Side::Second));
    // Both sides have the same number of pieces, so sums replace averages. The small sideways
    // shift between the men of checkers is not a direction.
    let (rows, columns) = (second.0 - first.0, second.1 - first.1);
    let max = rows.abs().max(columns.abs());
    let sign = |part: i32| if 2 * part.abs() >= max { part.signum() } else { 0 };
    (sign(rows), sign(columns))
}

impl<P: HasEngine> Player for LevelPlayer<P> {
    fn start_game(&mut self, start: &GameStart<'_>, _: &StopFlag) {
        self.engine.clear();
        self.rng = fastrand::Rng::with_seed(start.seed);
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &StopFlag,
        on_info: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        let game = typed::<P>(game)?;
        if let Some(choice) = only_move(game)? {
            return Ok(choice);
        }
        let position = game.current();
        let limits = limits(&self.options, clock);
        let nodes = limits.nodes.map_or(self.level.nodes, |nodes| nodes.min(self.level.nodes));
        let request = SearchRequest {
            position,
            history_keys: game.history_keys(),
            limits: SearchLimits { depth: Some(self.level.depth), nodes: Some(nodes), ..limits },
            multipv: self.level.candidates,
        };
        // An unfinished iteration has searched some moves deeper than others, so that their scores
        // cannot be compared: use the last finished one.
        let mut finished = None;
        let report = self.engine.search(request, stop, &mut |report| {
            on_info(choice(position, report, 0));
            finished = Some(report.clone());
        });
        let report = finished.unwrap_or(report);
        let mut best: Option<(i32, usize)> = None;
        for (index, line) in report.lines.iter().enumerate() {
            let Some(&mv) = line.moves.first() else { continue };
            // Both draw from the generator for every move, so that seeds stay comparable.
            let score = line.score.saturating_add(self.score_error());
            let is_missed = self.misses(position, mv);
            if !is_missed && best.is_none_or(|(best_score, _)| score > best_score) {
                best = Some((score, index));
            }
        }
        if report.lines.is_empty() {
            return Err(PlayerError::GameOver);
        }
        // If it missed every move, it plays the best one.
        Ok(choice(position, &report, best.map_or(0, |(_, index)| index)))
    }
}
