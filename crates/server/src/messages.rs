//! WebSocket messages, except `state` and `moved`, which are in [`views`](crate::views).
//! `docs/api.md` describes all of them.

use crownhead_play::{Action, OfferKind};
use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::views::{ComputerState, OffersView, SeatView};

/// Version of the WebSocket protocol.
pub const PROTOCOL_VERSION: u32 = 1;
/// Maximum size of a client message.
pub const MAX_MESSAGE_BYTES: usize = 4096;

/// Message of a client.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)] // described in docs/api.md
pub enum ClientMessage {
    Join {
        secret: Option<String>,
        name: Option<String>,
    },
    Move {
        version: u64,
        r#move: String,
        id: Option<u64>,
    },
    Resign {
        version: u64,
        id: Option<u64>,
    },
    Offer {
        version: u64,
        #[serde(with = "OfferWord")]
        offer: OfferKind,
        id: Option<u64>,
    },
    Accept {
        version: u64,
        #[serde(with = "OfferWord")]
        offer: OfferKind,
        id: Option<u64>,
    },
    Decline {
        version: u64,
        #[serde(with = "OfferWord")]
        offer: OfferKind,
        id: Option<u64>,
    },
    Hint {
        version: u64,
        id: Option<u64>,
    },
    Name {
        name: Option<String>,
        id: Option<u64>,
    },
    Ping {
        id: Option<u64>,
    },
}

/// Request of a client that has joined. `id` is chosen by the client and returned in the reply.
#[allow(missing_docs)] // described in docs/api.md
pub enum Request {
    Act { id: Option<u64>, version: u64, action: Action },
    Hint { id: Option<u64>, version: u64 },
    Rename { id: Option<u64>, name: Option<String> },
    Ping { id: Option<u64> },
}

impl Request {
    /// The id that the client has given the request.
    pub fn id(&self) -> Option<u64> {
        match self {
            Request::Act { id, .. }
            | Request::Hint { id, .. }
            | Request::Rename { id, .. }
            | Request::Ping { id } => *id,
        }
    }
}

impl ClientMessage {
    /// The request; `None` for `join`.
    pub fn into_request(self) -> Option<Request> {
        let (id, version, action) = match self {
            ClientMessage::Join { .. } => return None,
            ClientMessage::Hint { version, id } => return Some(Request::Hint { id, version }),
            ClientMessage::Name { id, name } => return Some(Request::Rename { id, name }),
            ClientMessage::Ping { id } => return Some(Request::Ping { id }),
            ClientMessage::Move { version, r#move, id } => (id, version, Action::Move(r#move)),
            ClientMessage::Resign { version, id } => (id, version, Action::Resign),
            ClientMessage::Offer { version, offer, id } => (id, version, Action::Offer(offer)),
            ClientMessage::Accept { version, offer, id } => (id, version, Action::Accept(offer)),
            ClientMessage::Decline { version, offer, id } => (id, version, Action::Decline(offer)),
        };
        Some(Request::Act { id, version, action })
    }
}

/// Message of the server.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[allow(missing_docs)] // described in docs/api.md
pub enum ServerMessage<'a> {
    Joined {
        protocol: u32,
        id: &'a str,
        you: Vec<char>,
    },
    Offers {
        offers: OffersView,
    },
    Seats {
        seats: [SeatView<'a>; 2],
        watchers: usize,
    },
    Computer {
        computer: Option<ComputerState>,
    },
    Next {
        id: &'a str,
    },
    Declined {
        #[serde(with = "OfferWord")]
        offer: OfferKind,
        by: char,
        text: String,
    },
    Done {
        id: u64,
        version: u64,
    },
    Hint {
        id: Option<u64>,
        version: u64,
        r#move: &'a str,
        reason: String,
    },
    Refused {
        id: Option<u64>,
        #[serde(flatten)]
        refusal: &'a Refusal,
        version: u64,
    },
    Pong {
        id: Option<u64>,
    },
}

impl ServerMessage<'_> {
    /// The message as JSON.
    pub fn json(&self) -> String {
        // Serialising strings and numbers cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Words for offers in messages.
#[derive(Serialize, Deserialize)]
#[serde(remote = "OfferKind", rename_all = "kebab-case")]
enum OfferWord {
    Draw,
    TakeBack,
    Rematch,
}
