//! Who meets whom, and when that is known.
//!
//! A [`Director`] names one [`Round`] after the other. What it needs to know of earlier rounds it is
//! told, so that it does the same whether a tournament was interrupted or not. [`deal`] makes games of
//! the pairs of a round: colours and openings. Nothing here knows files, clocks or threads.

mod games;
mod knockout;
mod ladder;
mod matching;
mod round_robin;
mod seeding;
mod state;
mod swiss;

pub use games::{PairGames, PairHistory, ScheduledGame, schedule_games};
pub use knockout::Knockout;
pub use ladder::Ladder;
pub use round_robin::{FixedRounds, gauntlet, round_robin};
pub use seeding::SeedMapping;
pub use state::ScheduleState;
pub use swiss::Swiss;

use crate::{Schedule, Settings};

/// A player by its place in the journal, from 0.
pub type PlayerIndex = usize;

/// Those who meet each other at the same time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// Counted from 1.
    pub number: u32,
    /// What people call it.
    pub title: String,
    /// Who meets whom; who moves first in the first game comes first.
    pub pairs: Vec<[PlayerIndex; 2]>,
    /// Who has no opponent.
    pub byes: Vec<PlayerIndex>,
}

/// What comes next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextRound {
    /// This round, which may begin at once.
    Round(Round),
    /// Nothing until all games of the rounds so far are finished.
    Wait,
    /// Nothing more.
    Over,
}

/// How a pair fared in a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairingResult {
    /// The two players.
    pub players: [PlayerIndex; 2],
    /// The games that each of them won.
    pub wins: [u32; 2],
    /// The games that nobody won.
    pub draws: u32,
    /// The games in which each of them moved first.
    pub first_move_counts: [u32; 2],
}

impl PairingResult {
    /// A meeting of which no game is finished.
    pub fn new(players: [PlayerIndex; 2]) -> PairingResult {
        PairingResult { players, wins: [0; 2], draws: 0, first_move_counts: [0; 2] }
    }

    /// Counts a game of these two. `winner` is 0 for `players[0]`, 1 for `players[1]`.
    pub fn add(&mut self, first: PlayerIndex, winner: Option<PlayerIndex>) {
        let place = |player| usize::from(player != self.players[0]);
        self.first_move_counts[place(first)] += 1;
        match winner {
            Some(winner) => self.wins[place(winner)] += 1,
            None => self.draws += 1,
        }
    }

    /// Who did better; none if they are even.
    pub fn winner(&self) -> Option<PlayerIndex> {
        let [one, other] = self.wins;
        (one != other).then(|| self.players[usize::from(other > one)])
    }
}

/// A meeting that stayed even, so that the better seed went on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeedDecision {
    /// What people call the round.
    pub round: String,
    /// Who went on.
    pub winner: PlayerIndex,
    /// Who did not.
    pub loser: PlayerIndex,
}

/// Names the rounds of a tournament.
pub trait Scheduler: Send {
    /// The next round. Asking changes nothing.
    fn next(&self) -> NextRound;

    /// A round has been written down: it will be played as it is.
    fn on_scheduled(&mut self, round: &Round);

    /// All games of the round that was issued last are finished.
    fn on_round_finished(&mut self, meetings: &[PairingResult]);

    /// How far each player has come, more being better, where that and not points makes the order.
    fn progress(&self) -> Option<Vec<i64>> {
        None
    }

    /// Meetings that were decided by seed.
    fn seed_decisions(&self) -> Vec<SeedDecision> {
        Vec::new()
    }

    /// How many meetings there were that nobody had planned: those that were repeated.
    fn extra_pairings(&self) -> u64 {
        0
    }
}

/// The director of a tournament between the players of these names, of whom those `present` take part, the
/// best seed first.
pub fn scheduler(
    settings: &Settings,
    names: &[String],
    present: &[PlayerIndex],
) -> Box<dyn Scheduler> {
    match &settings.schedule {
        Schedule::RoundRobin => Box::new(FixedRounds::new(round_robin(present))),
        Schedule::Gauntlet { challengers } => {
            let is_challenger = |&&player: &&PlayerIndex| {
                names.get(player).is_some_and(|name| challengers.contains(name))
            };
            let (heroes, others): (Vec<_>, Vec<_>) =
                present.iter().partition(|player| is_challenger(player));
            Box::new(FixedRounds::new(gauntlet(&heroes, &others)))
        }
        Schedule::Swiss { rounds } => {
            let swiss = Swiss::new(present.len(), *rounds, settings.games, settings.points);
            Box::new(SeedMapping::new(swiss, present))
        }
        Schedule::Knockout { tie_replays: replays } => {
            Box::new(SeedMapping::new(Knockout::new(present.len(), *replays), present))
        }
        Schedule::Ladder { rounds } => {
            Box::new(SeedMapping::new(Ladder::new(present.len(), *rounds), present))
        }
    }
}
