//! A ladder: neighbours challenge each other, and who beats the one above takes that place. It goes on
//! until somebody stops it.
//!
//! In odd rounds places 2 and 1, 4 and 3, … meet, in even rounds 3 and 2, 5 and 4, …, so nobody plays
//! twice in a round and everybody can come anywhere.

use super::{NextRound, PairingResult, PlayerIndex, Round, Scheduler};

/// The director of a ladder.
pub struct Ladder {
    /// Who stands where, the top first.
    places: Vec<PlayerIndex>,
    rounds: Option<u32>,
    issued: u32,
    is_open: bool,
}

impl Ladder {
    /// So many players, the first at the top, for so many rounds or without end.
    pub fn new(players: usize, rounds: Option<u32>) -> Ladder {
        Ladder { places: (0..players).collect(), rounds, issued: 0, is_open: false }
    }
}

impl Scheduler for Ladder {
    fn next(&self) -> NextRound {
        if self.is_open {
            return NextRound::Wait;
        }
        let is_last = self.rounds.is_some_and(|rounds| self.issued >= rounds);
        if is_last || self.places.len() < 2 {
            return NextRound::Over;
        }
        let number = self.issued.saturating_add(1);
        // Two players have only one pair.
        let from = usize::from(number.is_multiple_of(2) && self.places.len() > 2);
        // The lower one, who challenges, moves first in the first game.
        let pairs = self.places[from..].chunks_exact(2).map(|pair| [pair[1], pair[0]]).collect();
        NextRound::Round(Round {
            number,
            title: format!("round {number}"),
            pairs,
            byes: Vec::new(),
        })
    }

    fn on_scheduled(&mut self, round: &Round) {
        (self.issued, self.is_open) = (round.number, true);
    }

    fn on_round_finished(&mut self, meetings: &[PairingResult]) {
        self.is_open = false;
        for meeting in meetings {
            let place = |player| self.places.iter().position(|other| *other == player);
            let [Some(one), Some(other)] = meeting.players.map(place) else { continue };
            let (upper, lower) = (one.min(other), one.max(other));
            if meeting.winner() == Some(self.places[lower]) {
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
