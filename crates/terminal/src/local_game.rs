//! A game being played at this terminal: the board, who sits on each side, the clocks, and ends that
//! are not on the board (resigning, agreeing on a draw, time, faults of programs).
//!
//! It knows neither lines of text nor screens: [`plain`](crate::plain) and
//! [`screen`](crate::screen) show it. Nor does it think: see [`thinking`](crate::player_thread). Outside
//! programs are judged by the [`referee`], as in a match.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crownhead_bots::{PlayerSpec, SpecError};
use crownhead_files::write_atomic;
use crownhead_play::{BuiltinSpec, Fault, FaultKind};
use crownhead_play::{
    Choice, Clock, End, FaultPolicy, GameSettings, Incident, PlayError, PlayerError, PlayerKind,
    Session, TimeControl, new_session, referee, to_sentence,
};
use crownhead_records::{GameRecord, GameResult, Ply, format_game};
use crownhead_rules::{Game, PositionError, Side};

use crate::date::today;

/// Who plays one side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seat {
    /// A person at this terminal.
    Human,
    /// A player of the program.
    Computer(PlayerSpec),
}

impl Seat {
    /// Whether an outside program sits there.
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

/// An end that the board does not show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// A side gave up.
    Resigned(Side),
    /// Both wanted a draw.
    Agreed,
    /// A side's time was up.
    Late(Side),
    /// A program lost by a fault.
    Forfeited(Box<Incident>),
}

impl Verdict {
    /// Who lost, if not both wanted a draw.
    fn loser(&self) -> Option<Side> {
        match self {
            Verdict::Agreed => None,
            Verdict::Resigned(side) | Verdict::Late(side) => Some(*side),
            Verdict::Forfeited(incident) => Some(incident.side),
        }
    }

    /// A word for the reason.
    fn code(&self) -> &'static str {
        match self {
            Verdict::Resigned(_) => "resigned",
            Verdict::Agreed => "agreed",
            Verdict::Late(_) => FaultKind::Timeout.code(),
            Verdict::Forfeited(incident) => incident.fault.kind.code(),
        }
    }
}

/// What to play.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The game and its options.
    pub game: Game,
    /// Who plays, the side that moves first first.
    pub seats: [Seat; 2],
    /// The position to begin with, if not the usual one.
    pub position: Option<String>,
    /// The time both have.
    pub time: TimeControl,
    /// What the computer draws by lot follows from it.
    pub seed: u64,
}

/// A computer that moves so little too late has not lost: its thread may have waited for a processor.
/// A person's time is up when the clock shows nothing.
const GRACE: Duration = Duration::from_millis(100);

/// How long a computer thinks about a move whose search nothing else would end.
const UNLIMITED: Duration = Duration::from_secs(2);

/// A game being played.
pub struct LocalGame {
    setup: Setup,
    session: Box<dyn Session>,
    /// The clocks as they stood when the turn began.
    clocks: [Clock; 2],
    /// Since when the side to move has been thinking; none as long as a computer has not been asked.
    turn_began: Option<Instant>,
    /// The most plies that were ever made: whoever takes moves back is not paid for them again.
    furthest: usize,
    /// The day it began, as PDN writes it.
    date: String,
    verdict: Option<Verdict>,
    /// The first faults of programs.
    incidents: Vec<Incident>,
    /// Whether one of them was grave; undoing does not unmake it.
    is_broken: bool,
}

/// So many faults of programs are remembered, besides the one that lost the game.
const REMEMBERED: usize = 8;

impl LocalGame {
    /// A new game.
    pub fn new(setup: Setup) -> Result<LocalGame, PositionError> {
        let session = new_session(&setup.game, setup.position.as_deref())?;
        let clocks = setup.seats.each_ref().map(|seat| time_of(seat, setup.time).clock());
        let mut live = LocalGame {
            setup,
            session,
            clocks,
            turn_began: None,
            furthest: 0,
            date: today(),
            verdict: None,
            incidents: Vec::new(),
            is_broken: false,
        };
        live.next_turn();
        Ok(live)
    }

    /// The terms that a side plays by: its time, and in what it may err.
    pub fn terms(&self, side: Side) -> GameSettings {
        let time = time_of(self.seat(side), self.setup.time);
        GameSettings { time_control: time, ..GameSettings::default_for(&self.setup.game) }
    }

    /// A person's clock runs at once, a computer's when it is asked.
    fn next_turn(&mut self) {
        self.turn_began = self.human_to_move().then(Instant::now);
    }

    /// The computer to move has been asked: its clock runs since then.
    pub fn begin_turn(&mut self, since: Instant) {
        self.turn_began = Some(since);
    }

    /// What is played.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The board and its moves.
    pub fn session(&self) -> &dyn Session {
        self.session.as_ref()
    }

    /// How a side is called.
    pub fn name(&self, side: Side) -> &'static str {
        self.setup.game.info().sides[side.index()].name
    }

    /// Who plays a side.
    pub fn seat(&self, side: Side) -> &Seat {
        &self.setup.seats[side.index()]
    }

    /// Whether a person plays.
    pub fn has_human(&self) -> bool {
        self.setup.seats.contains(&Seat::Human)
    }

    /// Whether a computer is to move.
    pub fn computer_to_move(&self) -> bool {
        !self.is_over() && *self.seat(self.session.side()) != Seat::Human
    }

    /// Whether a person is to move.
    pub fn human_to_move(&self) -> bool {
        !self.is_over() && *self.seat(self.session.side()) == Seat::Human
    }

    /// How long the turn has lasted.
    pub fn turn_time(&self) -> Duration {
        self.turn_began.map_or(Duration::ZERO, |began| began.elapsed())
    }

    /// What is left on a side's clock, if it has one for the game.
    pub fn time_left(&self, side: Side) -> Option<Duration> {
        let Clock::PerGame { left, .. } = self.clock(side) else { return None };
        let runs = !self.is_over() && self.session.side() == side;
        Some(if runs { left.saturating_sub(self.turn_time()) } else { left })
    }

    /// A person whose time is up has lost; true if that is so.
    pub fn flag(&mut self) -> bool {
        let side = self.session.side();
        let late = self.human_to_move() && self.time_left(side).is_some_and(|left| left.is_zero());
        if late {
            self.decide(Verdict::Late(side));
        }
        late
    }

    /// The clock of a side, as it stood when the turn began.
    pub fn clock(&self, side: Side) -> Clock {
        self.clocks[side.index()]
    }

    /// Whether the game has ended.
    pub fn is_over(&self) -> bool {
        self.verdict.is_some() || self.session.outcome().is_some()
    }

    /// One sentence on how the game ended, if it has.
    pub fn ending(&self) -> Option<String> {
        let Some(verdict) = &self.verdict else {
            return self.session.outcome_text().map(|ending| to_sentence(&ending));
        };
        let Some(loser) = verdict.loser() else {
            return Some("The players agree on a draw.".into());
        };
        let how = match verdict {
            Verdict::Late(_) => "has used up the time",
            Verdict::Forfeited(_) => "forfeits the game",
            Verdict::Resigned(_) | Verdict::Agreed => "resigns",
        };
        let mut text = format!("{} {how}: {} wins.", self.name(loser), self.name(loser.other()));
        if let Verdict::Forfeited(incident) = verdict {
            text.push(' ');
            text.push_str(&self.incident_text(incident));
        }
        Some(text)
    }

    /// What its author needs to know of a fault.
    pub fn incident_text(&self, incident: &Incident) -> String {
        to_sentence(&incident.describe(&self.setup.game))
    }

    /// The first faults of programs, besides the one that lost the game.
    pub fn incidents(&self) -> &[Incident] {
        &self.incidents
    }

    /// Whether a program lost by a fault, or broke.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// How the game ended, if it has.
    pub fn end(&self) -> Option<End> {
        let on_board = || self.session.outcome().map(End::Rules);
        let off_board = self.verdict.as_ref().map(|verdict| match verdict {
            Verdict::Resigned(side) => End::Resigned(*side),
            Verdict::Agreed => End::DrawAgreed,
            Verdict::Late(side) => End::OutOfTime(*side),
            Verdict::Forfeited(incident) => End::Forfeited(incident.clone()),
        });
        off_board.or_else(on_board)
    }

    /// A word for the reason of the end, if the game has ended.
    pub fn end_code(&self) -> Option<&'static str> {
        let on_board = || self.session.outcome().map(|outcome| outcome.reason.code());
        self.verdict.as_ref().map(Verdict::code).or_else(on_board)
    }

    /// Who has won, if somebody has.
    pub fn winner(&self) -> Option<Side> {
        match &self.verdict {
            Some(verdict) => verdict.loser().map(Side::other),
            None => self.session.outcome().and_then(|outcome| outcome.winner),
        }
    }

    /// The result.
    pub fn result(&self) -> GameResult {
        match self.winner() {
            Some(Side::First) => GameResult::FirstWins,
            Some(Side::Second) => GameResult::SecondWins,
            None if self.is_over() => GameResult::Draw,
            None => GameResult::Unknown,
        }
    }

    /// Plays a move of the side to move, who thought about it for so long. Who has used up the time
    /// for the game has lost instead.
    pub fn play(&mut self, text: &str, used: Duration) -> Result<(), PlayError> {
        if let Some(ending) = self.ending() {
            return Err(PlayError::GameOver(ending));
        }
        let side = self.session.side();
        let mut clock = self.clock(side);
        if *self.seat(side) == Seat::Human || matches!(clock, Clock::PerGame { .. }) {
            let Some(next) = clock.after_move(used, GRACE) else {
                self.charge(used);
                self.verdict = Some(Verdict::Late(side));
                return Ok(());
            };
            clock = next;
        }
        self.session.play(text)?;
        self.turn_made(side, clock);
        Ok(())
    }

    /// A side has made its turn, and its clock would be this.
    fn turn_made(&mut self, side: Side, mut clock: Clock) {
        if let Clock::PerGame { left, increment } = &mut clock
            && self.session.plies() <= self.furthest
        {
            *left = left.saturating_sub(*increment);
        }
        self.clocks[side.index()] = clock;
        self.furthest = self.furthest.max(self.session.plies());
        self.next_turn();
    }

    /// What the computer to move has chosen is played. A program that chose nothing that can be
    /// played, or came too late, is told so: what that costs is the game's policy.
    pub fn chosen(
        &mut self,
        choice: Result<Choice, PlayerError>,
        used: Duration,
    ) -> Result<Option<Incident>, PlayerError> {
        let side = self.session.side();
        if !self.seat(side).is_program() {
            let text = choice?.text;
            let refused = |error: PlayError| error.to_string();
            let played = self.play(&text, used).map_err(refused);
            return played.map(|()| None).map_err(|why| PlayerError::IllegalMove { text, why });
        }
        let terms = self.terms(side);
        Ok(match choice {
            Ok(choice) => self.judged(Ok(choice), used, terms.fault_policy),
            Err(PlayerError::Fault(fault)) => self.judged(Err(fault), used, terms.fault_policy),
            // A program that cannot even be started would only be skipped to the end of the game.
            Err(PlayerError::StartFailed(what) | PlayerError::Unavailable(what)) => {
                let fault = Fault { kind: FaultKind::Crash, message: what, received: None };
                self.judged(Err(fault), used, FaultPolicy::Forfeit)
            }
            Err(error) => return Err(error),
        })
    }

    /// The referee's word on what a program did.
    fn judged(
        &mut self,
        choice: Result<Choice, Fault>,
        used: Duration,
        policy: FaultPolicy,
    ) -> Option<Incident> {
        let side = self.session.side();
        let (clock, grace) = (self.clock(side), self.terms(side).grace);
        let session = self.session.as_mut();
        let judged = choice.and_then(|choice| referee::judge(session, choice, clock, used, grace));
        let fault = match judged {
            Ok((_, clock)) => {
                self.turn_made(side, clock);
                return None;
            }
            Err(fault) => fault,
        };
        self.charge(used);
        let lot = self.setup.seed.wrapping_add(self.session.plies() as u64);
        let (incident, made) = referee::settle(self.session.as_mut(), fault, policy, lot);
        self.is_broken |= incident.is_fatal();
        if made.is_none() {
            self.verdict = Some(Verdict::Forfeited(Box::new(incident.clone())));
        } else {
            if self.incidents.len() < REMEMBERED {
                self.incidents.push(incident.clone());
            }
            self.furthest = self.furthest.max(self.session.plies());
            self.next_turn();
        }
        Some(incident)
    }

    /// Plays a move that was played before; a turn may have been skipped for a fault.
    fn replay(&mut self, text: &str) -> Result<(), String> {
        match self.play(text, Duration::ZERO) {
            Err(_) if text == "pass" && !self.is_over() && self.session.skip_turn() => {
                self.next_turn();
                Ok(())
            }
            played => played.map_err(|error| error.to_string()),
        }
    }

    /// Takes time off the clock of the side to move.
    fn charge(&mut self, used: Duration) {
        if let Clock::PerGame { left, .. } = &mut self.clocks[self.session.side().index()] {
            *left = left.saturating_sub(used);
        }
    }

    /// Sets what is left on clocks for the whole game.
    fn set_clocks(&mut self, times: [Duration; 2]) {
        for (clock, time) in self.clocks.iter_mut().zip(times) {
            if let Clock::PerGame { left, .. } = clock {
                *left = time;
            }
        }
    }

    /// Ends the game off the board; an ended game stays as it ended.
    pub fn decide(&mut self, verdict: Verdict) {
        if !self.is_over() {
            self.charge(self.turn_time());
            self.verdict = Some(verdict);
        }
    }

    /// Whether the game was lost on time.
    pub fn is_late(&self) -> bool {
        match &self.verdict {
            Some(Verdict::Late(_)) => true,
            // Time for each move comes back, time for the game does not.
            Some(Verdict::Forfeited(incident)) => {
                incident.fault.kind == FaultKind::Timeout
                    && matches!(self.clock(incident.side), Clock::PerGame { .. })
            }
            _ => false,
        }
    }

    /// Takes back a resignation or an agreement, or else the last move, or as many as it takes for a
    /// person to be on the move. False if there is nothing of the kind. Time does not come back, so a
    /// game lost on time stays lost.
    pub fn undo(&mut self) -> bool {
        if self.is_late() {
            return false;
        }
        // A program that lost by a fault would be asked the same again: that takes a move back too.
        let forfeited = matches!(self.verdict, Some(Verdict::Forfeited(_)));
        if !forfeited && self.verdict.take().is_some() {
            self.next_turn();
            return true;
        }
        let mut plies = 1;
        let made = self.session.moves().len();
        if self.has_human() {
            let mut side = self.session.side().other();
            while plies < made && *self.seat(side) != Seat::Human {
                (plies, side) = (plies + 1, side.other());
            }
            if *self.seat(side) != Seat::Human {
                return false;
            }
        }
        if plies > made {
            return false;
        }
        if !self.is_over() {
            self.charge(self.turn_time());
        }
        for _ in 0..plies {
            self.session.undo();
        }
        self.verdict = None;
        self.next_turn();
        true
    }

    /// The game as it stood after so many plies.
    pub fn at(&self, ply: usize) -> Box<dyn Session> {
        let mut session = self.session.clone_box();
        for _ in ply..self.session.moves().len() {
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
        record.start = self.setup.position.as_ref().map(|_| self.session.start());
        record.line.plies = self.session.moves().into_iter().map(Ply::new).collect();
        record.result = self.result();
        if self.setup.time != TimeControl::Unlimited {
            record.set_tag("TimeControl", self.setup.time.to_string());
        }
        if let Some(Verdict::Forfeited(incident)) = &self.verdict {
            record.set_tag("Termination", incident.fault.kind.code());
            record.set_tag("Reason", incident.describe(&self.setup.game));
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

    /// Takes up a game that was written to a file, with so much left on the clocks.
    pub fn resume(
        record: &GameRecord,
        time: TimeControl,
        left: Option<[Duration; 2]>,
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
            time,
            seed,
        };
        let mut live = LocalGame::new(setup).map_err(|error| error.to_string())?;
        for ply in &record.line.plies {
            live.replay(&ply.text)?;
        }
        if let Some(left) = left {
            live.set_clocks(left);
        }
        if let Some(date) = record.tag("Date") {
            live.date = date.into();
        }
        Ok(live)
    }
}

/// The time that whoever sits there has.
fn time_of(seat: &Seat, time: TimeControl) -> TimeControl {
    match (seat, time) {
        // Time per move is for computers: a person thinks as long as it takes.
        (Seat::Human, TimeControl::PerMove(_)) => TimeControl::Unlimited,
        (Seat::Computer(spec), TimeControl::Unlimited) if spec.program().is_some() => {
            TimeControl::PerMove(referee::DEFAULT_BOT_MOVE_TIME)
        }
        // Without a clock such a player would never move.
        (Seat::Computer(spec), TimeControl::Unlimited) if spec.has_no_limit() => {
            TimeControl::PerMove(UNLIMITED)
        }
        (_, time) => time,
    }
}
