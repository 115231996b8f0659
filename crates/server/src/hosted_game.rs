//! A game on the server: a [`GameInPlay`] with seat rights, names, a version and a rematch.
//!
//! An event is first decided, then stored, then applied: [`HostedGame::decide`] changes nothing,
//! the room appends the event to the store, and only then [`HostedGame::apply`] changes the game. A
//! game is loaded by applying its stored events.

use std::sync::OnceLock;
use std::time::Duration;

use crownhead_play::game::InvalidEvent;
use crownhead_play::{
    Action, Choice, End, Event, GameConfig, GameInPlay, LegalMove, OfferKind, Session, SideConfig,
    new_session,
};
use crownhead_records::{GameResult, Ply};
use crownhead_rules::{Cell, PositionError, Side};

use crate::error::{Refusal, RefusalCode};
use crate::new_game::{GameSetup, Mode};

/// Maximum number of events per game. Games without take-backs stay far below it.
const MAX_EVENTS: usize = 2000;
/// Maximum number of times a seat can be renamed. Renames do not count towards [`MAX_EVENTS`].
const MAX_RENAMES: usize = 20;
/// The clocks start when both sides have moved: a friend may join late.
const CLOCK_START_PLY: usize = 2;

/// Event of a hosted game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostedEvent {
    /// An event of the game itself.
    Game(Event),
    /// A seat was renamed.
    Name(Side, Option<String>),
    /// The rematch was created, with this id.
    Next(String),
}

/// Effect of an action, for the room to execute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Append the event to the store, apply it and broadcast the change.
    Append(HostedEvent),
    /// Apply the event, which is not stored, and broadcast the offers.
    Apply(Event),
    /// Report that a side declines the offer without considering it; nothing changes.
    Decline(OfferKind, Side),
    /// Apply the offer and ask the computer whether it accepts the draw.
    AskComputer(Event),
    /// Create the rematch.
    StartRematch,
}

/// Sides that a client may play.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SeatRights(pub [bool; 2]);

impl SeatRights {
    /// The rights to one side.
    pub fn only(side: Side) -> SeatRights {
        let mut rights = [false; 2];
        rights[side.index()] = true;
        SeatRights(rights)
    }

    /// Whether the client may play a side.
    pub fn can_play(self, side: Side) -> bool {
        self.0[side.index()]
    }

    /// Whether the client is a spectator.
    pub fn is_none(self) -> bool {
        self.0 == [false; 2]
    }

    /// The side, if there is exactly one.
    pub fn single(self) -> Option<Side> {
        match self.0 {
            [true, false] => Some(Side::First),
            [false, true] => Some(Side::Second),
            _ => None,
        }
    }

    /// The sides.
    pub fn sides(self) -> impl Iterator<Item = Side> {
        [Side::First, Side::Second].into_iter().filter(move |&side| self.can_play(side))
    }
}

/// A move that was played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayedMove {
    /// Its text.
    pub text: String,
    /// The side that played it.
    pub side: Side,
    /// The cells it touched.
    pub path: Vec<Cell>,
    /// The cells of the captured pieces.
    pub captures: Vec<Cell>,
    /// The board after it.
    pub board: [char; 64],
}

/// A game on the server.
pub struct HostedGame {
    setup: GameSetup,
    game: GameInPlay,
    start_board: [char; 64],
    /// The legal moves, computed on first use: loading a game may replay thousands of positions
    /// without it.
    legal: OnceLock<Vec<LegalMove>>,
    moves: Vec<PlayedMove>,
    names: [Option<String>; 2],
    rename_counts: [usize; 2],
    /// The id of the rematch.
    next: Option<String>,
}

impl HostedGame {
    /// A new game.
    pub fn new(setup: GameSetup, now: Duration) -> Result<HostedGame, PositionError> {
        let session = new_session(&setup.game, setup.position.as_deref())?;
        let time_control = setup.time_control();
        let sides = [Side::First, Side::Second].map(|side| match setup.computer(side) {
            Some(_) => SideConfig::computer(time_control),
            None => SideConfig::human(time_control),
        });
        let consent: &[OfferKind] = match setup.mode {
            Mode::Friend => &OfferKind::ALL,
            Mode::Computer { .. } => &[OfferKind::Draw],
            Mode::Hotseat | Mode::Computers { .. } => &[],
        };
        let config = GameConfig { sides, clock_start_ply: CLOCK_START_PLY, consent };
        Ok(HostedGame {
            start_board: session.board(),
            game: GameInPlay::new(session, config, now),
            setup,
            legal: OnceLock::new(),
            moves: Vec::new(),
            names: [None, None],
            rename_counts: [0; 2],
            next: None,
        })
    }

    /// The game, the players and the clock.
    pub fn setup(&self) -> &GameSetup {
        &self.setup
    }

    /// The position and its history.
    pub fn session(&self) -> &dyn Session {
        self.game.session()
    }

    /// The board at the start.
    pub fn start_board(&self) -> &[char; 64] {
        &self.start_board
    }

    /// The legal moves; none when the game is over.
    pub fn legal(&self) -> &[LegalMove] {
        match self.is_over() {
            true => &[],
            false => self.legal.get_or_init(|| self.session().legal_moves()),
        }
    }

    /// The moves so far.
    pub fn moves(&self) -> &[PlayedMove] {
        &self.moves
    }

    /// The moves for game files, with the time left and the computer's evaluations.
    pub fn recorded_plies(&self) -> Vec<Ply> {
        self.game.recorded_plies()
    }

    /// The version: the number of moves, take-backs, ends and reopenings so far.
    pub fn version(&self) -> u64 {
        self.game.events().len() as u64
    }

    /// The number of stored events.
    pub fn events(&self) -> usize {
        let renames: usize = self.rename_counts.iter().sum();
        self.game.events().len() + renames + usize::from(self.next.is_some())
    }

    fn is_full(&self) -> bool {
        self.game.events().len() >= MAX_EVENTS
    }

    /// Whether a seat can be renamed again.
    pub fn can_rename(&self, side: Side) -> bool {
        self.rename_counts[side.index()] < MAX_RENAMES
    }

    /// The side that made an offer to another person. Offers to a computer are not shown: it
    /// answers at once.
    pub fn offer(&self, kind: OfferKind) -> Option<Side> {
        self.game.offer(kind).filter(|_| self.setup.mode == Mode::Friend)
    }

    /// The name of a seat.
    pub fn name(&self, side: Side) -> Option<&str> {
        self.names[side.index()].as_deref()
    }

    /// The id of the rematch.
    pub fn next(&self) -> Option<&str> {
        self.next.as_deref()
    }

    /// The end of the game, if it is over.
    pub fn end(&self) -> Option<&End> {
        self.game.end()
    }

    /// Whether the game is over.
    pub fn is_over(&self) -> bool {
        self.game.is_over()
    }

    /// The end in a sentence, if the game is over.
    pub fn describe_end(&self) -> Option<String> {
        self.game.describe_end()
    }

    /// The result, for game files.
    pub fn result(&self) -> GameResult {
        self.game.result()
    }

    /// Whether the computer is to move.
    pub fn computer_to_move(&self) -> bool {
        !self.is_over() && self.setup.computer(self.session().side()).is_some()
    }

    /// Stops the clock until a player joins or the computer starts to think. Clocks do not run
    /// while a game is on disk only.
    pub fn pause(&mut self) {
        self.set_clock(&Event::ClockStop, Duration::ZERO);
    }

    /// Starts the turn if the game was paused. The computer's turn starts when it starts to think.
    pub fn on_player_joined(&mut self, now: Duration) {
        if self.game.clocks().turn_started().is_none() && !self.computer_to_move() {
            self.start_turn(now);
        }
    }

    /// Starts the clock of the side to move.
    pub fn start_turn(&mut self, now: Duration) {
        self.set_clock(&Event::ClockStart, now);
    }

    fn set_clock(&mut self, event: &Event, now: Duration) {
        // Clocks can be started and stopped in every state of a game.
        let _ = self.game.apply(event, now);
    }

    /// The side whose clock runs.
    pub fn running(&self) -> Option<Side> {
        self.game.running_clock()
    }

    /// The time left on the clocks, if the game has any.
    pub fn time_left(&self, now: Duration) -> Option<[Duration; 2]> {
        let [first, second] = self.game.time_left(now);
        Some([first?, second?])
    }

    /// When the side to move loses on time if it does not move.
    pub fn deadline(&self) -> Option<Duration> {
        self.game.deadline()
    }

    /// The loss on time of the side to move, if its time is up.
    pub fn check_flag(&self, now: Duration) -> Option<HostedEvent> {
        self.game.check_flag(now).map(HostedEvent::Game)
    }

    /// Decides the effect of a client's action, and changes nothing.
    pub fn decide(
        &self,
        rights: SeatRights,
        version: u64,
        action: &Action,
        now: Duration,
    ) -> Result<Effect, Refusal> {
        self.check_client(rights, version)?;
        if let Some(flag) = self.check_flag(now) {
            return Ok(Effect::Append(flag));
        }
        let is_take_back = matches!(
            action,
            Action::Offer(OfferKind::TakeBack) | Action::Accept(OfferKind::TakeBack)
        );
        let is_move = matches!(action, Action::Move(_)) && !self.is_over();
        if (is_move || is_take_back) && self.is_full() {
            let reason = "this game has too many moves and take-backs to continue";
            return Err(Refusal::new(RefusalCode::TooMany, reason));
        }
        let is_answer = matches!(action, Action::Accept(_) | Action::Decline(_));
        if is_answer && self.setup.mode != Mode::Friend {
            return Err(crownhead_play::Refusal::NoOffer.into());
        }
        if *action == Action::Offer(OfferKind::Draw)
            && let Some(effect) = self.decide_draw_offer()?
        {
            return Ok(effect);
        }
        let to_move = self.session().side();
        let by = match rights.single() {
            Some(side) => side,
            // Two people at one screen take back the last move.
            None if is_take_back => to_move.other(),
            None => to_move,
        };
        let decided = self.game.decide(by, action, now);
        let with_cells = |refusal| Refusal::from(refusal).with_cells(self.session().game());
        Ok(match decided.map_err(with_cells)? {
            Event::Rematch => Effect::StartRematch,
            event @ Event::Offer(OfferKind::Draw, _) if self.setup.mode != Mode::Friend => {
                Effect::AskComputer(event)
            }
            event if event.is_stored() => Effect::Append(HostedEvent::Game(event)),
            event => Effect::Apply(event),
        })
    }

    /// Checks that the client is a player who knows the current state.
    fn check_client(&self, rights: SeatRights, version: u64) -> Result<(), Refusal> {
        if rights.is_none() {
            return Err(Refusal::new(RefusalCode::Seat, "spectators cannot play"));
        }
        if version != self.version() {
            let reason = "the game has changed in the meantime";
            return Err(Refusal::new(RefusalCode::Stale, reason));
        }
        Ok(())
    }

    /// Checks that a client may ask for a hint: on its own turn, and not against a friend.
    pub fn check_hint(&self, rights: SeatRights, version: u64) -> Result<(), Refusal> {
        self.check_client(rights, version)?;
        if self.is_over() {
            return Err(Refusal::new(RefusalCode::Over, "the game is over"));
        }
        if self.setup.mode == Mode::Friend {
            let reason = "there are no hints in a game against a friend";
            return Err(Refusal::new(RefusalCode::Seat, reason));
        }
        if !rights.can_play(self.session().side()) {
            return Err(Refusal::new(RefusalCode::Seat, "ask for a hint on your own turn"));
        }
        Ok(())
    }

    /// Checks a draw offer to a computer: it may be declined without a search.
    fn decide_draw_offer(&self) -> Result<Option<Effect>, Refusal> {
        let Mode::Computer { side, .. } = self.setup.mode else { return Ok(None) };
        if self.is_over() {
            return Ok(None);
        }
        if self.session().side() == side {
            let reason = "offer a draw on your own turn";
            return Err(Refusal::new(RefusalCode::Seat, reason));
        }
        Ok((!self.game.considers_draw()).then_some(Effect::Decline(OfferKind::Draw, side)))
    }

    /// Decides a move of the computer.
    pub fn decide_computer(&self, choice: &Choice, now: Duration) -> Result<HostedEvent, Refusal> {
        let (side, action) = (self.session().side(), Action::Move(choice.text.clone()));
        let event = self.game.decide(side, &action, now)?;
        Ok(HostedEvent::Game(event.with_eval(choice.eval(side))))
    }

    /// Whether the computer accepts a draw. `choice` is the best move of its opponent, who is to
    /// move.
    pub fn accepts_draw(&self, choice: Option<&Choice>) -> bool {
        self.game.accepts_draw(choice)
    }

    /// Decides the computer's answer to a draw offer.
    pub fn answer_draw(&self, accepts: bool, now: Duration) -> Result<Effect, Refusal> {
        let action = Action::answer_offer(OfferKind::Draw, accepts);
        // The person who made the offer is to move.
        let event = self.game.decide(self.session().side().other(), &action, now)?;
        Ok(match event.is_stored() {
            true => Effect::Append(HostedEvent::Game(event)),
            false => Effect::Apply(event),
        })
    }

    /// Applies an event. Fails only if the event does not fit the game, which means that the store
    /// is damaged.
    pub fn apply(&mut self, event: &HostedEvent, now: Duration) -> Result<(), InvalidEvent> {
        match event {
            HostedEvent::Game(event) => self.apply_to_game(event, now)?,
            HostedEvent::Name(side, name) => {
                self.names[side.index()].clone_from(name);
                self.rename_counts[side.index()] += 1;
            }
            HostedEvent::Next(id) => {
                self.game.apply(&Event::Rematch, now)?;
                self.next = Some(id.clone());
            }
        }
        Ok(())
    }

    fn apply_to_game(&mut self, event: &Event, now: Duration) -> Result<(), InvalidEvent> {
        let side = self.session().side();
        self.game.apply(event, now)?;
        match event {
            Event::Move { text, .. } => {
                let played = self.session().last_move();
                let (path, captures) = played.map(|mv| (mv.path, mv.captures)).unwrap_or_default();
                let board = self.session().board();
                self.moves.push(PlayedMove { text: text.clone(), side, path, captures, board });
            }
            Event::Undo { .. } => self.moves.truncate(self.session().plies()),
            _ => {}
        }
        if event.is_stored() {
            self.legal = OnceLock::new();
        }
        Ok(())
    }
}
