//! The messages of a socket other than `state` and `moved`. `docs/server.md` has them all.

use crownhead_play::{Action, OfferKind};
use serde::{Deserialize, Serialize};

use crate::deeds::{OfferWord, Refusal};
use crate::views::{Computer, OffersView, SeatView};

/// Nothing that a client says is longer.
pub const MAX_MESSAGE_BYTES: usize = 4096;

/// What a client says.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)] // as in docs/server.md
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
    Name {
        name: Option<String>,
        id: Option<u64>,
    },
    Ping {
        id: Option<u64>,
    },
}

/// What a client wants once it has joined.
#[allow(missing_docs)]
pub enum Request {
    Act { id: Option<u64>, version: u64, action: Action },
    Name { id: Option<u64>, name: Option<String> },
    Ping { id: Option<u64> },
}

impl Request {
    /// The number that its sender has given it.
    pub fn id(&self) -> Option<u64> {
        match self {
            Request::Act { id, .. } | Request::Name { id, .. } | Request::Ping { id } => *id,
        }
    }
}

impl ClientMessage {
    /// What is wanted; none for `join`.
    pub fn request(self) -> Option<Request> {
        let (id, version, action) = match self {
            ClientMessage::Join { .. } => return None,
            ClientMessage::Name { id, name } => return Some(Request::Name { id, name }),
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

/// What the server says.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[allow(missing_docs)] // as in docs/server.md
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
        computer: Option<Computer>,
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
    /// Its text.
    pub fn json(&self) -> String {
        // Strings and numbers: writing them cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}
