//! The WebSockets that follow a game, on its seats and as spectators.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use crownhead_play::Action;
use crownhead_rules::Side;
use tokio::sync::{mpsc, watch};

use super::Room;
use crate::error::{Refusal, RefusalCode};
use crate::hosted_game::SeatRights;
use crate::limits::Limits;
use crate::rate_limit::ClientKey;

/// Maximum number of queued messages; a WebSocket with more is too slow.
const SEND_QUEUE: usize = 64;

/// Connection of a WebSocket to a room.
pub struct MemberHandle {
    room: Arc<Room>,
    pub(super) number: u64,
    pub(super) rights: SeatRights,
    /// Messages to send. Closed when the WebSocket is too slow.
    pub queue: mpsc::Receiver<Utf8Bytes>,
    /// The latest `seats` message.
    pub seats: watch::Receiver<Utf8Bytes>,
}

impl MemberHandle {
    /// Executes an action in the game. The reply is sent through the queue.
    pub async fn act(&self, id: Option<u64>, version: u64, action: &Action) {
        self.room.act(self, id, version, action).await;
    }

    /// Starts a search for a hint. The reply is sent through the queue.
    pub async fn hint(&self, id: Option<u64>, version: u64) {
        self.room.hint(self, id, version).await;
    }

    /// Renames the seat. The reply is sent through the queue.
    pub async fn rename(&self, id: Option<u64>, name: Option<&str>) {
        self.room.rename(self, id, name).await;
    }

    /// Sends a refusal.
    pub async fn refuse(&self, id: Option<u64>, code: RefusalCode, reason: &str) {
        self.room.reply(self, id, Err(Refusal::new(code, reason))).await;
    }

    /// Leaves the room.
    pub async fn leave(self) {
        self.room.leave(self.number).await;
    }
}

struct Member {
    number: u64,
    rights: SeatRights,
    client: ClientKey,
    queue: mpsc::Sender<Utf8Bytes>,
}

/// Members of a room.
pub(super) struct Members {
    list: Vec<Member>,
    last_number: u64,
    /// The latest `seats` message. It bypasses the queues because only the latest one matters:
    /// however many clients come and go, no queue fills up.
    seats: watch::Sender<Utf8Bytes>,
}

impl Members {
    pub(super) fn new() -> Members {
        Members {
            list: Vec::new(),
            last_number: 0,
            seats: watch::Sender::new(Utf8Bytes::default()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether a member has not been removed.
    pub(super) fn contains(&self, number: u64) -> bool {
        self.list.iter().any(|member| member.number == number)
    }

    /// The client that joined last: on a seat, or any if `with_spectators`.
    pub(super) fn latest(&self, with_spectators: bool) -> Option<ClientKey> {
        let is_counted = |member: &&Member| with_spectators || !member.rights.is_none();
        self.list.iter().rev().find(is_counted).map(|member| member.client)
    }

    /// Whether each seat is connected.
    pub(super) fn online(&self) -> [bool; 2] {
        [Side::First, Side::Second].map(|side| self.count_on_seat(side) > 0)
    }

    pub(super) fn spectators(&self) -> usize {
        self.list.iter().filter(|member| member.rights.is_none()).count()
    }

    fn count_on_seat(&self, side: Side) -> usize {
        self.list.iter().filter(|member| member.rights.can_play(side)).count()
    }

    /// Whether another member with these rights may join.
    pub(super) fn has_room(&self, rights: SeatRights, limits: &Limits) -> bool {
        if rights.is_none() {
            return self.spectators() < limits.spectators_per_game;
        }
        rights.sides().all(|side| self.count_on_seat(side) < limits.sockets_per_seat)
    }

    pub(super) fn add(
        &mut self,
        room: &Arc<Room>,
        rights: SeatRights,
        client: ClientKey,
    ) -> MemberHandle {
        let (sender, queue) = mpsc::channel(SEND_QUEUE);
        self.last_number += 1;
        let number = self.last_number;
        self.list.push(Member { number, rights, client, queue: sender });
        MemberHandle { room: room.clone(), number, rights, queue, seats: self.seats.subscribe() }
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.list.retain(|member| member.number != number);
    }

    /// Sends a message to all members. Those whose queue is full are removed.
    pub(super) fn broadcast(&mut self, message: String) {
        let message = Utf8Bytes::from(message);
        self.list.retain(|member| member.queue.try_send(message.clone()).is_ok());
    }

    /// Sends a message to one member, which is removed if its queue is full.
    pub(super) fn send_to(&mut self, number: u64, message: String) {
        let message = Utf8Bytes::from(message);
        self.list.retain(|member| {
            member.number != number || member.queue.try_send(message.clone()).is_ok()
        });
    }

    /// Replaces the `seats` message.
    pub(super) fn publish_seats(&self, message: String) {
        self.seats.send_replace(message.into());
    }
}
