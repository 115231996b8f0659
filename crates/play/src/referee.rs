//! The referee: one loop for every pair of players. It lets them move in turn, keeps their clocks,
//! and decides what a fault costs.
//!
//! Who the players are and how they are talked with is theirs to know; what many games prove is the
//! business of [`matches`](crate::matches).

use std::time::{Duration, Instant};

use crownhead_rules::Side;
use crownhead_search::StopFlag;

use crate::stopwatch::Stopwatch;
use crate::{
    Choice, Clock, End, Fault, FaultKind, FaultPolicy, GameOver, GameSettings, Incident, PlayError,
    Player, PlayerError, Session,
};

/// How long an outside program may think about a move where nobody asked for a clock.
pub const DEFAULT_BOT_MOVE_TIME: Duration = Duration::from_secs(5);

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

/// What a fault of the side to move costs: the incident, and the move that is made instead; none if
/// the game is lost. `lot` decides a move that is drawn.
pub fn settle(
    session: &mut dyn Session,
    fault: Fault,
    policy: FaultPolicy,
    lot: u64,
) -> (Incident, Option<String>) {
    let incident = Incident::new(session, fault, policy);
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
    let score = game.end.score();
    for (player, side) in players.iter_mut().zip([Side::First, Side::Second]) {
        let (winner, code) = (game.end.winner(), game.end.code());
        player.on_game_over(&GameOver::of(side, winner, score, code, &game.description));
    }
}
