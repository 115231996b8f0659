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
    /// Number of games that each player is playing.
    running: Vec<u32>,
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
        let waiting = WaitingGames { pairings, running: vec![0; players], is_closed: false };
        GameQueue { waiting: Mutex::new(waiting), changed: Condvar::new(), exclusive_players }
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingGames> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next game whose players are free, waiting for one if necessary; `None` if the
    /// queue is empty or closed.
    pub(super) fn take(&self) -> Option<Game> {
        self.take_up_to(1).into_iter().next()
    }

    /// Returns the next game like [`take`](GameQueue::take), and the one after it if they are a
    /// pair: the same players with the same opening.
    pub(super) fn take_pair(&self) -> Vec<Game> {
        self.take_up_to(2)
    }

    fn take_up_to(&self, max: usize) -> Vec<Game> {
        let mut waiting = self.waiting();
        loop {
            if waiting.is_closed || waiting.pairings.is_empty() {
                return Vec::new();
            }
            let running = &waiting.running;
            let is_free = |games: &VecDeque<Game>| {
                let mut players = games.front().map(|game| game.players).into_iter().flatten();
                !self.exclusive_players || !players.any(|player| running[player] > 0)
            };
            if let Some(position) = waiting.pairings.iter().position(is_free)
                && let Some(first) = waiting.pairings[position].pop_front()
            {
                let mut games = vec![first];
                let pairing = &mut waiting.pairings[position];
                if let Some(next) = pairing.front()
                    && games.len() < max
                    && next.opening == games[0].opening
                {
                    games.extend(pairing.pop_front());
                }
                if waiting.pairings[position].is_empty() {
                    waiting.pairings.remove(position);
                }
                for player in games.iter().flat_map(|game| game.players) {
                    waiting.running[player] += 1;
                }
                return games;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends a game of these players.
    pub(super) fn release(&self, players: [PlayerIndex; 2]) {
        let mut waiting = self.waiting();
        for player in players {
            waiting.running[player] = waiting.running[player].saturating_sub(1);
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
