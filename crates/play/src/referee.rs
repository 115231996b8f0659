//! The referee: one loop for every pair of players. It lets them move in turn, keeps their clocks,
//! and decides what a fault costs.
//!
//! Who the players are and how they are talked with is theirs to know; what many games prove is the
//! business of [`matches`](crate::matches).

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crownhead_rules::{Game, GameVisitor, Notation, Outcome, Side};
use crownhead_search::StopFlag;

use crate::clock::truncate;
use crate::stopwatch::Stopwatch;
use crate::{Choice, Clock, GameOver, PlayError, Player, PlayerError, Session, TimeControl};
use crate::{Fault, FaultKind};

/// The terms of a game: its times, and what a fault costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameSettings {
    /// The time both players have.
    pub time_control: TimeControl,
    /// A player may be late by so much: handing a move over takes time that is not its own.
    pub grace: Duration,
    /// How long an outside program may take to be ready.
    pub startup_timeout: Duration,
    /// What a fault costs.
    pub fault_policy: FaultPolicy,
}

/// What a fault costs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultPolicy {
    /// The game.
    Forfeit,
    /// The turn.
    Skip,
    /// The choice: a move is drawn by lot.
    RandomMove,
}

/// How long an outside program may think about a move where nobody asked for a clock.
pub const DEFAULT_BOT_MOVE_TIME: Duration = Duration::from_secs(5);

impl GameSettings {
    /// The usual terms of a game, without a limit of time.
    pub fn default_for(game: &Game) -> GameSettings {
        GameSettings {
            time_control: TimeControl::Unlimited,
            grace: Duration::from_millis(5),
            startup_timeout: Duration::from_secs(10),
            fault_policy: FaultPolicy::default_for(game),
        }
    }
}

impl FaultPolicy {
    /// All policies.
    pub const ALL: [FaultPolicy; 3] =
        [FaultPolicy::Forfeit, FaultPolicy::Skip, FaultPolicy::RandomMove];

    /// The usual policy of a game: in Capture Halma the rules say that a turn is skipped, in contest
    /// checkers that an invalid move ends the game.
    pub fn default_for(game: &Game) -> FaultPolicy {
        match game {
            Game::CaptureHalma => FaultPolicy::Skip,
            Game::English(_) | Game::Contest(_) | Game::ChineseCheckers => FaultPolicy::Forfeit,
        }
    }

    /// Whether a game can be played by this policy: turns can be skipped only where the rules know
    /// such turns.
    pub fn supports(self, game: &Game) -> bool {
        struct Skips;
        impl GameVisitor for Skips {
            type Output = bool;
            fn visit<P: Notation>(self, _: &P::Options) -> bool {
                P::skip_move().is_some()
            }
        }
        self != FaultPolicy::Skip || game.visit(Skips)
    }

    /// Its one text.
    pub const fn code(self) -> &'static str {
        match self {
            FaultPolicy::Forfeit => "forfeit",
            FaultPolicy::Skip => "skip",
            FaultPolicy::RandomMove => "random-move",
        }
    }
}

impl fmt::Display for FaultPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for FaultPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<FaultPolicy, String> {
        FaultPolicy::ALL.into_iter().find(|policy| policy.code() == text).ok_or_else(|| {
            format!("a policy is forfeit, skip or random-move, not {:?}", truncate(text))
        })
    }
}

/// A fault, and where it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// Whose fault it is.
    pub side: Side,
    /// Plies played before.
    pub ply: usize,
    /// What was wrong.
    pub fault: Fault,
    /// The position in which it happened.
    pub position: String,
    /// The legal moves there; the first of many.
    pub moves: String,
    /// What it cost.
    pub policy: FaultPolicy,
}

/// How a game ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// By the rules.
    Rules(Outcome),
    /// By a fault that lost it.
    Forfeited(Box<Incident>),
}

impl End {
    /// Who won.
    pub fn winner(&self) -> Option<Side> {
        match self {
            End::Rules(outcome) => outcome.winner,
            End::Forfeited(incident) => Some(incident.side.other()),
        }
    }

    /// A word for the reason.
    pub fn code(&self) -> &'static str {
        match self {
            End::Rules(outcome) => outcome.reason.code(),
            End::Forfeited(incident) => incident.fault.kind.code(),
        }
    }
}

impl Incident {
    /// Whether a game was lost by it, or the program cannot be talked with any more.
    pub fn is_fatal(&self) -> bool {
        self.policy == FaultPolicy::Forfeit || self.fault.kind.ends_process()
    }

    /// What its author needs to know, in a sentence or two. Sides have the names of the game.
    pub fn describe(&self, game: &Game) -> String {
        let name = game.info().sides[self.side.index()].name;
        let cost = match self.policy {
            FaultPolicy::Forfeit => "the game is lost",
            FaultPolicy::Skip => "the turn is skipped",
            FaultPolicy::RandomMove => "a random move is made",
        };
        format!(
            "{}, {name}, ply {}: {}. By the policy {}, {cost}. Position: {}. Legal moves: {}",
            self.fault.kind.code(),
            self.ply,
            self.fault,
            self.policy,
            self.position,
            self.moves
        )
    }
}

/// A game that was refereed to its end.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// The texts of the moves.
    pub moves: Vec<String>,
    /// How it ended.
    pub end: End,
    /// A sentence on how it ended.
    pub description: String,
    /// The faults, the first of many.
    pub incidents: Vec<Incident>,
    /// How many there were, by side.
    pub faults: [u32; 2],
    /// How many of them were for lack of time.
    pub timeouts: [u32; 2],
    /// The longest time each side used for a move.
    pub slowest_move: [Duration; 2],
}

/// So many incidents of a game are kept, and besides them what ended a program.
const KEPT: usize = 8;
/// So many bytes of legal moves are told.
const TOLD: usize = 400;

/// Plays a game from where the session stands; none if it was stopped. The players have taken their
/// seats, the one who moves first first. `seed` decides moves that are made for others. `heard` is
/// told of every move as soon as it is made, and how long its player took.
pub fn play(
    session: &mut dyn Session,
    mut players: [&mut dyn Player; 2],
    terms: &GameSettings,
    seed: u64,
    stop: &StopFlag,
    heard: &mut dyn FnMut(&str, Duration),
) -> Result<Option<PlayedGame>, PlayerError> {
    let mut clocks = [terms.time_control.clock(); 2];
    let mut lots = fastrand::Rng::with_seed(seed);
    let mut moves = Vec::new();
    let mut incidents = Vec::new();
    let (mut faults, mut late) = ([0; 2], [0; 2]);
    let mut slowest = [Duration::ZERO; 2];
    let (end, ending) = loop {
        if let Some(outcome) = session.outcome() {
            break (End::Rules(outcome), session.outcome_text().unwrap_or_default());
        }
        let side = session.side();
        let whose = side.index();
        let turn = take_turn(session, players[whose], clocks[whose], terms.grace, stop)?;
        let Some((used, result)) = turn else { return Ok(None) };
        slowest[whose] = slowest[whose].max(used);
        let fault = match result {
            Ok((text, clock)) => {
                clocks[whose] = clock;
                heard(&text, used);
                moves.push(text);
                continue;
            }
            Err(fault) => fault,
        };
        // A program that is gone did that once, and its later turns are no news.
        let is_end = |other: &Incident| other.side == side && other.fault.kind.ends_process();
        let is_news = !fault.kind.ends_process() || !incidents.iter().any(is_end);
        let ended_it = fault.kind.ends_process() && is_news;
        faults[whose] += u32::from(is_news);
        late[whose] += u32::from(fault.kind == FaultKind::Timeout);
        let (incident, made) = settle(session, fault, terms.fault_policy, lots.u64(..));
        if is_news {
            players[whose].on_fault(&incident, made.as_deref());
        }
        let Some(made) = made else {
            incidents.push(incident.clone());
            let sentence = incident.describe(session.game());
            break (End::Forfeited(Box::new(incident)), sentence);
        };
        heard(&made, used);
        moves.push(made);
        if ended_it || (is_news && incidents.len() < KEPT) {
            incidents.push(incident);
        }
        // A clock that has run out stands at nothing; the increment is for moves made.
        if let Clock::PerGame { left, .. } = &mut clocks[whose] {
            *left = left.saturating_sub(used);
        }
    };
    let game = PlayedGame {
        moves,
        end,
        description: ending,
        incidents,
        faults,
        timeouts: late,
        slowest_move: slowest,
    };
    tell(&mut players, &game);
    Ok(Some(game))
}

/// The time used, and the move with the clock after it, or a fault; none if it was stopped.
pub(crate) type Turn = (Duration, Result<(String, Clock), Fault>);

pub fn take_turn(
    session: &mut dyn Session,
    player: &mut dyn Player,
    clock: Clock,
    grace: Duration,
    stop: &StopFlag,
) -> Result<Option<Turn>, PlayerError> {
    // The thread of an outside program is another's.
    let watch = (!player.is_external()).then(Stopwatch::start);
    let start = Instant::now();
    let choice = player.choose(session, &clock, stop, &mut |_| {});
    let used = watch.map_or_else(|| start.elapsed(), |watch| watch.used());
    if stop.is_set() {
        return Ok(None);
    }
    let result = match choice {
        Ok(choice) => judge(session, choice, clock, used, grace),
        Err(PlayerError::Fault(fault)) => Err(fault),
        Err(error) => return Err(error),
    };
    Ok(Some((used, result)))
}

/// Plays a chosen move if it came in time and is legal: its text, and the clock after it.
pub fn judge(
    session: &mut dyn Session,
    choice: Choice,
    clock: Clock,
    used: Duration,
    grace: Duration,
) -> Result<(String, Clock), Fault> {
    let answer = format!("move {}", choice.text);
    let Some(next) = clock.after_move(used, grace) else {
        let what = format!("the answer came too late, after {} ms", used.as_millis());
        return Err(Fault::new(FaultKind::Timeout, what).received(answer.as_bytes()));
    };
    match session.play(&choice.text) {
        // As the referee writes it: a player may have used another form.
        Ok(()) => Ok((session.last_move_text().unwrap_or(choice.text), next)),
        Err(PlayError::Illegal(error)) => {
            let fault = Fault::new(FaultKind::IllegalMove, error.to_string());
            Err(fault.received(answer.as_bytes()))
        }
        Err(error) => Err(Fault::new(FaultKind::IllegalMove, error.to_string())),
    }
}

pub fn incident(session: &dyn Session, side: Side, fault: Fault, policy: FaultPolicy) -> Incident {
    let mut moves = String::new();
    session.write_legal_moves(&mut moves);
    if moves.len() > TOLD {
        let end = moves[..TOLD].rfind(',').unwrap_or(0);
        let more = moves[end..].matches(',').count();
        moves.truncate(end);
        moves.push_str(&format!(" and {more} more"));
    }
    let (ply, position) = (session.plies(), session.position());
    Incident { side, ply, fault, position, moves, policy }
}

/// What a fault of the side to move costs: the incident, and the move that is made instead; none if
/// the game is lost. `lot` decides a move that is drawn.
pub fn settle(
    session: &mut dyn Session,
    fault: Fault,
    policy: FaultPolicy,
    lot: u64,
) -> (Incident, Option<String>) {
    let incident = incident(session, session.side(), fault, policy);
    let is_made = match policy {
        FaultPolicy::Forfeit => false,
        FaultPolicy::Skip if session.skip_turn() => true,
        FaultPolicy::Skip | FaultPolicy::RandomMove => {
            let chosen = fastrand::Rng::with_seed(lot).choice(session.legal_moves());
            chosen.is_some_and(|chosen| session.play(&chosen.text).is_ok())
        }
    };
    (incident, is_made.then(|| session.last_move_text()).flatten())
}

/// Tells both players how it ended.
fn tell(players: &mut [&mut dyn Player; 2], game: &PlayedGame) {
    let score = match &game.end {
        End::Rules(outcome) => outcome.score,
        End::Forfeited(_) => None,
    };
    for (player, side) in players.iter_mut().zip([Side::First, Side::Second]) {
        let (winner, code) = (game.end.winner(), game.end.code());
        player.on_game_over(&GameOver::of(side, winner, score, code, &game.description));
    }
}
