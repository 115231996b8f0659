//! Pairings: who plays whom in each round.
//!
//! A [`Scheduler`] produces one [`Round`] after the other from the results of earlier rounds alone,
//! so it makes the same decisions whether or not a tournament was interrupted.
//! [`schedule_games`] turns the pairings of a round into games with colours and openings.
//! [`ScheduleState`] restores all of it from a journal. Nothing here knows about files, clocks or
//! threads.

mod games;
mod knockout;
mod ladder;
mod matching;
mod round_robin;
mod seeding;
mod state;
mod swiss;

pub use games::{PairGames, PairHistory, ScheduledGame, schedule_games};
pub use knockout::{Knockout, bracket_slots};
pub use ladder::Ladder;
pub use round_robin::{FixedRounds, gauntlet, round_robin};
pub use seeding::SeedMapping;
pub use state::ScheduleState;
pub use swiss::Swiss;

use crate::{Schedule, Settings};

/// Index of a player in the journal, from 0.
pub type PlayerIndex = usize;

/// Returns a pair with the lower index first: the same key for both orders.
pub(crate) fn pair_key([a, b]: [PlayerIndex; 2]) -> [PlayerIndex; 2] {
    [a.min(b), a.max(b)]
}

/// Pairings that can be played at the same time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// Number of the round, from 1.
    pub number: u32,
    /// Title of the round.
    pub title: String,
    /// Pairings; the first player moves first in the first game.
    pub pairs: Vec<[PlayerIndex; 2]>,
    /// Players without an opponent.
    pub byes: Vec<PlayerIndex>,
}

/// The next round of a scheduler, if it is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextRound {
    /// A round that may start at once.
    Round(Round),
    /// The next round depends on games that are not finished.
    Wait,
    /// There are no more rounds.
    Over,
}

/// Result of a pairing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairingResult {
    /// The two players.
    pub players: [PlayerIndex; 2],
    /// Games won by each of them.
    pub wins: [u32; 2],
    /// Games drawn.
    pub draws: u32,
    /// Games in which each of them moved first.
    pub first_move_counts: [u32; 2],
}

impl PairingResult {
    /// Creates the result of a pairing without finished games.
    pub fn new(players: [PlayerIndex; 2]) -> PairingResult {
        PairingResult { players, wins: [0; 2], draws: 0, first_move_counts: [0; 2] }
    }

    /// Adds a game in which `first` moved first.
    pub fn add(&mut self, first: PlayerIndex, winner: Option<PlayerIndex>) {
        let side = |player| usize::from(player != self.players[0]);
        self.first_move_counts[side(first)] += 1;
        match winner {
            Some(winner) => self.wins[side(winner)] += 1,
            None => self.draws += 1,
        }
    }

    /// Returns the player with more wins; `None` if tied.
    pub fn winner(&self) -> Option<PlayerIndex> {
        let [first, second] = self.wins;
        (first != second).then(|| self.players[usize::from(second > first)])
    }
}

/// A tied pairing in which the better seed advanced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeedDecision {
    /// Title of the round.
    pub round: String,
    /// The player who advanced.
    pub winner: PlayerIndex,
    /// The player who was eliminated.
    pub loser: PlayerIndex,
}

/// Produces the rounds of a tournament.
pub trait Scheduler: Send {
    /// Returns the next round without advancing.
    fn next(&self) -> NextRound;

    /// The round returned by [`next`](Scheduler::next) has been scheduled.
    fn on_scheduled(&mut self, round: &Round);

    /// All games of the last scheduled round are finished.
    fn on_round_finished(&mut self, results: &[PairingResult]);

    /// Returns each player's progress, if players are ranked by progress and not by points.
    fn progress(&self) -> Option<Vec<i64>> {
        None
    }

    /// Returns the pairings decided by seed.
    fn seed_decisions(&self) -> Vec<SeedDecision> {
        Vec::new()
    }

    /// Returns the number of pairings scheduled beyond the planned ones, because of ties.
    fn extra_pairings(&self) -> u64 {
        0
    }
}

/// Creates the scheduler of a tournament. `names` are those of all players in the journal;
/// `active` are the players that take part, best seed first.
pub fn scheduler(
    settings: &Settings,
    names: &[String],
    active: &[PlayerIndex],
) -> Box<dyn Scheduler> {
    match &settings.schedule {
        Schedule::RoundRobin => Box::new(FixedRounds::new(round_robin(active))),
        Schedule::Gauntlet { challengers } => {
            let is_challenger = |&&player: &&PlayerIndex| {
                names.get(player).is_some_and(|name| challengers.contains(name))
            };
            let (challengers, others): (Vec<_>, Vec<_>) =
                active.iter().partition(|player| is_challenger(player));
            Box::new(FixedRounds::new(gauntlet(&challengers, &others)))
        }
        Schedule::Swiss { rounds } => {
            let swiss = Swiss::new(active.len(), *rounds, settings.games, settings.points);
            Box::new(SeedMapping::new(swiss, active))
        }
        Schedule::Knockout { tie_replays } => {
            Box::new(SeedMapping::new(Knockout::new(active.len(), *tie_replays), active))
        }
        Schedule::Ladder { rounds } => {
            Box::new(SeedMapping::new(Ladder::new(active.len(), *rounds), active))
        }
    }
}
