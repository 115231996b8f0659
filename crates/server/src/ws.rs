//! One WebSocket: reads what a client says, hands it to its game, and tells it what happens there.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::SinkExt;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval_at, timeout};

use crate::deeds::RefusalCode;
use crate::ended;
use crate::ids::GameId;
use crate::limits::{ClientKey, TokenBucket};
use crate::messages::{ClientMessage, Request, ServerMessage};
use crate::new_game::parse_name;
use crate::room::{JoinError, MemberHandle};
use crate::rooms::Rooms;

/// So many refused messages in a row, and the socket is closed.
const MAX_REJECTED_IN_A_ROW: u32 = 100;

/// Why a socket is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CloseReason {
    /// The client closed it, or it broke.
    Gone,
    /// The server ends.
    Shutdown,
    NoMessage,
    NoGame,
    WrongSecret,
    TooMany,
    TooSlow,
    TooLarge,
    Failure,
}

impl CloseReason {
    /// What a socket that can be read no longer ends with.
    fn of(error: axum::Error) -> CloseReason {
        use tokio_tungstenite::tungstenite::Error;
        match error.into_inner().downcast_ref() {
            Some(Error::Capacity(_)) => CloseReason::TooLarge,
            _ => CloseReason::Gone,
        }
    }

    fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            CloseReason::Gone => return None,
            CloseReason::Shutdown => (1001, "the server ends"),
            CloseReason::TooLarge => (1009, "a message has at most 4096 bytes"),
            CloseReason::NoMessage => (4000, "this is no message, or it came too late"),
            CloseReason::WrongSecret => (4003, "this is the secret of no seat"),
            CloseReason::NoGame => (4004, "there is no such game"),
            CloseReason::TooMany => (4008, "too many messages or sockets"),
            CloseReason::TooSlow => (4010, "too slow"),
            CloseReason::Failure => (4011, "the game cannot be read"),
        };
        Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) })
    }
}

impl From<JoinError> for CloseReason {
    fn from(error: JoinError) -> CloseReason {
        match error {
            JoinError::NoGame => CloseReason::NoGame,
            JoinError::WrongSecret => CloseReason::WrongSecret,
            JoinError::Full => CloseReason::TooMany,
            JoinError::Failure | JoinError::Closed => CloseReason::Failure,
        }
    }
}

/// Serves a socket until it ends.
pub async fn serve(
    mut socket: WebSocket,
    rooms: Arc<Rooms>,
    id: GameId,
    address: ClientKey,
    mut ending: watch::Receiver<bool>,
) {
    let end = match join(&mut socket, &rooms, &id, address, &mut ending).await {
        Err(end) => end,
        Ok(mut member) => {
            let end = run(&mut socket, &mut member, &rooms, &mut ending).await;
            member.leave().await;
            end
        }
    };
    if let Some(frame) = end.frame() {
        let close = async {
            socket.send(Message::Close(Some(frame))).await?;
            // Until the client has closed too: else what it still sends would take the frame from it.
            while let Some(Ok(_)) = socket.recv().await {}
            Ok::<(), axum::Error>(())
        };
        let _ = timeout(rooms.limits().read_timeout.min(std::time::Duration::from_secs(2)), close)
            .await;
    }
}

/// The first message.
async fn join(
    socket: &mut WebSocket,
    rooms: &Arc<Rooms>,
    id: &GameId,
    address: ClientKey,
    ending: &mut watch::Receiver<bool>,
) -> Result<MemberHandle, CloseReason> {
    let first = async {
        loop {
            match socket.recv().await {
                Some(Ok(Message::Text(text))) => return Ok(text),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Binary(_))) => return Err(CloseReason::NoMessage),
                Some(Err(error)) => return Err(CloseReason::of(error)),
                Some(Ok(Message::Close(_))) | None => return Err(CloseReason::Gone),
            }
        }
    };
    let text = tokio::select! {
        text = timeout(rooms.limits().read_timeout, first) => text.map_err(|_| CloseReason::NoMessage)??,
        _ = ended(ending) => return Err(CloseReason::Shutdown),
    };
    let Ok(ClientMessage::Join { secret, name }) = serde_json::from_str(&text) else {
        return Err(CloseReason::NoMessage);
    };
    // A name that cannot be had is no reason to be kept from one's game.
    let name = name.as_deref().and_then(|name| parse_name(name).ok()).flatten();
    Ok(rooms.join(id, secret.as_deref(), name, address).await?)
}

async fn run(
    socket: &mut WebSocket,
    member: &mut MemberHandle,
    rooms: &Rooms,
    ending: &mut watch::Receiver<bool>,
) -> CloseReason {
    let limits = rooms.limits();
    let mut heard = Instant::now();
    let mut allowance = TokenBucket::new(limits.messages, heard);
    let mut refused = 0;
    let mut pings = interval_at((heard + limits.ping).into(), limits.ping);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // What a branch does is never broken off: only the waiting for it is.
        tokio::select! {
            Ok(()) = member.seats.changed() => {
                let seats = member.seats.borrow_and_update().clone();
                match timeout(limits.read_timeout, socket.send(Message::Text(seats))).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return CloseReason::Gone,
                    Err(_) => return CloseReason::TooSlow,
                }
            }
            text = member.queue.recv() => {
                let Some(text) = text else { return CloseReason::TooSlow };
                let send = async {
                    socket.feed(Message::Text(text)).await?;
                    while let Ok(text) = member.queue.try_recv() {
                        socket.feed(Message::Text(text)).await?;
                    }
                    socket.flush().await
                };
                match timeout(limits.read_timeout, send).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return CloseReason::Gone,
                    Err(_) => return CloseReason::TooSlow,
                }
            }
            message = socket.recv() => {
                heard = Instant::now();
                let text = match message {
                    Some(Ok(Message::Text(text))) => text,
                    // Answered by the library; too many of them count as messages.
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) if allowance.take(limits.messages, heard) => continue,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => return CloseReason::TooMany,
                    Some(Ok(Message::Binary(_))) => return CloseReason::NoMessage,
                    Some(Err(error)) => return CloseReason::of(error),
                    Some(Ok(Message::Close(_))) | None => return CloseReason::Gone,
                };
                let request = serde_json::from_str::<ClientMessage>(&text).map(ClientMessage::request);
                if !allowance.take(limits.messages, heard) {
                    refused += 1;
                    if refused >= MAX_REJECTED_IN_A_ROW {
                        return CloseReason::TooMany;
                    }
                    // With its id: whoever has shown a move already learns that it was not made.
                    let id = request.ok().flatten().and_then(|request| request.id());
                    member.refuse(id, RefusalCode::TooMany, "too many messages: slow down").await;
                    continue;
                }
                refused = 0;
                match request {
                    Ok(Some(Request::Act { id, version, action })) => {
                        member.act(id, version, &action).await;
                    }
                    Ok(Some(Request::Name { id, name })) => member.rename(id, name.as_deref()).await,
                    Ok(Some(Request::Ping { id })) => {
                        let pong = Message::Text(ServerMessage::Pong { id }.json().into());
                        if !matches!(timeout(limits.read_timeout, socket.send(pong)).await, Ok(Ok(()))) {
                            return CloseReason::TooSlow;
                        }
                    }
                    Ok(None) => member.refuse(None, RefusalCode::BadRequest, "this socket has joined already").await,
                    Err(error) => {
                        member.refuse(None, RefusalCode::BadRequest, &format!("this is no message: {error}")).await;
                    }
                }
            }
            _ = pings.tick() => {
                if heard.elapsed() > 3 * limits.ping {
                    return CloseReason::TooSlow;
                }
                let ping = socket.send(Message::Ping(Default::default()));
                if !matches!(timeout(limits.read_timeout, ping).await, Ok(Ok(()))) {
                    return CloseReason::TooSlow;
                }
            }
            _ = ended(ending) => return CloseReason::Shutdown,
        }
    }
}
