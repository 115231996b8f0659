//! Players kept alive between games: starting a bot may take longer than a game. The pool is
//! bounded because every player needs memory.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crownhead_play::{Choice, Clock, Fault, FaultKind, GameStart, Knowledge, Player};
use crownhead_play::{PlayerError, Session, StopFlag};
use crownhead_rules::Game;

use crate::Entrant;
use crate::schedule::PlayerIndex;

/// Number of idle players kept in addition to two per thread.
const SPARE_PLAYERS: usize = 12;

type IdlePlayers = VecDeque<(PlayerIndex, Box<dyn Player>)>;

pub(super) struct PlayerPool<'a> {
    /// Players by index; `None` for those that have left the tournament.
    entrants: Vec<Option<&'a Entrant>>,
    knowledge: &'a Knowledge,
    capacity: usize,
    /// Idle players, least recently used first.
    idle: Mutex<IdlePlayers>,
}

impl<'a> PlayerPool<'a> {
    pub(super) fn new(
        entrants: Vec<Option<&'a Entrant>>,
        knowledge: &'a Knowledge,
        threads: usize,
    ) -> PlayerPool<'a> {
        let capacity = 2 * threads + SPARE_PLAYERS;
        PlayerPool { entrants, knowledge, capacity, idle: Mutex::default() }
    }

    /// Returns a player's name, for its logs.
    pub(super) fn name(&self, player: PlayerIndex) -> &str {
        self.entrant(player).map_or("", |entrant| &entrant.name)
    }

    /// Returns the tables that players may use.
    pub(super) fn knowledge(&self) -> &Knowledge {
        self.knowledge
    }

    fn entrant(&self, player: PlayerIndex) -> Option<&'a Entrant> {
        self.entrants.get(player).copied().flatten()
    }

    fn idle(&self) -> MutexGuard<'_, IdlePlayers> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates one more instance of every player.
    pub(super) fn add_all(&self, game: &Game) -> Result<(), PlayerError> {
        for (index, entrant) in self.entrants.iter().enumerate() {
            if let Some(Entrant { player: Ok(spec), .. }) = entrant {
                let player = spec.player(game, self.knowledge)?;
                self.idle().push_back((index, player));
            }
        }
        Ok(())
    }

    /// Takes a player out of the pool, or builds and starts it. A player that cannot be started
    /// forfeits every turn.
    pub(super) fn take(
        &self,
        index: PlayerIndex,
        game: &Game,
        stop: &StopFlag,
    ) -> Result<Box<dyn Player>, PlayerError> {
        let mut idle = self.idle();
        // The most recently used instance has the warmest caches.
        if let Some(position) = idle.iter().rposition(|(other, _)| *other == index)
            && let Some((_, player)) = idle.remove(position)
        {
            return Ok(player);
        }
        drop(idle);
        let spec = match self.entrant(index) {
            Some(Entrant { player: Ok(spec), .. }) => spec,
            Some(Entrant { player: Err(reason), .. }) => {
                return Ok(UnavailablePlayer::new(reason));
            }
            None => return Ok(UnavailablePlayer::new("it is not in the tournament file any more")),
        };
        match spec.build(stop).and_then(|()| spec.player(game, self.knowledge)) {
            Err(PlayerError::StartFailed(_)) if stop.is_set() => Err(PlayerError::Stopped),
            Err(PlayerError::StartFailed(reason)) => Ok(UnavailablePlayer::new(&reason)),
            result => result,
        }
    }

    /// Puts a player back for its next game.
    pub(super) fn put_back(&self, index: PlayerIndex, player: Box<dyn Player>) {
        let mut idle = self.idle();
        idle.push_back((index, player));
        let evicted = if idle.len() > self.capacity { idle.pop_front() } else { None };
        // A bot may take a while to quit: release the lock first.
        drop(idle);
        drop(evicted);
    }
}

impl Drop for PlayerPool<'_> {
    /// Shuts all players down in parallel.
    fn drop(&mut self) {
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::thread::scope(|scope| {
            for (_, player) in idle.drain(..) {
                scope.spawn(move || drop(player));
            }
        });
    }
}

/// A player that could not be built or started.
struct UnavailablePlayer(Fault);

impl UnavailablePlayer {
    #[allow(clippy::new_ret_no_self)] // callers want a `Player`
    fn new(reason: &str) -> Box<dyn Player> {
        let fault = Fault::new(FaultKind::StartFailed, reason);
        Box::new(UnavailablePlayer(fault))
    }
}

impl Player for UnavailablePlayer {
    fn start_game(&mut self, _: &GameStart<'_>, _: &StopFlag) {}

    fn choose(
        &mut self,
        _: &dyn Session,
        _: &Clock,
        _: &StopFlag,
        _: &mut dyn FnMut(Choice),
    ) -> Result<Choice, PlayerError> {
        Err(PlayerError::Fault(self.0.clone()))
    }

    fn is_external(&self) -> bool {
        true
    }
}
