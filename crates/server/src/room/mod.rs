//! A game and those who sit round it: the sockets on its seats, those who look on, the computer that
//! thinks, the clock that runs out.
//!
//! One lock for each game puts everything that happens in it in order. It is held while the disk
//! writes, so nothing is told before it is kept, and everybody is told in the same order.

mod computer;

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use crownhead_play::{Action, End, Event, OfferKind};
use crownhead_rules::Side;
use tokio::sync::{Mutex, MutexGuard, mpsc, watch};
use tokio::task::AbortHandle;

use crate::deeds::{Effect, HostedEvent, Refusal, RefusalCode, SeatRights};
use crate::hosted_game::HostedGame;
use crate::ids::{GameId, SecretHash};
use crate::limits::ClientKey;
use crate::messages::ServerMessage;
use crate::monotonic;
use crate::new_game::{Mode, parse_name, side_letter};
use crate::rooms::Rooms;
use crate::search_queue::Ticket;
use crate::store::{NewGame, StoreError, Write};
use crate::views::{
    Computer, Presence, Summary, moved_json, offers_view, seats_view, state_json, summary,
};

/// The version of what is said between page and server.
pub const PROTOCOL: u32 = 1;
/// So many messages may wait for a socket before it counts as too slow.
const SEND_QUEUE: usize = 64;
/// So many may look on at one game.
const MAX_SPECTATORS: usize = 500;
/// So many sockets may sit on one seat. Nobody takes the places of others: neither do those who look on
/// take the players', nor one player the other's.
const MAX_SOCKETS_PER_SEAT: usize = 32;

/// A game and those who sit round it.
pub struct Room {
    id: GameId,
    key: i64,
    secrets: [Option<SecretHash>; 2],
    rooms: Weak<Rooms>,
    inner: Mutex<Inner>,
}

struct Inner {
    game: HostedGame,
    touched: u64,
    members: Vec<Member>,
    last_member: u64,
    /// Who sits where and how many look on, as it is told. Only the last word counts, so it waits in no
    /// queue: however many come and go, nobody's fills up.
    seats: watch::Sender<Utf8Bytes>,
    /// The search for the computer's move.
    ticket: Option<Ticket>,
    computer: Option<Computer>,
    /// The search for its answer to an offer.
    draw_ticket: Option<Ticket>,
    timer: Option<AbortHandle>,
    /// Nobody may come in any more: the game is no longer in memory.
    closed: bool,
}

/// A socket at a game.
struct Member {
    number: u64,
    rights: SeatRights,
    address: ClientKey,
    queue: mpsc::Sender<Utf8Bytes>,
}

/// What a socket needs to be at a game.
pub struct MemberHandle {
    /// The game.
    pub room: Arc<Room>,
    number: u64,
    rights: SeatRights,
    /// What the socket is to be told; it ends when the socket is too slow or the game is gone.
    pub queue: mpsc::Receiver<Utf8Bytes>,
    /// The message `seats`, whenever there is another.
    pub seats: watch::Receiver<Utf8Bytes>,
}

/// Why somebody may not join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinError {
    /// There is no such game.
    NoGame,
    /// The secret is of no seat.
    WrongSecret,
    /// Too many are there.
    Full,
    /// The games cannot be read.
    Failure,
    /// The game has just left the memory: it is to be asked for again.
    Closed,
}

impl Inner {
    fn presence(&self) -> Presence {
        let online = [Side::First, Side::Second]
            .map(|side| self.members.iter().any(|member| member.rights.can_play(side)));
        let watchers = self.members.iter().filter(|member| member.rights.is_none()).count();
        Presence { online, watchers, computer: self.computer }
    }

    fn has_players(&self) -> bool {
        self.members.iter().any(|member| !member.rights.is_none())
    }

    /// Tells everybody. Who cannot be told because too much waits already is at the game no longer.
    fn broadcast(&mut self, text: String) {
        let text = Utf8Bytes::from(text);
        self.members.retain(|member| member.queue.try_send(text.clone()).is_ok());
    }

    fn send_to(&mut self, number: u64, text: String) {
        let text = Utf8Bytes::from(text);
        self.members.retain(|member| {
            member.number != number || member.queue.try_send(text.clone()).is_ok()
        });
    }

    fn broadcast_seats(&mut self) {
        let presence = self.presence();
        let seats = seats_view(&self.game, &presence);
        let message = ServerMessage::Seats { seats, watchers: presence.watchers }.json();
        self.seats.send_replace(message.into());
    }

    /// Whether there is a place for one more with these rights.
    fn has_room(&self, rights: SeatRights) -> bool {
        let count = |is_there: &dyn Fn(SeatRights) -> bool| {
            self.members.iter().filter(|member| is_there(member.rights)).count()
        };
        if rights.is_none() {
            return count(&SeatRights::is_none) < MAX_SPECTATORS;
        }
        rights.sides().all(|side| count(&|own| own.can_play(side)) < MAX_SOCKETS_PER_SEAT)
    }

    /// Whether a socket is still at the game.
    fn has(&self, number: u64) -> bool {
        self.members.iter().any(|member| member.number == number)
    }

    fn broadcast_offers(&mut self) {
        let message = ServerMessage::Offers { offers: offers_view(&self.game) }.json();
        self.broadcast(message);
    }

    fn broadcast_declined(&mut self, kind: OfferKind, by: Side) {
        let setup = self.game.setup();
        let who = match setup.mode {
            Mode::Computer { .. } => "The computer",
            _ => setup.game.info().sides[by.index()].name,
        };
        let offer = match kind {
            OfferKind::Draw => "the draw",
            OfferKind::TakeBack => "the take-back",
            OfferKind::Rematch => "the rematch",
        };
        let text = format!("{who} declines {offer}.");
        let by = side_letter(&setup.game, by);
        self.broadcast(ServerMessage::Declined { offer: kind, by, text }.json());
    }

    fn broadcast_computer(&mut self) {
        let message = ServerMessage::Computer { computer: self.computer }.json();
        self.broadcast(message);
    }
}

impl Room {
    pub(crate) fn new(
        id: GameId,
        key: i64,
        secrets: [Option<SecretHash>; 2],
        game: HostedGame,
        touched: u64,
        rooms: &Arc<Rooms>,
    ) -> Arc<Room> {
        let inner = Inner {
            game,
            touched,
            members: Vec::new(),
            last_member: 0,
            seats: watch::Sender::new(Utf8Bytes::default()),
            ticket: None,
            computer: None,
            draw_ticket: None,
            timer: None,
            closed: false,
        };
        let rooms = Arc::downgrade(rooms);
        Arc::new(Room { id, key, secrets, rooms, inner: Mutex::new(inner) })
    }

    /// The id of the game.
    pub fn id(&self) -> &GameId {
        &self.id
    }

    /// The rights that a secret gives. Both comparisons are made, whatever the first says.
    fn rights(&self, secret: &str) -> SeatRights {
        let hash = SecretHash::new(secret);
        SeatRights(
            self.secrets.each_ref().map(|own| own.as_ref().is_some_and(|own| own.ct_eq(&hash))),
        )
    }

    /// A game in a list.
    pub async fn summary(&self) -> Summary {
        let inner = self.inner.lock().await;
        summary(&self.id, &inner.game, &inner.presence(), inner.touched)
    }

    /// Lets somebody in.
    pub(crate) async fn join(
        self: &Arc<Self>,
        secret: Option<&str>,
        name: Option<String>,
        address: ClientKey,
    ) -> Result<MemberHandle, JoinError> {
        let rights = secret.map_or_else(SeatRights::default, |secret| self.rights(secret));
        if secret.is_some() && rights.is_none() {
            return Err(JoinError::WrongSecret);
        }
        let mut inner = self.inner.lock().await;
        if inner.closed {
            return Err(JoinError::Closed);
        }
        if !inner.has_room(rights) {
            return Err(JoinError::Full);
        }
        let (say, queue) = mpsc::channel(SEND_QUEUE);
        inner.last_member += 1;
        let number = inner.last_member;
        let game = &inner.game.setup().game;
        let you = rights.sides().map(|side| side_letter(game, side)).collect();
        let joined = ServerMessage::Joined { protocol: PROTOCOL, id: self.id.as_str(), you }.json();
        inner.members.push(Member { number, rights, address, queue: say });
        inner.broadcast_seats();
        // Who comes in has it in the state.
        let seats = inner.seats.subscribe();
        if !rights.is_none() {
            inner.game.on_player_joined(monotonic::now());
        }
        if inner.ticket.is_none() {
            self.ask_computer(&mut inner);
        }
        self.set_timer(&mut inner);
        let state = state_json(&self.id, &inner.game, &inner.presence(), monotonic::now());
        inner.send_to(number, joined);
        inner.send_to(number, state.map_err(|_| JoinError::Failure)?);
        let member = MemberHandle { room: self.clone(), number, rights, queue, seats };
        if let (Some(name), Some(side)) = (name, rights.single())
            && inner.game.name(side) != Some(&name)
            && inner.game.can_rename(side)
        {
            // The game goes on without the name if it cannot be kept.
            let _ = self.append_event(&mut inner, HostedEvent::Name(side, Some(name))).await;
        }
        Ok(member)
    }

    async fn leave(self: &Arc<Self>, number: u64) {
        let mut inner = self.inner.lock().await;
        inner.members.retain(|member| member.number != number);
        if !inner.has_players() && inner.ticket.take().is_some() {
            inner.computer = None;
            if inner.game.computer_to_move() {
                inner.game.stop_turn();
            }
        }
        if !inner.has_players() {
            inner.draw_ticket = None;
        }
        inner.broadcast_seats();
        self.close_if_idle(&mut inner);
    }

    /// A game that was taken up for somebody who was not let in leaves the memory again.
    pub(crate) async fn close_if_empty(&self) {
        self.close_if_idle(&mut self.inner.lock().await);
    }

    /// A game at which nobody is leaves the memory, unless a clock runs in it.
    fn close_if_idle(&self, inner: &mut MutexGuard<'_, Inner>) {
        if inner.members.is_empty() && inner.game.running().is_none() && !inner.closed {
            inner.closed = true;
            if let Some(timer) = inner.timer.take() {
                timer.abort();
            }
            if let Some(rooms) = self.rooms.upgrade() {
                rooms.remove(&self.id);
            }
        }
    }

    async fn act(
        self: &Arc<Self>,
        member: &MemberHandle,
        id: Option<u64>,
        version: u64,
        action: &Action,
    ) {
        let mut inner = self.inner.lock().await;
        // Who was too slow is at the game no longer; perhaps it has left the memory and was taken up anew,
        // and this room knows nothing of what has happened since.
        if !inner.has(member.number) {
            return;
        }
        let decided = inner.game.decide(member.rights, version, action, monotonic::now());
        let done = match decided {
            Ok(Effect::Append(flag @ HostedEvent::Game(Event::End(End::OutOfTime(_))))) => {
                let stored = self.append_event(&mut inner, flag).await;
                stored.and(Err(Refusal::new(RefusalCode::Over, "time has run out already")))
            }
            Ok(effect) => self.execute(&mut inner, effect).await,
            Err(refusal) => Err(refusal),
        };
        let version = inner.game.version();
        match (done, id) {
            (Ok(()), None) => {}
            (Ok(()), Some(id)) => {
                inner.send_to(member.number, ServerMessage::Done { id, version }.json());
            }
            (Err(refusal), id) => {
                let message = ServerMessage::Refused { id, refusal: &refusal, version }.json();
                inner.send_to(member.number, message);
                if refusal.code == RefusalCode::Stale
                    && let Ok(state) =
                        state_json(&self.id, &inner.game, &inner.presence(), monotonic::now())
                {
                    inner.send_to(member.number, state);
                }
            }
        }
        self.close_if_idle(&mut inner);
    }

    async fn rename(
        self: &Arc<Self>,
        member: &MemberHandle,
        name: Option<&str>,
    ) -> Result<(), Refusal> {
        let bad = |reason: String| Refusal::new(RefusalCode::BadRequest, reason);
        let name = match name {
            None => None,
            Some(name) => parse_name(name).map_err(|error| bad(error.reason))?,
        };
        let Some(side) = member.rights.single() else {
            return Err(Refusal::new(RefusalCode::Seat, "a name is given to one's own seat"));
        };
        let mut inner = self.inner.lock().await;
        if !inner.has(member.number) || inner.game.name(side) == name.as_deref() {
            return Ok(());
        }
        if !inner.game.can_rename(side) {
            let reason = "this seat has had so many names that it keeps the last one";
            return Err(Refusal::new(RefusalCode::TooMany, reason));
        }
        self.append_event(&mut inner, HostedEvent::Name(side, name)).await
    }

    async fn execute(
        self: &Arc<Self>,
        inner: &mut MutexGuard<'_, Inner>,
        effect: Effect,
    ) -> Result<(), Refusal> {
        match effect {
            Effect::Append(event) => return self.append_event(inner, event).await,
            Effect::Apply(event) => {
                apply_offer(inner, &event)?;
                inner.broadcast_offers();
                if let Event::Decline(kind, by) = event {
                    inner.broadcast_declined(kind, by);
                }
            }
            Effect::Decline(kind, by) => {
                inner.broadcast_offers();
                inner.broadcast_declined(kind, by);
            }
            Effect::AskComputer(offer) => {
                apply_offer(inner, &offer)?;
                self.ask_about_draw(inner);
            }
            Effect::StartRematch => return self.make_rematch(inner).await,
        }
        Ok(())
    }

    /// Appends an event to the store, applies it and broadcasts the change.
    async fn append_event(
        self: &Arc<Self>,
        inner: &mut MutexGuard<'_, Inner>,
        event: HostedEvent,
    ) -> Result<(), Refusal> {
        let rooms = self.rooms.upgrade().ok_or_else(|| failure("the server is shutting down"))?;
        let write = Write::Append {
            key: self.key,
            number: inner.game.events(),
            event: event.encode().map_err(failure)?,
        };
        rooms.store().write(vec![write]).await.map_err(storage_error)?;
        self.apply_event(inner, &event)
    }

    /// Applies a stored event and broadcasts the change.
    fn apply_event(
        self: &Arc<Self>,
        inner: &mut MutexGuard<'_, Inner>,
        event: &HostedEvent,
    ) -> Result<(), Refusal> {
        let now = monotonic::now();
        inner.game.apply(event, now).map_err(failure)?;
        inner.touched = crate::store::now();
        let event = match event {
            HostedEvent::Game(event) => event,
            HostedEvent::Name(..) => {
                inner.broadcast_seats();
                return Ok(());
            }
            HostedEvent::Next(id) => {
                inner.broadcast(ServerMessage::Next { id }.json());
                return Ok(());
            }
        };
        inner.draw_ticket = None;
        self.ask_computer(inner);
        self.set_timer(inner);
        let presence = inner.presence();
        let message = match event {
            Event::Move { .. } => moved_json(&inner.game, &presence, now),
            _ => state_json(&self.id, &inner.game, &presence, now),
        };
        inner.broadcast(message.map_err(failure)?);
        Ok(())
    }

    async fn make_rematch(
        self: &Arc<Self>,
        inner: &mut MutexGuard<'_, Inner>,
    ) -> Result<(), Refusal> {
        let rooms = self.rooms.upgrade().ok_or_else(|| failure("the server is shutting down"))?;
        let id = GameId::new().map_err(failure)?;
        let event = HostedEvent::Next(id.as_str().into());
        let setup = inner.game.setup().swapped(rooms.random_seed());
        let [first, second] = self.secrets;
        let number = inner.game.events();
        let mut writes = vec![
            Write::Create(NewGame {
                id: id.clone(),
                setup: setup.write(),
                secrets: [second, first],
            }),
            Write::Append { key: self.key, number, event: event.encode().map_err(failure)? },
        ];
        for side in [Side::First, Side::Second] {
            if let Some(name) = inner.game.name(side) {
                let event = HostedEvent::Name(side.other(), Some(name.into()));
                let event = event.encode().map_err(failure)?;
                writes.push(Write::AppendToNew { id: id.clone(), event });
            }
        }
        rooms.store().write(writes).await.map_err(storage_error)?;
        self.apply_event(inner, &event)
    }

    /// Sees to it that a clock that runs out ends the game.
    fn set_timer(self: &Arc<Self>, inner: &mut MutexGuard<'_, Inner>) {
        if let Some(timer) = inner.timer.take() {
            timer.abort();
        }
        let Some(deadline) = inner.game.deadline() else { return };
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
        inner.timer = Some(task.abort_handle());
    }

    async fn on_flag(self: &Arc<Self>) {
        let mut inner = self.inner.lock().await;
        // This very task: from here on it is not to be stopped half way.
        inner.timer = None;
        if let Some(event) = inner.game.check_flag(monotonic::now())
            && let Err(refusal) = self.append_event(&mut inner, event).await
        {
            eprintln!("crownhead: the end of a game could not be kept: {}", refusal.reason);
        }
        self.close_if_idle(&mut inner);
    }
}

/// Applies an event that is not stored.
fn apply_offer(inner: &mut MutexGuard<'_, Inner>, event: &Event) -> Result<(), Refusal> {
    let event = HostedEvent::Game(event.clone());
    inner.game.apply(&event, monotonic::now()).map_err(failure)
}

/// A failure of the server.
fn failure(reason: impl std::fmt::Display) -> Refusal {
    Refusal::new(RefusalCode::Failure, reason.to_string())
}

/// What a player is told when the disk fails; whoever runs the server is told what the disk says.
fn storage_error(error: StoreError) -> Refusal {
    eprintln!("crownhead: {error}");
    Refusal::new(RefusalCode::Failure, "it could not be kept on disk")
}

impl MemberHandle {
    /// Does something in the game; whatever comes of it is told through the queue.
    pub async fn act(&self, id: Option<u64>, version: u64, action: &Action) {
        self.room.act(self, id, version, action).await;
    }

    /// Gives one's seat another name.
    pub async fn rename(&self, id: Option<u64>, name: Option<&str>) {
        let renamed = self.room.rename(self, name).await;
        let mut inner = self.room.inner.lock().await;
        let version = inner.game.version();
        let message = match (&renamed, id) {
            (Ok(()), None) => return,
            (Ok(()), Some(id)) => ServerMessage::Done { id, version }.json(),
            (Err(refusal), id) => ServerMessage::Refused { id, refusal, version }.json(),
        };
        inner.send_to(self.number, message);
    }

    /// Refuses what is no action, or comes too often.
    pub async fn refuse(&self, id: Option<u64>, code: RefusalCode, reason: &str) {
        let mut inner = self.room.inner.lock().await;
        let (refusal, version) = (Refusal::new(code, reason), inner.game.version());
        let message = ServerMessage::Refused { id, refusal: &refusal, version }.json();
        inner.send_to(self.number, message);
    }

    /// Leaves.
    pub async fn leave(self) {
        self.room.leave(self.number).await;
    }
}
