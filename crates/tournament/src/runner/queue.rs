//! Games waiting for free players.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::journal::Game;
use crate::schedule::{PlayerIndex, pair_key};

/// Hands out games in order, skipping those whose players are busy.
pub(super) struct GameQueue {
    waiting: Mutex<WaitingGames>,
    changed: Condvar,
    exclusive_players: bool,
}

struct WaitingGames {
    /// Games by pairing, in the order of their first games, so that a busy pairing is skipped in
    /// one step however many games it has.
    pairings: Vec<VecDeque<Game>>,
    is_busy: Vec<bool>,
    is_closed: bool,
}

impl GameQueue {
    pub(super) fn new(games: Vec<Game>, players: usize, exclusive_players: bool) -> GameQueue {
        let mut positions: HashMap<[PlayerIndex; 2], usize> = HashMap::new();
        let mut pairings: Vec<VecDeque<Game>> = Vec::new();
        for game in games {
            let next = pairings.len();
            let position = *positions.entry(pair_key(game.players)).or_insert(next);
            if position == next {
                pairings.push(VecDeque::new());
            }
            pairings[position].push_back(game);
        }
        let waiting = WaitingGames { pairings, is_busy: vec![false; players], is_closed: false };
        GameQueue { waiting: Mutex::new(waiting), changed: Condvar::new(), exclusive_players }
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingGames> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next game whose players are free, waiting for one if necessary; `None` if the
    /// queue is empty or closed.
    pub(super) fn take(&self) -> Option<Game> {
        let mut waiting = self.waiting();
        loop {
            if waiting.is_closed || waiting.pairings.is_empty() {
                return None;
            }
            let is_busy = &waiting.is_busy;
            let is_free = |games: &VecDeque<Game>| {
                let mut players = games.front().map(|game| game.players).into_iter().flatten();
                !self.exclusive_players || !players.any(|player| is_busy[player])
            };
            if let Some(position) = waiting.pairings.iter().position(is_free)
                && let Some(game) = waiting.pairings[position].pop_front()
            {
                if waiting.pairings[position].is_empty() {
                    waiting.pairings.remove(position);
                }
                for player in game.players {
                    waiting.is_busy[player] = true;
                }
                return Some(game);
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Marks the players of a game as free.
    pub(super) fn release(&self, players: [PlayerIndex; 2]) {
        let mut waiting = self.waiting();
        for player in players {
            waiting.is_busy[player] = false;
        }
        drop(waiting);
        self.changed.notify_all();
    }

    /// Stops handing out games.
    pub(super) fn close(&self) {
        self.waiting().is_closed = true;
        self.changed.notify_all();
    }
}
