//! Settings of a game: times, the fault policy, adjudication, and what needs the opponent's
//! consent.

use std::time::Duration;

use crownhead_rules::Game;

use super::OfferKind;
use crate::{Adjudication, FaultPolicy, TimeControl};

/// Settings of a refereed game, the same for both players.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameSettings {
    /// The time each player has.
    pub time_control: TimeControl,
    /// Tolerance for late moves: delivering a move takes time that the player does not control.
    pub grace: Duration,
    /// How long a bot may take to get ready.
    pub startup_timeout: Duration,
    /// The penalty for a fault.
    pub fault_policy: FaultPolicy,
    /// When the referee ends the game early.
    pub adjudication: Adjudication,
}

impl GameSettings {
    /// The default settings of a game, without a time limit.
    pub fn default_for(game: &Game) -> GameSettings {
        GameSettings {
            time_control: TimeControl::Unlimited,
            grace: Duration::from_millis(5),
            startup_timeout: Duration::from_secs(10),
            fault_policy: FaultPolicy::default_for(game),
            adjudication: Adjudication::default(),
        }
    }
}

/// How a game in progress is conducted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameConfig {
    /// The two sides; the first one moves first.
    pub sides: [SideConfig; 2],
    /// The number of plies before the clocks run.
    pub clock_start_ply: usize,
    /// The offers that the opponent must accept. Other offers take effect at once.
    pub consent: &'static [OfferKind],
}

/// How one side plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SideConfig {
    /// Its time.
    pub time_control: TimeControl,
    /// Its tolerance for late moves.
    pub grace: Duration,
    /// Whether its clock waits for [`Event::ClockStart`](super::Event::ClockStart) instead of
    /// starting with the turn.
    pub clock_waits: bool,
}

/// Grace of a computer player whose clock is watched from another thread: its own thread may have
/// waited for a processor.
pub const COMPUTER_GRACE: Duration = Duration::from_millis(100);

impl SideConfig {
    /// A person: loses when the clock reaches zero.
    pub const fn human(time_control: TimeControl) -> SideConfig {
        SideConfig { time_control, grace: Duration::ZERO, clock_waits: false }
    }

    /// A computer player: its clock runs while it thinks.
    pub const fn computer(time_control: TimeControl) -> SideConfig {
        SideConfig { time_control, grace: COMPUTER_GRACE, clock_waits: true }
    }
}

impl GameConfig {
    /// A game between two players under a referee.
    pub fn refereed(settings: &GameSettings) -> GameConfig {
        let GameSettings { time_control, grace, .. } = *settings;
        let side = SideConfig { time_control, grace, clock_waits: false };
        GameConfig { sides: [side; 2], clock_start_ply: 0, consent: &OfferKind::ALL }
    }
}
