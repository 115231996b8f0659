//! A game being played at this terminal: the board, who sits on each side, the clocks, and ends that
//! are not on the board (resigning, agreeing on a draw, time).
//!
//! It knows neither lines of text nor screens: [`plain`](crate::plain) and
//! [`screen`](crate::screen) show it. Nor does it think: see [`thinking`](crate::thinking).

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crownhead_play::{
    Clock, PlayError, PlayerKind, PlayerSpec, Session, SpecError, TimeControl, sentence, session,
};
use crownhead_records::{GameRecord, GameResult, Ply, game_text, write_text};
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

/// A computer that moves so little too late has not lost: its thread may have waited for a processor.
/// A person's time is up when the clock shows nothing.
const GRACE: Duration = Duration::from_millis(100);

/// How long a computer thinks about a move whose search nothing else would end.
const UNLIMITED: Duration = Duration::from_secs(2);

/// A game being played.
pub struct LiveGame {
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
}

impl LiveGame {
    /// A new game.
    pub fn new(setup: Setup) -> Result<LiveGame, PositionError> {
        let session = session(&setup.game, setup.position.as_deref())?;
        let clock = |seat: &Seat| match (seat, setup.time) {
            // Time per move is for computers: a person thinks as long as it takes.
            (Seat::Human, TimeControl::PerMove(_)) => Clock::Free,
            // Without a clock such a player would never move.
            (Seat::Computer(spec), TimeControl::Free) if spec.is_unlimited() => {
                Clock::PerMove(UNLIMITED)
            }
            (_, time) => time.clock(),
        };
        let clocks = setup.seats.each_ref().map(clock);
        let mut live = LiveGame {
            setup,
            session,
            clocks,
            turn_began: None,
            furthest: 0,
            date: today(),
            verdict: None,
        };
        live.next_turn();
        Ok(live)
    }

    /// A person's clock runs at once, a computer's when it is asked.
    fn next_turn(&mut self) {
        self.turn_began = self.human_to_move().then(Instant::now);
    }

    /// The computer to move is asked: its clock runs.
    pub fn begin_turn(&mut self) {
        self.turn_began = Some(Instant::now());
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
        let Clock::Main { left, .. } = self.clock(side) else { return None };
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
        let winner = |loser: Side| self.name(loser.other());
        Some(match self.verdict {
            None => return self.session.ending().map(|ending| sentence(&ending)),
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
        let mut clock = self.clock(side);
        if *self.seat(side) == Seat::Human || matches!(clock, Clock::Main { .. }) {
            let Some(next) = clock.after(used, GRACE) else {
                self.charge(used);
                self.verdict = Some(Verdict::Late(side));
                return Ok(());
            };
            clock = next;
        }
        self.session.play(text)?;
        if let Clock::Main { left, increment } = &mut clock
            && self.session.plies() <= self.furthest
        {
            *left = left.saturating_sub(*increment);
        }
        self.clocks[side.index()] = clock;
        self.furthest = self.furthest.max(self.session.plies());
        self.next_turn();
        Ok(())
    }

    /// Takes time off the clock of the side to move.
    fn charge(&mut self, used: Duration) {
        if let Clock::Main { left, .. } = &mut self.clocks[self.session.side().index()] {
            *left = left.saturating_sub(used);
        }
    }

    /// Sets what is left on clocks for the whole game.
    fn set_clocks(&mut self, times: [Duration; 2]) {
        for (clock, time) in self.clocks.iter_mut().zip(times) {
            if let Clock::Main { left, .. } = clock {
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
        matches!(self.verdict, Some(Verdict::Late(_)))
    }

    /// Takes back a resignation or an agreement, or else the last move, or as many as it takes for a
    /// person to be on the move. False if there is nothing of the kind. Time does not come back, so a
    /// game lost on time stays lost.
    pub fn undo(&mut self) -> bool {
        if self.is_late() {
            return false;
        }
        if self.verdict.take().is_some() {
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
        self.next_turn();
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
        record.set_tag("Date", self.date.clone());
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

    /// Writes the game to a new file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        if path.exists() {
            let text = format!("the file {} exists already: choose another name", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        write_text(path, &game_text(&self.record()).map_err(io::Error::other)?)
    }

    /// Takes up a game that was written to a file, with so much left on the clocks.
    pub fn resume(
        record: &GameRecord,
        time: TimeControl,
        left: Option<[Duration; 2]>,
        seed: u64,
    ) -> Result<LiveGame, String> {
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
        if let Some(left) = left {
            live.set_clocks(left);
        }
        if let Some(date) = record.tag("Date") {
            live.date = date.into();
        }
        Ok(live)
    }
}

/// Today in Greenwich, as PDN writes it.
fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date_text(since.as_secs() / (24 * 60 * 60))
}

/// The date so many days after 1 January 1970.
fn date_text(days: u64) -> String {
    // Years begin in March here, so that a leap day is the last of its year; 1970 is so far into the
    // 400 years that began in the year 0.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, months have 31 30 31 30 31 days, twice and a bit.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (era * 400 + year, month + 3),
        _ => (era * 400 + year + 1, month - 9),
    };
    format!("{year:04}.{month:02}.{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (days, date) in [
            (0, "1970.01.01"),
            (59, "1970.03.01"),
            (11_016, "2000.02.29"),
            (11_017, "2000.03.01"),
            (20_088, "2024.12.31"),
            (47_540, "2100.02.28"),
            (47_541, "2100.03.01"),
        ] {
            assert_eq!(date_text(days), date);
        }
    }
}
