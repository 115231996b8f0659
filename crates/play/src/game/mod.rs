//! A game in progress: the board, the clocks, offers and ends off the board.
//!
//! [`GameInPlay::decide`] checks an action and changes nothing; [`GameInPlay::apply`] is the only
//! way to change a game. In between, the caller may write the [`Event`] to disk. There are no
//! players, sockets, files or wall clock here: the time is passed in, as the time since an epoch
//! that the caller chooses.

mod action;
mod end;
mod settings;

use std::time::Duration;

use crownhead_records::{GameResult, MoveData, Ply};
use crownhead_rules::{MoveError, Side};

pub use action::{Action, Event, InvalidEvent, OfferKind, Refusal};
pub use end::End;
pub use settings::{COMPUTER_GRACE, GameConfig, GameSettings, SideConfig};

use crate::clock::{Clock, Clocks, TimeLeft};
use crate::draw_offer::{accepts_draw, considers_draw};
use crate::{Choice, Fault, FaultKind, FaultPolicy, Incident, Session};

/// A game in progress.
pub struct GameInPlay {
    config: GameConfig,
    session: Box<dyn Session>,
    clocks: Clocks,
    /// Who has made each kind of offer.
    offers: [Option<Side>; 3],
    end: Option<End>,
    /// Whether a rematch has been agreed.
    has_rematch: bool,
    /// The number of plies when a draw was last declined.
    draw_declined_at: Option<usize>,
    /// The stored events.
    events: Vec<Event>,
}

impl GameInPlay {
    /// Starts a game at the current position of `session`.
    pub fn new(session: Box<dyn Session>, config: GameConfig, now: Duration) -> GameInPlay {
        let controls = config.sides.map(|side| side.time_control);
        let mut game = GameInPlay {
            clocks: Clocks::new(controls, config.clock_start_ply),
            end: session.outcome().map(End::Rules),
            config,
            session,
            offers: [None; 3],
            has_rematch: false,
            draw_declined_at: None,
            events: Vec::new(),
        };
        game.start_turn(now);
        game
    }

    /// How the game is conducted.
    pub fn config(&self) -> &GameConfig {
        &self.config
    }

    /// The board and its moves.
    pub fn session(&self) -> &dyn Session {
        self.session.as_ref()
    }

    /// The clocks.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The end of the game, if it is over.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Whether the game is over.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// The end in a sentence, if the game is over.
    pub fn describe_end(&self) -> Option<String> {
        self.end.as_ref().map(|end| end.describe(self.session()))
    }

    /// The winner, if the game is over and was not drawn.
    pub fn winner(&self) -> Option<Side> {
        self.end.as_ref().and_then(End::winner)
    }

    /// The result, for game files.
    pub fn result(&self) -> GameResult {
        self.end.as_ref().map_or(GameResult::Unknown, End::result)
    }

    /// The moves for game files, with the time left and the players' evaluations.
    pub fn recorded_plies(&self) -> Vec<Ply> {
        let moves = self.session.moves();
        let mut played: Vec<&Event> = Vec::new();
        for event in &self.events {
            match event {
                Event::Move { .. } | Event::Fault { .. } => played.push(event),
                Event::Undo { plies, .. } => played.truncate(played.len().saturating_sub(*plies)),
                _ => {}
            }
        }
        // The game may have started with moves of an opening.
        let opening = moves.len().saturating_sub(played.len());
        let mut side = self.session.side();
        let data: Vec<MoveData> = played
            .iter()
            .rev()
            .map(|event| {
                side = side.other();
                let (time_left, eval) = match event {
                    Event::Move { time_left, eval, .. } => (time_left[side.index()], *eval),
                    Event::Fault { time_left, .. } => (time_left[side.index()], None),
                    _ => (None, None),
                };
                MoveData { clock: time_left, elapsed: None, eval }
            })
            .collect();
        let data = std::iter::repeat_n(MoveData::default(), opening).chain(data.into_iter().rev());
        moves.into_iter().zip(data).map(|(text, data)| Ply::with_data(text, &data)).collect()
    }

    /// Who has made an offer.
    pub fn offer(&self, kind: OfferKind) -> Option<Side> {
        self.offers[kind as usize]
    }

    /// Whether a computer considers a draw offer at all, so soon after the last one.
    pub fn considers_draw(&self) -> bool {
        considers_draw(self.draw_declined_at, self.session.plies())
    }

    /// Whether a computer accepts a draw. `choice` is the best move of its opponent, who is to
    /// move; without a score the computer declines.
    pub fn accepts_draw(&self, choice: Option<&Choice>) -> bool {
        let score = choice.and_then(|choice| choice.score).map(|score| -score);
        accepts_draw(score, self.session.plies())
    }

    /// The number of plies when a draw was last declined.
    pub fn draw_declined_at(&self) -> Option<usize> {
        self.draw_declined_at
    }

    /// The stored events, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The stored events, in order.
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }

    /// The side whose clock runs.
    pub fn running_clock(&self) -> Option<Side> {
        let side = self.session.side();
        let is_running = !self.is_over() && self.clocks.is_running();
        (is_running && self.clocks.clock(side).time_left().is_some()).then_some(side)
    }

    /// The time left on both clocks now.
    pub fn time_left(&self, now: Duration) -> TimeLeft {
        self.clocks.time_left(self.session.side(), now)
    }

    /// When the side to move loses on time if it does not move.
    pub fn deadline(&self) -> Option<Duration> {
        let side = self.running_clock()?;
        self.clocks.deadline(side)?.checked_add(self.config.sides[side.index()].grace)
    }

    /// The loss on time of the side to move, if its time is up.
    pub fn check_flag(&self, now: Duration) -> Option<Event> {
        self.deadline().filter(|deadline| *deadline <= now)?;
        Some(Event::End(End::OutOfTime(self.session.side())))
    }

    /// Whether the end can be taken back. A game lost on time stays lost, and a game with a rematch
    /// stays over.
    pub fn can_reopen(&self) -> bool {
        let is_lost_on_time = match &self.end {
            Some(End::OutOfTime(_)) => true,
            // Time per move starts again with every turn.
            Some(End::Forfeited(incident)) => {
                incident.fault.kind == FaultKind::Timeout
                    && self.clocks.clock(incident.side).time_left().is_some()
            }
            _ => false,
        };
        !is_lost_on_time && !self.has_rematch
    }

    /// Decides the event that follows from an action, and changes nothing. If the time of the side
    /// to move is up, any action but an answer ends the game.
    pub fn decide(&self, by: Side, action: &Action, now: Duration) -> Result<Event, Refusal> {
        if !matches!(action, Action::Answer { .. })
            && let Some(flag) = self.check_flag(now)
        {
            return Ok(flag);
        }
        match action {
            Action::Move(text) => {
                self.check_turn(by)?;
                Ok(self.decide_move(text, now)?)
            }
            Action::Resign => {
                self.check_not_over()?;
                Ok(Event::End(End::Resigned(by)))
            }
            Action::Offer(kind) => self.decide_offer(by, *kind, now),
            Action::Accept(kind) => match self.offer(*kind) == Some(by.other()) {
                true => self.decide_offer(by, *kind, now),
                false => Err(Refusal::NoOffer),
            },
            Action::Decline(kind) => match self.offer(*kind) {
                None => Err(Refusal::NoOffer),
                Some(side) if side == by => Ok(Event::Withdraw(*kind, by)),
                Some(_) => Ok(Event::Decline(*kind, by)),
            },
            Action::Answer { answer, policy, seed } => {
                self.check_turn(by)?;
                Ok(match self.judge_answer(answer, now) {
                    Ok(event) => event,
                    Err(fault) => self.apply_fault_policy(fault, *policy, *seed, now),
                })
            }
        }
    }

    /// Judges the answer of the side to move: in time, then legal.
    fn judge_answer(&self, answer: &Result<String, Fault>, now: Duration) -> Result<Event, Fault> {
        let text = answer.as_ref().map_err(Fault::clone)?;
        let side = self.session.side();
        let used = self.clocks.turn_time(now);
        let grace = self.config.sides[side.index()].grace;
        let (kind, message) = match self.clocks.clock(side).after_move(used, grace) {
            None => {
                let millis = used.as_millis();
                (FaultKind::Timeout, format!("the answer came too late, after {millis} ms"))
            }
            Some(_) => match self.decide_move(text, now) {
                Ok(event) => return Ok(event),
                Err(error) => (FaultKind::IllegalMove, error.to_string()),
            },
        };
        Err(Fault::new(kind, message).received(format!("move {text}").as_bytes()))
    }

    fn check_not_over(&self) -> Result<(), Refusal> {
        self.describe_end().map_or(Ok(()), |text| Err(Refusal::GameOver(text)))
    }

    fn check_turn(&self, by: Side) -> Result<(), Refusal> {
        self.check_not_over()?;
        let side = self.session.side();
        match by == side {
            true => Ok(()),
            false => Err(Refusal::NotYourTurn(self.session.game().info().sides[side.index()].name)),
        }
    }

    /// A move of the side to move.
    fn decide_move(&self, text: &str, now: Duration) -> Result<Event, MoveError> {
        let text = self.session.check_move(text)?;
        let (side, ply) = (self.session.side(), self.session.plies());
        let time_left = self.clocks.time_left_after_move(side, ply, now);
        Ok(Event::Move { text, time_left, eval: None })
    }

    /// Returns the penalty for a fault of the side to move.
    fn apply_fault_policy(
        &self,
        fault: Fault,
        policy: FaultPolicy,
        seed: u64,
        now: Duration,
    ) -> Event {
        let session = self.session();
        let incident = Box::new(Incident::new(session, fault, policy));
        let random_move = || {
            let chosen = fastrand::Rng::with_seed(seed).choice(session.legal_moves());
            chosen.map(|mv| mv.text)
        };
        let text = match policy {
            FaultPolicy::Forfeit => None,
            FaultPolicy::Skip if policy.supports(session.game()) => Some("pass".into()),
            FaultPolicy::Skip | FaultPolicy::RandomMove => random_move(),
        };
        match text {
            // The increment is for moves that the player made itself.
            Some(text) => Event::Fault { incident, text, time_left: self.time_left(now) },
            None => Event::End(End::Forfeited(incident)),
        }
    }

    /// Decides an offer, or the acceptance of the opponent's offer of the same kind.
    fn decide_offer(&self, by: Side, kind: OfferKind, now: Duration) -> Result<Event, Refusal> {
        let is_accepted = self.offer(kind) == Some(by.other());
        let event = match kind {
            OfferKind::Draw => {
                self.check_not_over()?;
                Event::End(End::DrawAgreed)
            }
            OfferKind::TakeBack => {
                self.decide_take_back(if is_accepted { by.other() } else { by }, now)?
            }
            OfferKind::Rematch if !self.is_over() => return Err(Refusal::GameNotOver),
            OfferKind::Rematch if self.has_rematch => return Err(Refusal::RematchAgreed),
            OfferKind::Rematch => Event::Rematch,
        };
        let needs_consent = self.config.consent.contains(&kind);
        Ok(if is_accepted || !needs_consent { event } else { Event::Offer(kind, by) })
    }

    /// Takes the game back to the last turn of a side.
    fn decide_take_back(&self, side: Side, now: Duration) -> Result<Event, Refusal> {
        if self.config.consent.contains(&OfferKind::TakeBack) || !self.can_reopen() {
            self.check_not_over()?;
        }
        if let Some(End::Resigned(_) | End::DrawAgreed) = self.end {
            return Ok(Event::Reopen);
        }
        let plies = if self.session.side() == side { 2 } else { 1 };
        match plies > self.session.plies() {
            true => Err(Refusal::NothingToTakeBack),
            false => Ok(Event::Undo { plies, time_left: self.time_left(now) }),
        }
    }

    /// Applies an event. Only an event that was decided in another state of the game, or read from
    /// a damaged file, is an error; the game is then unchanged.
    pub fn apply(&mut self, event: &Event, now: Duration) -> Result<(), InvalidEvent> {
        let side = self.session.side();
        match event {
            Event::Move { text, time_left, .. } | Event::Fault { text, time_left, .. } => {
                if let Some(end) = self.describe_end() {
                    return Err(InvalidEvent(format!("{text}: the game is over. {end}")));
                }
                self.session.replay(text).map_err(|error| InvalidEvent(error.to_string()))?;
                self.end = self.session.outcome().map(End::Rules);
                self.clocks.set_time_left(*time_left);
                self.clocks.on_ply(self.session.plies());
                self.offers[OfferKind::TakeBack as usize] = None;
                // A side that moves declines the opponent's draw offer.
                self.offers[OfferKind::Draw as usize].take_if(|by| *by != side);
                self.start_turn(now);
            }
            Event::Undo { plies, time_left } => {
                let played = self.session.plies();
                if *plies > played {
                    return Err(InvalidEvent(format!("{plies} of {played} plies taken back")));
                }
                for _ in 0..*plies {
                    self.session.undo();
                }
                self.end = self.session.outcome().map(End::Rules);
                self.clocks.set_time_left(*time_left);
                self.offers = [None; 3];
                self.start_turn(now);
            }
            Event::End(end) => {
                let mut time_left = self.time_left(now);
                if let End::OutOfTime(side) = end {
                    time_left[side.index()] = Some(Duration::ZERO);
                }
                self.clocks.set_time_left(time_left);
                self.end = Some(end.clone());
                self.offers = [None; 3];
                self.clocks.stop();
            }
            Event::Reopen => {
                self.end = self.session.outcome().map(End::Rules);
                self.offers = [None; 3];
                self.start_turn(now);
            }
            Event::Offer(kind, by) => self.offers[*kind as usize] = Some(*by),
            Event::Withdraw(kind, _) => self.offers[*kind as usize] = None,
            Event::Decline(kind, _) => {
                self.offers[*kind as usize] = None;
                if *kind == OfferKind::Draw {
                    self.draw_declined_at = Some(self.session.plies());
                }
            }
            Event::Rematch => {
                self.has_rematch = true;
                self.offers = [None; 3];
            }
            Event::ClockStart if self.is_over() => {}
            Event::ClockStart => self.clocks.start(now),
            Event::ClockStop => self.clocks.stop(),
        }
        if event.is_stored() {
            self.events.push(event.clone());
        }
        Ok(())
    }

    /// Starts the turn of the side to move, unless its clock waits.
    fn start_turn(&mut self, now: Duration) {
        let waits = self.config.sides[self.session.side().index()].clock_waits;
        match self.is_over() || waits {
            true => self.clocks.stop(),
            false => self.clocks.start(now),
        }
    }

    /// A side's clock as it stood when the turn started.
    pub fn clock(&self, side: Side) -> Clock {
        self.clocks.clock(side)
    }
}
