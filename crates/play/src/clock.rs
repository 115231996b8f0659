//! The clocks of a game, and how much of a player's time a search may use.

use std::time::Duration;

use crownhead_rules::Side;
use crownhead_search::time::MoveTime;

use crate::time_control::TimeControl;

/// The time of one player for the turn that starts now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// No limit.
    Unlimited,
    /// A fixed time for this turn; unused time is lost.
    PerMove(Duration),
    /// The time for the rest of the game.
    PerGame {
        /// The time left.
        left: Duration,
        /// The increment, added after every move.
        increment: Duration,
    },
}

impl Clock {
    /// The clock after a move that took `used`; `None` if that was more than the time left plus
    /// `grace`.
    pub fn after_move(self, used: Duration, grace: Duration) -> Option<Clock> {
        match self {
            Clock::Unlimited => Some(self),
            Clock::PerMove(time) => (used <= time + grace).then_some(self),
            Clock::PerGame { left, increment } => (used <= left + grace).then(|| {
                let left = left.saturating_sub(used).saturating_add(increment);
                Clock::PerGame { left, increment }
            }),
        }
    }

    /// The time left for the rest of the game, if it is limited.
    pub fn time_left(self) -> Option<Duration> {
        match self {
            Clock::PerGame { left, .. } => Some(left),
            Clock::Unlimited | Clock::PerMove(_) => None,
        }
    }

    /// Time that a search may use for this turn; always less than the remaining time.
    pub fn move_time(self) -> MoveTime {
        match self {
            Clock::Unlimited => MoveTime::default(),
            Clock::PerMove(time) => MoveTime::fixed(time),
            Clock::PerGame { left, increment } => MoveTime::for_move(left, increment),
        }
    }
}

/// The time left on both clocks; `None` for a side without a main time.
pub type TimeLeft = [Option<Duration>; 2];

/// The clocks of a game. The current time is always passed in, as the time since an epoch that the
/// caller chooses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// The clocks as they stood when the turn started.
    clocks: [Clock; 2],
    /// The number of plies before the clocks run.
    start_ply: usize,
    /// The highest number of plies so far. The increment is added once per ply, so that taking
    /// moves back and playing them again gains no time.
    max_ply: usize,
    /// When the side to move started to think; `None` while its clock is stopped.
    turn_started: Option<Duration>,
}

impl Clocks {
    /// Stopped clocks at the start of a game. They run once `start_ply` plies have been played.
    pub fn new(controls: [TimeControl; 2], start_ply: usize) -> Clocks {
        let clocks = controls.map(TimeControl::clock);
        Clocks { clocks, start_ply, max_ply: 0, turn_started: None }
    }

    /// A side's clock as it stood when the turn started.
    pub fn clock(&self, side: Side) -> Clock {
        self.clocks[side.index()]
    }

    /// When the turn started; `None` while the clock is stopped.
    pub fn turn_started(&self) -> Option<Duration> {
        self.turn_started
    }

    /// Whether the clock of the side to move runs.
    pub fn is_running(&self) -> bool {
        self.turn_started.is_some() && self.max_ply >= self.start_ply
    }

    /// How long the turn has lasted; zero while the clock is stopped.
    pub fn turn_time(&self, now: Duration) -> Duration {
        match self.turn_started {
            Some(started) if self.is_running() => now.saturating_sub(started),
            _ => Duration::ZERO,
        }
    }

    /// When the clock of the side to move runs out; `None` if it is stopped or has no main time.
    pub fn deadline(&self, to_move: Side) -> Option<Duration> {
        let started = self.turn_started.filter(|_| self.is_running())?;
        started.checked_add(self.clock(to_move).time_left()?)
    }

    /// The time left on both clocks now.
    pub fn time_left(&self, to_move: Side, now: Duration) -> TimeLeft {
        let mut time_left = self.clocks.map(Clock::time_left);
        if let Some(left) = &mut time_left[to_move.index()] {
            *left = left.saturating_sub(self.turn_time(now));
        }
        time_left
    }

    /// The time left on both clocks if the side to move plays ply number `ply` (from 0) now.
    pub fn time_left_after_move(&self, to_move: Side, ply: usize, now: Duration) -> TimeLeft {
        let mut time_left = self.time_left(to_move, now);
        let is_paid = ply >= self.max_ply && self.max_ply >= self.start_ply;
        if let (Some(left), Clock::PerGame { increment, .. }, true) =
            (&mut time_left[to_move.index()], self.clock(to_move), is_paid)
        {
            *left = left.saturating_add(increment);
        }
        time_left
    }

    /// Starts the clock of the side to move.
    pub(crate) fn start(&mut self, now: Duration) {
        self.turn_started = Some(now);
    }

    /// Stops the clock; the turn starts over when it is started again.
    pub(crate) fn stop(&mut self) {
        self.turn_started = None;
    }

    /// Sets the time left; `None` leaves a clock as it is.
    pub(crate) fn set_time_left(&mut self, time_left: TimeLeft) {
        for (clock, time) in self.clocks.iter_mut().zip(time_left) {
            if let (Clock::PerGame { left, .. }, Some(time)) = (clock, time) {
                *left = time;
            }
        }
    }

    /// Records the number of plies on the board.
    pub(crate) fn on_ply(&mut self, plies: usize) {
        self.max_ply = self.max_ply.max(plies);
    }
}
