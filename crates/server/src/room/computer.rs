//! The computer at a game: when it is asked, and what becomes of its answers.

use std::sync::Arc;
use std::time::Duration;

use crownhead_play::{BuiltinSpec, Choice, Clock, PlayerError};
use tokio::sync::MutexGuard;

use super::{Inner, Room};
use crate::monotonic;
use crate::search_queue::SearchJob;
use crate::views::Computer;

/// The computer thinks about a draw so long.
const DRAW_JUDGE: &str = "best:movetime=300ms";
/// A player whose strength does not grow with its time takes no longer, as a rule.
const QUICK: Duration = Duration::from_millis(300);

impl Room {
    /// Has the computer think if it is to move and somebody waits for it.
    pub(super) fn ask_computer(self: &Arc<Self>, inner: &mut MutexGuard<'_, Inner>) {
        inner.ticket = None;
        inner.computer = None;
        let side = inner.game.session().side();
        let Some(rooms) = self.rooms.upgrade() else { return };
        let Some((opponent, thinking)) = inner.game.setup().computer(side) else { return };
        let player = inner.members.iter().rev().find(|member| !member.rights.is_none());
        let (Some(player), false) = (player, inner.game.is_over()) else { return };
        let Ok(mut spec) = opponent.spec.parse::<BuiltinSpec>() else { return };
        spec.cap_move_time(thinking);
        let left = inner.game.time_left(monotonic::now()).map(|left| left[side.index()]);
        let version = inner.game.version();
        let search = SearchJob {
            address: player.address,
            session: inner.game.session().clone_box(),
            player: spec,
            clock: inner.game.setup().computer_clock(thinking, left),
            max_time: if opponent.uses_time { thinking } else { QUICK },
            seed: inner.game.setup().seed.wrapping_add(version),
            on_start: self.later(move |room| async move { room.computer_begins(version).await }),
            on_done: {
                let room = Arc::downgrade(self);
                let runtime = tokio::runtime::Handle::current();
                Box::new(move |choice| {
                    if let Some(room) = room.upgrade() {
                        runtime.spawn(async move { room.computer_moves(version, choice).await });
                    }
                })
            },
        };
        inner.computer = Some(Computer::Waiting);
        inner.ticket = Some(rooms.thinking().ask(search));
    }

    /// Something to be done by a thread that is not one of the runtime's.
    fn later<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        what: impl FnOnce(Arc<Room>) -> F + Send + 'static,
    ) -> Box<dyn FnOnce() + Send> {
        let room = Arc::downgrade(self);
        let runtime = tokio::runtime::Handle::current();
        Box::new(move || {
            if let Some(room) = room.upgrade() {
                runtime.spawn(what(room));
            }
        })
    }

    async fn computer_begins(self: &Arc<Self>, version: u64) {
        let mut inner = self.inner.lock().await;
        if inner.game.version() == version && inner.ticket.is_some() {
            inner.game.start_turn(monotonic::now());
            inner.computer = Some(Computer::Thinking);
            self.set_timer(&mut inner);
            inner.broadcast_computer();
        }
    }

    async fn computer_moves(self: &Arc<Self>, version: u64, choice: Result<Choice, PlayerError>) {
        let mut inner = self.inner.lock().await;
        if inner.game.version() != version || inner.ticket.take().is_none() {
            return;
        }
        let done = match choice {
            Err(error) => Err(error.to_string()),
            Ok(choice) => match inner.game.decide_computer(&choice.text, monotonic::now()) {
                Err(refusal) => Err(refusal.reason),
                Ok(event) => {
                    self.append_event(&mut inner, event).await.map_err(|refusal| refusal.reason)
                }
            },
        };
        if let Err(reason) = done {
            eprintln!("crownhead: the computer made no move in a game: {reason}");
            // Whoever comes in next asks it again.
            inner.computer = None;
            inner.game.stop_turn();
            inner.broadcast_computer();
        }
        self.close_if_idle(&mut inner);
    }

    pub(super) fn ask_about_draw(self: &Arc<Self>, inner: &mut MutexGuard<'_, Inner>) {
        let Some(rooms) = self.rooms.upgrade() else { return };
        let player = inner.members.iter().rev().find(|member| !member.rights.is_none());
        let (Some(player), Ok(spec)) = (player, DRAW_JUDGE.parse::<BuiltinSpec>()) else { return };
        let version = inner.game.version();
        let room = Arc::downgrade(self);
        let runtime = tokio::runtime::Handle::current();
        let search = SearchJob {
            address: player.address,
            session: inner.game.session().clone_box(),
            player: spec,
            clock: Clock::Unlimited,
            max_time: QUICK,
            seed: inner.game.setup().seed,
            on_start: Box::new(|| {}),
            on_done: Box::new(move |choice| {
                if let Some(room) = room.upgrade() {
                    runtime.spawn(async move { room.answer_draw(version, choice).await });
                }
            }),
        };
        inner.draw_ticket = Some(rooms.thinking().ask(search));
    }

    /// Answers a draw offer after a search for the side that made it.
    async fn answer_draw(self: &Arc<Self>, version: u64, choice: Result<Choice, PlayerError>) {
        let mut inner = self.inner.lock().await;
        if inner.game.version() != version || inner.draw_ticket.take().is_none() {
            return;
        }
        let accepts = inner.game.accepts_draw(choice.ok().as_ref());
        let done = match inner.game.answer_draw(accepts, monotonic::now()) {
            Ok(effect) => self.execute(&mut inner, effect).await,
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = done {
            eprintln!("crownhead: a draw could not be kept: {}", refusal.reason);
        }
    }
}
