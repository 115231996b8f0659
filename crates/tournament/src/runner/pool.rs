//! Players between their games. Starting a program may take longer than a game, so some are kept; but
//! not all of a large contest, each of which has its memory.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crownhead_play::{Choice, Clock, GameStart, Knowledge, Player, PlayerError, Session, StopFlag};
use crownhead_play::{Fault, FaultKind};

use crate::schedule::PlayerIndex;
use crate::{Contest, Entrant};

/// So many programs are kept besides two for every board.
const KEPT: usize = 12;

pub(super) struct Pool<'a> {
    contest: &'a Contest,
    knowledge: &'a Knowledge,
    entrants: Vec<Option<&'a Entrant>>,
    /// Who waits, the last to have played last.
    idle: Mutex<VecDeque<(PlayerIndex, Box<dyn Player>)>>,
}

impl<'a> Pool<'a> {
    pub(super) fn new(
        contest: &'a Contest,
        knowledge: &'a Knowledge,
        entrants: &[Option<&'a Entrant>],
    ) -> Pool<'a> {
        let idle = Mutex::default();
        Pool { contest, knowledge, entrants: entrants.to_vec(), idle }
    }

    /// A player, started if need be. One that cannot be had is there too: every turn is its fault.
    pub(super) fn take(
        &self,
        player: PlayerIndex,
        stop: &StopFlag,
    ) -> Result<Box<dyn Player>, PlayerError> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = idle.iter().position(|(other, _)| *other == player)
            && let Some((_, player)) = idle.remove(at)
        {
            return Ok(player);
        }
        drop(idle);
        let spec = match self.entrants.get(player).copied().flatten() {
            Some(Entrant { player: Ok(spec), .. }) => spec,
            Some(Entrant { player: Err(why), .. }) => return Ok(Absent::player(why)),
            None => return Ok(Absent::player("it is not in the contest file any more")),
        };
        let made = spec.build(stop).and_then(|()| spec.player(&self.contest.game, self.knowledge));
        match made {
            Err(PlayerError::StartFailed(_)) if stop.is_set() => Err(PlayerError::Stopped),
            Err(PlayerError::StartFailed(why)) => Ok(Absent::player(&why)),
            other => other,
        }
    }

    /// Takes a player back for its next game.
    pub(super) fn give(&self, index: PlayerIndex, player: Box<dyn Player>) {
        let most = 2 * self.contest.concurrency + KEPT;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push_back((index, player));
        let too_many = if idle.len() > most { idle.pop_front() } else { None };
        // A program may take a moment to end; nobody else shall wait for that.
        drop(idle);
        drop(too_many);
    }
}

impl Drop for Pool<'_> {
    /// Programs that take their time to end do so at the same time.
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
struct Absent(Fault);

impl Absent {
    fn player(why: &str) -> Box<dyn Player> {
        Box::new(Absent(Fault {
            kind: FaultKind::StartFailed,
            message: why.into(),
            received: None,
        }))
    }
}

impl Player for Absent {
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
