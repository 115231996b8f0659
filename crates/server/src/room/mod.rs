//! A game and the clients that follow it: decides, stores, applies and broadcasts.
//!
//! Each room has one lock, which puts all events of the game in order. It is held while an event is
//! written to disk, so nothing is broadcast before it is stored, and all clients receive the
//! messages in the same order.

mod computer;
mod members;

use std::sync::{Arc, Weak};
use std::time::Duration;

use crownhead_play::position_json::side_letter;
use crownhead_play::{Action, End, Event, OfferKind};
use crownhead_rules::Side;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;

pub use self::members::MemberHandle;
use self::members::Members;
use crate::error::{Refusal, RefusalCode};
use crate::hosted_game::{Effect, HostedEvent, HostedGame, SeatRights};
use crate::ids::{GameId, SecretHash};
use crate::messages::{PROTOCOL_VERSION, ServerMessage};
use crate::monotonic;
use crate::new_game::{Mode, parse_name};
use crate::rate_limit::ClientKey;
use crate::rooms::Rooms;
use crate::search_queue::Ticket;
use crate::store::codec::{encode_event, encode_setup};
use crate::store::{NewGame, StoreError, StoredGame, Write, unix_millis};
use crate::views::{
    ComputerState, Presence, Summary, moved_json, offers_view, seats_view, state_json, summary,
};

/// A game in memory.
pub struct Room {
    id: GameId,
    /// Key of the game in the store.
    key: i64,
    secrets: [Option<SecretHash>; 2],
    rooms: Weak<Rooms>,
    state: Mutex<RoomState>,
}

struct RoomState {
    game: HostedGame,
    /// Time of the last event, in milliseconds since 1970.
    last_activity: u64,
    members: Members,
    /// The search for the computer's move.
    move_search: Option<Ticket>,
    computer: Option<ComputerState>,
    /// The search for the computer's answer to a draw offer.
    draw_search: Option<Ticket>,
    /// The search for a hint.
    hint_search: Option<Ticket>,
    /// The task that ends the game when a clock runs out.
    timer: Option<AbortHandle>,
    /// The room has been removed from memory; clients have to load it again.
    is_closed: bool,
}

/// Reason why a client cannot join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinError {
    /// There is no such game.
    NoSuchGame,
    /// The secret belongs to no seat of the game.
    WrongSecret,
    /// Too many clients follow the game.
    Full,
    /// The game could not be loaded.
    Failure,
    /// The room has just been removed from memory: load it again.
    Closed,
}

impl RoomState {
    /// The client that searches are charged to: the player who joined last, or the latest spectator
    /// of a game between computers. Without one there are no searches.
    fn search_client(&self) -> Option<ClientKey> {
        self.members.latest(matches!(self.game.setup().mode, Mode::Computers { .. }))
    }

    fn presence(&self) -> Presence {
        Presence {
            online: self.members.online(),
            spectators: self.members.spectators(),
            computer: self.computer,
        }
    }

    fn broadcast_seats(&self) {
        let presence = self.presence();
        let seats = seats_view(&self.game, &presence);
        let message = ServerMessage::Seats { seats, watchers: presence.spectators };
        self.members.publish_seats(message.json());
    }

    fn broadcast_offers(&mut self) {
        let message = ServerMessage::Offers { offers: offers_view(&self.game) }.json();
        self.members.broadcast(message);
    }

    fn broadcast_declined(&mut self, kind: OfferKind, by: Side) {
        let setup = self.game.setup();
        let name = match setup.mode {
            Mode::Computer { .. } => "The computer",
            _ => setup.game.info().sides[by.index()].name,
        };
        let offer = match kind {
            OfferKind::Draw => "the draw",
            OfferKind::TakeBack => "the takeback",
            OfferKind::Rematch => "the rematch",
        };
        let text = format!("{name} declines {offer}.");
        let by = side_letter(&setup.game, by);
        self.members.broadcast(ServerMessage::Declined { offer: kind, by, text }.json());
    }

    fn broadcast_computer(&mut self) {
        let message = ServerMessage::Computer { computer: self.computer }.json();
        self.members.broadcast(message);
    }

    fn reply(&mut self, number: u64, id: Option<u64>, result: &Result<(), Refusal>) {
        let version = self.game.version();
        let message = match (result, id) {
            (Ok(()), None) => return,
            (Ok(()), Some(id)) => ServerMessage::Done { id, version },
            (Err(refusal), id) => ServerMessage::Refused { id, refusal, version },
        };
        self.members.send_to(number, message.json());
    }
}

impl Room {
    pub(crate) fn new(
        id: GameId,
        stored: &StoredGame,
        game: HostedGame,
        rooms: &Arc<Rooms>,
    ) -> Arc<Room> {
        let state = RoomState {
            game,
            last_activity: stored.last_activity,
            members: Members::new(),
            move_search: None,
            computer: None,
            draw_search: None,
            hint_search: None,
            timer: None,
            is_closed: false,
        };
        Arc::new(Room {
            id,
            key: stored.key,
            secrets: stored.secrets,
            rooms: Arc::downgrade(rooms),
            state: Mutex::new(state),
        })
    }

    fn rooms(&self) -> Result<Arc<Rooms>, Refusal> {
        self.rooms.upgrade().ok_or_else(|| Refusal::failure(StoreError::Closed))
    }

    /// The rights that a secret gives. Compares with both seats in any case, in constant time.
    fn rights(&self, secret: &str) -> SeatRights {
        let hash = SecretHash::new(secret);
        SeatRights(self.secrets.map(|seat| seat.is_some_and(|seat| seat.ct_eq(&hash))))
    }

    /// Summary of the game for lists.
    pub async fn summary(&self) -> Summary {
        let state = self.state.lock().await;
        summary(&self.id, &state.game, &state.presence(), state.last_activity)
    }

    /// Adds a client, on the seat of `secret` or as a spectator, and sends it `joined` and `state`.
    pub(crate) async fn join(
        self: &Arc<Self>,
        secret: Option<&str>,
        name: Option<String>,
        client: ClientKey,
    ) -> Result<MemberHandle, JoinError> {
        let rights = secret.map_or_else(SeatRights::default, |secret| self.rights(secret));
        if secret.is_some() && rights.is_none() {
            return Err(JoinError::WrongSecret);
        }
        let state = &mut *self.state.lock().await;
        if state.is_closed {
            return Err(JoinError::Closed);
        }
        let rooms = self.rooms.upgrade().ok_or(JoinError::Failure)?;
        if !state.members.has_room(rights, rooms.limits()) {
            return Err(JoinError::Full);
        }
        let mut member = state.members.add(self, rights, client);
        state.broadcast_seats();
        // The new member finds the seats in its `state` message.
        member.seats.mark_unchanged();
        if !rights.is_none() {
            state.game.on_player_joined(monotonic::now());
        }
        if state.move_search.is_none() {
            self.start_move_search(state);
        }
        self.set_timer(state);
        let game = &state.game.setup().game;
        let you = rights.sides().map(|side| side_letter(game, side)).collect();
        let joined =
            ServerMessage::Joined { protocol: PROTOCOL_VERSION, id: self.id.as_str(), you };
        state.members.send_to(member.number, joined.json());
        let message = state_json(&self.id, &state.game, &state.presence(), monotonic::now());
        state.members.send_to(member.number, message.map_err(|_| JoinError::Failure)?);
        if let (Some(name), Some(side)) = (name, rights.single())
            && state.game.name(side) != Some(&name)
            && state.game.can_rename(side)
        {
            // If the name cannot be stored, the client joins without it.
            let _ = self.append_event(state, HostedEvent::Name(side, Some(name))).await;
        }
        Ok(member)
    }

    async fn leave(&self, number: u64) {
        let state = &mut *self.state.lock().await;
        state.members.remove(number);
        if state.search_client().is_none() {
            state.draw_search = None;
            state.hint_search = None;
            if state.move_search.take().is_some() {
                state.computer = None;
                if state.game.computer_to_move() {
                    state.game.pause();
                }
            }
        }
        state.broadcast_seats();
        self.close_if_idle(state);
    }

    /// Removes the room from memory if nobody joined after it was loaded.
    pub(crate) async fn close_if_empty(&self) {
        self.close_if_idle(&mut *self.state.lock().await);
    }

    /// Removes the room from memory if nobody follows the game and no clock runs.
    fn close_if_idle(&self, state: &mut RoomState) {
        if state.is_closed || !state.members.is_empty() || state.game.running().is_some() {
            return;
        }
        state.is_closed = true;
        if let Some(timer) = state.timer.take() {
            timer.abort();
        }
        if let Some(rooms) = self.rooms.upgrade() {
            rooms.remove(&self.id);
        }
    }

    async fn act(
        self: &Arc<Self>,
        member: &MemberHandle,
        id: Option<u64>,
        version: u64,
        action: &Action,
    ) {
        let state = &mut *self.state.lock().await;
        // A member that was too slow has been removed. The room may even have been closed and
        // loaded again since, so that this state is out of date.
        if !state.members.contains(member.number) {
            return;
        }
        let effect = state.game.decide(member.rights, version, action, monotonic::now());
        let result = match effect {
            Ok(Effect::Append(flag @ HostedEvent::Game(Event::End(End::OutOfTime(_))))) => {
                let stored = self.append_event(state, flag).await;
                stored.and(Err(Refusal::new(RefusalCode::Over, "your time has run out")))
            }
            Ok(effect) => self.execute(state, effect).await,
            Err(refusal) => Err(refusal),
        };
        self.reply_with_state(state, member.number, id, &result);
        self.close_if_idle(state);
    }

    async fn hint(self: &Arc<Self>, member: &MemberHandle, id: Option<u64>, version: u64) {
        let state = &mut *self.state.lock().await;
        if !state.members.contains(member.number) {
            return;
        }
        let result = match state.game.check_hint(member.rights, version) {
            Ok(()) if state.hint_search.is_some() => {
                Err(Refusal::new(RefusalCode::TooMany, "a hint is already being searched for"))
            }
            Ok(()) => return self.start_hint_search(state, member.number, id),
            Err(refusal) => Err(refusal),
        };
        self.reply_with_state(state, member.number, id, &result);
    }

    /// Answers a request; a client whose state is out of date receives the current one.
    fn reply_with_state(
        &self,
        state: &mut RoomState,
        number: u64,
        id: Option<u64>,
        result: &Result<(), Refusal>,
    ) {
        state.reply(number, id, result);
        let is_stale = result.as_ref().is_err_and(|refusal| refusal.code == RefusalCode::Stale);
        if is_stale
            && let Ok(message) =
                state_json(&self.id, &state.game, &state.presence(), monotonic::now())
        {
            state.members.send_to(number, message);
        }
    }

    async fn rename(self: &Arc<Self>, member: &MemberHandle, id: Option<u64>, name: Option<&str>) {
        let state = &mut *self.state.lock().await;
        let result = self.try_rename(state, member, name).await;
        state.reply(member.number, id, &result);
    }

    async fn try_rename(
        self: &Arc<Self>,
        state: &mut RoomState,
        member: &MemberHandle,
        name: Option<&str>,
    ) -> Result<(), Refusal> {
        let name = name.map(parse_name).transpose();
        let name = name.map_err(|error| Refusal::new(RefusalCode::BadRequest, error.reason))?;
        let name = name.flatten();
        let Some(side) = member.rights.single() else {
            return Err(Refusal::new(RefusalCode::Seat, "only a player on one seat has a name"));
        };
        if !state.members.contains(member.number) || state.game.name(side) == name.as_deref() {
            return Ok(());
        }
        if !state.game.can_rename(side) {
            let reason = "this seat has been renamed too often";
            return Err(Refusal::new(RefusalCode::TooMany, reason));
        }
        self.append_event(state, HostedEvent::Name(side, name)).await
    }

    async fn reply(&self, member: &MemberHandle, id: Option<u64>, result: Result<(), Refusal>) {
        self.state.lock().await.reply(member.number, id, &result);
    }

    async fn execute(
        self: &Arc<Self>,
        state: &mut RoomState,
        effect: Effect,
    ) -> Result<(), Refusal> {
        match effect {
            Effect::Append(event) => return self.append_event(state, event).await,
            Effect::Apply(event) => {
                apply_offer(state, &event)?;
                state.broadcast_offers();
                if let Event::Decline(kind, by) = event {
                    state.broadcast_declined(kind, by);
                }
            }
            Effect::Decline(kind, by) => {
                state.broadcast_offers();
                state.broadcast_declined(kind, by);
            }
            Effect::AskComputer(offer) => {
                apply_offer(state, &offer)?;
                self.start_draw_search(state);
            }
            Effect::StartRematch => return self.create_rematch(state).await,
        }
        Ok(())
    }

    /// Appends an event to the store, applies it and broadcasts the change.
    async fn append_event(
        self: &Arc<Self>,
        state: &mut RoomState,
        event: HostedEvent,
    ) -> Result<(), Refusal> {
        let write = self.append_write(state, &event)?;
        self.store(vec![write]).await?;
        self.apply_event(state, &event)
    }

    fn append_write(&self, state: &RoomState, event: &HostedEvent) -> Result<Write, Refusal> {
        let event = encode_event(event).map_err(Refusal::failure)?;
        Ok(Write::Append { key: self.key, number: state.game.events(), event })
    }

    /// Writes to the store. Errors are logged; the client does not see their details.
    async fn store(&self, writes: Vec<Write>) -> Result<(), Refusal> {
        self.rooms()?.store().write(writes).await.map_err(|error| {
            tracing::error!(game = %self.id, %error, "cannot store an event");
            Refusal::failure("the server could not store the event")
        })
    }

    /// Applies a stored event and broadcasts the change.
    fn apply_event(
        self: &Arc<Self>,
        state: &mut RoomState,
        event: &HostedEvent,
    ) -> Result<(), Refusal> {
        let now = monotonic::now();
        state.game.apply(event, now).map_err(Refusal::failure)?;
        state.last_activity = unix_millis();
        let event = match event {
            HostedEvent::Game(event) => event,
            HostedEvent::Name(..) => {
                state.broadcast_seats();
                return Ok(());
            }
            HostedEvent::Next(id) => {
                state.members.broadcast(ServerMessage::Next { id }.json());
                return Ok(());
            }
        };
        state.draw_search = None;
        state.hint_search = None;
        self.start_move_search(state);
        self.set_timer(state);
        let presence = state.presence();
        let message = match event {
            Event::Move { .. } => moved_json(&state.game, &presence, now),
            _ => state_json(&self.id, &state.game, &presence, now),
        };
        state.members.broadcast(message.map_err(Refusal::failure)?);
        Ok(())
    }

    /// Creates the rematch: colours are swapped, secrets and names move to the other seat.
    async fn create_rematch(self: &Arc<Self>, state: &mut RoomState) -> Result<(), Refusal> {
        let id = GameId::new().map_err(Refusal::failure)?;
        let event = HostedEvent::Next(id.as_str().into());
        let setup = state.game.setup().swapped(self.rooms()?.random_seed());
        let setup = encode_setup(&setup).map_err(Refusal::failure)?;
        let [first, second] = self.secrets;
        let rematch = NewGame { id: id.clone(), setup, secrets: [second, first] };
        let mut writes = vec![Write::Create(rematch), self.append_write(state, &event)?];
        for side in [Side::First, Side::Second] {
            if let Some(name) = state.game.name(side) {
                let event = HostedEvent::Name(side.other(), Some(name.into()));
                let event = encode_event(&event).map_err(Refusal::failure)?;
                writes.push(Write::AppendToNew { id: id.clone(), event });
            }
        }
        self.store(writes).await?;
        self.apply_event(state, &event)
    }

    /// Starts a task that ends the game when the clock of the side to move runs out.
    fn set_timer(self: &Arc<Self>, state: &mut RoomState) {
        if let Some(timer) = state.timer.take() {
            timer.abort();
        }
        let Some(deadline) = state.game.deadline() else { return };
        let Some(deadline) = monotonic::instant(deadline + Duration::from_millis(1)) else {
            return;
        };
        let room = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            tokio::time::sleep_until(deadline.into()).await;
            if let Some(room) = room.upgrade() {
                room.on_flag().await;
            }
        });
        state.timer = Some(task.abort_handle());
    }

    async fn on_flag(self: &Arc<Self>) {
        let state = &mut *self.state.lock().await;
        // The timer is this task, which must not be aborted any more.
        state.timer = None;
        if let Some(event) = state.game.check_flag(monotonic::now())
            && let Err(refusal) = self.append_event(state, event).await
        {
            let reason = refusal.reason;
            tracing::error!(game = %self.id, reason, "cannot end a game on time");
        }
        self.close_if_idle(state);
    }
}

/// Applies an event that is not stored.
fn apply_offer(state: &mut RoomState, event: &Event) -> Result<(), Refusal> {
    let event = HostedEvent::Game(event.clone());
    state.game.apply(&event, monotonic::now()).map_err(Refusal::failure)
}
