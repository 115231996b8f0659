//! What has been scheduled and finished so far, as far as the next round depends on it.

use std::collections::HashMap;

use crate::Contest;
use crate::journal::{Game, Snapshot};
use crate::schedule::{Dealt, Director, Meeting, Played, PlayerIndex, Round, deal, director};

/// The past of a contest.
pub struct History {
    /// Who names the rounds; it knows all that are finished.
    pub director: Box<dyn Director>,
    /// The meetings of the round that is being played, in the order of their first games, and how many
    /// games of it are not finished.
    open: Vec<Meeting>,
    places: HashMap<[PlayerIndex; 2], usize>,
    missing: usize,
    /// The games of each pair, for fixed schedules: what is scheduled is not scheduled again.
    have: Played,
    rounds: u32,
    /// How many games there are, how many were planned, and how many a meeting has.
    scheduled: u64,
    planned: Option<u64>,
    of_meeting: u64,
    openings: u32,
    games: i64,
    is_fixed: bool,
}

fn pair(players: [PlayerIndex; 2]) -> [PlayerIndex; 2] {
    [players[0].min(players[1]), players[0].max(players[1])]
}

impl History {
    /// The past that a journal tells.
    pub fn of(snapshot: &Snapshot) -> History {
        let settings = &snapshot.settings;
        let mut history = History {
            director: director(settings, &snapshot.names(), &snapshot.present()),
            open: Vec::new(),
            places: HashMap::new(),
            missing: 0,
            have: Played::new(),
            scheduled: snapshot.games.len() as u64,
            planned: settings.planned,
            of_meeting: settings.games.into(),
            rounds: snapshot.rounds.len() as u32,
            openings: snapshot.games.iter().map(|game| game.opening + 1).max().unwrap_or(0),
            games: snapshot.games.iter().map(|game| game.number).max().unwrap_or(0),
            is_fixed: settings.schedule.is_fixed(),
        };
        if history.is_fixed {
            for game in &snapshot.games {
                history.count(game.players, game.opening);
            }
            return history;
        }
        let mut games = snapshot.games.iter().peekable();
        for (title, number) in snapshot.rounds.iter().zip(1..) {
            let mut round = Round { number, title: title.clone(), ..Round::default() };
            let resting = snapshot.byes.iter().filter(|(round, _)| *round == number);
            round.byes = resting.map(|(_, player)| *player).collect();
            let mut of_round = Vec::new();
            while let Some(game) = games.next_if(|game| game.round == number) {
                of_round.push(game);
            }
            history.open(of_round.iter().map(|game| game.players));
            round.pairs = history.open.iter().map(|meeting| meeting.players).collect();
            history.director.issued(&round);
            if of_round.is_empty() {
                history.finish_empty();
            }
            for game in of_round {
                if let Some(end) = &game.end {
                    history.finished(game, end.winner);
                }
            }
        }
        history
    }

    fn count(&mut self, players: [PlayerIndex; 2], opening: u32) {
        let key = pair(players);
        self.have.entry(key).or_default().add(players[0] == key[0], opening);
    }

    /// How many games there will be, if that is known: more than planned where meetings were repeated,
    /// or games are kept that would not be scheduled any more.
    pub fn planned(&self) -> Option<u64> {
        let planned = self.planned? + self.director.added() * self.of_meeting;
        Some(planned.max(self.scheduled))
    }

    fn open(&mut self, games: impl Iterator<Item = [PlayerIndex; 2]>) {
        self.open.clear();
        self.places.clear();
        self.missing = 0;
        for players in games {
            self.missing += 1;
            let next = self.open.len();
            if *self.places.entry(pair(players)).or_insert(next) == next {
                self.open.push(Meeting::new(players));
            }
        }
    }

    /// The games of a round that are not scheduled yet.
    pub(super) fn deal(&self, round: &Round, contest: &Contest) -> Vec<Dealt> {
        let round = &Round { number: self.rounds + 1, ..round.clone() };
        deal(round, contest.games, contest.colours, contest.seed, &self.have, self.openings)
    }

    /// These games are scheduled: the number of their round.
    pub(super) fn begin(&mut self, games: &[Dealt]) -> u32 {
        self.rounds += 1;
        self.scheduled += games.len() as u64;
        self.openings = games.iter().map(|game| game.opening + 1).fold(self.openings, u32::max);
        if self.is_fixed {
            for game in games {
                self.count(game.players, game.opening);
            }
        } else {
            self.open(games.iter().map(|game| game.players));
        }
        self.rounds
    }

    /// The largest number of a game so far.
    pub(super) fn last_game(&self) -> i64 {
        self.games
    }

    /// A round without games is over.
    pub(super) fn finish_empty(&mut self) {
        self.director.finished(&[]);
    }

    /// A game is finished.
    pub(super) fn finished(&mut self, game: &Game, winner: Option<usize>) {
        self.games = self.games.max(game.number);
        if self.is_fixed {
            return;
        }
        let place = self.places.get(&pair(game.players)).copied();
        let Some(meeting) = place.and_then(|place| self.open.get_mut(place)) else { return };
        meeting.add(game.players[0], winner.map(|winner| game.players[winner]));
        self.missing -= 1;
        if self.missing == 0 {
            self.director.finished(&std::mem::take(&mut self.open));
        }
    }
}
