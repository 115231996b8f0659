//! Ladder: neighbours challenge each other, and a challenger who wins takes the place above. It
//! runs until it is stopped, or for a number of rounds.
//!
//! In odd rounds places 2 and 1, 4 and 3, … play, in even rounds 3 and 2, 5 and 4, …, so nobody
//! plays twice in a round and every place can be reached.

use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler};

/// Scheduler of a ladder.
pub struct Ladder {
    /// Players from top to bottom.
    places: Vec<PlayerIndex>,
    rounds: Option<u32>,
    scheduled: u32,
    is_open: bool,
}

impl Ladder {
    /// Creates a ladder with the best seed at the top; `rounds` is `None` for an endless one.
    pub fn new(players: usize, rounds: Option<u32>) -> Ladder {
        Ladder { places: (0..players).collect(), rounds, scheduled: 0, is_open: false }
    }
}

impl Scheduler for Ladder {
    fn next(&self) -> NextRound {
        if self.is_open {
            return NextRound::Wait;
        }
        let is_last = self.rounds.is_some_and(|rounds| self.scheduled >= rounds);
        if is_last || self.places.len() < 2 {
            return NextRound::Over;
        }
        let number = self.scheduled.saturating_add(1);
        // Two players form the same pair in every round.
        let top = usize::from(number.is_multiple_of(2) && self.places.len() > 2);
        // The challenger, on the lower place, moves first in the first game.
        let pairs = self.places[top..].chunks_exact(2).map(|pair| [pair[1], pair[0]]).collect();
        let title = format!("round {number}");
        NextRound::Round(Round { number, title, pairs, byes: Vec::new() })
    }

    fn on_scheduled(&mut self, round: &Round) {
        (self.scheduled, self.is_open) = (round.number, true);
    }

    fn on_round_finished(&mut self, results: &[PairingResult]) {
        self.is_open = false;
        for result in results {
            let place = |player| self.places.iter().position(|other| *other == player);
            let [Some(a), Some(b)] = result.players.map(place) else { continue };
            let (upper, lower) = (a.min(b), a.max(b));
            if result.winner() == Some(self.places[lower]) {
                self.places.swap(upper, lower);
            }
        }
    }

    fn progress(&self) -> Option<Vec<i64>> {
        let mut progress = vec![0; self.places.len()];
        for (place, &player) in self.places.iter().enumerate() {
            progress[player] = (self.places.len() - place) as i64;
        }
        Some(progress)
    }
}
