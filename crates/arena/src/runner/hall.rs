//! The games that wait to be played. Whoever has nothing to do takes the first one whose players are
//! both free.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::journal::Game;

pub(super) struct Hall {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    one_at_a_time: bool,
}

struct Waiting {
    games: VecDeque<Game>,
    is_busy: Vec<bool>,
    is_closed: bool,
}

impl Hall {
    /// These games, in this order, between so many players.
    pub(super) fn new(games: Vec<Game>, players: usize, one_at_a_time: bool) -> Hall {
        let is_busy = vec![false; players];
        let waiting = Waiting { games: games.into(), is_busy, is_closed: false };
        Hall { waiting: Mutex::new(waiting), changed: Condvar::new(), one_at_a_time }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A game to play, waited for if all who could play one are busy; none if there will be none.
    pub(super) fn take(&self) -> Option<Game> {
        let mut waiting = self.waiting();
        loop {
            if waiting.is_closed || waiting.games.is_empty() {
                return None;
            }
            let busy = &waiting.is_busy;
            let is_free = |game: &Game| !game.players.iter().any(|player| busy[*player]);
            let at = match self.one_at_a_time {
                true => waiting.games.iter().position(is_free),
                false => Some(0),
            };
            if let Some(game) = at.and_then(|at| waiting.games.remove(at)) {
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
