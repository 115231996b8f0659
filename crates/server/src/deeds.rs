//! What can be done in a game, what comes of it, and what is kept.

use crownhead_rules::Side;
use serde::{Deserialize, Serialize};

/// Something that happened, as it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A move was made.
    Move {
        /// Its text.
        text: String,
        /// What is left on the clocks after it, in milliseconds.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        left: Option<[u64; 2]>,
    },
    /// Moves were taken back.
    Undo {
        /// How many.
        plies: usize,
        /// What is left on the clocks after it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        left: Option<[u64; 2]>,
    },
    /// An end off the board.
    End(Decision),
    /// Such an end was taken back.
    Reopen,
    /// A seat has a name.
    Name(Seat, Option<String>),
    /// There is a rematch, with this id.
    Next(String),
}

/// An end that the board does not show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// A side gave up.
    Resigned(Seat),
    /// Both wanted a draw.
    Agreed,
    /// A side ran out of time.
    #[serde(rename = "time")]
    Late(Seat),
}

/// A side as it is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seat {
    /// Of the side that moves first.
    First,
    /// Of the other.
    Second,
}

impl From<Side> for Seat {
    fn from(side: Side) -> Seat {
        match side {
            Side::First => Seat::First,
            Side::Second => Seat::Second,
        }
    }
}

impl From<Seat> for Side {
    fn from(seat: Seat) -> Side {
        match seat {
            Seat::First => Side::First,
            Seat::Second => Side::Second,
        }
    }
}

/// The sides that somebody may play.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rights(pub [bool; 2]);

impl Rights {
    /// Whether these include a side.
    pub fn may(self, side: Side) -> bool {
        self.0[side.index()]
    }

    /// Whether there are none.
    pub fn is_none(self) -> bool {
        self.0 == [false; 2]
    }

    /// The side, if it is one alone.
    pub fn only(self) -> Option<Side> {
        match self.0 {
            [true, false] => Some(Side::First),
            [false, true] => Some(Side::Second),
            _ => None,
        }
    }

    /// The sides.
    pub fn sides(self) -> impl Iterator<Item = Side> {
        [Side::First, Side::Second].into_iter().filter(move |&side| self.may(side))
    }
}

/// What can be offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A draw.
    Draw,
    /// To take moves back.
    TakeBack,
    /// Another game.
    Rematch,
}

/// What somebody wants to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Make a move.
    Move(String),
    /// Give up.
    Resign,
    /// Offer something.
    Offer(What),
    /// Accept what was offered.
    Accept(What),
    /// Decline it, or withdraw one's own offer.
    Decline(What),
}

/// What an action comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// Something to be kept, then applied.
    Happens(Event),
    /// An offer was made or withdrawn; nothing is to be kept.
    Offers,
    /// An offer was declined.
    Declined(What, Side),
    /// The computer is to think about a draw.
    AskComputer,
    /// A rematch is to be made.
    Rematch,
}

/// Why an action was refused.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Refusal {
    /// A word.
    pub code: RefusalCode,
    /// The check that a move failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// A sentence.
    pub reason: String,
}

/// A word for why an action was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalCode {
    /// The rules refuse it.
    Illegal,
    /// It was meant for another state of the game.
    Stale,
    /// Not for this seat.
    Seat,
    /// The game has ended.
    Over,
    /// There is nothing of the kind.
    Nothing,
    /// It is no action.
    BadRequest,
    /// Too often.
    TooMany,
    /// It could not be kept.
    Failure,
}

impl Refusal {
    /// A refusal without particulars.
    pub fn new(code: RefusalCode, reason: impl Into<String>) -> Refusal {
        Refusal { code, kind: None, reason: reason.into() }
    }
}
