//! A game being played at this terminal: the board, who sits on each side, the clocks, and ends that
//! are not on the board (resigning, agreeing on a draw, time).
//!
//! It knows neither lines of text nor screens: [`plain`](crate::plain) and
//! [`screen`](crate::screen) show it. Nor does it think: see [`thinking`](crate::thinking).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crownhead_play::{
    Clock, PlayError, PlayerKind, PlayerSpec, Session, SpecError, TimeControl, session,
};
use crownhead_records::{GameRecord, GameResult, Ply};
use crownhead_rules::{Game, PositionError, Side};

/// Who plays one side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seat {
    /// A person at this terminal.
    Human,
    /// A player of the program.
    Computer(PlayerSpec),
}

impl FromStr for Seat {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Seat, SpecError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "human" => Ok(Seat::Human),
            // A bare `minimax` is what the original program's menu offers.
            "minimax" => Ok(Seat::Computer(PlayerSpec::new(PlayerKind::Minimax(4)))),
            // As it was written: a program's name may have capitals.
            _ => text.parse().map(Seat::Computer),
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// A side gave up.
    Resigned(Side),
    /// Both wanted a draw.
    Agreed,
    /// A side's time was up.
    Late(Side),
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

/// Nobody loses a game at a terminal by less than this.
const GRACE: Duration = Duration::from_millis(100);

/// A game being played.
pub struct LiveGame {
    setup: Setup,
    session: Box<dyn Session>,
    /// The clocks before every ply made, and the present ones.
    clocks: Vec<[Clock; 2]>,
    verdict: Option<Verdict>,
}

impl LiveGame {
    /// A new game.
    pub fn new(setup: Setup) -> Result<LiveGame, PositionError> {
        let session = session(&setup.game, setup.position.as_deref())?;
        let clocks = vec![setup.seats.each_ref().map(|seat| match (seat, setup.time) {
            // Time per move is for computers: a person thinks as long as it takes.
            (Seat::Human, TimeControl::PerMove(_)) => Clock::Free,
            (_, time) => time.clock(),
        })];
        Ok(LiveGame { setup, session, clocks, verdict: None })
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
    pub fn seat(&self, side: Side) -> Seat {
        self.setup.seats[side.index()].clone()
    }

    /// Whether a person plays.
    pub fn has_human(&self) -> bool {
        self.setup.seats.contains(&Seat::Human)
    }

    /// The computer to move, if it is one's turn.
    pub fn computer_to_move(&self) -> Option<PlayerSpec> {
        match self.seat(self.session.side()) {
            Seat::Computer(spec) if !self.is_over() => Some(spec),
            _ => None,
        }
    }

    /// Whether a person is to move.
    pub fn human_to_move(&self) -> bool {
        !self.is_over() && self.seat(self.session.side()) == Seat::Human
    }

    /// The clock of a side, as it stood when the turn began.
    pub fn clock(&self, side: Side) -> Clock {
        self.clocks.last().map_or(Clock::Free, |clocks| clocks[side.index()])
    }

    /// Whether the game has ended.
    pub fn is_over(&self) -> bool {
        self.verdict.is_some() || self.session.outcome().is_some()
    }

    /// One sentence on how the game ended, if it has.
    pub fn ending(&self) -> Option<String> {
        let winner = |loser: Side| self.name(loser.other());
        Some(match self.verdict {
            None => return self.session.ending(),
            Some(Verdict::Agreed) => "The players agree on a draw.".into(),
            Some(Verdict::Resigned(side)) => {
                format!("{} resigns: {} wins.", self.name(side), winner(side))
            }
            Some(Verdict::Late(side)) => {
                format!("{} has used up the time: {} wins.", self.name(side), winner(side))
            }
        })
    }

    /// The result.
    pub fn result(&self) -> GameResult {
        let lost = |side| match side {
            Side::First => GameResult::SecondWins,
            Side::Second => GameResult::FirstWins,
        };
        match self.verdict {
            Some(Verdict::Agreed) => GameResult::Draw,
            Some(Verdict::Resigned(side) | Verdict::Late(side)) => lost(side),
            None => self.session.outcome().map_or(GameResult::Unknown, GameResult::from),
        }
    }

    /// Plays a move of the side to move, who thought about it for so long. Who has used up the time
    /// for the game has lost instead.
    pub fn play(&mut self, text: &str, used: Duration) -> Result<(), PlayError> {
        if let Some(ending) = self.ending() {
            return Err(PlayError::Over(ending));
        }
        let side = self.session.side();
        let mut clocks = [self.clock(Side::First), self.clock(Side::Second)];
        let clock = &mut clocks[side.index()];
        if self.seat(side) == Seat::Human || matches!(clock, Clock::Main { .. }) {
            let Some(next) = clock.after(used, GRACE) else {
                self.verdict = Some(Verdict::Late(side));
                return Ok(());
            };
            *clock = next;
        }
        self.session.play(text)?;
        self.clocks.push(clocks);
        Ok(())
    }

    /// Sets what is left on clocks for the whole game.
    pub fn set_clocks(&mut self, times: [Duration; 2]) {
        for (clock, time) in self.clocks.iter_mut().flatten().zip(times.into_iter().cycle()) {
            if let Clock::Main { left, .. } = clock {
                *left = time;
            }
        }
    }

    /// Ends the game off the board; an ended game stays as it ended.
    pub fn decide(&mut self, verdict: Verdict) {
        if !self.is_over() {
            self.verdict = Some(verdict);
        }
    }

    /// Takes back the last move, or as many as it takes for a person to be on the move. False if
    /// there is nothing of the kind.
    pub fn undo(&mut self) -> bool {
        let mut plies = 1;
        let made = self.session.moves().len();
        if self.has_human() {
            let mut side = self.session.side().other();
            while plies < made && self.seat(side) != Seat::Human {
                (plies, side) = (plies + 1, side.other());
            }
            if self.seat(side) != Seat::Human {
                return false;
            }
        }
        if plies > made {
            return false;
        }
        self.verdict = None;
        for _ in 0..plies {
            self.session.undo();
            self.clocks.pop();
        }
        true
    }

    /// The game as it stood after so many plies.
    pub fn at(&self, ply: usize) -> Box<dyn Session> {
        let mut session = self.session.copy();
        for _ in ply..self.session.moves().len() {
            session.undo();
        }
        session
    }

    /// The game as it is written to files.
    pub fn record(&self) -> GameRecord {
        let mut record = GameRecord::new(self.setup.game.clone());
        record.set_tag("Event", "Crownhead in a terminal");
        for side in [Side::First, Side::Second] {
            record.set_player(side, self.seat(side).to_string());
        }
        record.start = self.setup.position.as_ref().map(|_| self.session.start());
        record.line.plies = self.session.moves().into_iter().map(Ply::new).collect();
        record.result = self.result();
        if self.setup.time != TimeControl::Free {
            record.set_tag("TimeControl", self.setup.time.to_string());
        }
        record
    }

    /// Takes up a game that was written to a file, with full clocks.
    pub fn resume(record: &GameRecord, time: TimeControl, seed: u64) -> Result<LiveGame, String> {
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
        let mut live = LiveGame::new(setup).map_err(|error| error.to_string())?;
        for ply in &record.line.plies {
            live.play(&ply.text, Duration::ZERO).map_err(|error| error.to_string())?;
        }
        Ok(live)
    }
}
