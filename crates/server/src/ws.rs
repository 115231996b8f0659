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
use crate::limits::{Address, Allowance};
use crate::messages::{FromClient, FromServer, Request};
use crate::new_game::read_name;
use crate::room::{Membership, NotJoined};
use crate::rooms::Rooms;

/// So many refused messages in a row, and the socket is closed.
const PATIENCE: u32 = 100;

/// Why a socket is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
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

impl End {
    /// What a socket that can be read no longer ends with.
    fn of(error: axum::Error) -> End {
        use tokio_tungstenite::tungstenite::Error;
        match error.into_inner().downcast_ref() {
            Some(Error::Capacity(_)) => End::TooLarge,
            _ => End::Gone,
        }
    }

    fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            End::Gone => return None,
            End::Shutdown => (1001, "the server ends"),
            End::TooLarge => (1009, "a message has at most 4096 bytes"),
            End::NoMessage => (4000, "this is no message, or it came too late"),
            End::WrongSecret => (4003, "this is the secret of no seat"),
            End::NoGame => (4004, "there is no such game"),
            End::TooMany => (4008, "too many messages or sockets"),
            End::TooSlow => (4010, "too slow"),
            End::Failure => (4011, "the game cannot be read"),
        };
        Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) })
    }
}

impl From<NotJoined> for End {
    fn from(error: NotJoined) -> End {
        match error {
            NotJoined::NoGame => End::NoGame,
            NotJoined::WrongSecret => End::WrongSecret,
            NotJoined::Full => End::TooMany,
            NotJoined::Failure | NotJoined::Closed => End::Failure,
        }
    }
}

/// Serves a socket until it ends.
pub async fn serve(
    mut socket: WebSocket,
    rooms: Arc<Rooms>,
    id: GameId,
    address: Address,
    mut ending: watch::Receiver<bool>,
) {
    let end = match join(&mut socket, &rooms, &id, address, &mut ending).await {
        Err(end) => end,
        Ok(mut member) => {
            let end = talk(&mut socket, &mut member, &rooms, &mut ending).await;
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
        let _ =
            timeout(rooms.limits().patience.min(std::time::Duration::from_secs(2)), close).await;
    }
}

/// The first message.
async fn join(
    socket: &mut WebSocket,
    rooms: &Arc<Rooms>,
    id: &GameId,
    address: Address,
    ending: &mut watch::Receiver<bool>,
) -> Result<Membership, End> {
    let first = async {
        loop {
            match socket.recv().await {
                Some(Ok(Message::Text(text))) => return Ok(text),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Binary(_))) => return Err(End::NoMessage),
                Some(Err(error)) => return Err(End::of(error)),
                Some(Ok(Message::Close(_))) | None => return Err(End::Gone),
            }
        }
    };
    let text = tokio::select! {
        text = timeout(rooms.limits().patience, first) => text.map_err(|_| End::NoMessage)??,
        _ = ended(ending) => return Err(End::Shutdown),
    };
    let Ok(FromClient::Join { secret, name }) = serde_json::from_str(&text) else {
        return Err(End::NoMessage);
    };
    // A name that cannot be had is no reason to be kept from one's game.
    let name = name.as_deref().and_then(|name| read_name(name).ok()).flatten();
    Ok(rooms.join(id, secret.as_deref(), name, address).await?)
}

async fn talk(
    socket: &mut WebSocket,
    member: &mut Membership,
    rooms: &Rooms,
    ending: &mut watch::Receiver<bool>,
) -> End {
    let limits = rooms.limits();
    let mut heard = Instant::now();
    let mut allowance = Allowance::new(limits.messages, heard);
    let mut refused = 0;
    let mut pings = interval_at((heard + limits.ping).into(), limits.ping);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // What a branch does is never broken off: only the waiting for it is.
        tokio::select! {
            Ok(()) = member.seats.changed() => {
                let seats = member.seats.borrow_and_update().clone();
                match timeout(limits.patience, socket.send(Message::Text(seats))).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return End::Gone,
                    Err(_) => return End::TooSlow,
                }
            }
            text = member.queue.recv() => {
                let Some(text) = text else { return End::TooSlow };
                let send = async {
                    socket.feed(Message::Text(text)).await?;
                    while let Ok(text) = member.queue.try_recv() {
                        socket.feed(Message::Text(text)).await?;
                    }
                    socket.flush().await
                };
                match timeout(limits.patience, send).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return End::Gone,
                    Err(_) => return End::TooSlow,
                }
            }
            message = socket.recv() => {
                heard = Instant::now();
                let text = match message {
                    Some(Ok(Message::Text(text))) => text,
                    // Answered by the library; too many of them count as messages.
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) if allowance.take(limits.messages, heard) => continue,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => return End::TooMany,
                    Some(Ok(Message::Binary(_))) => return End::NoMessage,
                    Some(Err(error)) => return End::of(error),
                    Some(Ok(Message::Close(_))) | None => return End::Gone,
                };
                let request = serde_json::from_str::<FromClient>(&text).map(FromClient::request);
                if !allowance.take(limits.messages, heard) {
                    refused += 1;
                    if refused >= PATIENCE {
                        return End::TooMany;
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
                        let pong = Message::Text(FromServer::Pong { id }.json().into());
                        if !matches!(timeout(limits.patience, socket.send(pong)).await, Ok(Ok(()))) {
                            return End::TooSlow;
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
                    return End::TooSlow;
                }
                let ping = socket.send(Message::Ping(Default::default()));
                if !matches!(timeout(limits.patience, ping).await, Ok(Ok(()))) {
                    return End::TooSlow;
                }
            }
            _ = ended(ending) => return End::Shutdown,
        }
    }
}
