//! Seeds and numbers. A director counts players from 0 in the order of their seeds; in the journal a
//! player keeps its number when others leave, come or change places in the contest file.

use std::collections::HashMap;

use super::{Director, Meeting, Next, PlayerIndex, Round, Tie};

/// A director whose players have these numbers, the best seed first.
pub struct Seated<D> {
    director: D,
    players: Vec<PlayerIndex>,
    seats: HashMap<PlayerIndex, usize>,
}

impl<D: Director> Seated<D> {
    /// Puts the players in their seats.
    pub fn new(director: D, players: &[PlayerIndex]) -> Seated<D> {
        let seats = players.iter().zip(0..).map(|(&player, seat)| (player, seat)).collect();
        Seated { director, players: players.to_vec(), seats }
    }

    fn player(&self, seat: usize) -> PlayerIndex {
        self.players[seat]
    }

    /// The seats of two players; none if one of them has none.
    fn seats(&self, players: [PlayerIndex; 2]) -> Option<[usize; 2]> {
        let [one, other] = players.map(|player| self.seats.get(&player).copied());
        Some([one?, other?])
    }
}

impl<D: Director> Director for Seated<D> {
    fn next(&self) -> Next {
        let Next::Round(mut round) = self.director.next() else { return self.director.next() };
        for pair in &mut round.pairs {
            *pair = pair.map(|seat| self.player(seat));
        }
        for seat in &mut round.byes {
            *seat = self.player(*seat);
        }
        Next::Round(round)
    }

    fn issued(&mut self, round: &Round) {
        let pairs = round.pairs.iter().filter_map(|pair| self.seats(*pair)).collect();
        let byes = round.byes.iter().filter_map(|player| self.seats.get(player).copied()).collect();
        self.director.issued(&Round { pairs, byes, ..round.clone() });
    }

    fn finished(&mut self, meetings: &[Meeting]) {
        let seated =
            |meeting: &Meeting| Some(Meeting { players: self.seats(meeting.players)?, ..*meeting });
        let meetings: Vec<Meeting> = meetings.iter().filter_map(seated).collect();
        self.director.finished(&meetings);
    }

    fn progress(&self) -> Option<Vec<i64>> {
        let by_seat = self.director.progress()?;
        let mut progress = vec![0; self.players.iter().max().map_or(0, |most| most + 1)];
        for (&player, reached) in self.players.iter().zip(by_seat) {
            progress[player] = reached;
        }
        Some(progress)
    }

    fn ties(&self) -> Vec<Tie> {
        let named = |tie: Tie| Tie {
            winner: self.player(tie.winner),
            loser: self.player(tie.loser),
            ..tie
        };
        self.director.ties().into_iter().map(named).collect()
    }

    fn added(&self) -> u64 {
        self.director.added()
    }
}
