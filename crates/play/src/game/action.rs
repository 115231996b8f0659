//! Actions of players, events of a game, and refusals.

use crownhead_records::MoveEval;
use crownhead_rules::{MoveError, Side};

use super::End;
use crate::clock::TimeLeft;
use crate::{Fault, FaultPolicy, Incident};

/// Kind of an offer to the opponent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OfferKind {
    /// A draw.
    Draw,
    /// Taking back moves, up to the last turn of the side that asks.
    TakeBack,
    /// Another game.
    Rematch,
}

impl OfferKind {
    /// All kinds.
    pub const ALL: [OfferKind; 3] = [OfferKind::Draw, OfferKind::TakeBack, OfferKind::Rematch];
}

/// Action of a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Play a move, in any unambiguous form.
    Move(String),
    /// Resign.
    Resign,
    /// Make an offer, or accept the opponent's offer of the same kind.
    Offer(OfferKind),
    /// Accept the opponent's offer.
    Accept(OfferKind),
    /// Decline the opponent's offer, or withdraw one's own.
    Decline(OfferKind),
    /// Answer as a player under a referee: with a legal move, in time. Anything else is a fault.
    Answer {
        /// The move, or the fault the player committed instead.
        answer: Result<String, Fault>,
        /// The penalty for a fault.
        policy: FaultPolicy,
        /// Seed of the random move, if that is the penalty.
        seed: u64,
    },
}

impl Action {
    /// Accepts or declines the opponent's offer.
    pub const fn answer_offer(kind: OfferKind, accepts: bool) -> Action {
        if accepts { Action::Accept(kind) } else { Action::Decline(kind) }
    }
}

/// Event of a game. Applying the stored events in order restores the game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A move was played.
    Move {
        /// Its canonical text.
        text: String,
        /// The time left after it.
        time_left: TimeLeft,
        /// The player's evaluation of it.
        eval: Option<MoveEval>,
    },
    /// A fault cost its side the turn.
    Fault {
        /// The fault.
        incident: Box<Incident>,
        /// The move that was played instead: a random move, or `pass` for a skipped turn.
        text: String,
        /// The time left after it.
        time_left: TimeLeft,
    },
    /// Moves were taken back.
    Undo {
        /// The number of plies.
        plies: usize,
        /// The time left after it.
        time_left: TimeLeft,
    },
    /// The game ended off the board: not by its rules.
    End(End),
    /// Such an end was taken back.
    Reopen,
    /// A side made an offer.
    Offer(OfferKind, Side),
    /// A side withdrew its offer.
    Withdraw(OfferKind, Side),
    /// A side declined the opponent's offer.
    Decline(OfferKind, Side),
    /// Both sides want a rematch.
    Rematch,
    /// The side to move started to think.
    ClockStart,
    /// The clock was stopped; the turn starts over when it is started again.
    ClockStop,
}

impl Event {
    /// Adds the player's evaluation, if the event is a move.
    pub fn with_eval(mut self, value: Option<MoveEval>) -> Event {
        if let Event::Move { eval, .. } = &mut self {
            *eval = value;
        }
        self
    }

    /// Whether the event must be stored to restore the game. Offers and stopped clocks do not
    /// outlive the process, and a rematch is stored with the id of the new game.
    pub fn is_stored(&self) -> bool {
        match self {
            Event::Move { .. }
            | Event::Fault { .. }
            | Event::Undo { .. }
            | Event::End(_)
            | Event::Reopen => true,
            Event::Offer(..)
            | Event::Withdraw(..)
            | Event::Decline(..)
            | Event::Rematch
            | Event::ClockStart
            | Event::ClockStop => false,
        }
    }
}

/// Reason for refusing an action.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The move is illegal.
    #[error(transparent)]
    Illegal(#[from] MoveError),
    /// The side is not to move.
    #[error("it is {0}'s turn")]
    NotYourTurn(&'static str),
    /// The game is over.
    #[error("The game is over. {0}")]
    GameOver(String),
    /// The opponent has not made this offer.
    #[error("there is no such offer")]
    NoOffer,
    /// The side has not played a move yet.
    #[error("nothing to take back: you have not moved yet")]
    NothingToTakeBack,
    /// A rematch needs a finished game.
    #[error("a rematch can start when this game is over")]
    GameNotOver,
    /// The rematch has been agreed already.
    #[error("the rematch has started already")]
    RematchAgreed,
}

/// Error of an event that does not fit the game.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("event does not fit the game: {0}")]
pub struct InvalidEvent(pub(super) String);
