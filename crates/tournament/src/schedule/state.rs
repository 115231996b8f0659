//! What has been scheduled and finished so far, as far as the next round depends on it.

use std::collections::HashMap;

use super::{
    PairHistory, PairingResult, PlayerIndex, Round, ScheduledGame, Scheduler, schedule_games,
    scheduler,
};
use crate::Tournament;
use crate::journal::{Game, Snapshot};

/// The past of a tournament.
pub struct ScheduleState {
    /// Who names the rounds; it knows all that are finished.
    pub scheduler: Box<dyn Scheduler>,
    /// The meetings of the round that is being played, in the order of their first games, and how many
    /// games of it are not finished.
    open: Vec<PairingResult>,
    places: HashMap<[PlayerIndex; 2], usize>,
    missing: usize,
    /// The games of each pair, for fixed schedules: what is scheduled is not scheduled again.
    have: PairHistory,
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

impl ScheduleState {
    /// The past that a journal tells.
    pub fn new(snapshot: &Snapshot) -> ScheduleState {
        let settings = &snapshot.settings;
        let mut history = ScheduleState {
            scheduler: scheduler(settings, &snapshot.names(), &snapshot.active_players()),
            open: Vec::new(),
            places: HashMap::new(),
            missing: 0,
            have: PairHistory::new(),
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
            history.scheduler.on_scheduled(&round);
            if of_round.is_empty() {
                history.finish_empty_round();
            }
            for game in of_round {
                if let Some(end) = &game.end {
                    history.on_game_finished(game, end.winner);
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
        let planned = self.planned? + self.scheduler.extra_pairings() * self.of_meeting;
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
                self.open.push(PairingResult::new(players));
            }
        }
    }

    /// The games of a round that are not scheduled yet.
    pub(crate) fn schedule_games(
        &self,
        round: &Round,
        tournament: &Tournament,
    ) -> Vec<ScheduledGame> {
        let round = &Round { number: self.rounds + 1, ..round.clone() };
        schedule_games(
            round,
            tournament.games,
            tournament.colours,
            tournament.seed,
            &self.have,
            self.openings,
        )
    }

    /// These games are scheduled: the number of their round.
    pub(crate) fn on_scheduled(&mut self, games: &[ScheduledGame]) -> u32 {
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
    pub(crate) fn last_game(&self) -> i64 {
        self.games
    }

    /// A round without games is over.
    pub(crate) fn finish_empty_round(&mut self) {
        self.scheduler.on_round_finished(&[]);
    }

    /// A game is finished.
    pub(crate) fn on_game_finished(&mut self, game: &Game, winner: Option<usize>) {
        self.games = self.games.max(game.number);
        if self.is_fixed {
            return;
        }
        let place = self.places.get(&pair(game.players)).copied();
        let Some(meeting) = place.and_then(|place| self.open.get_mut(place)) else { return };
        meeting.add(game.players[0], winner.map(|winner| game.players[winner]));
        self.missing -= 1;
        if self.missing == 0 {
            self.scheduler.on_round_finished(&std::mem::take(&mut self.open));
        }
    }
}
