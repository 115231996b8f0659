//! The levels below the best: a search that sees less, and mistakes like a person's.
//!
//! Nothing here depends on time, so a level is as strong on every machine. A level differs from the
//! next in three ways. It looks less far ahead. It judges roughly: what it thinks of each move is
//! off by some random amount. And it overlooks moves, those that go backward or jump about more
//! than simple ones.

use crownhead_rules::{GameInfo, Side};
use crownhead_search::{
    DynEngine, EngineConfig, HasEngine, Knowledge, SearchLimits, SearchRequest, Searchable,
    StopFlag,
};

use super::{choice, limits, typed, without_thought};
use crate::{Choice, Clock, Player, PlayerError, PlayerOptions, Session};

/// How well a level plays.
struct Level {
    /// Plies it looks ahead.
    depth: u32,
    /// Positions it looks at for a move, at most.
    nodes: u64,
    /// How many moves it compares.
    lines: usize,
    /// How far its judgement of a move is off, in hundredths of a man: the standard deviation.
    noise: i32,
    /// How many moves in a thousand it overlooks.
    overlooked: u32,
}

/// The levels below the tenth of a game.
fn levels(info: &GameInfo) -> &'static [Level; 9] {
    if info.drawish { &DRAWISH_LEVELS } else { &LEVELS }
}

#[rustfmt::skip]
const LEVELS: [Level; 9] = [
    Level { depth: 1, nodes:    500, lines: 20, noise: 150, overlooked: 350 },
    Level { depth: 1, nodes:  1_000, lines: 16, noise:  60, overlooked: 180 },
    Level { depth: 2, nodes:  3_000, lines: 12, noise:  40, overlooked: 120 },
    Level { depth: 3, nodes:  6_000, lines: 10, noise:  25, overlooked:  80 },
    Level { depth: 4, nodes: 10_000, lines:  8, noise:  15, overlooked:  50 },
    Level { depth: 5, nodes: 20_000, lines:  6, noise:   9, overlooked:  30 },
    Level { depth: 6, nodes: 30_000, lines:  4, noise:   5, overlooked:  18 },
    Level { depth: 7, nodes: 50_000, lines:  3, noise:   3, overlooked:  10 },
    Level { depth: 8, nodes: 80_000, lines:  3, noise:   1, overlooked:   4 },
];

/// Levels of a game in which nearly everything is drawn and looking further ahead gains little: they
/// differ by how well they judge first. Tuned for contest checkers.
#[rustfmt::skip]
const DRAWISH_LEVELS: [Level; 9] = [
    Level { depth:  1, nodes:     500, lines: 30, noise: 600, overlooked: 400 },
    Level { depth:  1, nodes:   1_000, lines: 30, noise:  85, overlooked: 100 },
    Level { depth:  1, nodes:   1_000, lines: 30, noise:  38, overlooked:  55 },
    Level { depth:  1, nodes:   1_000, lines: 30, noise:  13, overlooked:  28 },
    Level { depth:  3, nodes:   8_000, lines: 30, noise:  11, overlooked:  17 },
    Level { depth:  4, nodes:  12_000, lines: 20, noise:   4, overlooked:   4 },
    Level { depth:  6, nodes:  40_000, lines: 12, noise:   1, overlooked:   1 },
    Level { depth:  8, nodes: 120_000, lines:  3, noise:   0, overlooked:   0 },
    Level { depth: 11, nodes: 800_000, lines:  3, noise:   0, overlooked:   0 },
];

/// Megabytes of hash table: enough for so few nodes, and soon cleared.
const HASH: usize = 2;

pub(crate) struct Graded<P: HasEngine> {
    engine: Box<dyn DynEngine<P>>,
    level: &'static Level,
    options: PlayerOptions,
    lots: fastrand::Rng,
    /// Where the first player is going, in rows and columns.
    ahead: (i32, i32),
}

impl<P: HasEngine> Graded<P> {
    /// The player of a level from 1 to 9.
    pub(crate) fn new(
        level: u8,
        rules: &P::Options,
        options: PlayerOptions,
        knowledge: &Knowledge,
    ) -> Result<Graded<P>, PlayerError> {
        let settings = EngineConfig {
            threads: options.threads.map_or(1, usize::from),
            hash_mb: options.hash.map_or(HASH, |hash| hash as usize),
            contempt: P::contempt(),
            ..EngineConfig::default()
        };
        let engine = P::new_engine(settings, knowledge);
        Ok(Graded {
            engine: engine.map_err(|error| PlayerError::OutOfMemory(error.to_string()))?,
            level: &levels(&P::INFO)[usize::from(level.clamp(1, 9)) - 1],
            options,
            lots: fastrand::Rng::with_seed(0),
            ahead: ahead::<P>(rules),
        })
    }

    /// Whether the player does not see a move.
    fn overlooks(&mut self, position: &P, mv: P::Move) -> bool {
        let path = position.path(mv);
        let (Some(from), Some(to)) = (path.first(), path.last()) else { return false };
        let rows = to.row() as i32 - from.row() as i32;
        let columns = to.column() as i32 - from.column() as i32;
        let forward = rows * self.ahead.0 + columns * self.ahead.1;
        let backward = match position.side() {
            Side::First => forward < 0,
            Side::Second => forward > 0,
        };
        // A simple move counts once, a second hop half as much again, going back twice.
        let hops = (path.len() as u32).saturating_sub(2).min(4);
        let chance = self.level.overlooked * (2 + hops) / 2 * if backward { 2 } else { 1 };
        self.lots.u32(..1000) < chance.min(900)
    }

    /// An error of judgement: bell-shaped, and never beyond three and a half times the noise.
    fn error(&mut self) -> i32 {
        let sum: i32 = (0..4).map(|_| self.lots.i32(-1000..=1000)).sum();
        // Four such have a standard deviation of 1155.
        sum * self.level.noise / 1155
    }
}

/// From where the first player's pieces start to where the second's do.
fn ahead<P: Searchable>(options: &P::Options) -> (i32, i32) {
    let board = P::start(options).board();
    let middle = |side: Side| {
        let letter = P::letter(side);
        let cells = (0..64).filter(|&cell: &i32| board[cell as usize] == letter);
        cells.fold((0, 0), |(rows, columns), cell| (rows + cell / 8, columns + cell % 8))
    };
    let (first, second) = (middle(Side::First), middle(Side::Second));
    // As many pieces each, so sums will do. What little the men of checkers are shifted sideways
    // is no direction.
    let (rows, columns) = (second.0 - first.0, second.1 - first.1);
    let most = rows.abs().max(columns.abs());
    let keep = |part: i32| if 2 * part.abs() >= most { part.signum() } else { 0 };
    (keep(rows), keep(columns))
}

impl<P: HasEngine> Player for Graded<P> {
    fn new_game(&mut self, seed: u64) {
        self.engine.clear();
        self.lots = fastrand::Rng::with_seed(seed);
    }

    fn choose(
        &mut self,
        game: &dyn Session,
        clock: &Clock,
        stop: &StopFlag,
        heard: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        let game = typed::<P>(game)?;
        if let Some(choice) = without_thought(game)? {
            return Ok(choice);
        }
        let position = game.current();
        let allowed = limits(&self.options, clock);
        let limits = SearchLimits {
            depth: Some(self.level.depth),
            nodes: Some(allowed.nodes.map_or(self.level.nodes, |own| own.min(self.level.nodes))),
            ..allowed
        };
        let task = SearchRequest {
            position,
            history_keys: game.past(),
            limits,
            multipv: self.level.lines,
        };
        // An iteration that was broken off has looked at some moves further than at others, which
        // would make the difference between them: only finished ones count.
        let mut finished = None;
        let report = self.engine.search(task, stop, &mut |report| {
            heard(choice(position, report, 0));
            finished = Some(report.clone());
        });
        let report = finished.unwrap_or(report);
        let mut chosen: Option<(i32, usize)> = None;
        for (index, line) in report.lines.iter().enumerate() {
            let Some(&mv) = line.moves.first() else { continue };
            // Lots are drawn for every move, whatever came before.
            let felt = line.score.saturating_add(self.error());
            let unseen = self.overlooks(position, mv);
            if !unseen && chosen.is_none_or(|(best, _)| felt > best) {
                chosen = Some((felt, index));
            }
        }
        if report.lines.is_empty() {
            return Err(PlayerError::GameOver);
        }
        // Whoever overlooks everything sees what is best after all.
        Ok(choice(position, &report, chosen.map_or(0, |(_, index)| index)))
    }
}
