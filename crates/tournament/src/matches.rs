//! Matches between two players: pairs of games, one with each colour from each opening.
//!
//! Every game has its own seed, and players forget all between games, so a match whose players
//! are not limited by time ends the same however many games are played at once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crownhead_records::{GameRecord, Ply};
use crownhead_rules::{Game, Side};

use crate::statistics::{GamePoints, Pentanomial, Wdl};
use crownhead_bots::{PlayerSpec, log};
use crownhead_play::referee::{self, GameSetup, PlayedGame};
use crownhead_play::{
    End, GameSettings, Knowledge, Opening, OpeningPicker, Openings, Player, PlayerError, StopFlag,
    TimeControl, derive_seed,
};

/// A match to be played.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// The game.
    pub game: Game,
    /// Who plays.
    pub players: [PlayerSpec; 2],
    /// How many pairs of games.
    pub pairs: u32,
    /// The times, and what faults cost.
    pub settings: GameSettings,
    /// What the games begin with.
    pub openings: Openings,
    /// What everything that is drawn by lot follows from.
    pub seed: u64,
    /// How many games are played at once.
    pub concurrency: usize,
    /// A folder that exists, for one log of each game and outside program.
    pub log: Option<PathBuf>,
}

/// A finished game.
#[derive(Clone, Debug)]
pub struct MatchGame {
    /// The pair it belongs to, from 0.
    pub pair: u32,
    /// Which of the two players moved first: 0 or 1.
    pub first: usize,
    /// What it began with.
    pub opening: Opening,
    /// What happened after the opening, by sides.
    pub played: PlayedGame,
    /// Why a log is not whole.
    pub log_failure: Option<String>,
}

impl MatchGame {
    /// What the game brought the first player of the plan.
    pub fn points(&self) -> GamePoints {
        match self.played.end.winner() {
            None => GamePoints::Draw,
            Some(side) if side.index() == self.first => GamePoints::Win,
            Some(_) => GamePoints::Loss,
        }
    }

    /// What is known of both sides, for both players of the plan.
    fn by_player<T: Copy>(&self, [first, second]: [T; 2]) -> [T; 2] {
        if self.first == 0 { [first, second] } else { [second, first] }
    }

    /// How many faults each player made.
    pub fn faults(&self) -> [u32; 2] {
        self.by_player(self.played.faults)
    }

    /// How many of them for lack of time.
    pub fn late(&self) -> [u32; 2] {
        self.by_player(self.played.timeouts)
    }

    /// The longest time each player used for a move.
    pub fn slowest(&self) -> [Duration; 2] {
        self.by_player(self.played.slowest_move)
    }

    /// The game as a file holds it.
    pub fn record(&self, plan: &MatchConfig) -> GameRecord {
        let mut record = GameRecord::new(plan.game.clone());
        record.set_tag("Event", format!("Match, seed {}", plan.seed));
        record.set_tag("Round", format!("{}.{}", self.pair + 1, self.first + 1));
        record.set_player(Side::First, plan.players[self.first].to_string());
        record.set_player(Side::Second, plan.players[1 - self.first].to_string());
        let PlayedGame { moves, end, description, .. } = &self.played;
        record.set_tag("Termination", end.code());
        if let End::Forfeited(_) = end {
            record.set_tag("Reason", description.clone());
        }
        record.start.clone_from(&self.opening.start);
        record.line.plies = self.opening.moves.iter().chain(moves).map(Ply::new).collect();
        record.result = end.result();
        record
    }
}

/// All that is counted in a match, for the first player of the plan.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MatchScore {
    /// All games.
    pub all: Wdl,
    /// The games in which it moved first, and those in which it moved second.
    pub by_colour: [Wdl; 2],
    /// The pairs of which both games are finished.
    pub pairs: Pentanomial,
    /// Games by the reason of their end.
    pub ends: BTreeMap<&'static str, u32>,
    /// Turns for which each player had not enough time.
    pub late: [u32; 2],
    /// Faults of any kind that each player made.
    pub faults: [u32; 2],
    /// The longest time each player used for a move.
    pub slowest: [Duration; 2],
    /// Plies of all games, openings included.
    pub plies: u64,
    /// Pairs with one game finished.
    half: BTreeMap<u32, GamePoints>,
}

impl MatchScore {
    /// Counts a game.
    pub fn add(&mut self, game: &MatchGame) {
        let points = game.points();
        self.all.add(points);
        self.by_colour[game.first].add(points);
        *self.ends.entry(game.played.end.code()).or_default() += 1;
        let (late, faults, slowest) = (game.late(), game.faults(), game.slowest());
        for player in 0..2 {
            self.late[player] += late[player];
            self.faults[player] += faults[player];
            self.slowest[player] = slowest[player].max(self.slowest[player]);
        }
        self.plies += (game.opening.moves.len() + game.played.moves.len()) as u64;
        match self.half.remove(&game.pair) {
            Some(other) => self.pairs.add([other, points]),
            None => _ = self.half.insert(game.pair, points),
        }
    }
}

/// How long a player without any limit of its own thinks where the games have none either.
const THOUGHT: Duration = Duration::from_millis(100);

/// Sees to it that every move ends: players get the nodes that all may look at, and where there is no
/// time, those that would think for ever get some. The time control with that.
pub fn apply_default_limits(
    players: &mut [PlayerSpec],
    time: TimeControl,
    nodes: Option<u64>,
) -> TimeControl {
    for player in players.iter_mut() {
        let Some(player) = player.builtin_mut() else { continue };
        if player.supports_node_limit() && player.options.nodes.is_none() {
            player.options.nodes = nodes;
        }
        if player.has_no_limit() && time == TimeControl::Unlimited {
            player.options.movetime = Some(THOUGHT);
        }
    }
    match time {
        TimeControl::Unlimited if players.iter().any(|player| player.program().is_some()) => {
            TimeControl::PerMove(referee::DEFAULT_BOT_MOVE_TIME)
        }
        time => time,
    }
}

/// The processor time of this program so far, all threads together: of the referee, and of built-in
/// players. Outside programs have their own.
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Plays a match until its end or until `stop` is raised; games that are then in progress do not
/// count. `heard` is told of every finished game, in the order in which they end.
pub fn play(
    plan: &MatchConfig,
    knowledge: &Knowledge,
    stop: &StopFlag,
    mut heard: impl FnMut(MatchGame),
) -> Result<(), PlayerError> {
    let next = AtomicU32::new(0);
    let games = plan.pairs.saturating_mul(2);
    let (sender, receiver) = mpsc::channel();
    for player in &plan.players {
        let built = player.build(stop);
        if stop.is_set() {
            return Ok(());
        }
        built?;
    }
    // The memory for all is taken before the first game begins.
    let seats = 0..plan.concurrency.clamp(1, games.max(1) as usize);
    let seats: Result<Vec<_>, _> = seats.map(|_| create_players(plan, knowledge)).collect();
    let drawing = &plan.openings.picker(&plan.game, knowledge, plan.seed);
    std::thread::scope(|scope| {
        for mut players in seats? {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= games || stop.is_set() {
                        break;
                    }
                    match one_game(plan, drawing, &mut players, number, stop) {
                        Ok(None) => break,
                        Ok(Some(game)) => _ = sender.send(Ok(game)),
                        Err(error) => _ = sender.send(Err(error)),
                    }
                }
            });
        }
        drop(sender);
        let mut result = Ok(());
        for game in receiver {
            match game {
                Ok(game) => heard(game),
                Err(error) => {
                    stop.set();
                    result = Err(error);
                }
            }
        }
        result
    })
}

fn create_players(
    plan: &MatchConfig,
    knowledge: &Knowledge,
) -> Result<[Box<dyn Player>; 2], PlayerError> {
    let [one, other] = &plan.players;
    Ok([one.player(&plan.game, knowledge)?, other.player(&plan.game, knowledge)?])
}

/// Plays a game; none if it was stopped.
fn one_game(
    plan: &MatchConfig,
    drawing: &OpeningPicker<'_>,
    players: &mut [Box<dyn Player>; 2],
    number: u32,
    stop: &StopFlag,
) -> Result<Option<MatchGame>, PlayerError> {
    let (pair, first) = (number / 2, number as usize % 2);
    let opening = drawing.opening(pair);
    let sides = [first, 1 - first];
    let names = sides.map(|player| plan.players[player].to_string());
    let log = |side: Side| {
        let name = plan.players[sides[side.index()]].short_name();
        let name = log::file_name(&plan.game, u64::from(number) + 1, side, &name);
        plan.log.as_ref().map(|folder| folder.join(name))
    };
    let setup = GameSetup {
        game: &plan.game,
        settings: &plan.settings,
        opening: &opening,
        names: names.each_ref().map(String::as_str),
        seeds: sides.map(|player| derive_seed(&[plan.seed, number.into(), player as u64])),
        referee_seed: derive_seed(&[plan.seed, number.into(), 2]),
        logs: [log(Side::First), log(Side::Second)],
    };
    let [one, other] = &mut *players;
    let seated: [&mut dyn Player; 2] =
        if first == 0 { [one.as_mut(), other.as_mut()] } else { [other.as_mut(), one.as_mut()] };
    let game = referee::play_game(&setup, seated, stop, &mut |_, _| {})?;
    let log_failure = players.iter().find_map(|player| player.log_failure().map(str::to_string));
    Ok(game.map(|played| MatchGame { pair, first, opening, played, log_failure }))
}
