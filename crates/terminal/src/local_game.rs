//! A game at this terminal: a [`GameInPlay`] with seats for people and computers.
//!
//! [`plain`](crate::plain) and [`screen`](crate::screen) show it; computers think in
//! [`player_thread`](crate::player_thread). The answers of bots are judged as in a match.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crownhead_bots::{PlayerSpec, SpecError};
use crownhead_files::write_atomic;
use crownhead_play::{
    Action, BuiltinSpec, Choice, Clock, DEFAULT_PLAYER, DEFAULT_SIDE, End, Event, Fault, FaultKind,
    FaultPolicy, GameConfig, GameInPlay, GameSettings, Incident, OfferKind, PlayerError,
    PlayerKind, Refusal, Session, SideConfig, TimeControl, is_flipped_for, new_session, referee,
    to_sentence,
};
use crownhead_records::{GameRecord, GameResult, MoveEval, format_date, format_game};
use crownhead_rules::{Game, PositionError, Side};

/// Player of a side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seat {
    /// A person at this terminal.
    Human,
    /// A built-in player or a bot.
    Computer(PlayerSpec),
}

impl Seat {
    /// Whether a bot plays.
    pub fn is_program(&self) -> bool {
        matches!(self, Seat::Computer(spec) if spec.program().is_some())
    }
}

impl FromStr for Seat {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Seat, SpecError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "human" => Ok(Seat::Human),
            // A bare `minimax` is what the original program's menu offers.
            "minimax" => Ok(Seat::Computer(BuiltinSpec::new(PlayerKind::Minimax(4)).into())),
            _ => text.trim().parse().map(Seat::Computer),
        }
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seat::Human => f.write_str("human"),
            Seat::Computer(spec) => spec.fmt(f),
        }
    }
}

/// Settings of a new game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The game and its options.
    pub game: Game,
    /// The seats; the first one moves first.
    pub seats: [Seat; 2],
    /// The start position, if not the default.
    pub position: Option<String>,
    /// The time control.
    pub time_control: TimeControl,
    /// Random seed of the computers.
    pub seed: u64,
}

impl Setup {
    /// The default settings: a person against a computer, without a clock.
    pub fn default_for(game: &Game) -> Setup {
        // The default player is a valid one.
        let mut seats = [Seat::Human, DEFAULT_PLAYER.parse().unwrap_or(Seat::Human)];
        if DEFAULT_SIDE == Side::Second {
            seats.reverse();
        }
        Setup {
            game: game.clone(),
            seats,
            position: None,
            time_control: TimeControl::Unlimited,
            seed: 0,
        }
    }

    /// Whether row 8 is at the top by default, from the view of the only person at the board.
    pub fn is_flipped(&self) -> bool {
        match &self.seats {
            [Seat::Human, Seat::Computer(_)] => is_flipped_for(&self.game, Side::First),
            [Seat::Computer(_), Seat::Human] => is_flipped_for(&self.game, Side::Second),
            _ => false,
        }
    }
}

/// Time per move of a computer whose search nothing else would end.
const DEFAULT_MOVE_TIME: Duration = Duration::from_secs(2);
/// Maximum number of reported faults, besides the one that lost the game.
const MAX_INCIDENTS: usize = 8;

/// A game at this terminal.
pub struct LocalGame {
    setup: Setup,
    game: GameInPlay,
    /// The epoch of the game's clocks.
    epoch: Instant,
    /// The day the game started, as PDN writes it.
    date: String,
}

impl LocalGame {
    /// A new game.
    pub fn new(setup: Setup) -> Result<LocalGame, PositionError> {
        let session = new_session(&setup.game, setup.position.as_deref())?;
        let sides = setup.seats.each_ref().map(|seat| {
            let time_control = time_control(seat, setup.time_control);
            match seat {
                Seat::Human => SideConfig::human(time_control),
                Seat::Computer(_) if seat.is_program() => {
                    let grace = GameSettings::default_for(&setup.game).grace;
                    SideConfig { grace, ..SideConfig::computer(time_control) }
                }
                Seat::Computer(_) => SideConfig::computer(time_control),
            }
        });
        let config = GameConfig { sides, clock_start_ply: 0, consent: &[OfferKind::Draw] };
        let game = GameInPlay::new(session, config, Duration::ZERO);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let date = format_date(since.as_millis() as u64);
        Ok(LocalGame { setup, game, epoch: Instant::now(), date })
    }

    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// The settings that a side plays by.
    pub fn settings(&self, side: Side) -> GameSettings {
        let time_control = time_control(self.seat(side), self.setup.time_control);
        GameSettings { time_control, ..GameSettings::default_for(&self.setup.game) }
    }

    /// Starts the clock of the computer to move.
    pub fn start_turn(&mut self, started: Instant) {
        self.start_clock(started.saturating_duration_since(self.epoch));
    }

    fn start_clock(&mut self, now: Duration) {
        // A clock can be started in every state of a game.
        let _ = self.game.apply(&Event::ClockStart, now);
    }

    /// The game, the seats and the time control.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The seats, to set limits of bots before a game is resumed.
    pub fn seats_mut(&mut self) -> &mut [Seat; 2] {
        &mut self.setup.seats
    }

    /// The board and its moves.
    pub fn session(&self) -> &dyn Session {
        self.game.session()
    }

    /// The name of a side.
    pub fn name(&self, side: Side) -> &'static str {
        self.setup.game.info().sides[side.index()].name
    }

    /// The player of a side.
    pub fn seat(&self, side: Side) -> &Seat {
        &self.setup.seats[side.index()]
    }

    /// Whether a person plays.
    pub fn has_human(&self) -> bool {
        self.setup.seats.contains(&Seat::Human)
    }

    /// Whether a person is to move.
    pub fn human_to_move(&self) -> bool {
        !self.is_over() && *self.seat(self.session().side()) == Seat::Human
    }

    /// The time left on a side's clock, if it has a main time.
    pub fn time_left(&self, side: Side) -> Option<Duration> {
        self.game.time_left(self.now())[side.index()]
    }

    /// Ends the game if a person has run out of time; returns whether that is so.
    pub fn check_flag(&mut self) -> bool {
        let now = self.now();
        let flag = self.game.check_flag(now).filter(|_| self.human_to_move());
        flag.is_some_and(|flag| self.game.apply(&flag, now).is_ok())
    }

    /// A side's clock as it stood when the turn started.
    pub fn clock(&self, side: Side) -> Clock {
        self.game.clock(side)
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

    /// The report of a fault to the bot's author.
    pub fn incident_text(&self, incident: &Incident) -> String {
        to_sentence(&incident.describe(&self.setup.game))
    }

    /// The first faults of bots, besides the one that lost the game.
    pub fn incidents(&self) -> impl Iterator<Item = &Incident> {
        let incidents = self.game.events().iter().filter_map(|event| match event {
            Event::Fault { incident, .. } => Some(incident.as_ref()),
            _ => None,
        });
        incidents.take(MAX_INCIDENTS)
    }

    /// Whether a bot lost by a fault or its process ended, even if that was undone.
    pub fn bot_failed(&self) -> bool {
        self.game.events().iter().any(|event| match event {
            Event::Fault { incident, .. } | Event::End(End::Forfeited(incident)) => {
                incident.is_fatal()
            }
            _ => false,
        })
    }

    /// The result, for game files.
    pub fn result(&self) -> GameResult {
        self.game.result()
    }

    /// Whether a computer considers a draw offer at all, so soon after the last one.
    pub fn considers_draw(&self) -> bool {
        self.game.considers_draw()
    }

    /// Whether a computer accepts a draw. `hint` is the hint for its opponent, who is to move.
    pub fn accepts_draw(&self, hint: Option<&Choice>) -> bool {
        self.game.accepts_draw(hint)
    }

    /// Executes an action of a side now. If the time of the side to move is up, it loses instead.
    pub fn act(&mut self, by: Side, action: &Action) -> Result<(), Refusal> {
        let now = self.now();
        let event = self.game.decide(by, action, now)?;
        self.apply(&event, now);
        Ok(())
    }

    /// Plays a move of the side to move, which took `used`. If its time is up, it loses instead.
    pub fn play(&mut self, text: &str, used: Duration) -> Result<(), Refusal> {
        self.play_evaluated(text, used, None)
    }

    fn play_evaluated(
        &mut self,
        text: &str,
        used: Duration,
        eval: Option<MoveEval>,
    ) -> Result<(), Refusal> {
        let now = self.turn_end(used);
        let action = Action::Move(text.into());
        let event = self.game.decide(self.session().side(), &action, now)?;
        self.apply(&event.with_eval(eval), now);
        Ok(())
    }

    /// When the current turn ends if it took `used`.
    fn turn_end(&mut self, used: Duration) -> Duration {
        if self.game.clocks().turn_started().is_none() {
            self.start_clock(self.now());
        }
        self.game.clocks().turn_started().unwrap_or_default() + used
    }

    /// Applies an event that was just decided.
    fn apply(&mut self, event: &Event, now: Duration) {
        // The event was decided in this state of the game, so it fits.
        let applied = self.game.apply(event, now);
        debug_assert!(applied.is_ok(), "{applied:?}");
        // The person's turn starts when the move is applied, however long the computer thought.
        if self.human_to_move() && event.is_stored() {
            self.start_clock(self.now());
        }
    }

    /// Plays what the computer to move has chosen. A fault of a bot is penalised by the fault
    /// policy and returned.
    pub fn on_choice(
        &mut self,
        choice: Result<Choice, PlayerError>,
        used: Duration,
    ) -> Result<Option<Incident>, PlayerError> {
        let side = self.session().side();
        if !self.seat(side).is_program() {
            let choice = choice?;
            let played = self.play_evaluated(&choice.text, used, choice.eval(side));
            return played.map(|()| None).map_err(|refusal| {
                let reason = refusal.to_string();
                PlayerError::IllegalMove { text: choice.text, reason }
            });
        }
        let policy = self.settings(side).fault_policy;
        match choice {
            Ok(choice) => self.on_bot_turn(Ok(choice.text), used, policy),
            Err(PlayerError::Fault(fault)) => self.on_bot_turn(Err(fault), used, policy),
            // A bot that cannot be started would only be skipped to the end of the game.
            Err(PlayerError::StartFailed(message) | PlayerError::Unavailable(message)) => {
                let fault = Fault::new(FaultKind::Crash, message);
                self.on_bot_turn(Err(fault), used, FaultPolicy::Forfeit)
            }
            Err(error) => Err(error),
        }
    }

    /// Judges the answer of a bot.
    fn on_bot_turn(
        &mut self,
        answer: Result<String, Fault>,
        used: Duration,
        policy: FaultPolicy,
    ) -> Result<Option<Incident>, PlayerError> {
        let (side, plies) = (self.session().side(), self.session().plies());
        let seed = self.setup.seed.wrapping_add(plies as u64);
        let now = self.turn_end(used);
        let decided = self.game.decide(side, &Action::Answer { answer, policy, seed }, now);
        let event = decided.map_err(|refusal| PlayerError::Unavailable(refusal.to_string()))?;
        self.apply(&event, now);
        Ok(match event {
            Event::Fault { incident, .. } | Event::End(End::Forfeited(incident)) => Some(*incident),
            _ => None,
        })
    }

    /// Whether the game was lost on time, which cannot be taken back.
    pub fn is_lost_on_time(&self) -> bool {
        !self.game.can_reopen()
    }

    /// Takes back a resignation or an agreed draw, else the moves up to a person's last turn, or
    /// the last move if two people or two computers play. Returns whether there was anything to
    /// take back.
    pub fn undo(&mut self) -> bool {
        let other = self.session().side().other();
        let by = match self.has_human() && *self.seat(other) != Seat::Human {
            true => other.other(),
            false => other,
        };
        self.act(by, &Action::Offer(OfferKind::TakeBack)).is_ok()
    }

    /// The game as it stood after `ply` plies.
    pub fn session_at(&self, ply: usize) -> Box<dyn Session> {
        let mut session = self.session().clone_box();
        for _ in ply..self.session().plies() {
            session.undo();
        }
        session
    }

    /// The game as it is written to files.
    pub fn record(&self) -> GameRecord {
        let mut record = GameRecord::new(self.setup.game.clone());
        record.set_tag("Event", "Crownhead in a terminal");
        record.set_tag("Date", self.date.clone());
        for side in [Side::First, Side::Second] {
            record.set_player(side, self.seat(side).to_string());
        }
        record.start = self.setup.position.as_ref().map(|_| self.session().start());
        record.line.plies = self.game.recorded_plies();
        record.result = self.result();
        if self.setup.time_control != TimeControl::Unlimited {
            record.set_tag("TimeControl", self.setup.time_control.to_string());
        }
        if let Some(end @ End::Forfeited(_)) = self.end() {
            record.set_tag("Termination", end.code());
            record.set_tag("Reason", end.reason(self.session()));
        }
        record
    }

    /// Writes the game to a new file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        if path.exists() {
            let text = format!("the file {} exists already: choose another name", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        write_atomic(path, &format_game(&self.record()).map_err(io::Error::other)?)
    }

    /// Resumes a game from a file, with this time left on the clocks.
    pub fn resume(
        record: &GameRecord,
        time: TimeControl,
        time_left: Option<[Duration; 2]>,
        seed: u64,
    ) -> Result<LocalGame, String> {
        let seat = |side| match record.player(side) {
            None => Ok(Seat::Human),
            Some(name) => name.parse::<Seat>().map_err(|error| error.to_string()),
        };
        let setup = Setup {
            game: record.game.clone(),
            seats: [seat(Side::First)?, seat(Side::Second)?],
            position: record.start.clone(),
            time_control: time,
            seed,
        };
        let mut local = LocalGame::new(setup).map_err(|error| error.to_string())?;
        let time_left = time_left.map_or([None; 2], |left| left.map(Some));
        let last = record.line.plies.len().saturating_sub(1);
        for (index, ply) in record.line.plies.iter().enumerate() {
            let data = ply.data();
            let mut left = time_left;
            if index < last && data.clock.is_some() {
                left[local.session().side().index()] = data.clock;
            }
            let event = Event::Move { text: ply.text.clone(), time_left: left, eval: data.eval };
            local.game.apply(&event, local.epoch.elapsed()).map_err(|error| error.to_string())?;
        }
        if let Some(date) = record.tag("Date") {
            local.date = date.into();
        }
        Ok(local)
    }
}

/// The time control of a seat.
fn time_control(seat: &Seat, time: TimeControl) -> TimeControl {
    match (seat, time) {
        // Time per move is for computers: a person thinks as long as it takes.
        (Seat::Human, TimeControl::PerMove(_)) => TimeControl::Unlimited,
        (Seat::Computer(spec), TimeControl::Unlimited) if spec.program().is_some() => {
            TimeControl::PerMove(referee::DEFAULT_BOT_MOVE_TIME)
        }
        // Without a clock such a player would never move.
        (Seat::Computer(spec), TimeControl::Unlimited) if spec.has_no_limit() => {
            TimeControl::PerMove(DEFAULT_MOVE_TIME)
        }
        (_, time) => time,
    }
}
