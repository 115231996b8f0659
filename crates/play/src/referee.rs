//! The referee: asks two players for moves in turn, keeps their clocks and penalises faults.
//!
//! Every turn is `choose`, then [`decide`](GameInPlay::decide), then [`apply`](GameInPlay::apply).
//! How to communicate with a player is up to the player.

use std::path::PathBuf;
use std::time::Duration;

use crownhead_rules::{Game, Side};
use crownhead_search::{Instant, Knowledge, Score, StopFlag, Stopwatch};

use crate::adjudication::Adjudicator;
use crate::{
    Action, End, Event, FaultKind, FaultPolicy, GameConfig, GameInPlay, GameOver, GameSettings,
    GameStart, Incident, Opening, Player, PlayerError, Session,
};

/// Time per move of a bot in a game without a time control.
pub const DEFAULT_BOT_MOVE_TIME: Duration = Duration::from_secs(5);

/// Maximum number of incidents stored per game, besides those that ended a process.
const MAX_INCIDENTS: usize = 8;

/// A game about to start. The first element of each pair belongs to the side that moves first.
#[derive(Clone, Debug)]
pub struct GameSetup<'a> {
    /// The game.
    pub game: &'a Game,
    /// Times, the fault policy and adjudication.
    pub settings: &'a GameSettings,
    /// Tables for adjudication.
    pub knowledge: &'a Knowledge,
    /// The opening.
    pub opening: &'a Opening,
    /// The players' names.
    pub names: [&'a str; 2],
    /// The players' random seeds.
    pub seeds: [u64; 2],
    /// The referee's random seed.
    pub referee_seed: u64,
    /// The log files of bots.
    pub logs: [Option<PathBuf>; 2],
}

/// A move of a game, with what its player reported about its search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayedMove<'a> {
    /// Text of the move.
    pub text: &'a str,
    /// The time it took.
    pub time: Duration,
    /// The time left for the rest of the game after it, if it is limited.
    pub time_left: Option<Duration>,
    /// Score for the player; `None` without a report.
    pub score: Option<Score>,
    /// Search depth in plies; 0 without a report.
    pub depth: u32,
}

/// A turn that has been decided but not applied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The move, or the penalty for a fault.
    pub event: Event,
    /// The time the player used.
    pub time: Duration,
    /// Score that the player reported.
    pub score: Option<Score>,
    /// Search depth that the player reported; 0 without a report.
    pub depth: u32,
}

/// Shorter absences are measurement noise, not a reason to replay a game.
const MIN_ABSENCE: Duration = Duration::from_millis(1);

/// A finished game.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// The moves.
    pub moves: Vec<String>,
    /// How it ended.
    pub end: End,
    /// The reason of the end, as [`End::reason`] gives it.
    pub description: String,
    /// The first faults.
    pub incidents: Vec<Incident>,
    /// The number of faults of each side.
    pub faults: [u32; 2],
    /// The number of timeouts among them.
    pub timeouts: [u32; 2],
    /// The longest time each side used for a move.
    pub slowest_move: [Duration; 2],
    /// The turns in which the referee itself was stopped or starved.
    pub absences: Vec<Absence>,
}

/// A turn in which the referee itself was stopped or starved. The time is not charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Absence {
    /// The side to move.
    pub side: Side,
    /// The number of plies played before it, the opening included.
    pub ply: usize,
    /// The time that was not charged.
    pub time: Duration,
    /// Whether the player was late all the same.
    pub is_late: bool,
}

/// Plays a game between two players; `None` if it was stopped. `on_move` is called with every move.
pub fn play_game(
    setup: &GameSetup<'_>,
    mut players: [&mut dyn Player; 2],
    stop: &StopFlag,
    on_move: &mut dyn FnMut(PlayedMove<'_>),
) -> Result<Option<PlayedGame>, PlayerError> {
    let session = setup.opening.session(setup.game).map_err(PlayerError::Opening)?;
    for (player, side) in players.iter_mut().zip([Side::First, Side::Second]) {
        let index = side.index();
        let start = GameStart {
            game: setup.game,
            side,
            settings: setup.settings,
            seed: setup.seeds[index],
            opponent: setup.names[1 - index],
            log: setup.logs[index].as_deref(),
        };
        player.start_game(&start, stop);
    }
    let GameSetup { settings, knowledge, referee_seed, .. } = *setup;
    play(session, players, settings, knowledge, referee_seed, stop, on_move)
}

/// Plays a game from the current position of the session; `None` if it was stopped.
/// [`Player::start_game`] must have been called. `seed` decides the random moves that are played
/// for players.
pub fn play(
    session: Box<dyn Session>,
    mut players: [&mut dyn Player; 2],
    settings: &GameSettings,
    knowledge: &Knowledge,
    seed: u64,
    stop: &StopFlag,
    on_move: &mut dyn FnMut(PlayedMove<'_>),
) -> Result<Option<PlayedGame>, PlayerError> {
    // The game's time advances only by what players are charged.
    let mut now = Duration::ZERO;
    let mut game = GameInPlay::new(session, GameConfig::refereed(settings), now);
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut adjudicator = Adjudicator::new(settings.adjudication, knowledge);
    let mut faults = FaultLog::default();
    let mut slowest_move = [Duration::ZERO; 2];
    let mut absences = Vec::new();
    while !game.is_over() {
        let side = game.session().side();
        let player = &mut *players[side.index()];
        let mut next_rng = rng.clone();
        let seed = next_rng.u64(..);
        let turn = play_turn(&game, player, settings.fault_policy, seed, stop)?;
        let Some(Turn { event, time, score, depth }) = turn else { return Ok(None) };
        now += time;
        slowest_move[side.index()] = slowest_move[side.index()].max(time);
        let away = player.time_away();
        if away >= MIN_ABSENCE {
            let fault = match &event {
                Event::Fault { incident, .. } | Event::End(End::Forfeited(incident)) => {
                    Some(incident.fault.kind)
                }
                _ => None,
            };
            let (ply, is_late) = (game.session().plies(), fault == Some(FaultKind::Timeout));
            absences.push(Absence { side, ply, time: away, is_late });
        }
        if let Event::Fault { incident, text, .. } = &event {
            rng = next_rng;
            faults.add(incident, Some(text), player);
        }
        match &event {
            Event::Move { text, time_left, .. } | Event::Fault { text, time_left, .. } => {
                let time_left = time_left[side.index()];
                on_move(PlayedMove { text, time, time_left, score, depth });
            }
            Event::End(End::Forfeited(incident)) => faults.add(incident, None, player),
            _ => {}
        }
        game.apply(&event, now).map_err(internal_error)?;
        if !game.is_over()
            && let Some(end) = adjudicator.after_move(game.session(), side, score)
        {
            game.apply(&Event::End(end), now).map_err(internal_error)?;
        }
    }
    let Some(end) = game.end().cloned() else { return Ok(None) };
    let description = end.reason(game.session());
    for (player, side) in players.iter_mut().zip([Side::First, Side::Second]) {
        player.on_game_over(&GameOver::new(side, &end, &description));
    }
    let moves = game.into_events().into_iter().filter_map(|event| match event {
        Event::Move { text, .. } | Event::Fault { text, .. } => Some(text),
        _ => None,
    });
    Ok(Some(PlayedGame {
        moves: moves.collect(),
        end,
        description,
        incidents: faults.incidents,
        faults: faults.count,
        timeouts: faults.timeouts,
        slowest_move,
        absences,
    }))
}

/// Asks the side to move for a move and decides it; `None` if it was stopped.
pub fn play_turn(
    game: &GameInPlay,
    player: &mut dyn Player,
    policy: FaultPolicy,
    seed: u64,
    stop: &StopFlag,
) -> Result<Option<Turn>, PlayerError> {
    let side = game.session().side();
    // A bot does not think on this thread.
    let watch = (!player.is_external()).then(Stopwatch::start);
    let start = Instant::now();
    let choice = player.choose(game.session(), &game.clock(side), stop, &mut |_| {});
    let elapsed = || start.elapsed().saturating_sub(player.time_away());
    let time = watch.map_or_else(elapsed, |watch| watch.elapsed());
    if stop.is_set() {
        return Ok(None);
    }
    let (answer, score, depth) = match choice {
        Ok(choice) => (Ok(choice.text), choice.score, choice.depth),
        Err(PlayerError::Fault(fault)) => (Err(fault), None, 0),
        Err(error) => return Err(error),
    };
    let now = game.clocks().turn_started().unwrap_or_default() + time;
    let event = game.decide(side, &Action::Answer { answer, policy, seed }, now);
    let event = event.map_err(internal_error)?;
    // A fault says nothing about the position.
    let score = score.filter(|_| matches!(event, Event::Move { .. }));
    Ok(Some(Turn { event, time, score, depth }))
}

/// Error for an answer that the game neither accepts nor penalises, which cannot happen.
fn internal_error(error: impl std::fmt::Display) -> PlayerError {
    PlayerError::Unavailable(error.to_string())
}

/// The faults of a game.
#[derive(Default)]
struct FaultLog {
    incidents: Vec<Incident>,
    count: [u32; 2],
    timeouts: [u32; 2],
}

impl FaultLog {
    /// Adds a fault and reports it to its player, with the move that was played instead. A bot
    /// whose process has ended commits one fault, however many turns it misses.
    fn add(&mut self, incident: &Incident, played: Option<&str>, player: &mut dyn Player) {
        let (side, kind) = (incident.side, incident.fault.kind);
        let ended = |earlier: &Incident| earlier.side == side && earlier.fault.kind.ends_process();
        let is_new = !kind.ends_process() || !self.incidents.iter().any(ended);
        self.count[side.index()] += u32::from(is_new);
        self.timeouts[side.index()] += u32::from(kind == FaultKind::Timeout);
        if is_new {
            player.on_fault(incident, played);
        }
        let has_room = kind.ends_process() || self.incidents.len() < MAX_INCIDENTS;
        if played.is_none() || (is_new && has_room) {
            self.incidents.push(incident.clone());
        }
    }
}
