//! Searches for the analysis pages, on the threads and with the tables of the server.
//!
//! One WebSocket has one search at a time: a new request, `stop` and the end of the connection
//! cancel it. Searches wait in the same queue as those of computer players, so they delay nobody
//! for long. `docs/api.md` describes the messages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{Message, WebSocket};
use crownhead_analysis::{CallConfig, CallError, EngineConfig, SearchCall};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::Shutdown;
use crate::rate_limit::ClientKey;
use crate::rooms::Rooms;
use crate::search_queue::{Search, SearchJob, Ticket};
use crate::sync::shutdown_requested;
use crate::ws::{CloseReason, Incoming, MessageRate, close, ping, receive, send_in_time};

/// Maximum duration of a search.
const MAX_TIME: Duration = Duration::from_secs(60);
/// Size of the hash table of a search, in megabytes.
const HASH_MB: usize = 64;

/// A message of a client.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum ClientMessage {
    /// Starts a search. An earlier one is cancelled.
    Start { id: u64, request: SearchCall },
    /// Cancels a search.
    Stop { stop: u64 },
}

/// The search of a connection.
struct Running {
    id: u64,
    /// Its last message. A slow client skips those that later ones replace.
    message: watch::Receiver<Message>,
    /// Cancels the search when it is dropped.
    _ticket: Ticket,
}

impl Running {
    /// Queues a search.
    fn start(rooms: &Rooms, client: ClientKey, id: u64, call: SearchCall) -> Running {
        let (sender, message) = watch::channel(Message::Text("".into()));
        let job = SearchJob {
            client,
            // The search reports an unknown game.
            game: call.spec().game.parse().unwrap_or_default(),
            max_time: MAX_TIME,
            is_analysis: true,
            on_start: Box::new(|| {}),
            run: search(id, call, sender),
        };
        Running { id, message, _ticket: rooms.search_queue().push(job) }
    }

    /// Waits for the next message of a search, if there is one.
    async fn next(running: &mut Option<Running>) -> Option<Message> {
        let message = &mut running.as_mut()?.message;
        message.changed().await.ok()?;
        Some(message.borrow_and_update().clone())
    }
}

/// Serves a WebSocket until it is closed.
pub(crate) async fn serve(
    mut socket: WebSocket,
    rooms: Arc<Rooms>,
    client: ClientKey,
    mut shutdown: Shutdown,
) {
    let reason = run(&mut socket, &rooms, client, &mut shutdown).await;
    tracing::debug!(?reason, "WebSocket of an analysis closed");
    close(&mut socket, reason, rooms.limits()).await;
}

async fn run(
    socket: &mut WebSocket,
    rooms: &Rooms,
    client: ClientKey,
    shutdown: &mut Shutdown,
) -> CloseReason {
    let limits = rooms.limits();
    let mut running: Option<Running> = None;
    let mut rate = MessageRate::new(limits);
    let mut pings = crate::ws::pings(limits);
    let mut last_received = Instant::now();
    loop {
        let served = tokio::select! {
            Some(message) = Running::next(&mut running) => {
                send_in_time(limits, socket.send(message)).await
            }
            incoming = receive(socket) => {
                last_received = Instant::now();
                let is_allowed = rate.take();
                match incoming {
                    Ok(_) if rate.is_flood() => Err(CloseReason::TooMany),
                    Ok(Incoming::Control) => Ok(()),
                    Ok(Incoming::Text(text)) => match serde_json::from_str(&text) {
                        Ok(ClientMessage::Start { id, request }) => {
                            // The earlier search gives up its place in the queue first.
                            drop(running.take());
                            if is_allowed {
                                running = Some(Running::start(rooms, client, id, request));
                                Ok(())
                            } else {
                                let error = CallError::new("too many searches; slow down").json();
                                send_in_time(limits, socket.send(text_message(id, error))).await
                            }
                        }
                        Ok(ClientMessage::Stop { stop }) => {
                            running = running.filter(|running| running.id != stop);
                            Ok(())
                        }
                        Err(_) => Err(CloseReason::InvalidMessage),
                    },
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

type Sender = watch::Sender<Message>;

fn search(id: u64, call: SearchCall, sender: Sender) -> Search {
    Box::new(move |knowledge, stop| {
        let config = CallConfig {
            engine: EngineConfig { hash_mb: HASH_MB, ..EngineConfig::default() },
            knowledge,
            max_time: Some(MAX_TIME),
        };
        let mut on_message = |message: Value| drop(sender.send_replace(text_message(id, message)));
        let found = call.run(&config, &mut None, stop, &mut on_message);
        let last = match found {
            Ok(Some(value)) => json!({ "type": "result", "value": value }),
            // Only a search that was stopped because others waited ends without a result.
            Ok(None) => {
                CallError::new("others wait for the server; use the engine in this browser").json()
            }
            Err(error) => error.json(),
        };
        Box::new(move || drop(sender.send_replace(text_message(id, last))))
    })
}

fn text_message(id: u64, mut message: Value) -> Message {
    message["id"] = id.into();
    Message::Text(message.to_string().into())
}
