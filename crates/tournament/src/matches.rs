//! Matches between two players: pairs of games, each opening played with both colours.
//!
//! Every game has its own seed and players forget everything between games, so the result of a
//! match without time limits does not depend on the number of games played in parallel.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::{
    GameSettings, Knowledge, Opening, OpeningPicker, Openings, StopFlag, TimeControl, derive_seed,
    referee,
};
use crownhead_records::GameRecord;
use crownhead_rules::{Game, Side};
use crownhead_statistics::{GamePoints, Pentanomial, Wdl};

use crate::job::{FinishedGame, GameJob, JobError, JobPlayer, JobResult};
use crate::runner::{Executor, JobSource, ThreadExecutor};
use crate::{Entrant, GameSummary};

/// A match to play.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// The game and its options.
    pub game: Game,
    /// The two players.
    pub players: [PlayerSpec; 2],
    /// Number of game pairs.
    pub pairs: u32,
    /// Time control and fault policy.
    pub settings: GameSettings,
    /// Openings of the games.
    pub openings: Openings,
    /// Random seed.
    pub seed: u64,
    /// Number of games played in parallel.
    pub concurrency: usize,
    /// Existing folder for bot logs.
    pub log: Option<PathBuf>,
}

/// A finished game of a match.
#[derive(Clone, Debug)]
pub struct MatchGame {
    /// Pair it belongs to, from 0.
    pub pair: u32,
    /// Which player moved first: 0 or 1.
    pub first: usize,
    /// The game.
    pub played: FinishedGame,
}

impl MatchGame {
    /// Returns the number of the game in the match, from 1.
    pub fn number(&self) -> i64 {
        2 * i64::from(self.pair) + self.first as i64 + 1
    }

    /// Returns the opening.
    pub fn opening(&self) -> &Opening {
        &self.played.opening
    }

    /// Returns result and counts, by side.
    pub fn summary(&self) -> &GameSummary {
        &self.played.summary
    }

    /// Returns the result for the first player of the match.
    pub fn points(&self) -> GamePoints {
        match self.summary().winner {
            None => GamePoints::Draw,
            Some(side) if side == self.first => GamePoints::Win,
            Some(_) => GamePoints::Loss,
        }
    }

    /// Converts a pair by side to a pair by player.
    fn by_player<T: Copy>(&self, [first, second]: [T; 2]) -> [T; 2] {
        if self.first == 0 { [first, second] } else { [second, first] }
    }

    /// Returns the number of faults, by player.
    pub fn faults(&self) -> [u32; 2] {
        self.by_player(self.summary().faults)
    }

    /// Returns the number of turns lost on time, by player.
    pub fn timeouts(&self) -> [u32; 2] {
        self.by_player(self.played.timeouts)
    }

    /// Returns the longest time taken for a move, by player.
    pub fn slowest_move(&self) -> [Duration; 2] {
        self.by_player(self.played.slowest_move)
    }

    /// Returns the game as a PDN record.
    pub fn record(&self, config: &MatchConfig) -> GameRecord {
        let FinishedGame { summary, opening, moves, reports, description, .. } = &self.played;
        let MatchConfig { game, settings, .. } = config;
        let (time_control, reason) = (settings.time_control, Some(description.as_str()));
        let mut record = summary.record(game, time_control, opening, moves, reports, reason);
        record.set_tag("Event", format!("Match, seed {}", config.seed));
        record.set_tag("Round", format!("{}.{}", self.pair + 1, self.first + 1));
        record.set_player(Side::First, config.players[self.first].to_string());
        record.set_player(Side::Second, config.players[1 - self.first].to_string());
        record
    }
}

/// Running totals of a match, for its first player.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MatchScore {
    /// All games.
    pub all: Wdl,
    /// Games in which it moved first, and games in which it moved second.
    pub by_colour: [Wdl; 2],
    /// Complete pairs.
    pub pairs: Pentanomial,
    /// Number of games by the reason for their end.
    pub ends: BTreeMap<String, u32>,
    /// Turns lost on time, by player.
    pub timeouts: [u32; 2],
    /// Faults of any kind, by player.
    pub faults: [u32; 2],
    /// Longest time taken for a move, by player.
    pub slowest_move: [Duration; 2],
    /// Plies of all games, openings included.
    pub plies: u64,
    /// First results of incomplete pairs.
    half_pairs: BTreeMap<u32, GamePoints>,
}

impl MatchScore {
    /// Adds a game.
    pub fn add(&mut self, game: &MatchGame) {
        let points = game.points();
        self.all.add(points);
        self.by_colour[game.first].add(points);
        *self.ends.entry(game.summary().reason.clone()).or_default() += 1;
        let (timeouts, faults, slowest) = (game.timeouts(), game.faults(), game.slowest_move());
        for player in 0..2 {
            self.timeouts[player] += timeouts[player];
            self.faults[player] += faults[player];
            self.slowest_move[player] = slowest[player].max(self.slowest_move[player]);
        }
        self.plies += game.opening().moves.len() as u64 + u64::from(game.summary().plies);
        match self.half_pairs.remove(&game.pair) {
            Some(first_game) => self.pairs.add([first_game, points]),
            None => _ = self.half_pairs.insert(game.pair, points),
        }
    }
}

/// Time per move of a built-in player without any limit, in games without a time limit.
const DEFAULT_MOVE_TIME: Duration = Duration::from_millis(100);

/// Makes sure that every move ends: built-in players without a limit get `nodes`, or
/// [`DEFAULT_MOVE_TIME`] if there is no time limit either. Returns the time control, which limits
/// the time per move if a bot plays.
pub fn apply_default_limits(
    players: &mut [PlayerSpec],
    time_control: TimeControl,
    nodes: Option<u64>,
) -> TimeControl {
    for player in players.iter_mut() {
        let Some(player) = player.builtin_mut() else { continue };
        if player.supports_node_limit() && player.options.nodes.is_none() {
            player.options.nodes = nodes;
        }
        if player.has_no_limit() && time_control == TimeControl::Unlimited {
            player.options.movetime = Some(DEFAULT_MOVE_TIME);
        }
    }
    match time_control {
        TimeControl::Unlimited if players.iter().any(|player| player.program().is_some()) => {
            TimeControl::PerMove(referee::DEFAULT_BOT_MOVE_TIME)
        }
        time_control => time_control,
    }
}

/// Returns the CPU time of this process so far: of the referee and the built-in players, but not
/// of bots. Zero on systems other than Unix.
pub fn cpu_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

/// The players of a match as entrants, for an executor.
pub fn entrants(config: &MatchConfig) -> [Entrant; 2] {
    config.players.each_ref().map(|spec| Entrant {
        name: spec.short_name(),
        text: spec.to_string(),
        player: Ok(spec.clone()),
    })
}

/// Plays a match to its end, or until `stop` is set; running games are then discarded. Calls
/// `on_game` for every finished game, in the order in which the games end.
pub fn play(
    config: &MatchConfig,
    knowledge: &Knowledge,
    stop: &StopFlag,
    on_game: impl FnMut(MatchGame),
) -> Result<(), JobError> {
    for player in &config.players {
        let built = player.build(stop);
        if stop.is_set() {
            return Ok(());
        }
        built?;
    }
    let entrants = entrants(config);
    let threads = config.concurrency.min(config.pairs.saturating_mul(2) as usize);
    let players = entrants.iter().map(Some).collect();
    let executor = ThreadExecutor::new(players, knowledge, threads, config.log.as_deref());
    executor.create_players(&config.game)?;
    play_on(&executor, config, knowledge, stop, on_game)
}

/// Plays a match like [`play`], on an executor with its [`entrants`].
pub fn play_on(
    executor: &dyn Executor,
    config: &MatchConfig,
    knowledge: &Knowledge,
    stop: &StopFlag,
    mut on_game: impl FnMut(MatchGame),
) -> Result<(), JobError> {
    let (results, received) = channel();
    let games = config.pairs.saturating_mul(2);
    let jobs = MatchJobs {
        config,
        names: config.players.each_ref().map(PlayerSpec::to_string),
        openings: config.openings.picker(&config.game, knowledge, config.seed),
        games,
        next: AtomicU32::new(0),
        results,
        stop,
    };
    std::thread::scope(|scope| {
        // The loop below ends when `jobs` is dropped.
        scope.spawn(move || executor.run(&jobs, stop));
        let mut result = Ok(());
        for game in received {
            match game {
                Ok(game) => on_game(*game),
                Err(error) => {
                    stop.set();
                    result = Err(error);
                }
            }
        }
        result
    })
}

/// The games of a match as jobs.
struct MatchJobs<'a> {
    config: &'a MatchConfig,
    names: [String; 2],
    openings: OpeningPicker<'a>,
    games: u32,
    /// Index of the next game, from 0.
    next: AtomicU32,
    results: Sender<Result<Box<MatchGame>, JobError>>,
    stop: &'a StopFlag,
}

impl JobSource for MatchJobs<'_> {
    fn max_jobs(&self) -> usize {
        self.games as usize
    }

    fn next_job(&self) -> Option<GameJob> {
        self.job(self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn next_pair(&self) -> Vec<GameJob> {
        let index = self.next.fetch_add(2, Ordering::Relaxed);
        [index, index + 1].into_iter().filter_map(|index| self.job(index)).collect()
    }

    fn on_result(&self, _: usize, job: &GameJob, result: JobResult) {
        let result = match result {
            JobResult::Finished(played) => {
                let pair = (job.number as u32 - 1) / 2;
                let first = job.players[0].index;
                Ok(Box::new(MatchGame { pair, first, played: *played }))
            }
            JobResult::Stopped => return,
            JobResult::Failed(error) => Err(error),
        };
        // The receiver lives as long as the match.
        let _ = self.results.send(result);
    }
}

impl MatchJobs<'_> {
    /// Returns the game with this index, from 0, if there is one.
    fn job(&self, index: u32) -> Option<GameJob> {
        if index >= self.games || self.stop.is_set() {
            return None;
        }
        let MatchConfig { game, settings, seed, .. } = self.config;
        let (pair, first) = (index / 2, index as usize % 2);
        let sides = [first, 1 - first];
        let seed = |role: usize| derive_seed(&[*seed, index.into(), role as u64]);
        Some(GameJob {
            number: i64::from(index) + 1,
            game: game.clone(),
            players: sides.map(|index| JobPlayer { index, name: self.names[index].clone() }),
            settings: *settings,
            opening: self.openings.opening(pair),
            seeds: sides.map(seed),
            referee_seed: seed(2),
        })
    }
}
