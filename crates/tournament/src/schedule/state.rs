//! Scheduling state: everything scheduled and finished so far.

use std::collections::HashMap;

use super::{
    PairHistory, PairingResult, PlayerIndex, Round, ScheduledGame, Scheduler, pair_key,
    schedule_games, scheduler,
};
use crate::Tournament;
use crate::journal::{Game, Snapshot};

/// Scheduling state of a tournament.
pub struct ScheduleState {
    /// The scheduler, up to date with all finished rounds.
    pub scheduler: Box<dyn Scheduler>,
    /// Results of the current round, in the order of the pairings' first games.
    results: Vec<PairingResult>,
    /// Position of each pair in `results`.
    positions: HashMap<[PlayerIndex; 2], usize>,
    /// Number of unfinished games in the current round.
    unfinished: usize,
    /// Scheduled games of each pair in a fixed schedule.
    history: PairHistory,
    rounds: u32,
    /// Number of scheduled games.
    scheduled: u64,
    /// Number of games planned from the start.
    planned: Option<u64>,
    games_per_pairing: u64,
    next_opening: u32,
    last_game: i64,
    is_fixed: bool,
}

impl ScheduleState {
    /// Restores the state from a journal.
    pub fn new(snapshot: &Snapshot) -> ScheduleState {
        let settings = &snapshot.settings;
        let mut state = ScheduleState {
            scheduler: scheduler(settings, &snapshot.names(), &snapshot.active_players()),
            results: Vec::new(),
            positions: HashMap::new(),
            unfinished: 0,
            history: PairHistory::new(),
            scheduled: snapshot.games.len() as u64,
            planned: settings.planned,
            games_per_pairing: settings.games.into(),
            rounds: snapshot.rounds.len() as u32,
            next_opening: snapshot
                .games
                .iter()
                .map(|g| g.opening.saturating_add(1))
                .max()
                .unwrap_or(0),
            last_game: snapshot.games.iter().map(|game| game.number).max().unwrap_or(0),
            is_fixed: settings.schedule.is_fixed(),
        };
        if state.is_fixed {
            for game in &snapshot.games {
                state.add_to_history(game.players, game.opening);
            }
            return state;
        }
        let mut games = snapshot.games.iter().peekable();
        for (title, number) in snapshot.rounds.iter().zip(1..) {
            let byes = snapshot.byes.iter().filter(|(round, _)| *round == number);
            let byes = byes.map(|(_, player)| *player).collect();
            let mut round_games = Vec::new();
            while let Some(game) = games.next_if(|game| game.round == number) {
                round_games.push(game);
            }
            state.start_round(round_games.iter().map(|game| game.players));
            let pairs = state.results.iter().map(|result| result.players).collect();
            let round = Round { number, title: title.clone(), pairs, byes };
            state.scheduler.on_scheduled(&round);
            if round_games.is_empty() {
                state.finish_empty_round();
            }
            for game in round_games {
                if let Some(summary) = &game.summary {
                    state.on_game_finished(game, summary.winner);
                }
            }
        }
        state
    }

    fn add_to_history(&mut self, players: [PlayerIndex; 2], opening: u32) {
        let key = pair_key(players);
        self.history.entry(key).or_default().add(players[0] == key[0], opening);
    }

    /// Returns the total number of games, if known. It exceeds the planned number if ties were
    /// replayed, or if games are kept that would not be scheduled any more.
    pub fn planned(&self) -> Option<u64> {
        let planned = self.planned? + self.scheduler.extra_pairings() * self.games_per_pairing;
        Some(planned.max(self.scheduled))
    }

    fn start_round(&mut self, games: impl Iterator<Item = [PlayerIndex; 2]>) {
        self.results.clear();
        self.positions.clear();
        self.unfinished = 0;
        for players in games {
            self.unfinished += 1;
            let next = self.results.len();
            if *self.positions.entry(pair_key(players)).or_insert(next) == next {
                self.results.push(PairingResult::new(players));
            }
        }
    }

    /// Returns the games of a round that are not scheduled yet.
    pub(crate) fn schedule_games(
        &self,
        round: &Round,
        tournament: &Tournament,
    ) -> Vec<ScheduledGame> {
        let round = &Round { number: self.rounds + 1, ..round.clone() };
        let Tournament { games, colours, seed, .. } = *tournament;
        schedule_games(round, games, colours, seed, &self.history, self.next_opening)
    }

    /// Records a round with these games, and returns its number.
    pub(crate) fn on_scheduled(&mut self, games: &[ScheduledGame]) -> u32 {
        self.rounds += 1;
        self.scheduled += games.len() as u64;
        self.next_opening =
            games.iter().map(|game| game.opening + 1).fold(self.next_opening, u32::max);
        if self.is_fixed {
            for game in games {
                self.add_to_history(game.players, game.opening);
            }
        } else {
            self.start_round(games.iter().map(|game| game.players));
        }
        self.rounds
    }

    /// Highest game number so far.
    pub(crate) fn last_game(&self) -> i64 {
        self.last_game
    }

    /// Records the end of a round without games.
    pub(crate) fn finish_empty_round(&mut self) {
        self.scheduler.on_round_finished(&[]);
    }

    /// Records a finished game.
    pub(crate) fn on_game_finished(&mut self, game: &Game, winner: Option<usize>) {
        self.last_game = self.last_game.max(game.number);
        if self.is_fixed {
            return;
        }
        let position = self.positions.get(&pair_key(game.players)).copied();
        let Some(result) = position.and_then(|position| self.results.get_mut(position)) else {
            return;
        };
        result.add(game.players[0], winner.map(|winner| game.players[winner]));
        self.unfinished -= 1;
        if self.unfinished == 0 {
            self.scheduler.on_round_finished(&std::mem::take(&mut self.results));
        }
    }
}
