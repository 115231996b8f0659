//! The games that wait to be played. Whoever has nothing to do takes the first one whose players are
//! both free.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::journal::Game;

pub(super) struct GameQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    one_at_a_time: bool,
}

struct Waiting {
    /// The games by pair, the pair with the first game first: one that is busy is passed over at
    /// once, however many games it has.
    pairs: Vec<VecDeque<Game>>,
    is_busy: Vec<bool>,
    is_closed: bool,
}

impl GameQueue {
    /// These games, in this order, between so many players.
    pub(super) fn new(games: Vec<Game>, players: usize, one_at_a_time: bool) -> GameQueue {
        let mut places: HashMap<[usize; 2], usize> = HashMap::new();
        let mut pairs: Vec<VecDeque<Game>> = Vec::new();
        for game in games {
            let [one, other] = game.players;
            let place = *places.entry([one.min(other), one.max(other)]).or_insert(pairs.len());
            if place == pairs.len() {
                pairs.push(VecDeque::new());
            }
            pairs[place].push_back(game);
        }
        let waiting = Waiting { pairs, is_busy: vec![false; players], is_closed: false };
        GameQueue { waiting: Mutex::new(waiting), changed: Condvar::new(), one_at_a_time }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A game to play, waited for if all who could play one are busy; none if there will be none.
    pub(super) fn take(&self) -> Option<Game> {
        let mut waiting = self.waiting();
        loop {
            if waiting.is_closed || waiting.pairs.is_empty() {
                return None;
            }
            let busy = &waiting.is_busy;
            let is_free = |pair: &VecDeque<Game>| {
                let players = pair.front().map(|game| game.players).into_iter().flatten();
                !self.one_at_a_time || !players.into_iter().any(|player| busy[player])
            };
            let at = waiting.pairs.iter().position(is_free);
            if let Some(at) = at
                && let Some(game) = waiting.pairs[at].pop_front()
            {
                if waiting.pairs[at].is_empty() {
                    waiting.pairs.remove(at);
                }
                for player in game.players {
                    waiting.is_busy[player] = true;
                }
                return Some(game);
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The players of a game are free again.
    pub(super) fn release(&self, game: &Game) {
        let mut waiting = self.waiting();
        for player in game.players {
            waiting.is_busy[player] = false;
        }
        drop(waiting);
        self.changed.notify_all();
    }

    /// No more games.
    pub(super) fn close(&self) {
        self.waiting().is_closed = true;
        self.changed.notify_all();
    }
}
