//! One WebSocket: reads requests, passes them to the room, and sends the room's messages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::SinkExt;
use tokio::time::{Interval, MissedTickBehavior, interval_at, timeout};

use crate::Shutdown;
use crate::error::RefusalCode;
use crate::ids::GameId;
use crate::limits::Limits;
use crate::messages::{ClientMessage, Request, ServerMessage};
use crate::new_game::parse_name;
use crate::rate_limit::{ClientKey, TokenBucket};
use crate::room::{JoinError, MemberHandle};
use crate::rooms::Rooms;
use crate::sync::shutdown_requested;

/// Number of consecutive messages over the rate limit after which the WebSocket is closed.
const MAX_REJECTED_IN_A_ROW: u32 = 100;
/// Maximum time to wait for the client's close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Reason why a WebSocket is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CloseReason {
    /// The client closed the connection, or it broke.
    Disconnected,
    Shutdown,
    InvalidMessage,
    NoSuchGame,
    WrongSecret,
    TooMany,
    TooSlow,
    TooLarge,
    Failure,
}

impl CloseReason {
    fn from_read_error(error: axum::Error) -> CloseReason {
        use tokio_tungstenite::tungstenite::Error;
        match error.into_inner().downcast_ref() {
            Some(Error::Capacity(_)) => CloseReason::TooLarge,
            _ => CloseReason::Disconnected,
        }
    }

    fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            CloseReason::Disconnected => return None,
            CloseReason::Shutdown => (1001, "the server is shutting down"),
            CloseReason::TooLarge => (1009, "message over 4096 bytes"),
            CloseReason::InvalidMessage => (4000, "invalid message, or no join in time"),
            CloseReason::WrongSecret => (4003, "wrong secret"),
            CloseReason::NoSuchGame => (4004, "no such game"),
            CloseReason::TooMany => (4008, "too many messages or WebSockets"),
            CloseReason::TooSlow => (4010, "too slow"),
            CloseReason::Failure => (4011, "the server could not load the game"),
        };
        Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) })
    }
}

impl From<JoinError> for CloseReason {
    fn from(error: JoinError) -> CloseReason {
        match error {
            JoinError::NoSuchGame => CloseReason::NoSuchGame,
            JoinError::WrongSecret => CloseReason::WrongSecret,
            JoinError::Full => CloseReason::TooMany,
            JoinError::Failure | JoinError::Closed => CloseReason::Failure,
        }
    }
}

/// Serves a WebSocket until it is closed.
pub async fn serve(
    mut socket: WebSocket,
    rooms: Arc<Rooms>,
    id: GameId,
    client: ClientKey,
    mut shutdown: Shutdown,
) {
    let reason = match join(&mut socket, &rooms, &id, client, &mut shutdown).await {
        Err(reason) => reason,
        Ok(mut member) => {
            let reason = run(&mut socket, &mut member, rooms.limits(), &mut shutdown).await;
            member.leave().await;
            reason
        }
    };
    tracing::debug!(game = %id, ?reason, "WebSocket closed");
    close(&mut socket, reason, rooms.limits()).await;
}

/// Closes a WebSocket.
pub(crate) async fn close(socket: &mut WebSocket, reason: CloseReason, limits: &Limits) {
    let close = async {
        if let Some(frame) = reason.frame() {
            socket.send(Message::Close(Some(frame))).await?;
        }
        // Reading on sends the answer to the client's close frame. And closing while the client
        // still sends would reset the connection, so that our frame could be lost.
        while let Some(Ok(_)) = socket.recv().await {}
        Ok::<(), axum::Error>(())
    };
    let _ = timeout(limits.read_timeout.min(CLOSE_TIMEOUT), close).await;
}

/// Waits for the `join` message and joins the game.
async fn join(
    socket: &mut WebSocket,
    rooms: &Arc<Rooms>,
    id: &GameId,
    client: ClientKey,
    shutdown: &mut Shutdown,
) -> Result<MemberHandle, CloseReason> {
    let first_text = async {
        loop {
            if let Incoming::Text(text) = receive(socket).await? {
                return Ok::<_, CloseReason>(text);
            }
        }
    };
    let text = tokio::select! {
        text = timeout(rooms.limits().read_timeout, first_text) => {
            text.map_err(|_| CloseReason::InvalidMessage)??
        }
        _ = shutdown_requested(shutdown) => return Err(CloseReason::Shutdown),
    };
    let Ok(ClientMessage::Join { secret, name }) = serde_json::from_str(&text) else {
        return Err(CloseReason::InvalidMessage);
    };
    // An invalid name does not keep a player out of the game.
    let name = name.and_then(|name| parse_name(&name).ok().flatten());
    Ok(rooms.join(id, secret.as_deref(), name, client).await?)
}

pub(crate) enum Incoming {
    Text(Utf8Bytes),
    /// A ping, which the library answers, or a pong.
    Control,
}

/// Receives the next message.
pub(crate) async fn receive(socket: &mut WebSocket) -> Result<Incoming, CloseReason> {
    match socket.recv().await {
        Some(Ok(Message::Text(text))) => Ok(Incoming::Text(text)),
        Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(Incoming::Control),
        Some(Ok(Message::Binary(_))) => Err(CloseReason::InvalidMessage),
        Some(Ok(Message::Close(_))) | None => Err(CloseReason::Disconnected),
        Some(Err(error)) => Err(CloseReason::from_read_error(error)),
    }
}

/// Awaits a send.
pub(crate) async fn send_in_time(
    limits: &Limits,
    send: impl Future<Output = Result<(), axum::Error>>,
) -> Result<(), CloseReason> {
    match timeout(limits.read_timeout, send).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(CloseReason::Disconnected),
        Err(_) => Err(CloseReason::TooSlow),
    }
}

/// Serves a client that has joined. Returns why the connection ends.
async fn run(
    socket: &mut WebSocket,
    member: &mut MemberHandle,
    limits: &Limits,
    shutdown: &mut Shutdown,
) -> CloseReason {
    let mut pings = pings(limits);
    let mut last_received = Instant::now();
    let mut rate = MessageRate::new(limits);
    loop {
        // Only the waiting of a branch is cancelled, never its body.
        let served = tokio::select! {
            Ok(()) = member.seats.changed() => {
                let seats = member.seats.borrow_and_update().clone();
                send_in_time(limits, socket.send(Message::Text(seats))).await
            }
            message = member.queue.recv() => match message {
                None => Err(CloseReason::TooSlow),
                Some(message) => {
                    let send = async {
                        socket.feed(Message::Text(message)).await?;
                        while let Ok(message) = member.queue.try_recv() {
                            socket.feed(Message::Text(message)).await?;
                        }
                        socket.flush().await
                    };
                    send_in_time(limits, send).await
                }
            },
            incoming = receive(socket) => {
                last_received = Instant::now();
                match incoming {
                    Ok(Incoming::Text(text)) => {
                        on_text(socket, member, limits, &mut rate, &text).await
                    }
                    Ok(Incoming::Control) if rate.take() => Ok(()),
                    Ok(Incoming::Control) => Err(CloseReason::TooMany),
                    Err(reason) => Err(reason),
                }
            }
            _ = pings.tick() => ping(socket, limits, last_received).await,
            _ = shutdown_requested(shutdown) => Err(CloseReason::Shutdown),
        };
        if let Err(reason) = served {
            return reason;
        }
    }
}

/// Sends a ping, unless nothing has been received for three of them.
pub(crate) async fn ping(
    socket: &mut WebSocket,
    limits: &Limits,
    last_received: Instant,
) -> Result<(), CloseReason> {
    if last_received.elapsed() > 3 * limits.ping_interval {
        return Err(CloseReason::TooSlow);
    }
    send_in_time(limits, socket.send(Message::Ping(Default::default()))).await
}

/// The times at which to send pings.
pub(crate) fn pings(limits: &Limits) -> Interval {
    let first = tokio::time::Instant::now() + limits.ping_interval;
    let mut pings = interval_at(first, limits.ping_interval);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pings
}

/// Rate limit of the messages of one WebSocket.
pub(crate) struct MessageRate {
    limit: crate::rate_limit::Rate,
    bucket: TokenBucket,
    rejected_in_a_row: u32,
}

impl MessageRate {
    pub(crate) fn new(limits: &Limits) -> MessageRate {
        let limit = limits.messages;
        let bucket = TokenBucket::new(limit, Instant::now());
        MessageRate { limit, bucket, rejected_in_a_row: 0 }
    }

    pub(crate) fn take(&mut self) -> bool {
        let is_allowed = self.bucket.take(self.limit, Instant::now());
        self.rejected_in_a_row = if is_allowed { 0 } else { self.rejected_in_a_row + 1 };
        is_allowed
    }

    /// Whether a client ignores that its messages are refused.
    pub(crate) fn is_flood(&self) -> bool {
        self.rejected_in_a_row >= MAX_REJECTED_IN_A_ROW
    }
}

/// Handles a text message.
async fn on_text(
    socket: &mut WebSocket,
    member: &MemberHandle,
    limits: &Limits,
    rate: &mut MessageRate,
    text: &str,
) -> Result<(), CloseReason> {
    let request = serde_json::from_str::<ClientMessage>(text).map(ClientMessage::into_request);
    if !rate.take() {
        if rate.is_flood() {
            return Err(CloseReason::TooMany);
        }
        // With the id, so that a client which has already shown its move takes it back.
        let id = request.ok().flatten().and_then(|request| request.id());
        member.refuse(id, RefusalCode::TooMany, "too many messages; slow down").await;
        return Ok(());
    }
    match request {
        Ok(Some(Request::Act { id, version, action })) => member.act(id, version, &action).await,
        Ok(Some(Request::Hint { id, version })) => member.hint(id, version).await,
        Ok(Some(Request::Rename { id, name })) => member.rename(id, name.as_deref()).await,
        Ok(Some(Request::Ping { id })) => {
            let pong = Message::Text(ServerMessage::Pong { id }.json().into());
            send_in_time(limits, socket.send(pong)).await?;
        }
        Ok(None) => member.refuse(None, RefusalCode::BadRequest, "already joined").await,
        Err(error) => {
            let reason = format!("invalid message: {error}");
            member.refuse(None, RefusalCode::BadRequest, &reason).await;
        }
    }
    Ok(())
}
