//! The computer players of a room: their moves, answers to draw offers, and hints.

use std::sync::Arc;
use std::time::Duration;

use crownhead_analysis::{HINT_PLAYER, hint_reason};
use crownhead_play::{BuiltinSpec, Choice, Clock, PlayerError};

use super::{Room, RoomState};
use crate::error::Refusal;
use crate::messages::ServerMessage;
use crate::monotonic;
use crate::new_game::Mode;
use crate::search_queue::{PlayerSearch, SearchJob, Ticket};
use crate::views::ComputerState;

/// The player that decides on draw offers.
const DRAW_JUDGE: &str = "best:movetime=300ms,book=off";
/// Maximum duration of a search for a hint.
const HINT_TIME: Duration = Duration::from_secs(1);
/// Minimum time between the moves of two computers, so that people can follow.
const PAUSE_BETWEEN_COMPUTERS: Duration = Duration::from_secs(1);
/// Expected maximum duration of a search by a player that does not use its time.
const QUICK_SEARCH: Duration = Duration::from_millis(300);

impl Room {
    /// Queues a search for the computer's move, if it is to move and a player is connected.
    /// Replaces an earlier search.
    pub(super) fn start_move_search(self: &Arc<Self>, state: &mut RoomState) {
        state.move_search = None;
        state.computer = None;
        let setup = state.game.setup();
        let side = state.game.session().side();
        let (Some(rooms), Some(client), false) =
            (self.rooms.upgrade(), state.search_client(), state.game.is_over())
        else {
            return;
        };
        let Some((computer, think_time)) = setup.computer(side) else { return };
        let Ok(mut player) = computer.spec.parse::<BuiltinSpec>() else { return };
        player.cap_move_time(think_time);
        let time_left = state.game.time_left(monotonic::now()).map(|left| left[side.index()]);
        let version = state.game.version();
        let pause = match setup.mode {
            Mode::Computers { .. } => PAUSE_BETWEEN_COMPUTERS,
            _ => Duration::ZERO,
        };
        let on_start = self.callback(move |room, ()| async move {
            room.on_search_started(version).await;
        });
        let search = PlayerSearch {
            session: state.game.session().clone_box(),
            player,
            clock: setup.computer_clock(think_time, time_left),
            seed: setup.seed.wrapping_add(version),
            on_done: self.callback(move |room, choice| async move {
                tokio::time::sleep(pause).await;
                room.on_move_chosen(version, choice).await;
            }),
        };
        let job = SearchJob {
            client,
            game: setup.game.clone(),
            max_time: if computer.uses_time { think_time } else { QUICK_SEARCH },
            is_analysis: false,
            on_start: Box::new(move || on_start(())),
            run: search.boxed(),
        };
        state.computer = Some(ComputerState::Waiting);
        state.move_search = Some(rooms.search_queue().push(job));
    }

    /// Wraps an async function of the room for a thread outside the runtime. It does nothing if the
    /// room is gone by then.
    fn callback<T: Send + 'static, F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        function: impl FnOnce(Arc<Room>, T) -> F + Send + 'static,
    ) -> Box<dyn FnOnce(T) + Send> {
        let room = Arc::downgrade(self);
        let runtime = tokio::runtime::Handle::current();
        Box::new(move |argument| {
            if let Some(room) = room.upgrade() {
                runtime.spawn(function(room, argument));
            }
        })
    }

    async fn on_search_started(self: &Arc<Self>, version: u64) {
        let state = &mut *self.state.lock().await;
        if state.game.version() == version && state.move_search.is_some() {
            state.game.start_turn(monotonic::now());
            state.computer = Some(ComputerState::Thinking);
            self.set_timer(state);
            state.broadcast_computer();
        }
    }

    async fn on_move_chosen(self: &Arc<Self>, version: u64, choice: Result<Choice, PlayerError>) {
        let state = &mut *self.state.lock().await;
        if state.game.version() != version || state.move_search.take().is_none() {
            return;
        }
        let played = match choice {
            Err(error) => Err(error.to_string()),
            Ok(choice) => match state.game.decide_computer(&choice, monotonic::now()) {
                Err(refusal) => Err(refusal.reason),
                Ok(event) => {
                    self.append_event(state, event).await.map_err(|refusal| refusal.reason)
                }
            },
        };
        if let Err(reason) = played {
            tracing::error!(game = %self.id, reason, "the computer did not move");
            // The search is repeated when the next client joins.
            state.computer = None;
            state.game.pause();
            state.broadcast_computer();
        }
        self.close_if_idle(state);
    }

    /// Queues a search that decides whether the computer accepts a draw.
    pub(super) fn start_draw_search(self: &Arc<Self>, state: &mut RoomState) {
        let version = state.game.version();
        let on_done = self.callback(move |room, choice| async move {
            room.on_draw_judged(version, choice).await;
        });
        state.draw_search = self.queue_search(state, DRAW_JUDGE, QUICK_SEARCH, on_done);
    }

    /// Queues a search for a hint to a member.
    pub(super) fn start_hint_search(
        self: &Arc<Self>,
        state: &mut RoomState,
        number: u64,
        id: Option<u64>,
    ) {
        let version = state.game.version();
        let on_done = self.callback(move |room, choice| async move {
            room.on_hint_found(number, id, version, choice).await;
        });
        state.hint_search = self.queue_search(state, HINT_PLAYER, HINT_TIME, on_done);
    }

    /// Queues a search of the current position without a clock. `None` if no client would wait for
    /// it.
    fn queue_search(
        &self,
        state: &RoomState,
        player: &str,
        max_time: Duration,
        on_done: Box<dyn FnOnce(Result<Choice, PlayerError>) + Send>,
    ) -> Option<Ticket> {
        let search = PlayerSearch {
            session: state.game.session().clone_box(),
            player: player.parse().ok()?,
            clock: Clock::Unlimited,
            seed: state.game.setup().seed,
            on_done,
        };
        let job = SearchJob {
            client: state.search_client()?,
            game: state.game.setup().game.clone(),
            max_time,
            is_analysis: false,
            on_start: Box::new(|| {}),
            run: search.boxed(),
        };
        Some(self.rooms.upgrade()?.search_queue().push(job))
    }

    async fn on_hint_found(
        self: &Arc<Self>,
        number: u64,
        id: Option<u64>,
        version: u64,
        choice: Result<Choice, PlayerError>,
    ) {
        let state = &mut *self.state.lock().await;
        if state.game.version() != version || state.hint_search.take().is_none() {
            return;
        }
        match choice {
            Ok(choice) => {
                let reason = hint_reason(state.game.session(), &choice).unwrap_or_default();
                let hint = ServerMessage::Hint { id, version, r#move: &choice.text, reason };
                state.members.send_to(number, hint.json());
            }
            Err(error) => state.reply(number, id, &Err(Refusal::failure(error))),
        }
    }

    /// Answers a draw offer after a search for the side that made it.
    async fn on_draw_judged(self: &Arc<Self>, version: u64, choice: Result<Choice, PlayerError>) {
        let state = &mut *self.state.lock().await;
        if state.game.version() != version || state.draw_search.take().is_none() {
            return;
        }
        let accepts = state.game.accepts_draw(choice.ok().as_ref());
        let answered = match state.game.answer_draw(accepts, monotonic::now()) {
            Ok(effect) => self.execute(state, effect).await,
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = answered {
            let reason = refusal.reason;
            tracing::error!(game = %self.id, reason, "cannot answer a draw offer");
        }
    }
}
