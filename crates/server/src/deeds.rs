//! Events of a hosted game and their stored form, seat rights, and refusals as clients see them.

use std::time::Duration;

use crownhead_play::{End, Event, OfferKind, TimeLeft, game};
use crownhead_rules::Side;
use serde::{Deserialize, Serialize};

use crate::error::move_error_code;

/// Event of a hosted game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostedEvent {
    /// An event of the game itself.
    Game(Event),
    /// A seat was named.
    Name(Side, Option<String>),
    /// The rematch was created, with this id.
    Next(String),
}

impl HostedEvent {
    /// The stored form.
    pub fn encode(&self) -> Result<String, CodecError> {
        let stored = match self {
            HostedEvent::Game(Event::Move { text, time_left }) => {
                StoredEvent::Move { text: text.clone(), left: to_millis(*time_left) }
            }
            HostedEvent::Game(Event::Undo { plies, time_left }) => {
                StoredEvent::Undo { plies: *plies, left: to_millis(*time_left) }
            }
            HostedEvent::Game(Event::End(End::Resigned(side))) => {
                StoredEvent::End(StoredEnd::Resigned((*side).into()))
            }
            HostedEvent::Game(Event::End(End::DrawAgreed)) => StoredEvent::End(StoredEnd::Agreed),
            HostedEvent::Game(Event::End(End::OutOfTime(side))) => {
                StoredEvent::End(StoredEnd::Time((*side).into()))
            }
            HostedEvent::Game(Event::Reopen) => StoredEvent::Reopen,
            HostedEvent::Game(event) => return Err(CodecError(format!("{event:?} is not stored"))),
            HostedEvent::Name(side, name) => StoredEvent::Name((*side).into(), name.clone()),
            HostedEvent::Next(id) => StoredEvent::Next(id.clone()),
        };
        serde_json::to_string(&stored).map_err(|error| CodecError(error.to_string()))
    }

    /// Reads the stored form.
    pub fn decode(text: &str) -> Result<HostedEvent, CodecError> {
        let stored = serde_json::from_str(text).map_err(|error| CodecError(error.to_string()))?;
        Ok(match stored {
            StoredEvent::Move { text, left } => {
                HostedEvent::Game(Event::Move { text, time_left: from_millis(left) })
            }
            StoredEvent::Undo { plies, left } => {
                HostedEvent::Game(Event::Undo { plies, time_left: from_millis(left) })
            }
            StoredEvent::End(end) => HostedEvent::Game(Event::End(match end {
                StoredEnd::Resigned(seat) => End::Resigned(seat.into()),
                StoredEnd::Agreed => End::DrawAgreed,
                StoredEnd::Time(seat) => End::OutOfTime(seat.into()),
            })),
            StoredEvent::Reopen => HostedEvent::Game(Event::Reopen),
            StoredEvent::Name(seat, name) => HostedEvent::Name(seat.into(), name),
            StoredEvent::Next(id) => HostedEvent::Next(id),
        })
    }
}

/// Error of an event without a stored form, or of an invalid stored form.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(String);

/// The stored form of an event. Its words must not change: games are on disk.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredEvent {
    Move {
        text: String,
        /// The time left after it, in milliseconds.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        left: Option<[u64; 2]>,
    },
    Undo {
        plies: usize,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        left: Option<[u64; 2]>,
    },
    End(StoredEnd),
    Reopen,
    Name(StoredSide, Option<String>),
    Next(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredEnd {
    Resigned(StoredSide),
    Agreed,
    Time(StoredSide),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredSide {
    First,
    Second,
}

impl From<Side> for StoredSide {
    fn from(side: Side) -> StoredSide {
        match side {
            Side::First => StoredSide::First,
            Side::Second => StoredSide::Second,
        }
    }
}

impl From<StoredSide> for Side {
    fn from(side: StoredSide) -> Side {
        match side {
            StoredSide::First => Side::First,
            StoredSide::Second => Side::Second,
        }
    }
}

fn to_millis(time_left: TimeLeft) -> Option<[u64; 2]> {
    let [first, second] = time_left;
    Some([first?, second?].map(|left| left.as_millis() as u64))
}

fn from_millis(left: Option<[u64; 2]>) -> TimeLeft {
    match left {
        Some(left) => left.map(|millis| Some(Duration::from_millis(millis))),
        None => [None; 2],
    }
}

/// The words for offers in messages.
#[derive(Serialize, Deserialize)]
#[serde(remote = "OfferKind", rename_all = "kebab-case")]
pub(crate) enum OfferWord {
    Draw,
    TakeBack,
    Rematch,
}

/// The sides that a client may play.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SeatRights(pub [bool; 2]);

impl SeatRights {
    /// Whether the client may play a side.
    pub fn can_play(self, side: Side) -> bool {
        self.0[side.index()]
    }

    /// Whether the client is a spectator.
    pub fn is_none(self) -> bool {
        self.0 == [false; 2]
    }

    /// The side, if it is only one.
    pub fn single(self) -> Option<Side> {
        match self.0 {
            [true, false] => Some(Side::First),
            [false, true] => Some(Side::Second),
            _ => None,
        }
    }

    /// The sides.
    pub fn sides(self) -> impl Iterator<Item = Side> {
        [Side::First, Side::Second].into_iter().filter(move |&side| self.can_play(side))
    }
}

/// Effect of an action, for the room to execute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Append the event to the store, apply it and broadcast the change.
    Append(HostedEvent),
    /// Apply the event, which is not stored, and broadcast the offers.
    Apply(Event),
    /// Report that a side declines the offer without considering it; nothing changes.
    Decline(OfferKind, Side),
    /// Apply the offer and ask the computer whether it accepts the draw.
    AskComputer(Event),
    /// Create the rematch.
    StartRematch,
}

/// Refusal of an action, as sent to the client.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Refusal {
    /// The code.
    pub code: RefusalCode,
    /// The check that an illegal move failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The reason, in a sentence.
    pub reason: String,
}

/// The stable external word for a refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalCode {
    /// The move is illegal.
    Illegal,
    /// The action was meant for an earlier state of the game.
    Stale,
    /// The client's seat does not allow it.
    Seat,
    /// The game is over.
    Over,
    /// There is nothing to accept, decline, take back or play again.
    Nothing,
    /// The message is invalid.
    BadRequest,
    /// Too many messages, events or names.
    TooMany,
    /// The server failed, for example to store the event.
    Failure,
}

impl Refusal {
    /// A refusal that is not about a move.
    pub fn new(code: RefusalCode, reason: impl Into<String>) -> Refusal {
        Refusal { code, kind: None, reason: reason.into() }
    }
}

impl From<game::Refusal> for Refusal {
    fn from(refusal: game::Refusal) -> Refusal {
        use game::Refusal::{
            GameNotOver, GameOver, Illegal, NoOffer, NotYourTurn, NothingToTakeBack, RematchAgreed,
        };
        let code = match &refusal {
            Illegal(_) => RefusalCode::Illegal,
            NotYourTurn(_) => RefusalCode::Seat,
            GameOver(_) => RefusalCode::Over,
            NoOffer | NothingToTakeBack | GameNotOver | RematchAgreed => RefusalCode::Nothing,
        };
        let kind = match &refusal {
            Illegal(error) => Some(move_error_code(error.kind)),
            _ => None,
        };
        Refusal { code, kind, reason: refusal.to_string() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use super::*;

    /// Games are stored in these words.
    #[test]
    fn stored_form_of_every_event_is_stable() {
        let left = Some(Duration::from_millis(1500));
        let clocked = [left, Some(Duration::ZERO)];
        let unlimited = [None, None];
        let text = || "11-15".to_string();
        for (event, stored) in [
            (Event::Move { text: text(), time_left: unlimited }, r#"{"move":{"text":"11-15"}}"#),
            (
                Event::Move { text: text(), time_left: clocked },
                r#"{"move":{"text":"11-15","left":[1500,0]}}"#,
            ),
            (Event::Undo { plies: 2, time_left: unlimited }, r#"{"undo":{"plies":2}}"#),
            (
                Event::Undo { plies: 1, time_left: clocked },
                r#"{"undo":{"plies":1,"left":[1500,0]}}"#,
            ),
            (Event::End(End::Resigned(Side::First)), r#"{"end":{"resigned":"first"}}"#),
            (Event::End(End::DrawAgreed), r#"{"end":"agreed"}"#),
            (Event::End(End::OutOfTime(Side::Second)), r#"{"end":{"time":"second"}}"#),
            (Event::Reopen, r#""reopen""#),
        ] {
            let event = HostedEvent::Game(event);
            assert_eq!(event.encode().unwrap(), stored);
            assert_eq!(HostedEvent::decode(stored).unwrap(), event);
        }
        for (event, stored) in [
            (HostedEvent::Name(Side::First, Some("Ann".into())), r#"{"name":["first","Ann"]}"#),
            (HostedEvent::Name(Side::Second, None), r#"{"name":["second",null]}"#),
            (HostedEvent::Next("abc".into()), r#"{"next":"abc"}"#),
        ] {
            assert_eq!(event.encode().unwrap(), stored);
            assert_eq!(HostedEvent::decode(stored).unwrap(), event);
        }
        for text in ["", "{}", r#""rename""#, r#"{"end":{"late":"first"}}"#] {
            assert!(HostedEvent::decode(text).is_err(), "{text}");
        }
    }

    #[test]
    fn events_that_are_not_stored_have_no_stored_form() {
        for event in [Event::ClockStart, Event::Offer(OfferKind::Draw, Side::First)] {
            assert!(!event.is_stored());
            assert!(HostedEvent::Game(event).encode().is_err());
        }
    }
}
